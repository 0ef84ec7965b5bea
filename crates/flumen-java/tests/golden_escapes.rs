//! Path escapes against what Java Flume 1.11 makes of them.

#![allow(clippy::unwrap_used, reason = "what does not unwrap fails the test")]

mod support;

use std::collections::HashMap;

use flumen_java::dates::{HostNames, Locale, PathOptions, PathTemplate, RoundUnit, Rounding, Zone};
use serde_json::Value;
use support::compare;

const ESCAPES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/fixtures/escapes/escapes.jsonl");

fn expand(case: &Value) -> String {
    let headers: HashMap<&str, &str> = case["headers"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
        .collect();
    let rounding = case["round"].as_array().map(|round| {
        let unit = match round[0].as_str().unwrap() {
            "second" => RoundUnit::Second,
            "minute" => RoundUnit::Minute,
            _ => RoundUnit::Hour,
        };
        Rounding::new(unit, u32::try_from(round[1].as_u64().unwrap()).unwrap()).unwrap()
    });
    let options = PathOptions {
        zone: Zone::of_id(case["zone"].as_str().unwrap()),
        locale: Locale::us(),
        rounding,
        hosts: HostNames::default(),
    };
    let mut out = String::from("before ");
    let rendered = PathTemplate::compile(case["in"].as_str().unwrap(), &options)
        .is_ok_and(|template| template.render(&mut out, |name| headers.get(name).copied(), None).is_ok());
    if rendered { out["before ".len()..].to_owned() } else { "!".to_owned() }
}

#[test]
fn escapes_expand_as_in_java_flume() {
    let text = std::fs::read_to_string(ESCAPES).unwrap();
    let rows: Vec<_> = (1..)
        .zip(text.lines())
        .map(|(line, text): (usize, _)| vec![line.to_string(), text.to_owned()])
        .collect();
    compare(&rows, &[], 149, |row| {
        let case: Value = serde_json::from_str(&row[1]).unwrap();
        let expected = case["result"]["out"].as_str().unwrap_or("!").to_owned();
        (expected, expand(&case))
    });
}
