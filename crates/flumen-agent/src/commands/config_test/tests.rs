//! Cases that pass, cases that fail with what differs, and files that cannot be used.

use super::*;
use flumen_core::registry::Environment;
use std::sync::Arc;

const CONFIGURATION: &str = "\
a.sources = r
a.channels = normal alerts
a.sinks = k l
a.sources.r.type = seq
a.sources.r.channels = normal alerts
a.sources.r.selector.type = multiplexing
a.sources.r.selector.header = level
a.sources.r.selector.mapping.error = alerts
a.sources.r.selector.default = normal
a.channels.normal.type = memory
a.channels.alerts.type = memory
a.sinks.k.type = null
a.sinks.k.channel = normal
a.sinks.l.type = null
a.sinks.l.channel = alerts
";

fn run_file(test: &str) -> Result<Vec<Outcome>, String> {
    run_with("", test)
}

/// Runs cases with more lines in the configuration, and `PLACE` and `DOOR_SECRET` in the environment.
fn run_with(more: &str, test: &str) -> Result<Vec<Outcome>, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("flume.conf"), format!("{CONFIGURATION}{more}")).unwrap();
    let path = folder.path().join("flow.toml");
    std::fs::write(&path, test).unwrap();
    let variables = [("PLACE", "here"), ("DOOR_SECRET", "sesame-open")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let environment = Arc::new(Environment { variables, ..Environment::default() });
    outcomes(&Program { registry: Arc::new(crate::registry()), environment }, &path, &[])
}

const FILTERED: &str = "\
a.configfilters = f
a.configfilters.f.type = env
a.sources.r.interceptors = i j
a.sources.r.interceptors.i.type = static
a.sources.r.interceptors.i.key = place
a.sources.r.interceptors.i.value = ${env:PLACE}
a.sources.r.interceptors.j.type = static
a.sources.r.interceptors.j.key = door
a.sources.r.interceptors.j.value = ${f[\"DOOR_SECRET\"]}
";

#[test]
fn lookups_and_config_filters_are_those_of_the_agent() {
    let both = "headers = { place = \"here\", door = \"sesame-open\"";
    let expect =
        format!("[[case.expect.alerts]]\n{both}, level = \"error\" }}\n[[case.expect.normal]]\n{both} }}\n");
    assert_eq!(run_with(FILTERED, &case(&expect)).unwrap()[0].differences, [] as [&str; 0]);
}

#[test]
fn what_came_from_a_filter_is_not_shown_in_a_difference() {
    let expect = "[[case.expect.alerts]]\nheaders = { door = \"x\", level = \"error\" }\n[[case.expect.normal]]\n\
                  headers = { door = \"sesame-open\", place = \"there\" }\n";
    let want = [
        "channel alerts, event 1: header door: \"x\" expected, \"***\" came",
        "channel alerts, event 1: header place: not expected, it is \"here\"",
        "channel normal, event 1: header place: \"there\" expected, \"here\" came",
    ];
    assert_eq!(run_with(FILTERED, &case(expect)).unwrap()[0].differences, want);
}

fn case(expect: &str) -> String {
    format!(
        "config = [\"flume.conf\"]\nagent = \"a\"\n[[case]]\nname = \"routes\"\nsource = \"r\"\n\
         [[case.event]]\nheaders = {{ level = \"error\" }}\nbody = \"disk full\"\n[[case.event]]\nbody = \"fine\"\n{expect}"
    )
}

#[test]
fn events_go_where_the_selector_says() {
    let expect = "[[case.expect.alerts]]\nheaders = { level = \"error\" }\nbody = \"disk full\"\n[[case.expect.normal]]\nbody = \"fine\"\n";
    let outcomes = run_file(&case(expect)).unwrap();
    assert_eq!(outcomes, [Outcome { name: "routes".into(), differences: vec![] }]);
}

#[test]
fn every_difference_is_told() {
    let expect = "[[case.expect.normal]]\nheaders = { level = \"info\" }\nbody = \"fine?\"\n[[case.expect.normal]]\nbody = \"more\"\n";
    let outcomes = run_file(&case(expect)).unwrap();
    let want = [
        "channel alerts: 0 events expected, 1 came",
        "channel alerts, event 1: not expected: \"disk full\" with headers [level=error]",
        "channel normal: 2 events expected, 1 came",
        "channel normal, event 1: header level: \"info\" expected, there is none",
        "channel normal, event 1: body: \"fine?\" expected, \"fine\" came",
    ];
    assert_eq!(outcomes[0].differences, want);
}

#[test]
fn other_headers_are_a_difference_unless_they_are_allowed() {
    let expect = "[[case.expect.alerts]]\n[[case.expect.normal]]\n";
    let outcomes = run_file(&case(expect)).unwrap();
    assert_eq!(
        outcomes[0].differences,
        ["channel alerts, event 1: header level: not expected, it is \"error\""]
    );
    let allowed = case(expect).replace("source = \"r\"", "source = \"r\"\nother_headers = true");
    assert!(run_file(&allowed).unwrap()[0].differences.is_empty());
}

#[test]
fn files_that_cannot_be_used_say_why() {
    for (test, want) in [
        ("agent = 1", "invalid type"),
        ("config = [\"gone.conf\"]\nagent = \"a\"\ncase = []", "cannot read"),
        (&case("").replace("source = \"r\"", "source = \"q\""), "there is no source `q`"),
        (&case("").replace("agent = \"a\"", "agent = \"b\""), "no agent of this name"),
        (&format!("{}typo = 1\n", case("")), "unknown field `typo`"),
    ] {
        let error = run_file(test).unwrap_err();
        assert!(error.contains(want), "{error}");
    }
    let error = &run_file(&case("[[case.expect.nowhere]]\n")).unwrap()[0].differences;
    assert_eq!(error[..], ["source `r` has no channel `nowhere`"]);
}
