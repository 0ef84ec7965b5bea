//! What Java Flume 1.11 has sent and answered is understood, and written again byte by byte.

use super::*;
use base64ct::{Base64, Encoding};
use std::{collections::BTreeMap, fs, path::PathBuf};

type Plain = (BTreeMap<String, String>, Vec<u8>);

/// The recordings of a protocol, but for one in which Java's client has failed before it sent anything.
fn scenarios(protocol: Protocol) -> Vec<String> {
    let start = if protocol == Protocol::Compact { "thrift-compact-" } else { "thrift-binary-" };
    let names = fs::read_dir(ROOT).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_prefix(start).map(str::to_owned)).collect();
    names.sort();
    names.retain(|name| name != "null-header");
    assert!(names.len() >= 8, "{names:?}");
    names
}

#[test]
fn a_header_without_a_value_was_never_sent_by_java() {
    for protocol in [Protocol::Compact, Protocol::Binary] {
        for direction in ["c2s", "s2c"] {
            assert!(frames(protocol, "null-header", direction).is_empty());
        }
        assert!(expected(protocol, "null-header", "expected.jsonl").is_empty());
    }
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/fixtures/rpc");

fn folder(protocol: Protocol, scenario: &str) -> PathBuf {
    let protocol = if protocol == Protocol::Compact { "compact" } else { "binary" };
    PathBuf::from(ROOT).join(format!("thrift-{protocol}-{scenario}"))
}

/// The frames that went in one direction, connection by connection.
fn frames(protocol: Protocol, scenario: &str, direction: &str) -> Vec<Vec<u8>> {
    let folder = folder(protocol, scenario);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_str().unwrap().ends_with(&format!("{direction}.bin")));
    files.sort();
    let mut frames = Vec::new();
    for file in files {
        let bytes = fs::read(file).unwrap();
        let mut rest = bytes.as_slice();
        while let Some(len) = rest.first_chunk::<4>() {
            let (frame, behind) = rest.split_at(4 + u32::from_be_bytes(*len) as usize);
            frames.push(frame.to_vec());
            rest = behind;
        }
    }
    frames
}

fn expected(protocol: Protocol, scenario: &str, file: &str) -> Vec<Plain> {
    let text = fs::read_to_string(folder(protocol, scenario).join(file)).unwrap();
    let event = |line| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let headers = value["headers"].as_object().unwrap().iter();
        let headers = headers.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()));
        (headers.collect(), Base64::decode_vec(value["body"].as_str().unwrap()).unwrap())
    };
    text.lines().map(event).collect()
}

fn plain(batch: &Batch) -> Vec<Plain> {
    let headers = |event: flumen_core::event::Event<'_>| {
        event.headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    batch.iter().map(|event| (headers(event), event.body.to_vec())).collect()
}

#[test]
fn recorded_calls_of_java_are_read_and_written_again_byte_by_byte() {
    for protocol in [Protocol::Compact, Protocol::Binary] {
        for scenario in &scenarios(protocol) {
            let mut events = Vec::new();
            let calls = frames(protocol, scenario, "c2s");
            assert!(!calls.is_empty(), "{scenario}");
            for frame in calls {
                let read = decode_call(message(&frame), protocol).unwrap();
                assert_eq!(call(protocol, read.method, read.sequence, &read.batch), frame, "{scenario}");
                events.extend(plain(&read.batch));
            }
            assert_eq!(events, expected(protocol, scenario, "sent.jsonl"), "{scenario}");
        }
    }
}

#[test]
fn recorded_answers_of_java_are_read_and_written_again_byte_by_byte() {
    for protocol in [Protocol::Compact, Protocol::Binary] {
        for scenario in &scenarios(protocol) {
            let calls = frames(protocol, scenario, "c2s");
            let replies = frames(protocol, scenario, "s2c");
            let (mut not_ok, mut failed) = (0, 0);
            for (asked, frame) in calls.iter().zip(&replies) {
                let asked = decode_call(message(asked), protocol).unwrap();
                let reply = decode_reply(&message(frame), protocol).unwrap();
                assert_eq!(reply.sequence, asked.sequence);
                let answer = match &reply.answer {
                    Ok(status) => {
                        not_ok += usize::from(*status != Status::Ok);
                        Ok(*status)
                    }
                    Err((number, text)) => {
                        failed += 1;
                        assert_eq!(*number, Fault::Internal.number());
                        Err((Fault::Internal, text.as_str()))
                    }
                };
                let mut out = Vec::new();
                encode_reply(&mut out, protocol, asked.method.name(), reply.sequence, answer);
                assert_eq!(out, *frame, "{scenario}");
            }
            let want = match scenario.as_str() {
                "full" => (2, 0),
                "interceptor-error" => (0, 2),
                _ => (0, 0),
            };
            assert_eq!((not_ok, failed), want, "{scenario}");
        }
    }
}

#[test]
fn the_examples_of_the_format_are_written_so() {
    let compact = "00000027 82 21 01 0b 617070656e644261746368 19 2c 1b 01 88 01 61 01 31 18 05 68656c6c6f 00 1b 00 18 01 78 00 00";
    assert_eq!(call(Protocol::Compact, Method::AppendBatch, 1, &sample()), hex(compact));
    let binary = "00000052 80010001 0000000b 617070656e644261746368 00000001 0f 0001 0c 00000002 0d 0001 0b 0b 00000001 \
                  00000001 61 00000001 31 0b 0002 00000005 68656c6c6f 00 0d 0001 0b 0b 00000000 0b 0002 00000001 78 00 00";
    assert_eq!(call(Protocol::Binary, Method::AppendBatch, 1, &sample()), hex(binary));
}

#[test]
fn events_that_share_headers_share_them_when_read() {
    let mut batch = Batch::new();
    let set = batch.add_headers([("host", "h"), ("é", "ü")].into_iter().collect());
    let segment = batch.add_segment(Bytes::from_static(b"abc"));
    (0..3).for_each(|at| batch.push_slice(set, segment, at..at + 1));
    for protocol in [Protocol::Compact, Protocol::Binary] {
        let read = decode_call(message(&call(protocol, Method::AppendBatch, 9, &batch)), protocol).unwrap();
        assert_eq!(read, Call { method: Method::AppendBatch, sequence: 9, batch: batch.clone() });
        let headers = |index: usize| read.batch.get(index).unwrap().headers;
        assert!(headers(0).is_same_place(&headers(1)) && headers(1).is_same_place(&headers(2)));
    }
}

#[test]
fn a_call_without_version_is_read_too() {
    let message =
        hex("00000006 617070656e64 01 00000007 0c0001 0d0001 0b0b00000000 0b0002 00000001 78 00 00");
    let read = decode_call(message.into(), Protocol::Binary).unwrap();
    assert_eq!((read.method, read.sequence, read.batch.get(0).unwrap().body), (Method::Append, 7, &b"x"[..]));
}

#[test]
fn unknown_fields_of_every_type_are_passed_over() {
    // In the event, before its headers: a truth value, byte, i16, i32, i64, double, text, list of truth values, map of
    // lists, struct with a set, uuid; numbers 3 and up, then back to 1 in the long form.
    let compact = "82 21 01 06 617070656e64 1c \
        31 13 05 14 02 15 80 01 16 80 80 01 17 0102030405060708 18 02 6162 19 21 01 02 \
        1b 01 59 08 15 02 1c 1a 14 02 00 1d 000102030405060708090a0b0c0d0e0f \
        0b 02 01 88 01 61 01 31 18 01 78 00 00";
    let read = decode_call(hex(compact).into(), Protocol::Compact).unwrap();
    let event = read.batch.get(0).unwrap();
    assert_eq!((event.body, event.headers.get("a").map(|value| value.as_str())), (&b"x"[..], Some("1")));
    let binary = "80010001 00000006 617070656e64 00000001 0c0001 \
        02 0003 01 03 0004 05 06 0005 0001 08 0006 00000001 0a 0007 0000000000000001 04 0008 0102030405060708 \
        0b 0009 00000002 6162 0f 000a 02 00000002 0100 0d 000b 08 0f 00000001 00000004 08 00000001 00000002 \
        0c 000c 0e 0001 06 00000001 0001 00 10 000d 000102030405060708090a0b0c0d0e0f \
        0d 0001 0b0b 00000001 00000001 61 00000001 31 0b 0002 00000001 78 00 00";
    let read = decode_call(hex(binary).into(), Protocol::Binary).unwrap();
    let event = read.batch.get(0).unwrap();
    assert_eq!((event.body, event.headers.get("a").map(|value| value.as_str())), (&b"x"[..], Some("1")));
}

#[test]
fn what_is_no_utf_8_gets_replacement_characters() {
    let message = hex("82 21 01 06 617070656e64 1c 1b 01 88 01 ff 02 c328 18 00 00 00");
    let read = decode_call(message.into(), Protocol::Compact).unwrap();
    let headers = read.batch.get(0).unwrap().headers;
    assert_eq!(headers.get("\u{fffd}").map(|value| value.as_str()), Some("\u{fffd}("));
}
