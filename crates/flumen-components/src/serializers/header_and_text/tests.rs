//! Headers in Java's order, a blank, the body. Whole files are compared with Java's by the tests of the file_roll sink.

use super::*;
use flumen_core::event::{Batch, Headers};

fn written(append_newline: bool, headers: &[(&str, &str)], bodies: &[&str]) -> String {
    let mut serializer = HeaderAndTextSerializer::new(TextConfig { append_newline });
    let mut batch = Batch::new();
    for body in bodies {
        batch.push(Headers::from_iter(headers.iter().copied()), body.as_bytes().to_vec());
    }
    let mut out = Vec::new();
    for event in batch.iter() {
        serializer.write(event, &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn ser_09_headers_stand_in_the_order_of_a_java_map_before_the_body() {
    let headers = [("header1", "value1"), ("header2", "value2")];
    assert_eq!(written(true, &headers, &["event 1"]), "{header2=value2, header1=value1} event 1\n");
    assert_eq!(written(true, &[], &["x"]), "{} x\n");
}

#[test]
fn ser_10_without_append_newline_bodies_that_end_in_one_are_not_doubled() {
    let headers = [("header1", "value1"), ("header2", "value2")];
    let line = "{header2=value2, header1=value1} event\n";
    assert_eq!(written(false, &headers, &["event\n", "event\n"]), line.repeat(2));
}
