//! Every interceptor against what Flume 1.11 made of the same events, and against the contract of interceptors.

use crate::testing::{RecordedEvent, context, json_lines};
use flumen_core::{
    config::{Problem, Settings, Severity},
    event::Batch,
    intercept::Interceptor,
    registry::{BuildContext, Environment, InterceptorEntry, Kind},
    testing::InterceptorSuite,
};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::ToSocketAddrs,
    sync::Arc,
};

/// The time in tests, in milliseconds since 1970.
pub(super) const NOW: i64 = 1_700_000_000_123;

/// Settings of an interceptor `i`.
fn settings(pairs: &[(&str, &str)]) -> Settings {
    Settings::from_pairs("a.sources.r.interceptors.i", pairs)
}

/// What an interceptor is made with; its JVM would have run in UTC.
pub(super) fn utc_context() -> BuildContext {
    let environment = Environment {
        properties: BTreeMap::from([("user.timezone".to_owned(), "UTC".to_owned())]),
        ..Environment::default()
    };
    BuildContext { environment: Arc::new(environment), ..context("i", NOW) }
}

fn entry(name: &str) -> InterceptorEntry {
    *utc_context().registry.find_interceptor(name).unwrap_or_else(|| panic!("no interceptor {name}"))
}

/// An interceptor with these settings, as an agent makes it, or what is said against it.
pub(super) fn made(
    name: &str,
    pairs: &[(&str, &str)],
    context: &BuildContext,
) -> Result<Arc<dyn Interceptor>, String> {
    let (entry, settings) = (entry(name), settings(pairs));
    let (_, problems) = (entry.check)(&settings);
    if let Some(error) = problems.iter().find(|problem| problem.severity == Severity::Error) {
        return Err(error.to_string());
    }
    (entry.build)(&settings, context).map_err(|error| error.to_string())
}

/// All that is said of settings.
pub(super) fn told(name: &str, pairs: &[(&str, &str)]) -> Vec<String> {
    (entry(name).check)(&settings(pairs)).1.iter().map(Problem::to_string).collect()
}

/// An interceptor whose settings are good.
pub(super) fn good(name: &str, pairs: &[(&str, &str)]) -> Arc<dyn Interceptor> {
    made(name, pairs, &utc_context()).unwrap()
}

/// What an interceptor makes of a batch.
pub(super) fn intercepted(name: &str, pairs: &[(&str, &str)], mut batch: Batch) -> Batch {
    good(name, pairs).intercept(&mut batch).unwrap();
    batch
}

/// A batch of events with these headers and bodies.
pub(super) fn events(events: &[(&[(&str, &str)], &str)]) -> Batch {
    let mut batch = Batch::new();
    for (headers, body) in events {
        batch.push(headers.iter().copied().collect(), body.as_bytes().to_vec());
    }
    batch
}

/// The headers of each event as `name=value`, sorted and with blanks between.
pub(super) fn headers(batch: &Batch) -> Vec<String> {
    let shown = |headers: flumen_core::event::EventHeaders<'_>| {
        let mut all: Vec<String> = headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
        all.sort();
        all.join(" ")
    };
    batch.iter().map(|event| shown(event.headers)).collect()
}

#[derive(Deserialize)]
struct Case {
    case: String,
    #[serde(rename = "type")]
    kind: String,
    config: BTreeMap<String, String>,
    events: Vec<RecordedEvent>,
    result: Outcome,
}

#[derive(Deserialize)]
struct Outcome {
    #[serde(default)]
    events: Vec<Option<Answer>>,
    refused: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Thrown {
        #[expect(dead_code, reason = "tells the two kinds apart")]
        error: String,
    },
    Event(RecordedEvent),
}

/// The cases that differ on purpose, each with its row of `docs/differences.md`.
const DIFFERENT: &[(&str, &str)] = &[
    // A time that cannot be read is thrown at by Java; here its header is left out.
    ("rx-millis", "Times that cannot be read"),
    ("rx-millis-zone", "Times that cannot be read"),
    // A wrong replacement is refused at once, not at the first match.
    ("sr-bad-group", "Wrong replacement texts"),
    // What is no text stays as it is.
    ("sr-bad-utf8", "Bytes that are no text, in search_replace"),
];

/// A header that changes from run to run: the prefix, if it is one.
fn volatile<'a>(expected: &'a str, actual: &str) -> Option<(&'a str, bool)> {
    let uuid = |text: &str| {
        text.len() == 36 && flumen_java::text::Uuid::parse(text).is_ok_and(|uuid| uuid.version() == 4)
    };
    let name = dns_lookup::get_hostname().unwrap();
    let is_local = |ip: std::net::IpAddr| {
        (name.as_str(), 0).to_socket_addrs().unwrap().any(|address| address.ip() == ip)
    };
    let (before, _) = expected.split_once('@')?;
    let actual = actual.strip_prefix(before)?;
    let is_right = match &expected[before.len()..] {
        "@NOW@" => actual == NOW.to_string(),
        "@UUID4@" => uuid(actual),
        "@LOCAL-IP@" => is_local(actual.parse().unwrap()),
        "@LOCAL-NAME@" => (actual, 0).to_socket_addrs().unwrap().any(|address| is_local(address.ip())),
        _ => return None,
    };
    Some((before, is_right))
}

fn same(expected: &Batch, actual: &Batch) -> bool {
    let (expected, actual) = (expected.get(0).unwrap(), actual.get(0).unwrap());
    expected.body == actual.body
        && expected.headers.len() == actual.headers.len()
        && expected.headers.iter().all(|(name, value)| {
            let other = actual.headers.get(name);
            other.is_some_and(|other| {
                other == value || volatile(value, other).is_some_and(|(_, is_right)| is_right)
            })
        })
}

fn replay(case: &Case) -> Result<(), String> {
    let pairs: Vec<_> = case.config.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let interceptor = match (made(&case.kind, &pairs, &utc_context()), &case.result.refused) {
        (Err(_), Some(_)) => return Ok(()),
        (Ok(_), Some(refused)) => return Err(format!("made, but Java says {refused}")),
        (Err(error), None) => return Err(error),
        (Ok(interceptor), None) => interceptor,
    };
    for (n, (event, answer)) in case.events.iter().zip(&case.result.events).enumerate() {
        let mut batch = Batch::new();
        event.push(&mut batch);
        interceptor.intercept(&mut batch).map_err(|error| error.to_string())?;
        let fits = match answer {
            None => batch.is_empty(),
            Some(Answer::Thrown { .. }) => false,
            Some(Answer::Event(expected)) => {
                let mut wanted = Batch::new();
                expected.push(&mut wanted);
                !batch.is_empty() && same(&wanted, &batch)
            }
        };
        if !fits {
            return Err(format!("event {n}: {batch:?}"));
        }
    }
    Ok(())
}

#[test]
fn recorded_cases_have_the_answers_of_java_flume() {
    let cases: Vec<Case> = json_lines("interceptors/interceptors.jsonl");
    assert_eq!(cases.len(), 71, "all of them were read");
    let rows = std::fs::read_to_string(crate::testing::fixture("../../../docs/differences.md")).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let listed = DIFFERENT.iter().find(|(name, _)| *name == case.case);
        match (replay(case), listed) {
            (Ok(()), None) => {}
            (Err(why), None) => wrong.push(format!("{}: {why}", case.case)),
            (Ok(()), Some(_)) => wrong.push(format!("{} is as in Java, but listed as different", case.case)),
            (Err(_), Some((_, row))) => assert!(rows.contains(&format!("| {row} |")), "no row {row}"),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_name_of_an_interceptor_is_known_in_any_case() {
    let registry = utc_context().registry;
    for info in registry.infos(Kind::Interceptor) {
        let classes = info.names.iter().filter(|name| name.starts_with("org.apache.flume."));
        let builders = classes.clone().filter(|name| name.ends_with("$Builder"));
        assert_eq!((classes.count(), builders.count()), (2, 1), "{:?}", info.names);
    }
    let short: BTreeSet<_> = registry.infos(Kind::Interceptor).iter().map(|info| info.short_name()).collect();
    let wanted = [
        "host",
        "regex_extractor",
        "regex_filter",
        "remove_header",
        "search_replace",
        "static",
        "timestamp",
        "uuid",
    ];
    assert_eq!(short, BTreeSet::from(wanted));
    assert!(registry.find_interceptor("REGEX_Filter").is_some());
}

#[test]
fn every_interceptor_keeps_the_contract() {
    let extractor: &[(&str, &str)] = &[
        ("regex", r"(\d+)(.*)"),
        ("serializers", "a b"),
        ("serializers.a.name", "name-0"),
        ("serializers.b.name", "rest"),
    ];
    let all: &[(&str, &[(&str, &str)])] = &[
        ("host", &[]),
        ("host", &[("preserveExisting", "true"), ("hostHeader", "n")]),
        ("static", &[("key", "n")]),
        ("static", &[("key", "own"), ("preserveExisting", "false")]),
        ("timestamp", &[("headerName", "kind")]),
        ("regex_filter", &[("regex", "[1-3]")]),
        ("regex_filter", &[("regex", "(a|b)?[0-4](?!x)"), ("excludeEvents", "true")]),
        ("regex_extractor", extractor),
        ("search_replace", &[("searchPattern", "x+"), ("replaceString", "y")]),
        ("search_replace", &[("searchPattern", "x+"), ("charset", "UTF-16BE")]),
        ("remove_header", &[("withName", "own"), ("fromList", "n,kind")]),
        ("remove_header", &[("matching", ".*[13579]")]),
    ];
    for (name, pairs) in all {
        InterceptorSuite::new(&*good(name, pairs)).run();
    }
    InterceptorSuite::new(&*good("uuid", &[])).volatile(&["id"]).run();
    let replaced = good("uuid", &[("headerName", "own"), ("preserveExisting", "false")]);
    InterceptorSuite::new(&*replaced).volatile(&["own"]).run();
}
