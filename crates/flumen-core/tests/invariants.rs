//! The invariants that are about what may know what: shown on the source and the manifests of the workspace.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

use std::{
    fs,
    path::{Path, PathBuf},
};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Rust files below a folder, or the file itself, without tests and the suites for tests.
fn sources(at: &Path) -> Vec<PathBuf> {
    if at.is_file() {
        return vec![at.to_owned()];
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(at).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name == "testing" || name == "tests" => {}
            true => found.extend(sources(&path)),
            false if name == "tests.rs" || name.ends_with("_tests.rs") || !name.ends_with(".rs") => {}
            false => found.push(path),
        }
    }
    found
}

/// The code of a file: without comments, and without the tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Fails where a file at one of the places has one of the words.
fn nowhere(places: &[&str], words: &[&str]) {
    let files: Vec<PathBuf> = places.iter().flat_map(|place| sources(&crates().join(place))).collect();
    assert!(!files.is_empty(), "nothing at {places:?}");
    for file in files {
        let code = code(&file);
        for word in words {
            assert!(!code.contains(word), "{} has `{word}`", file.display());
        }
    }
}

#[test]
fn invariant_09_a_sink_sees_no_channel_a_source_no_transaction_and_a_policy_no_clock() {
    let takes = ["TakeTransaction", "PutTransaction", "try_take", "try_put", "begin_take", "begin_put"];
    nowhere(&["flumen-core/src/sink.rs", "flumen-core/src/sink", "flumen-core/src/source.rs"], &takes);
    nowhere(&["flumen-core/src/sink.rs", "flumen-core/src/sink"], &["dyn Channel", "crate::channel"]);
    nowhere(&["flumen-components/src/sinks", "flumen-components/src/sources"], &takes);
    nowhere(&["flumen-components/src/sinks"], &["dyn Channel"]);
    let clocks = ["Instant::now", "SystemTime", "sleep", "now_ms"];
    nowhere(&["flumen-core/src/supervise.rs", "flumen-core/src/route.rs"], &clocks);
    nowhere(&["flumen-components/src/processors", "flumen-components/src/selectors"], &clocks);
}

#[test]
fn invariant_10_core_does_no_io_starts_no_task_and_knows_no_component() {
    let io = [
        "std::fs",
        "std::net",
        "std::process",
        "std::env",
        "tokio::fs",
        "tokio::net",
        "tokio::process",
        "File::",
    ];
    nowhere(&["flumen-core/src"], &io);
    let starts =
        ["tokio::spawn", "task::spawn", "spawn_blocking", "thread::spawn", "thread::Builder", ".spawn("];
    for file in sources(&crates().join("flumen-core/src")) {
        let blocking = file.ends_with("sink/blocking.rs");
        let code = code(&file);
        let found = starts.iter().any(|word| code.contains(word));
        assert_eq!(found, blocking, "only the Blocking adapter starts a thread: {}", file.display());
    }
    let manifest = fs::read_to_string(crates().join("flumen-core/Cargo.toml")).unwrap();
    let normal = manifest.split("[dev-dependencies]").next().unwrap();
    for line in normal.lines().filter(|line| line.starts_with("flumen-")) {
        assert!(line.starts_with("flumen-derive"), "core depends on {line}");
    }
    let tokio = normal.lines().find(|line| line.starts_with("tokio")).unwrap();
    for feature in ["\"net\"", "\"fs\"", "\"process\"", "\"signal\"", "\"io-std\"", "\"full\""] {
        assert!(!tokio.contains(feature), "core turns on {feature} of tokio");
    }
}

#[test]
fn invariant_11_no_component_crate_depends_on_another_one_or_on_the_agent() {
    let libraries = ["flumen-core", "flumen-derive", "flumen-java", "flumen-tls", "flumen-rpc", "flumen-wal"];
    let mut seen = 0;
    for entry in fs::read_dir(crates()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(manifest) = fs::read_to_string(path.join("Cargo.toml")) else { continue };
        if matches!(name.as_str(), "flumen-agent" | "flumen-sim") {
            continue;
        }
        seen += 1;
        let normal = manifest.split("[dev-dependencies]").next().unwrap();
        let depends = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
        for on in normal.lines().map(depends).filter(|on| on.starts_with("flumen-")) {
            assert!(libraries.contains(&on.as_str()), "{name} depends on {on}");
        }
    }
    assert!(seen >= 6, "only {seen} crates were looked at");
}

#[test]
fn invariant_12_no_queue_is_unbounded() {
    let words = ["unbounded_channel", "UnboundedSender", "mpsc::channel()", "unbounded()"];
    let all: Vec<String> = fs::read_dir(crates())
        .unwrap()
        .map(|entry| format!("{}/src", entry.unwrap().file_name().to_string_lossy()))
        .filter(|place| crates().join(place).is_dir())
        .collect();
    nowhere(&all.iter().map(String::as_str).collect::<Vec<_>>(), &words);
}
