//! `.properties` files against what a JDK read from them.
#![allow(clippy::unwrap_used, reason = "what does not unwrap fails the test")]

mod golden;

use flumen_java::properties::{Encoding, LoadError, Loaded, load};
use golden::Verdict;
use serde_json::Value;
use std::collections::BTreeMap;

fn text(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => golden::units(other["utf16"].as_str().unwrap()),
    }
}

fn key(key: &str) -> String {
    key.strip_prefix("utf16:").map_or_else(|| key.to_owned(), golden::units)
}

fn compare(verdict: &mut Verdict, id: &str, expected: &Value, loaded: &Loaded) {
    let pairs: Vec<(String, String)> =
        expected["pairs"].as_array().unwrap().iter().map(|p| (text(&p[0]), text(&p[1]))).collect();
    let got: Vec<(String, String)> = loaded.pairs.iter().map(|p| (p.key.clone(), p.value.clone())).collect();
    verdict.check(id, "pairs", got.clone(), pairs);
    let map: BTreeMap<String, String> =
        expected["map"].as_object().unwrap().iter().map(|(k, v)| (key(k), text(v))).collect();
    verdict.check(id, "map", got.into_iter().collect(), map);
    let failed = expected.get("error").is_some();
    verdict.check(id, "error", matches!(loaded.error, Some(LoadError::BadEscape { .. })), failed);
}

#[test]
fn files_load_as_in_java() {
    let mut verdict = Verdict::new("properties", &[]);
    let expected: BTreeMap<String, Value> =
        serde_json::from_str(&golden::read("properties/expected.json")).unwrap();
    for (file, expected) in &expected {
        let bytes = std::fs::read(golden::path("properties/files").join(file)).unwrap();
        verdict.check(file, "size", bytes.len() as u64, expected["bytes"].as_u64().unwrap());
        compare(&mut verdict, file, &expected["stream"], &load(&bytes, Encoding::Latin1));
        let reader = if expected["readerSame"] == true { &expected["stream"] } else { &expected["reader"] };
        compare(&mut verdict, file, reader, &load(&bytes, Encoding::Utf8));
    }
    verdict.settle(78 * 7);
}

#[test]
fn every_line_number_is_that_of_a_line_with_the_start_of_the_key() {
    for entry in std::fs::read_dir(golden::path("properties/files")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let text: String = bytes.iter().copied().map(char::from).collect();
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let lines: Vec<&str> = text.split('\n').collect();
        let mut before = 0;
        for pair in load(&bytes, Encoding::Latin1).pairs {
            assert!(pair.first_line > before && pair.line >= pair.first_line, "{pair:?} after line {before}");
            before = pair.line;
            let line = lines[pair.line as usize - 1].trim_start_matches([' ', '\t', '\u{C}']);
            let start: String = pair.key.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
            let plain = !start.is_empty() && line.starts_with(|c: char| c.is_ascii_alphanumeric());
            // A key may go on in the next line, so only what the line has of it can be compared.
            let n = line.chars().zip(start.chars()).take_while(|(a, b)| a == b).count();
            assert!(!plain || n > 0, "{pair:?} is not on {line:?}");
        }
    }
}
