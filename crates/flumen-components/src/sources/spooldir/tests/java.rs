//! What real Flume 1.11 did in scenarios, done again.

use super::*;
use crate::testing::json_lines;
use base64ct::{Base64, Encoding};
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, fs};
use support::Event;

#[derive(Debug, Deserialize)]
struct Scenario {
    scenario: String,
    steps: Vec<Value>,
}

/// Where Flumen does something else on purpose: scenario, step, and what is delivered there.
const OTHER_EVENTS: &[(&str, usize, &[&str])] = &[
    // Java makes an empty event of a file whose last line was delivered before it was killed.
    ("spool-killed-before-rename", 6, &[]),
    // The file was put aside; Java's source had stopped for good.
    ("spool-decode-fail", 6, &[]),
];

/// What is there afterwards where Flumen does something else on purpose: scenario, step, names.
const OTHER_FILES: &[(&str, usize, &[&str])] = &[
    ("spool-suffix-exists", 4, &["spool/a.txt.COMPLETED", "spool/a.txt.reused-1.COMPLETED"]),
    ("spool-changed", 5, &["spool/a.txt.changed-1.COMPLETED"]),
    ("spool-decode-fail", 3, &["spool/a.txt.failed-1.COMPLETED"]),
    ("spool-decode-fail", 7, &["spool/a.txt.failed-1.COMPLETED"]),
];

#[test]
fn dir_26_javas_scenarios_are_done_again() {
    let scenarios: Vec<Scenario> = json_lines("spooldir/scenarios.jsonl");
    assert_eq!(scenarios.len(), 23);
    for scenario in &scenarios {
        play(scenario);
    }
}

fn play(scenario: &Scenario) {
    let mut spooling = Spooling::new();
    let root = format!("{}/", spooling.path("").display().to_string().trim_end_matches('/'));
    let name = scenario.scenario.as_str();
    for (at, step) in scenario.steps.iter().enumerate() {
        let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
        match text("op").as_str() {
            "write" => {
                let content = match step["b64"].as_str() {
                    Some(coded) => Base64::decode_vec(coded).unwrap(),
                    None => text("text").into_bytes(),
                };
                spooling.write(&text("file"), content);
                if let Some(ms) = step["mtime"].as_u64() {
                    spooling.set_time(&text("file"), ms);
                }
            }
            "open" => {
                for (key, value) in step["conf"].as_object().unwrap() {
                    let (above, folder) = root.trim_end_matches('/').rsplit_once('/').unwrap();
                    let value = value.as_str().unwrap();
                    let value = value.replace("/var/log//app/", &format!("{above}//{folder}/"));
                    spooling.set(key, &value.replace("/var/log/app/", &root));
                }
                spooling.start();
            }
            "read" => {
                let got = read(&mut spooling, step);
                assert_eq!(got, expected_events(name, at, step, &root), "{name}, step {at}");
            }
            "list" => compare_files(name, at, &spooling, step, &root),
            "close" | "kill" => spooling.kill(),
            other => panic!("{name}: what is {other}?"),
        }
    }
}

fn read(spooling: &mut Spooling, step: &Value) -> Vec<(BTreeMap<String, String>, Vec<u8>)> {
    let most = usize::try_from(step["n"].as_u64().unwrap()).unwrap();
    let mut all: Vec<Event> = Vec::new();
    for _ in 0..step["rounds"].as_u64().unwrap_or(1) {
        spooling.spool.as_mut().unwrap().set_most(most);
        if step["commit"] == false {
            let (batch, _) = spooling.next().unwrap();
            all.extend(batch.iter().map(|event| (Vec::new(), event.body.to_vec())));
        } else {
            all.extend(spooling.events());
        }
    }
    all.into_iter().map(|(headers, body)| (headers.into_iter().collect(), body)).collect()
}

fn expected_events(
    name: &str,
    at: usize,
    step: &Value,
    root: &str,
) -> Vec<(BTreeMap<String, String>, Vec<u8>)> {
    if let Some((_, _, bodies)) = OTHER_EVENTS.iter().find(|(other, step, _)| *other == name && *step == at) {
        return bodies.iter().map(|body| (BTreeMap::new(), body.as_bytes().to_vec())).collect();
    }
    let event = |event: &Value| {
        let headers = event["headers"].as_object().unwrap().iter();
        let headers =
            headers.map(|(key, value)| (key.clone(), value.as_str().unwrap().replace("/var/log/app/", root)));
        (headers.collect(), Base64::decode_vec(event["body"].as_str().unwrap()).unwrap())
    };
    step["got"]["events"].as_array().unwrap().iter().map(event).collect()
}

/// Names and sizes, and of trackers which file they are about and how far it was read, record by record.
fn compare_files(name: &str, at: usize, spooling: &Spooling, step: &Value, root: &str) {
    let ours: Vec<String> =
        spooling.names("").into_iter().filter(|name| name.starts_with("spool/")).collect();
    if let Some((_, _, names)) = OTHER_FILES.iter().find(|(other, step, _)| *other == name && *step == at) {
        assert_eq!(ours, *names, "{name}, step {at}");
        assert!(!spooling.has_tracker(), "{name}, step {at}");
        return;
    }
    let files = step["got"]["files"].as_object().unwrap();
    let (mut javas, mut tracker) = (Vec::new(), None);
    for (file, what) in files {
        match what.as_str() {
            Some(coded) => tracker = Some((file, Base64::decode_vec(coded).unwrap())),
            None => {
                let len = fs::metadata(spooling.path(file)).map(|metadata| metadata.len());
                assert_eq!(len.ok(), what.as_u64(), "{name}, step {at}: {file}");
                javas.push(file.clone());
            }
        }
    }
    javas.sort();
    assert_eq!(ours, javas, "{name}, step {at}");
    let Some((file, java)) = tracker else {
        assert!(!spooling.has_tracker(), "{name}, step {at}");
        return;
    };
    let ours = fs::read(spooling.path(file)).unwrap();
    let (our, java) = (tracker::dump(&ours), tracker::dump(&java));
    assert_eq!(our.0, java.0.replace("/var/log/app/", root), "{name}, step {at}");
    // After a restart Java begins with the position that it found.
    assert!(
        !our.1.is_empty() && java.1.ends_with(&our.1),
        "{name}, step {at}: {our:?} is not the end of {java:?}"
    );
}
