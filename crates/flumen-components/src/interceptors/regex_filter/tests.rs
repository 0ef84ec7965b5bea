//! What is kept, what is dropped, and what is kept because nobody knows.

use super::super::tests::{events, intercepted, made, utc_context};
use super::*;
use crate::testing::bodies;
use flumen_core::{event::Headers, metrics::Value, registry::Environment};
use std::{collections::BTreeMap, sync::Arc};

fn left(pairs: &[(&str, &str)], all: &[&str]) -> Vec<String> {
    let all: Vec<(&[(&str, &str)], &str)> = all.iter().map(|body| (&[][..], *body)).collect();
    bodies(&intercepted("regex_filter", pairs, events(&all)))
}

#[test]
fn int_21_without_settings_every_event_is_kept() {
    assert_eq!(left(&[], &["test", "", "a\nb"]), ["test", "", "a\nb"]);
}

#[test]
fn int_22_events_in_which_it_is_found_are_kept() {
    let pairs = [("regex", "(INFO.*)|(WARNING.*)"), ("excludeEvents", "false")];
    assert_eq!(
        left(&pairs, &["INFO: a", "DEBUG: b", "WARNING: c", "tail INFO"]),
        ["INFO: a", "WARNING: c", "tail INFO"]
    );
}

#[test]
fn int_23_events_in_which_it_is_found_are_dropped() {
    let pairs = [("regex", ".*DEBUG.*"), ("excludeEvents", "true")];
    assert_eq!(left(&pairs, &["INFO", "this is DEBUG too", "DEBUG"]), ["INFO"]);
}

#[test]
fn a_body_that_needs_too_many_steps_is_kept_and_counted() {
    for exclude in ["true", "false"] {
        let context = utc_context();
        let pairs = [("regex", r"(\w|\w\w)+\1$"), ("excludeEvents", exclude)];
        let filter = made("regex_filter", &pairs, &context).unwrap();
        let hard = "a".repeat(2_000) + "!";
        let mut batch = events(&[(&[], &hard), (&[], "aa")]);
        filter.intercept(&mut batch).unwrap();
        assert_eq!(batch.get(0).unwrap().body, hard.as_bytes());
        assert_eq!(batch.len(), if exclude == "true" { 1 } else { 2 });
        let readings: Vec<_> = context.extra.all().iter().flat_map(|set| set.readings()).collect();
        assert_eq!(readings.len(), 1);
        assert_eq!((readings[0].name, &readings[0].value), ("EventInterceptFailCount", &Value::Counter(1)));
    }
}

#[test]
fn the_charset_of_the_jvm_is_taken() {
    let properties = BTreeMap::from([("file.encoding".to_owned(), "ISO-8859-1".to_owned())]);
    let environment = Environment { properties, ..Environment::default() };
    let context = BuildContext { environment: Arc::new(environment), ..utc_context() };
    let mut batch = Batch::new();
    batch.push(Headers::new(), vec![0xe9]);
    batch.push(Headers::new(), "é");
    made("regex_filter", &[("regex", "^é$")], &context).unwrap().intercept(&mut batch).unwrap();
    assert_eq!(batch.iter().map(|event| event.body).collect::<Vec<_>>(), [[0xe9]]);
}

#[test]
fn a_bad_pattern_is_told_with_its_place() {
    let said = made("regex_filter", &[("regex", "[")], &utc_context()).unwrap_err();
    assert!(
        said.starts_with("flume.conf:1: a.sources.r.interceptors.i.regex: `[` is not a regular expression"),
        "{said}"
    );
}
