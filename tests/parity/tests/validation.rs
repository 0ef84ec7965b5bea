//! Odd configuration files: which components are left of them, compared with what Java Flume 1.11 keeps.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

use flumen_agent::{
    commands::Program,
    conf::{Origins, Sources},
    plan::Plan,
};
use flumen_core::registry::Environment;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

/// Where Flumen keeps other components on purpose: the case, and the row of `docs/differences.md` that says why.
const DIFFERENCES: &[(&str, &str)] = &[
    ("batch-over-transaction", "Batches above the transaction capacity"),
    ("group-default-two", "One bad sink in a group"),
    ("group-member-fails", "One bad sink in a group"),
    ("group-no-sinks", "Sink groups without sinks"),
    ("group-one-sink-lb", "One bad sink in a group"),
    ("group-unknown-processor", "One bad sink in a group"),
    ("groups-list-tab", "Tabs between sink groups"),
    ("lists-tab-comma", "Commas in lists"),
    ("selector-optional-unknown", "Unknown optional channels"),
    ("sink-unknown-type", "Unknown types"),
    ("source-batch-over-transaction", "Batches above the transaction capacity"),
    ("source-unknown-type", "Unknown types"),
    ("utf8-bom", "Byte order mark"),
];

/// Cases with a type that is known and not there yet. When it comes, the case is compared like all others.
const NOT_THERE_YET: &[&str] = &[
    "avro-sink-no-port",
    "boolean-odd",
    "exec-no-command",
    "file-channel-dual-no-backup",
    "file-channel-dual-same",
    "file-channel-transaction",
    "source-fails-sink-lives",
    "spillable-default-transaction",
    "two-equals",
];

/// What is left of a configuration, in the words of the fixture.
fn kept(plan: &Plan) -> Value {
    let sources: BTreeMap<_, _> =
        plan.sources.iter().map(|(name, source)| (name, &source.channels)).collect();
    let sinks: BTreeMap<_, Vec<_>> = plan
        .groups
        .iter()
        .map(|(name, group)| {
            let mut sinks: Vec<_> = group.sinks.iter().map(|sink| &sink.name).collect();
            sinks.sort();
            (name, sinks)
        })
        .collect();
    json!({"channels": plan.channels.keys().collect::<Vec<_>>(), "sources": sources, "sinks": sinks})
}

/// Capacity, transactionCapacity and keep-alive of the memory channels that are left, where Java has other than its defaults.
fn limits(plan: &Plan, program: &Program) -> Value {
    let context = program.plan_context();
    let mut all = BTreeMap::new();
    for (name, part) in plan.channels.iter().filter(|(_, part)| part.type_name == "memory") {
        let entry = program.registry.find_channel("memory").unwrap();
        let limits = (entry.limits)(&part.settings, &context.build_context(&plan.agent, name)).unwrap();
        all.insert(name, json!([limits.capacity, limits.transaction_capacity, limits.keep_alive.as_secs()]));
    }
    if all.values().all(|limits| *limits == json!([100, 100, 3])) { Value::Null } else { json!(all) }
}

async fn read(program: &Program, folder: &Path, case: &Value) -> (Plan, Vec<String>) {
    let path = folder.join("flume.conf");
    let latin_1: Vec<u8> =
        case["text"].as_str().unwrap().chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    fs::write(&path, latin_1).unwrap();
    let agent = case["agent"].as_str().unwrap();
    let sources = Sources { files: vec![path], ..Sources::default() };
    match program.read_plan(&mut Origins::new(sources, agent), agent).await {
        Ok((plan, problems)) => {
            (plan, problems.iter().map(|problem| format!("{}: {problem}", problem.severity)).collect())
        }
        Err(error) => (Plan::default(), vec![error.to_string()]),
    }
}

#[tokio::test]
async fn what_is_left_of_odd_files_is_what_java_keeps_or_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let differences = fs::read_to_string(manifest.join("../../docs/differences.md")).unwrap();
    let cases = fs::read_to_string(manifest.join("fixtures/validation/cases.jsonl")).unwrap();
    let program = Program {
        registry: Arc::new(flumen_agent::registry()),
        environment: Arc::new(Environment::default()),
    };
    let (mut wrong, mut n_compared) = (Vec::new(), 0);
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = case["case"].as_str().unwrap();
        let (plan, told) = read(&program, folder.path(), &case).await;
        if told.iter().any(|line| line.contains("known and not there yet")) {
            if !NOT_THERE_YET.contains(&name) {
                wrong.push(format!("{name}: has a type that is not there yet, and is not listed as such"));
            }
            continue;
        }
        n_compared += 1;
        // Where Java's start ends with an exception, nothing is left.
        let nothing = json!({"channels": [], "sources": {}, "sinks": {}});
        let java = &case["java"];
        let mut want = if java["fatal"].is_string() { nothing } else { java.clone() };
        let want_limits = want.as_object_mut().unwrap().remove("limits").unwrap_or_default();
        let (got, got_limits) = (kept(&plan), limits(&plan, &program));
        let same = got == want && got_limits == want_limits;
        let listed = DIFFERENCES.iter().find(|(case, _)| *case == name);
        match listed {
            None if same => {}
            None => wrong.push(format!(
                "{name}: {got} {got_limits}, Java {want} {want_limits}; told:\n    {}",
                told.join("\n    ")
            )),
            Some(_) if same => wrong.push(format!("{name}: is as in Java, and is listed as a difference")),
            Some((_, row)) if !differences.contains(&format!("\n| {row} |")) => {
                wrong.push(format!("{name}: docs/differences.md has no row `{row}`"));
            }
            Some(_) if told.is_empty() => wrong.push(format!("{name}: differs and nothing is said of it")),
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(n_compared > 80, "{n_compared} cases compared");
}
