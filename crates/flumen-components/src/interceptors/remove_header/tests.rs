//! Which headers go, and which stay.

use super::super::tests::{events, headers, intercepted, made, utc_context};

const FIVE: &[(&str, &str)] = &[
    ("my-header10", "value10"),
    ("my-header11", "value11"),
    ("my-header12", "value12"),
    ("my-header20", "value20"),
    ("my-header21", "value21"),
];

/// The numbers of the headers that are left of five.
fn left(pairs: &[(&str, &str)]) -> Vec<u32> {
    let batch = intercepted("remove_header", pairs, events(&[(FIVE, "b"), (&[], "without")]));
    assert_eq!(batch.get(1).unwrap().headers.len(), 0);
    let number = |(name, _): (&flumen_core::event::Text, _)| name["my-header".len()..].parse().unwrap();
    batch.get(0).unwrap().headers.iter().map(number).collect()
}

#[test]
fn int_01_a_bad_pattern_is_refused() {
    let said = made("remove_header", &[("matching", "(")], &utc_context()).unwrap_err();
    let wanted = "flume.conf:1: a.sources.r.interceptors.i.matching: `(` is not a regular expression: Unclosed group near \
                  index 1";
    assert_eq!(said, wanted);
}

#[test]
fn int_02_a_name_goes_and_no_other() {
    assert_eq!(left(&[("withName", "my-header20")]), [10, 11, 12, 21]);
    assert_eq!(left(&[]), [10, 11, 12, 20, 21]);
}

#[test]
fn int_03_the_names_of_a_list_go() {
    assert_eq!(left(&[("fromList", "my-header20, my-header11")]), [10, 12, 21]);
    assert_eq!(left(&[("fromList", "my-header20 ,\tmy-header11,,")]), [10, 12, 21]);
}

#[test]
fn int_04_a_list_with_another_separator_is_one_name() {
    assert_eq!(left(&[("fromList", "my-header20;my-header11")]), [10, 11, 12, 20, 21]);
}

#[test]
fn int_05_the_separator_can_be_set() {
    let semicolon = ("fromListSeparator", ";");
    assert_eq!(left(&[("fromList", "my-header20;my-header11"), semicolon]), [10, 12, 21]);
    assert_eq!(left(&[("fromList", "my-header20, my-header11"), semicolon]), [10, 11, 12, 20, 21]);
}

#[test]
fn int_06_headers_whose_whole_names_match_go() {
    assert_eq!(left(&[("matching", "my-header1.*")]), [20, 21]);
    assert_eq!(left(&[("matching", "header1.")]), [10, 11, 12, 20, 21]);
}

#[test]
fn int_07_whatever_one_of_the_three_names_goes() {
    let three = [
        ("withName", "my-header11"),
        ("fromList", "my-header12;my-header20;my-header21"),
        ("fromListSeparator", ";"),
        ("matching", "my-header10"),
    ];
    assert_eq!(left(&three), [0_u32; 0]);
}

#[test]
fn a_name_that_needs_too_many_steps_stays() {
    let hard = "a".repeat(2_000) + "!";
    let pairs = [("matching", r"(\w|\w\w)+\1")];
    let batch = intercepted("remove_header", &pairs, events(&[(&[(&hard, "1"), ("aa", "2")], "b")]));
    assert_eq!(headers(&batch), [format!("{hard}=1")]);
}
