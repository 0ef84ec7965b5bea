//! Lookups: each kind, nesting, defaults, escapes, references between properties, and what never ends.

use super::*;
use crate::conf::{ConfigText, Sources, load};
use flumen_core::config::Severity;
use flumen_java::properties::Encoding;
use std::collections::BTreeMap;

fn environment() -> Environment {
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    Environment {
        variables: map(&[
            ("NC_PORT", "6667"),
            ("NAME", "NC_PORT"),
            ("EMPTY", ""),
            ("LOOP", "x${env:LOOP}"),
            ("DB_PASSWORD", "geheim"),
            ("MARK", "}{"),
        ]),
        properties: map(&[("env", "DEV"), ("dir", "/var/flume"), ("user.home", "/home/flume")]),
        ..Environment::default()
    }
}

fn lookups(environment: Environment) -> Lookups {
    Lookups { table: LookupTable::default(), environment: Arc::new(environment), now_ms: 0 }
}

fn entries(text: &str) -> Entries {
    load(&[ConfigText { name: "f".into(), bytes: text.into(), encoding: Encoding::Latin1 }]).0
}

fn resolve_with(lookups: &Lookups, text: &str) -> (Entries, Vec<String>) {
    let mut entries = entries(text);
    let problems = lookups.resolve(&mut entries);
    (entries, problems.iter().map(|problem| format!("{}: {problem}", problem.severity)).collect())
}

fn value_in(lookups: &Lookups, value: &str) -> String {
    let (entries, _) = resolve_with(lookups, &format!("a.x = {value}\n"));
    entries.list[0].value.clone()
}

fn value(text: &str) -> String {
    value_in(&lookups(environment()), text)
}

#[test]
fn cfg_23_a_variable_is_its_value() {
    assert_eq!(value("${env:NC_PORT}"), "6667");
    assert_eq!(value("tcp:${ENV:NC_PORT}/x"), "tcp:6667/x");
    assert_eq!(value("${env:EMPTY}x"), "x");
}

#[test]
fn cfg_26_system_property_and_java_version_work_and_constants_stay() {
    assert_eq!(value("${sys:dir}/spool"), "/var/flume/spool");
    assert_eq!(value("${java:version}"), "Java version 17");
    let (entries, told) = resolve_with(&lookups(environment()), "a.x = ${const:java.lang.Long.MAX_VALUE}\n");
    assert_eq!(entries.list[0].value, "${const:java.lang.Long.MAX_VALUE}");
    assert!(told[0].contains("f:1: a.x: lookups of the kind `const` are off"), "{told:?}");
    assert_eq!(value("${date:yyyy}").len(), 4);
    assert_eq!(value("${sys:user.home}"), "/home/flume");
}

#[test]
fn fix_113_active_lookups_are_off() {
    for text in ["${script:javascript:1+1}", "${url:UTF-8:http://h/}", "${dns:address|h}"] {
        assert_eq!(value(text), text);
    }
    let table = "s=org.apache.commons.text.lookup.DefaultStringLookup.SCRIPT\nt=com.example.TestLookup\n";
    let (table, problems) = LookupTable::parse(table.as_bytes(), "lookups.properties");
    assert_eq!(table, LookupTable { prefixes: BTreeMap::new() });
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(
        told[0].contains("lookups.properties:1: s: lookups of the kind `SCRIPT` run or fetch"),
        "{told:?}"
    );
    assert!(told[1].contains("`com.example.TestLookup` is a Java class"), "{told:?}");
}

#[test]
fn cfg_26_a_file_of_lookups_stands_in_the_place_of_the_own_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lookups.properties");
    let class = "org.apache.commons.text.lookup.DefaultStringLookup";
    std::fs::write(
        &path,
        format!("test={class}.ENVIRONMENT\nb64={class}.BASE64_DECODER\nfile={class}.FILE\n"),
    )
    .unwrap();
    let secret = dir.path().join("secret");
    std::fs::write(&secret, "hush").unwrap();
    let sources = Sources { conf_dirs: vec![dir.path().to_owned()], ..Sources::default() };
    let (table, problems) = LookupTable::read(&sources);
    assert_eq!(problems, []);
    let lookups = Lookups { table, ..lookups(environment()) };
    assert_eq!(value_in(&lookups, "${test:NC_PORT} ${b64:aGV5} ${env:NC_PORT}"), "6667 hey ${env:NC_PORT}");
    assert_eq!(value_in(&lookups, &format!("${{file:UTF-8:{}}}", secret.display())), "hush");
}

#[test]
fn a_lookup_file_that_is_not_there_is_told() {
    let mut environment = environment();
    environment.properties.insert("lookups".to_owned(), "/no/such/file".to_owned());
    let sources = Sources { environment: Arc::new(environment), ..Sources::default() };
    let (table, problems) = LookupTable::read(&sources);
    assert_eq!((table, problems.len()), (LookupTable::default(), 1));
}

#[test]
fn cfg_24_the_old_resolver_takes_bare_names() {
    assert_eq!(value("${NC_PORT}"), "${NC_PORT}");
    let mut environment = environment();
    let (name, class) = IMPLEMENTATION;
    environment.properties.insert(name.to_owned(), class.to_owned());
    let lookups = lookups(environment);
    assert_eq!(value_in(&lookups, "${NC_PORT}-${NAME}-${UNSET}"), "6667-NC_PORT-${UNSET}");
}

#[test]
fn cfg_27_names_nest_and_keys_without_agent_are_their_values() {
    let text = "a.sources.r.bind = ${${sys:env}_BIND}\nDEV_BIND = 127.0.0.1\nPROD_BIND = 0.0.0.0\n";
    let (entries, told) = resolve_with(&lookups(environment()), text);
    assert_eq!(entries.list[0].value, "127.0.0.1");
    assert!(entries.list[1].used && !entries.list[2].used);
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(value("${env:${env:NAME}}"), "6667");
}

#[test]
fn references_do_not_depend_on_the_order() {
    let text = "a.x = ${a.y}/x\na.y = ${a.z}/y\na.z = z\n";
    let (entries, _) = resolve_with(&lookups(environment()), text);
    let values: Vec<&str> = entries.list.iter().map(|entry| entry.value.as_str()).collect();
    assert_eq!(values, ["z/y/x", "z/y", "z"]);
}

#[test]
fn defaults_and_escapes() {
    assert_eq!(value("${env:UNSET:-fall back}"), "fall back");
    assert_eq!(value("${env:UNSET:-${env:NC_PORT}}"), "6667");
    assert_eq!(value("${env:NC_PORT:-x}"), "6667");
    assert_eq!(value("$${env:NC_PORT}"), "${env:NC_PORT}");
    assert_eq!(value("$$${env:NC_PORT}"), "$${env:NC_PORT}");
    assert_eq!(value("${env:UNSET:-}"), "");
}

#[test]
fn what_is_meant_for_others_stays() {
    for text in
        ["${header.x:type}", "%{topic}", "${", "${}", "$", "a}b", "${env:NC_PORT", "${foo}", "${header.x}"]
    {
        assert_eq!(value(text), text);
    }
    assert_eq!(value("${f['a:-b']}"), "${f['a:-b']}", "a `:-` in a filter's key is no default");
    assert_eq!(value("${f[\"a\"]:-b}"), "b", "behind it, it is one");
    assert_eq!(value("${env:MARK}"), "}{");
}

#[test]
fn what_is_not_found_is_told_with_the_line() {
    let (_, told) =
        resolve_with(&lookups(environment()), "\na.x = ${env:NC_PROT}\na.y=${a.none}\na.z=${NC_PORT}\n");
    assert_eq!(
        told,
        [
            "warning: f:2: a.x: the environment variable `NC_PROT` is not set: `${env:NC_PROT}` stays as it is",
            "warning: f:3: a.y: there is no property `a.none`: `${a.none}` stays as it is",
            "warning: f:4: a.z: `${NC_PORT}` stays as it is; for the environment variable write `${env:NC_PORT}`",
        ]
    );
}

#[test]
fn circles_are_named() {
    let (_, told) = resolve_with(&lookups(environment()), "a.x = ${a.x}\n");
    assert_eq!(told, ["error: f:1: a.x: refers to itself: a.x -> a.x"]);
    let (entries, told) =
        resolve_with(&lookups(environment()), "a.x = 1${a.y}\na.y = 2${a.z}\na.z = 3${a.x}\n");
    assert!(
        told.iter().any(|told| told.contains("a.z: refers to itself: a.x -> a.y -> a.z -> a.x")),
        "{told:?}"
    );
    assert_eq!(entries.list[0].value, "1${a.y}");
    let (_, told) = resolve_with(&lookups(environment()), "a.x = ${env:LOOP}\n");
    assert!(told[0].contains("refers to itself: env:LOOP -> env:LOOP"), "{told:?}");
}

#[test]
fn chains_nests_and_explosions_end() {
    let chain: String = (0..10_000).map(|i| format!("p{i} = ${{p{}}}\n", i + 1)).collect();
    let (_, told) = resolve_with(&lookups(environment()), &format!("{chain}p10000 = 1\n"));
    assert!(told.iter().any(|told| told.starts_with("error")), "{}", told.len());
    let nest = format!("a.x = {}x{}\n", "${".repeat(100_000), "}".repeat(100_000));
    let (_, told) = resolve_with(&lookups(environment()), &nest);
    assert!(told[0].contains("more than 50 deep"), "{told:?}");
    let bomb: String = (0..40).map(|i| format!("p{i} = ${{p{0}}}${{p{0}}}${{p{0}}}\n", i + 1)).collect();
    let (entries, told) = resolve_with(&lookups(environment()), &format!("{bomb}p40 = 0123456789\n"));
    assert!(told.iter().any(|told| told.contains("bytes")), "{told:?}");
    assert!(entries.list.iter().all(|entry| entry.value.len() <= 1 << 20));
}

#[test]
fn hostile_texts_change_nothing_and_end() {
    let mut rng = fastrand::Rng::with_seed(7);
    let parts = ["${", "}", "$", ":-", ":", "env:", "a.x", "a.y", "[\"k\"]", "é", "NC_PORT", "sys:", " "];
    for _ in 0..3_000 {
        let mut text = String::from("a.x = v");
        for line in 0..2 {
            (0..rng.usize(..12)).for_each(|_| text.push_str(parts[rng.usize(..parts.len())]));
            text.push_str(if line == 0 { "\na.y = w" } else { "\n" });
        }
        let (entries, _) = resolve_with(&lookups(environment()), &text);
        assert!(entries.list.len() <= 2);
    }
}

#[test]
fn ten_thousand_references_are_instant() {
    let mut text = String::from("base = /data\n");
    (0..10_000).for_each(|i| {
        text.push_str(&format!("a{}.sinks.k{i}.dir = ${{base}}/${{env:NC_PORT}}/{i}\n", i % 300))
    });
    let started = tokio::time::Instant::now();
    let (entries, told) = resolve_with(&lookups(environment()), &text);
    assert_eq!((entries.list[9_999].value.as_str(), told.len()), ("/data/6667/9998", 0));
    assert!(started.elapsed().as_millis() < 1_000, "{:?}", started.elapsed());
}

#[test]
fn values_of_secret_names_are_marked() {
    let (entries, _) = resolve_with(
        &lookups(environment()),
        "a.x = ${env:DB_PASSWORD}\na.y = ${a.x}\na.z = ${env:NC_PORT}\n",
    );
    let secret: Vec<bool> = entries.list.iter().map(|entry| entry.secret).collect();
    assert_eq!(secret, [true, true, false]);
    assert!(looks_secret("AWS_ACCESS_KEY") && looks_secret("api-key") && !looks_secret("KEYSPACE"));
    assert_eq!(Severity::Error.to_string(), "error");
}
