//! The reader against what real Flume makes of the same documents, and against a strict parser.

use super::*;
use base64ct::{Base64, Encoding};
use flumen_core::event::Headers;
use proptest::{prelude::*, sample::Index};
use serde_json::Value;
use std::collections::BTreeMap;

/// Headers and body of each event.
type Plain = Vec<(BTreeMap<String, String>, Vec<u8>)>;

fn plain(batch: &Batch) -> Plain {
    let headers = |headers: Headers| headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    batch.iter().map(|event| (headers(event.headers.to_headers()), event.body.to_vec())).collect()
}

fn parse(document: impl Into<Vec<u8>>) -> Result<Plain, StatusCode> {
    in_charset("utf-8", document)
}

fn in_charset(charset: &str, document: impl Into<Vec<u8>>) -> Result<Plain, StatusCode> {
    let content_type = format!("application/json; charset={charset}");
    batch(Some(&content_type), Bytes::from(document.into()))
        .map(|batch| plain(&batch))
        .map_err(|refusal| refusal.status)
}

fn events(pairs: &[(&[(&str, &str)], &str)]) -> Plain {
    let event = |(headers, body): &(&[(&str, &str)], &str)| {
        let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        (headers, body.as_bytes().to_vec())
    };
    pairs.iter().map(event).collect()
}

/// Each line: what was sent in which charset, and what Flume 1.11's own JSON handler made of it. Null values are null
/// there.
#[test]
fn lenience_is_that_of_the_java_handler() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/fixtures/sources/http-json-lenient.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    let mut different = Vec::new();
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let sent = Base64::decode_vec(case["in"].as_str().unwrap()).unwrap();
        let expected = match case["status"].as_u64().unwrap() {
            200 => Ok(golden_events(&case["events"])),
            status => Err(StatusCode::from_u16(u16::try_from(status).unwrap()).unwrap()),
        };
        let found = in_charset(case["charset"].as_str().unwrap(), sent.clone());
        if found != expected {
            different.push(format!("{}: {found:?}, not {expected:?}", String::from_utf8_lossy(&sent)));
        }
    }
    assert!(lines.lines().count() > 700);
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

fn golden_events(events: &Value) -> Plain {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let event = |event: &Value| {
        let headers =
            event["headers"].as_object().unwrap().iter().map(|(n, v)| (n.clone(), text(v))).collect();
        (headers, Base64::decode_vec(event["body"].as_str().unwrap()).unwrap())
    };
    events.as_array().unwrap().iter().map(event).collect()
}

#[test]
fn http_15_no_body_escapes_and_html() {
    let html = "<html><body>a &amp; 'b'</body></html>";
    let document = format!(r#"[{{"headers":{{"a":"b"}}}},{{"body":"say \"hi\""}},{{"body":"{html}"}}]"#);
    assert_eq!(parse(document).unwrap(), events(&[(&[("a", "b")], ""), (&[], "say \"hi\""), (&[], html)]));
}

#[test]
fn equal_header_objects_in_a_row_are_one_set() {
    let document = r#"[{"headers":{"a":"1"},"body":"x"},{"headers":{"a":"1"},"body":"y"},
        {"body":"z"},{"headers":{"a":"1"}}]"#;
    let mut batch = batch(None, Bytes::from_static(document.as_bytes())).unwrap();
    let mut calls = 0;
    batch.edit_headers(|_| calls += 1);
    assert_eq!(calls, 2, "one set for the header, one for none");
    let one: &[(&str, &str)] = &[("a", "1")];
    assert_eq!(plain(&batch), events(&[(one, "x"), (one, "y"), (&[], "z"), (one, "")]));
}

#[test]
fn headers_of_the_same_names_are_each_events_own() {
    let document: Vec<String> = (0..50)
        .map(|i| format!(r#"{{"headers":{{"n":"{i}","h\u0061":"\u00e9{i}"}},"body":"b{i}"}}"#))
        .collect();
    let found = parse(format!("[{}]", document.join(","))).unwrap();
    for (i, (headers, body)) in found.iter().enumerate() {
        let expected = BTreeMap::from([("n".to_owned(), i.to_string()), ("ha".to_owned(), format!("é{i}"))]);
        assert_eq!((headers, body), (&expected, &format!("b{i}").into_bytes()));
    }
}

#[test]
fn depth_events_and_headers_have_limits() {
    let nested = |depth: usize| format!("[{{\"x\":{}{}}}]", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(parse(nested(512)).unwrap().len(), 1);
    assert_eq!(parse(nested(513)), Err(StatusCode::BAD_REQUEST));
    assert_eq!(parse("[".repeat(1_000_000)), Err(StatusCode::BAD_REQUEST));

    let many = format!("[{}{{}}]", "{},".repeat(events::MAX_EVENTS));
    assert_eq!(parse(many), Err(StatusCode::PAYLOAD_TOO_LARGE));

    let headers = |n: usize| (0..n).map(|i| format!("\"{i}\":\"\"")).collect::<Vec<_>>().join(",");
    let bomb = format!("[{{\"headers\":{{{}}}}}]", headers(20_000));
    assert_eq!(parse(bomb).unwrap()[0].0.len(), 20_000);
    let bomb = format!("[{{\"headers\":{{{}}}}}]", headers(events::MAX_HEADERS + 1));
    assert_eq!(parse(bomb), Err(StatusCode::PAYLOAD_TOO_LARGE));
    let twice = format!("[{{\"headers\":{{{},\"7\":\"\"}}}}]", headers(100));
    assert_eq!(parse(twice), Err(StatusCode::BAD_REQUEST));
}

#[test]
fn charsets_are_read_from_content_types() {
    for (content_type, expected) in [
        ("application/json", None),
        ("application/json; charset=utf-16", Some("utf-16")),
        ("text/plain;a=b; Charset=\"UTF-8\" ", Some("UTF-8")),
        ("x; charset=", None),
        ("charset=utf-16", None),
    ] {
        assert_eq!(charset_of(content_type), expected, "{content_type}");
    }
}

/// A document as clients write it, with what it holds.
fn document() -> impl Strategy<Value = (String, Plain)> {
    let text = || proptest::string::string_regex("(?s).{0,12}").unwrap();
    let headers = proptest::collection::btree_map(text(), text(), 0..4);
    let event = (headers, text().prop_map(String::into_bytes));
    let events = proptest::collection::vec(event, 0..6);
    // Repeats make the shortcut for equal headers work.
    (events, any::<bool>(), any::<bool>()).prop_map(|(mut events, doubled, spaced)| {
        if doubled {
            events = events.into_iter().flat_map(|event| [event.clone(), event]).collect();
        }
        let value: Vec<Value> = events
            .iter()
            .map(|(headers, body)| serde_json::json!({"headers": headers, "body": String::from_utf8_lossy(body)}))
            .collect();
        let text = if spaced { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        (text.unwrap(), events)
    })
}

/// A value as a strict parser sees it, with all members of objects.
enum Node {
    Null,
    Text(String),
    Object(Vec<(String, Node)>),
    Other,
}

impl<'de> serde::Deserialize<'de> for Node {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Node;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Null)
            }
            fn visit_bool<E>(self, truth: bool) -> Result<Node, E> {
                Ok(Node::Text(truth.to_string()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Node, E> {
                Ok(Node::Text(text.to_owned()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
                Ok(Node::Text(number.to_string()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
                Ok(Node::Text(number.to_string()))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
                Ok(Node::Other)
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
                while items.next_element::<Node>()?.is_some() {}
                Ok(Node::Other)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = items.next_entry()? {
                    members.push(member);
                }
                Ok(Node::Object(members))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// What a strict parser says of a document: events, where it holds nothing but the plain shape.
fn strict(document: &[u8]) -> Option<Plain> {
    let text = |node: Node| match node {
        Node::Null => Some(String::new()),
        Node::Text(text) => Some(text),
        _ => None,
    };
    let event = |node: Node| {
        let Node::Object(members) = node else { return None };
        let (mut headers, mut body) = (BTreeMap::new(), String::new());
        for (name, node) in members {
            match (name.as_str(), node) {
                ("body", node) => body = text(node)?,
                ("headers", Node::Null) => headers.clear(),
                ("headers", Node::Object(members)) => {
                    let n = members.len();
                    headers = members.into_iter().map(|(n, v)| Some((n, text(v)?))).collect::<Option<_>>()?;
                    (headers.len() == n).then_some(())?;
                }
                ("headers", _) => return None,
                _ => {}
            }
        }
        Some((headers, body.into_bytes()))
    };
    let events: Vec<Node> = serde_json::from_slice(document).ok()?;
    events.into_iter().map(event).collect()
}

proptest! {
    #[test]
    fn documents_are_read_as_they_were_written((document, events) in document()) {
        prop_assert_eq!(parse(document.clone()).unwrap(), events.clone());
        let wide: Vec<u8> = document.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let found = in_charset("utf-16", wide).unwrap();
        for ((headers, body), (expected, text)) in found.iter().zip(&events) {
            prop_assert_eq!(headers, expected);
            let text = String::from_utf8_lossy(text);
            let encoded: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(body.strip_prefix(b"\xfe\xff").unwrap_or(body), &encoded[..]);
        }
        prop_assert_eq!(found.len(), events.len());
    }

    #[test]
    fn what_a_strict_parser_takes_is_taken_alike(
        (document, _) in document(),
        changes in proptest::collection::vec((any::<Index>(), 0..4u8, any::<u8>(), any::<Index>()), 0..4),
    ) {
        let mut bytes = document.into_bytes();
        for (at, kind, byte, other) in changes {
            if bytes.is_empty() { break; }
            let (at, other) = (at.index(bytes.len()), other.index(bytes.len()));
            match kind {
                0 => bytes.insert(at, b"{}[],:\"\\ntf0"[usize::from(byte) % 12]),
                1 => { bytes.remove(at); }
                2 => bytes[at] = byte,
                _ => { let part = bytes[at.min(other)..at.max(other)].to_vec(); bytes.splice(at..at, part); }
            }
        }
        if let Some(expected) = strict(&bytes) {
            prop_assert_eq!(parse(bytes).unwrap(), expected);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_fail(bytes in proptest::collection::vec(any::<u8>(), 0..64), kind in 0..3usize) {
        let _ = in_charset(["utf-8", "utf-16", "utf-32"][kind], bytes);
    }
}
