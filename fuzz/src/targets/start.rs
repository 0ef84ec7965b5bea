//! What an agent reads at its start beside its configuration: lookups, ZooKeeper's node, log4j files, flume-env.sh.

use flumen_agent::{conf, hostile};
use flumen_core::registry::Environment;
use flumen_java::properties::Encoding;
use std::{collections::BTreeMap, sync::Arc};

/// No value that lookups make is longer, in bytes: a megabyte, and what stands around it.
const MAX_VALUE: usize = 2 << 20;

fn environment() -> Environment {
    let pairs =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Environment {
        properties: pairs(&[("LOG_DIR", "/d"), ("x", "${x}${x}"), ("a", "${sys:b}"), ("b", "${sys:a}")]),
        variables: pairs(&[("HOME", "/home"), ("LOOP", "${env:LOOP}"), ("TWICE", "${env:HOME}${env:HOME}")]),
        ..Environment::default()
    }
}

/// Lookups in values, with both kinds of bare names.
pub(super) fn lookups(input: &[u8]) {
    let text =
        conf::ConfigText { name: "flume.conf".into(), bytes: input.to_vec(), encoding: Encoding::Latin1 };
    let (entries, _) = conf::load(&[text]);
    let mut old = environment();
    let setting = ("propertiesImplementation", "org.apache.flume.node.EnvVarResolverProperties");
    old.properties.insert(setting.0.to_owned(), setting.1.to_owned());
    for environment in [environment(), old] {
        let lookups = conf::Lookups {
            table: conf::LookupTable::default(),
            environment: Arc::new(environment),
            now_ms: 1_700_000_000_000,
        };
        let mut resolved = entries.clone();
        let _ = lookups.resolve(&mut resolved);
        assert_eq!(resolved.list.len(), entries.list.len(), "lookups change values only");
        for entry in &resolved.list {
            assert!(
                entry.value.len() <= MAX_VALUE.max(input.len() * 2),
                "a value of {} bytes",
                entry.value.len()
            );
        }
    }
}

/// What a node of ZooKeeper may hold: UTF-8, no lookups.
pub(super) fn zookeeper(input: &[u8]) {
    let text = conf::ConfigText {
        name: "zookeeper:/flume/a".into(),
        bytes: input.to_vec(),
        encoding: Encoding::Utf8,
    };
    super::config::plan_of(text);
}

/// `log4j.properties`.
pub(super) fn log4j_properties(input: &[u8]) {
    short(&hostile::log4j_properties(input, &environment()));
}

/// `log4j2.xml`.
pub(super) fn log4j_xml(input: &[u8]) {
    short(&hostile::log4j_xml(input, &environment()));
}

fn short(notes: &[String]) {
    assert!(notes.iter().all(|note| note.len() < 200_000), "a note is short");
}

/// `flume-env.sh`, over variables that refer to each other.
pub(super) fn flume_env(input: &[u8]) {
    let before: BTreeMap<String, String> = environment().variables;
    let after = hostile::flume_env(&String::from_utf8_lossy(input), before.clone());
    assert!(before.keys().all(|name| after.contains_key(name)), "no variable goes");
    assert!(after.values().all(|value| value.len() <= MAX_VALUE), "no variable grows without limit");
}
