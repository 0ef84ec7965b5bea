//! The present time, and what it does to headers that are there.

use super::super::tests::{NOW, events, headers, intercepted, told};
use super::*;
use flumen_core::config::{Settings, read};

#[test]
fn int_32_the_header_holds_the_present_time_in_milliseconds() {
    assert_eq!(headers(&intercepted("timestamp", &[], events(&[(&[], "b")]))), [format!("timestamp={NOW}")]);
}

#[test]
fn int_33_a_timestamp_stays_only_with_preserve_existing() {
    let batch = || events(&[(&[("timestamp", "1")], "b"), (&[], "c")]);
    let kept = intercepted("timestamp", &[("preserveExisting", "true")], batch());
    assert_eq!(headers(&kept), ["timestamp=1".to_owned(), format!("timestamp={NOW}")]);
    let replaced = intercepted("timestamp", &[("preserveExisting", "false")], batch());
    assert_eq!(headers(&replaced), [format!("timestamp={NOW}"), format!("timestamp={NOW}")]);
    assert_eq!(headers(&intercepted("timestamp", &[], batch())), headers(&replaced));
}

#[test]
fn int_34_with_a_header_name_the_plain_timestamp_is_left_alone() {
    let batch = events(&[(&[("timestamp", "1")], "b")]);
    let named = intercepted("timestamp", &[("headerName", "timestampHeader")], batch);
    assert_eq!(headers(&named), [format!("timestamp=1 timestampHeader={NOW}")]);
}

#[test]
fn the_spelling_that_no_flume_reads_is_told() {
    let said = told("timestamp", &[("header", "t")]);
    assert_eq!(
        said,
        [
            "flume.conf:1: a.sources.r.interceptors.i.header: has no effect here: no version of Flume reads it; write \
             `headerName`"
        ]
    );
}

#[test]
fn it_sets_a_timestamp_for_the_sinks_unless_it_is_called_otherwise() {
    let facts = |pairs: &[(&str, &str)]| {
        let config =
            read::<TimestampConfig>(&Settings::from_pairs("a.sources.r.interceptors.i", pairs), &[]).0;
        TimestampInterceptor::facts(&config.unwrap()).sets_timestamp
    };
    assert!(facts(&[]));
    assert!(!facts(&[("headerName", "t")]));
}
