//! Groups become headers; times become milliseconds; what cannot be read stays away.

use super::super::tests::{events, headers, intercepted, made, told, utc_context};
use super::*;
use crate::testing::bodies;
use flumen_core::{
    config::{Settings, read},
    event::Headers,
    metrics::Value,
};

const MILLIS: &str = "org.apache.flume.interceptor.RegexExtractorInterceptorMillisSerializer";
const PASS_THROUGH: &str = "org.apache.flume.interceptor.RegexExtractorInterceptorPassThroughSerializer";

fn of(pairs: &[(&str, &str)], body: &str) -> String {
    let batch = intercepted("regex_extractor", pairs, events(&[(&[], body)]));
    assert_eq!(bodies(&batch), [body], "the body is untouched");
    headers(&batch).remove(0)
}

#[test]
fn int_13_without_a_good_pattern_it_is_refused() {
    let names = [("serializers", "s1"), ("serializers.s1.name", "n")];
    let refused = |pattern: &[(&str, &str)]| {
        made("regex_extractor", &[&names, pattern].concat(), &utc_context()).unwrap_err()
    };
    let key = "a.sources.r.interceptors.i.regex";
    assert_eq!(refused(&[]), format!("flume.conf:1: {key}: is required"));
    assert!(refused(&[("regex", "")]).ends_with("it is empty"));
    let said = refused(&[("regex", "?&?&&&?&?&?&&&??")]);
    assert!(said.starts_with(&format!("flume.conf:3: {key}: `?&?&&&?&?&?&&&??` is not a regular")), "{said}");
}

#[test]
fn int_15_each_group_becomes_a_header() {
    let pairs = [
        ("regex", r"(\d):(\d):(\d)"),
        ("serializers", "s1 s2 s3"),
        ("serializers.s1.name", "Num1"),
        ("serializers.s2.name", "Num2"),
        ("serializers.s3.name", "Num3"),
    ];
    assert_eq!(of(&pairs, "1:2:3.4foobar5"), "Num1=1 Num2=2 Num3=3");
    assert_eq!(of(&pairs, "before 1:2:3"), "Num1=1 Num2=2 Num3=3");
    assert_eq!(of(&pairs, "1:2"), "");
}

#[test]
fn int_16_groups_without_a_serializer_are_left_out() {
    let pairs = [
        ("regex", r"^(\d\d\d\d-\d\d-\d\d\s\d\d:\d\d)(:\d\d,\d\d\d)"),
        ("serializers", "s1"),
        ("serializers.s1.name", "timestamp"),
    ];
    assert_eq!(of(&pairs, "2012-10-17 14:34:44,338"), "timestamp=2012-10-17 14:34");
}

const TIMES: &[(&str, &str)] = &[
    ("regex", r"^(\d\d\d\d-\d\d-\d\d\s\d\d:\d\d)(:\d\d,\d\d\d)"),
    ("serializers", "s1 s2"),
    ("serializers.s1.type", MILLIS),
    ("serializers.s1.name", "timestamp"),
    ("serializers.s1.pattern", "yyyy-MM-dd HH:mm"),
    ("serializers.s2.name", "data"),
];

#[test]
fn int_17_a_time_becomes_milliseconds() {
    assert_eq!(of(TIMES, "2013-04-17 14:34:00,000"), "data=:00,000 timestamp=1366209240000");
}

#[test]
fn int_18_milliseconds_want_a_good_pattern() {
    let with = |pattern: &[(&str, &str)]| {
        let rest = [
            ("regex", "(a)"),
            ("serializers", "s"),
            ("serializers.s.type", MILLIS),
            ("serializers.s.name", "t"),
        ];
        made("regex_extractor", &[&rest, pattern].concat(), &utc_context()).unwrap_err()
    };
    let key = "a.sources.r.interceptors.i.serializers.s.pattern";
    assert!(with(&[]).starts_with(&format!("flume.conf:1: {key}: is required")), "{}", with(&[]));
    let said = with(&[("serializers.s.pattern", "ABCDEFG")]);
    assert!(
        said.starts_with(&format!("flume.conf:5: {key}: `ABCDEFG` is not a date pattern of Joda-Time")),
        "{said}"
    );
}

#[test]
fn int_20_what_passes_through_is_unchanged() {
    for kind in ["DEFAULT", "default", PASS_THROUGH] {
        let pairs = [
            ("regex", "^(.*)$"),
            ("serializers", "s"),
            ("serializers.s.type", kind),
            ("serializers.s.name", "all"),
        ];
        assert_eq!(of(&pairs, "testing (1,2,3,4)"), "all=testing (1,2,3,4)");
    }
}

#[test]
fn a_time_that_cannot_be_read_leaves_its_header_alone_and_is_counted() {
    let context = utc_context();
    let extractor = made("regex_extractor", TIMES, &context).unwrap();
    let mut batch =
        events(&[(&[("timestamp", "5")], "2013-13-17 14:34:00,000"), (&[], "2013-12-17 14:34:00,000")]);
    extractor.intercept(&mut batch).unwrap();
    assert_eq!(headers(&batch), ["data=:00,000 timestamp=5", "data=:00,000 timestamp=1387290840000"]);
    let readings: Vec<_> = context.extra.all().iter().flat_map(|set| set.readings()).collect();
    assert_eq!((readings[0].name, &readings[0].value), ("EventInterceptFailCount", &Value::Counter(1)));
}

#[test]
fn a_group_that_takes_no_part_gives_an_empty_value_and_no_time() {
    let pairs = [
        ("regex", "(a)?(b)?c"),
        ("serializers", "s1 s2"),
        ("serializers.s1.name", "a"),
        ("serializers.s2.name", "b"),
        ("serializers.s2.type", MILLIS),
        ("serializers.s2.pattern", "yyyy"),
    ];
    assert_eq!(of(&pairs, "c"), "a=");
}

#[test]
fn a_body_that_needs_too_many_steps_passes_as_it_is() {
    let pairs = [("regex", r"((\w|\w\w)+\2)$"), ("serializers", "s"), ("serializers.s.name", "n")];
    assert_eq!(of(&pairs, &("a".repeat(2_000) + "!")), "");
    assert_eq!(of(&pairs, "aa"), "n=aa");
}

#[test]
fn bad_serializers_are_told_with_their_keys() {
    let said = told(
        "regex_extractor",
        &[
            ("regex", "(a)"),
            ("serializers", "s1 s2 s3"),
            ("serializers.s1.nam", "x"),
            ("serializers.s2.type", "no.such.Class"),
            ("serializers.s2.name", "y"),
            ("serializers.s9.name", "z"),
        ],
    );
    let wanted = [
        ":1: a.sources.r.interceptors.i.serializers.s1.name: is required",
        ":1: a.sources.r.interceptors.i.serializers.s3.name: is required",
        ":2: a.sources.r.interceptors.i.serializers: names 3, but the pattern has 1 groups",
        ":3: a.sources.r.interceptors.i.serializers.s1.nam: unknown property; did you mean `name`?",
        ":4: a.sources.r.interceptors.i.serializers.s2.type: `no.such.Class` is not a serializer of this interceptor",
        ":6: a.sources.r.interceptors.i.serializers.s9.name: `serializers` does not name `s9`: it does nothing",
    ];
    assert_eq!(said.len(), wanted.len(), "{said:#?}");
    for (said, wanted) in said.iter().zip(wanted) {
        assert!(said.starts_with(&format!("flume.conf{wanted}")), "{said}");
    }
}

#[test]
fn without_serializers_it_is_refused() {
    let said = made("regex_extractor", &[("regex", "(a)")], &utc_context()).unwrap_err();
    assert_eq!(said, "flume.conf:1: a.sources.r.interceptors.i.serializers: is required");
    let said =
        made("regex_extractor", &[("regex", "(a)"), ("serializers", " ")], &utc_context()).unwrap_err();
    assert_eq!(
        said,
        "flume.conf:2: a.sources.r.interceptors.i.serializers: is empty: name one for each group"
    );
}

#[test]
fn it_sets_a_timestamp_if_a_header_is_called_so() {
    let facts = |name| {
        let pairs = [("regex", "(a)"), ("serializers", "s"), ("serializers.s.name", name)];
        let config =
            read::<RegexExtractorConfig>(&Settings::from_pairs("a.sources.r.interceptors.i", &pairs), &[]).0;
        RegexExtractorInterceptor::facts(&config.unwrap()).sets_timestamp
    };
    assert!(facts("timestamp"));
    assert!(!facts("time"));
}

#[test]
fn bytes_that_are_no_text_spoil_only_the_groups_that_hold_them() {
    let pairs = [
        ("regex", "^(\\w+) (.+) (\\w+) (.*)$"),
        ("serializers", "s1 s2 s3 s4"),
        ("serializers.s1.name", "a"),
        ("serializers.s2.name", "b"),
        ("serializers.s3.name", "c"),
        ("serializers.s4.name", "d"),
    ];
    for (body, want) in [
        (&b"one \xFF two "[..], "a=one b=\u{FFFD} c=two d="),
        (b"one \xE2\x82 two x", "a=one b=\u{FFFD} c=two d=x"),
        ("one \u{20AC} two \u{E9}".as_bytes(), "a=one b=\u{20AC} c=two d=\u{E9}"),
    ] {
        let mut batch = Batch::new();
        batch.push(Headers::new(), body.to_vec());
        let batch = intercepted("regex_extractor", &pairs, batch);
        assert_eq!(headers(&batch), [want], "{body:?}");
    }
}
