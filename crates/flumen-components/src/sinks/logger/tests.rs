//! The text of the log lines, and where they go.

use super::*;
use crate::testing::{Kept, RecordedEvent, batch_of, json_lines, sink_context};
use flumen_core::config::{Settings, read};
use serde::Deserialize;
use tracing::Level;

#[derive(Deserialize)]
struct Case {
    event: RecordedEvent,
    max: usize,
    result: CaseResult,
}

#[derive(Deserialize)]
struct CaseResult {
    line: String,
}

#[test]
fn the_text_is_javas_but_for_null_header_values() {
    let cases: Vec<Case> = json_lines("logger/logger.jsonl");
    assert_eq!(cases.len(), 85);
    for case in cases {
        let mut batch = Batch::new();
        case.event.push(&mut batch);
        let mut line = String::from("Event: ");
        wire::dump(batch.get(0).unwrap(), case.max, &mut line);
        // Java's null header values are empty strings here.
        assert_eq!(line, case.result.line.replace("=null", "="), "{:?}, {} bytes", case.event, case.max);
    }
}

#[test]
fn ser_38_printable_text_shows_as_it_is_and_zero_bytes_as_dots() {
    let mut batch = batch_of(&["Some text"]);
    batch.append(batch_of(&["\0\0\0\0\0"]));
    let mut line = String::new();
    wire::dump(batch.get(0).unwrap(), 16, &mut line);
    assert!(line.contains("Some text"), "{line}");
    line.clear();
    wire::dump(batch.get(1).unwrap(), 16, &mut line);
    assert!(line.contains("....."), "{line}");
}

/// The lines that a batch of one body gives, at a level of the log.
fn logged(pairs: &[(&str, &str)], body: &str, most: Level) -> Vec<String> {
    let (config, _) = read::<LoggerConfig>(&Settings::from_pairs("a.sinks.k", pairs), &[]);
    let mut sink = LoggerSink::build(config.unwrap(), &sink_context(0, false)).unwrap();
    let batch = batch_of(&[body]);
    Kept { most, target: "org.apache.flume.sink.LoggerSink" }.while_running(async {
        assert_eq!(sink.deliver(&batch).await.unwrap(), Delivery::all(&batch));
    })
}

#[test]
fn ser_46_sixteen_bytes_show_by_default_and_as_many_as_max_bytes_to_log_says() {
    let body = "abcdefghijklmnopqrstuvwxyz0123456789";
    let by_default = logged(&[], body, Level::INFO);
    assert_eq!(by_default.len(), 1);
    assert!(by_default[0].starts_with("Event: { headers:{} body: 61 62"), "{by_default:?}");
    assert!(by_default[0].ends_with(" abcdefghijklmnop }"), "{by_default:?}");
    let thirty = logged(&[("maxBytesToLog", "30")], body, Level::INFO);
    assert!(thirty[0].contains("\n00000010 71 72") && thirty[0].ends_with(" qrstuvwxyz0123 }"), "{thirty:?}");
    let bad = logged(&[("maxBytesToLog", "many")], body, Level::INFO);
    assert_eq!(bad, by_default, "a bad number is Java's default");
}

#[test]
fn a_log_that_does_not_show_info_costs_no_line() {
    assert!(logged(&[], "x", Level::WARN).is_empty());
}
