//! What real Flume 1.11 did in scenarios, done again.

use super::*;
use crate::testing::json_lines;
use base64ct::{Base64, Encoding};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
struct Scenario {
    scenario: String,
    steps: Vec<Value>,
}

/// Where Flumen does something else on purpose: scenario, step, and what is delivered there.
const OTHERWISE: &[(&str, usize, &[&str])] = &[
    ("tail-rotation-out", 6, &["late line 0", "new line 0", "new line 1"]),
    ("tail-rotation-in", 5, &["new line 0", "new line 1"]),
    ("tail-rotation-while-stopped", 7, &["new line 0", "new line 1"]),
    ("tail-bad-position", 3, &["x"]),
    ("tail-position-member-missing", 3, &["x", "y"]),
];

/// Scenarios whose steps from this one on end in Java with an error, which has another form here.
const JAVA_FAILS: &[(&str, usize)] =
    &[("tail-missing-directory", 0), ("tail-bad-position", 2), ("tail-position-member-missing", 2)];

#[test]
fn javas_scenarios_are_done_again() {
    let scenarios: Vec<Scenario> = json_lines("taildir/scenarios.jsonl");
    assert_eq!(scenarios.len(), 24);
    for scenario in &scenarios {
        play(scenario);
    }
}

fn play(scenario: &Scenario) {
    let mut tail = Tail::with(&[]);
    std::fs::remove_dir(tail.path("web")).unwrap();
    let root = format!("{}/", tail.path("").display().to_string().trim_end_matches('/'));
    let name = scenario.scenario.as_str();
    let fails_from = JAVA_FAILS.iter().find(|(other, _)| *other == name).map(|(_, step)| *step);
    for (at, step) in scenario.steps.iter().enumerate() {
        let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
        let file = text("file");
        match text("op").as_str() {
            "write" => match step["b64"].as_str() {
                Some(coded) => tail.write(&file, Base64::decode_vec(coded).unwrap()),
                None => tail.write(&file, text("text")),
            },
            "rename" => tail.rename(&file, &text("to")),
            "delete" => tail.delete(&file),
            "truncate" => tail.truncate(&file),
            "sleep" => tail.now += Duration::from_millis(step["ms"].as_u64().unwrap()),
            "start" => {
                for (key, value) in step["conf"].as_object().unwrap() {
                    tail.set(key, &value.as_str().unwrap().replace("/var/log/app/", &root));
                }
                if name == "tail-missing-directory" {
                    assert!(tail.try_start().unwrap_err().contains("web"), "the directory is named");
                    return;
                }
                tail.start();
            }
            "process" => {
                let expected = expected(name, at, step, &root);
                let (mut events, mut more) = tail.round();
                while more && step["times"].is_null() {
                    let (others, again) = tail.round();
                    events.extend(others);
                    more = again;
                }
                let events: Vec<_> =
                    events.into_iter().map(|(headers, body)| (headers.into_iter().collect(), body)).collect();
                assert_eq!(events, expected, "{name}, step {at}");
                if fails_from.is_none() {
                    assert_eq!(more, step["got"]["status"] == "READY", "{name}, step {at}");
                }
            }
            "position" => assert!(step["got"]["position"].is_null(), "Java has not written yet"),
            "stop" => {
                tail.stop();
                if fails_from.is_none() {
                    compare_positions(name, &tail, step["got"]["position"].as_str().unwrap());
                }
            }
            other => panic!("{name}: what is {other}?"),
        }
    }
}

fn expected(name: &str, at: usize, step: &Value, root: &str) -> Vec<(BTreeMap<String, String>, Vec<u8>)> {
    if let Some((_, _, bodies)) = OTHERWISE.iter().find(|(other, step, _)| *other == name && *step == at) {
        return bodies.iter().map(|body| (BTreeMap::new(), body.as_bytes().to_vec())).collect();
    }
    let events = step["got"]["events"].as_array().unwrap();
    let event = |event: &Value| {
        let headers = event["headers"].as_object().unwrap().iter();
        let headers =
            headers.map(|(key, value)| (key.clone(), value.as_str().unwrap().replace("/var/log/app/", root)));
        (headers.collect(), Base64::decode_vec(event["body"].as_str().unwrap()).unwrap())
    };
    events.iter().map(event).collect()
}

/// Java's text with inodes and paths of here, row by row: the order of groups is that of a hash table there.
fn compare_positions(name: &str, tail: &Tail, java: &str) {
    let mut text = java
        .replace("/var/log/app/", &format!("{}/", tail.path("").display().to_string().trim_end_matches('/')));
    while let Some(start) = text.find("@INODE:") {
        let end = start + 7 + text[start + 7..].find('@').unwrap();
        let ino = tail.ino(&text[start + 7..end]);
        text.replace_range(start..=end, &ino.to_string());
    }
    let rows = |text: &str| {
        let mut rows: Vec<String> = text
            .trim_matches(['[', ']'])
            .split("},{")
            .map(|row| row.trim_matches(['{', '}']).to_owned())
            .collect();
        rows.sort();
        // A file in two groups stands twice in Java's.
        rows.dedup();
        rows
    };
    let ours = tail.positions();
    assert_eq!(rows(&ours), rows(&text), "{name}");
    assert_eq!(
        (ours.is_empty(), ours.starts_with('['), ours.ends_with(']')),
        (text.is_empty(), text.starts_with('['), text.ends_with(']')),
        "{name}"
    );
}
