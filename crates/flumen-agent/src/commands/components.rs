//! `flumen components`: every type that a configuration can name, for people and (as JSON) for programs.

use flumen_core::{
    config::{Effect, Property, flat},
    registry::{EntryInfo, Kind, Registry},
};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The kinds in reading order.
const KINDS: [Kind; 8] = [
    Kind::Source,
    Kind::Channel,
    Kind::Sink,
    Kind::Interceptor,
    Kind::Selector,
    Kind::SinkProcessor,
    Kind::Serializer,
    Kind::ConfigFilter,
];

/// Prints all types.
///
/// # Errors
/// Standard output is closed.
pub fn run(registry: &Registry, as_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if as_json {
        return writeln!(out, "{:#}", to_json(registry));
    }
    for kind in KINDS {
        writeln!(out, "{kind}s")?;
        for info in registry.infos(kind) {
            writeln!(out, "  {:24} {}", info.short_name(), info.summary)?;
        }
        for absent in registry.absent_of(kind) {
            writeln!(out, "  {:24} (known, not there yet) {}", absent.names[0], absent.instead)?;
        }
    }
    Ok(())
}

/// The registry as data: an array of types, and one of types that are known and not there.
pub fn to_json(registry: &Registry) -> Value {
    let types: Vec<Value> = KINDS.iter().flat_map(|kind| registry.infos(*kind)).map(type_json).collect();
    let absent: Vec<Value> = KINDS
        .iter()
        .flat_map(|kind| registry.absent_of(*kind))
        .map(|absent| json!({"kind": absent.kind.name(), "names": absent.names, "instead": absent.instead}))
        .collect();
    json!({"types": types, "absent": absent})
}

fn type_json(info: &EntryInfo) -> Value {
    let properties = |list: &'static [Property]| -> Vec<Value> {
        flat(list).into_iter().map(|(key, property)| property_json(&key, property)).collect()
    };
    let common: Vec<Value> = info.common.iter().flat_map(|list| properties(list)).collect();
    json!({
        "kind": info.kind.name(),
        "names": info.names,
        "summary": info.summary,
        "implementation": info.implementation,
        "properties": properties(info.properties),
        "common": common,
    })
}

fn property_json(key: &str, property: &Property) -> Value {
    let (effect, note) = match property.effect {
        Effect::Works => ("works", None),
        Effect::Ignored { why } => ("ignored", Some(why)),
        Effect::Refused { instead, .. } => ("refused", Some(instead)),
    };
    json!({
        "key": key,
        "prefix": property.prefix,
        "kind": property.kind,
        "default": property.default,
        "required": property.required,
        "secret": property.secret,
        "aliases": property.aliases,
        "deprecated": property.deprecated,
        "effect": effect,
        "note": note,
        "doc": property.doc,
    })
}
