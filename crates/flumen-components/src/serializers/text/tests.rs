//! Bodies and newlines, and nothing else.

use super::*;
use flumen_core::{
    config::{Settings, read},
    event::{Batch, Headers},
};

fn written(pairs: &[(&str, &str)], bodies: &[&str]) -> String {
    let config =
        read::<TextConfig>(&Settings::from_pairs("a.sinks.k.sink.serializer", pairs), &[]).0.unwrap();
    let mut serializer = TextSerializer::new(config);
    let mut batch = Batch::new();
    for body in bodies {
        batch.push(Headers::from_iter([("k", "v")]), body.as_bytes().to_vec());
    }
    let mut out = Vec::new();
    serializer.begin(&mut out).unwrap();
    for event in batch.iter() {
        serializer.write(event, &mut out).unwrap();
    }
    serializer.flush(&mut out).unwrap();
    serializer.end(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn ser_07_by_default_each_body_is_followed_by_a_newline_and_nothing_else() {
    assert_eq!(written(&[], &["event 1", "event 2", "event 3"]), "event 1\nevent 2\nevent 3\n");
    assert_eq!(written(&[], &["", "ends\n"]), "\nends\n\n");
}

#[test]
fn without_append_newline_bodies_follow_each_other() {
    assert_eq!(written(&[("appendNewline", "false")], &["event 1", "event 2"]), "event 1event 2");
}
