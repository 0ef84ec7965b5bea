//! What is replaced, in which charset, and what stays as it is.

use super::super::tests::{events, intercepted, made, told, utc_context};
use crate::testing::bodies;
use flumen_core::event::{Batch, Headers};

fn replaced(pattern: &str, text: &str, body: &str) -> String {
    let pairs = [("searchPattern", pattern), ("replaceString", text)];
    bodies(&intercepted("search_replace", &pairs, events(&[(&[("k", "v")], body)]))).remove(0)
}

#[test]
fn int_24_only_the_anchored_match_goes() {
    assert_eq!(replaced("^prefix", "", "prefix non-prefix suffix"), " non-prefix suffix");
}

#[test]
fn int_27_every_match_is_replaced() {
    let body = "Email addresses: test@test.com and foo@test.com";
    assert_eq!(
        replaced(r"[_A-Za-z0-9-.]+@[_A-Za-z0-9-.]+", "REDACTED", body),
        "Email addresses: REDACTED and REDACTED"
    );
}

#[test]
fn bytes_that_are_no_text_stay_as_they_are() {
    let pairs = [("searchPattern", "x"), ("replaceString", "y")];
    let mut batch = Batch::new();
    batch.push(Headers::new(), b"a\xffxb".to_vec());
    batch.push(Headers::new(), b"a\xffb".to_vec());
    let replaced = intercepted("search_replace", &pairs, batch);
    assert_eq!(replaced.iter().map(|event| event.body).collect::<Vec<_>>(), [&b"a\xffyb"[..], b"a\xffb"]);
}

#[test]
fn headers_stay_with_their_bodies() {
    let pairs = [("searchPattern", "[ac]"), ("replaceString", "")];
    let batch = intercepted(
        "search_replace",
        &pairs,
        events(&[(&[("n", "1")], "a"), (&[("n", "2")], "b"), (&[("n", "3")], "cc")]),
    );
    assert_eq!(bodies(&batch), ["", "b", ""]);
    assert_eq!(super::super::tests::headers(&batch), ["n=1", "n=2", "n=3"]);
}

#[test]
fn a_body_that_needs_too_many_steps_passes_as_it_is() {
    let hard = "a".repeat(2_000) + "!";
    assert_eq!(replaced(r"(\w|\w\w)+\1$", "x", &hard), hard);
}

#[test]
fn bad_settings_are_told_before_an_event_comes() {
    let key = "a.sources.r.interceptors.i";
    let refused = |pairs: &[(&str, &str)]| made("search_replace", pairs, &utc_context()).unwrap_err();
    assert_eq!(
        refused(&[("searchPattern", "x"), ("replaceString", "$1")]),
        format!("flume.conf:2: {key}.replaceString: `$1` is no replacement: No group 1")
    );
    assert_eq!(refused(&[("replaceString", "x")]), format!("flume.conf:1: {key}.searchPattern: is required"));
    assert_eq!(
        refused(&[("searchPattern", "")]),
        format!("flume.conf:1: {key}.searchPattern: `` is not a regular expression: it is empty")
    );
    let charset = refused(&[("searchPattern", "x"), ("charset", "nope")]);
    assert!(charset.contains("charset: `nope` is not a charset: no charset is called \"nope\""), "{charset}");
    assert_eq!(
        told("search_replace", &[("searchPattern", "x"), ("replacestring", "y")]).len(),
        1,
        "an unknown key"
    );
}
