//! `flumen components`: every type that a configuration can name, for people and (as JSON) for programs.

use flumen_core::{
    config::{Effect, Property, flat},
    registry::{EntryInfo, Kind, Registry},
};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The kinds in reading order.
const KINDS: [Kind; 9] = [
    Kind::Source,
    Kind::Channel,
    Kind::Sink,
    Kind::Interceptor,
    Kind::Selector,
    Kind::SinkProcessor,
    Kind::Serializer,
    Kind::Deserializer,
    Kind::ConfigFilter,
];

/// The column of the summaries.
const NAME_WIDTH: usize = 22;

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
        for line in lines(registry, kind) {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

/// A line for each type of a kind. All summaries begin below each other; a name that is too long for that has its summary below
/// it.
fn lines(registry: &Registry, kind: Kind) -> Vec<String> {
    let there = registry.infos(kind).into_iter().map(|info| (info.short_name(), info.summary.to_owned()));
    let absent = registry
        .absent_of(kind)
        .map(|absent| (absent.names[0], format!("(known, not there yet) {}", absent.instead)));
    let line = |(name, what): (&str, String)| match name.len() < NAME_WIDTH {
        true => format!("{name:NAME_WIDTH$}{what}"),
        false => format!("{name}\n  {:NAME_WIDTH$}{what}", ""),
    };
    there.chain(absent).map(line).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_stand_below_each_other() {
        let registry = crate::registry();
        for kind in KINDS {
            let lines = lines(&registry, kind);
            assert!(!lines.is_empty(), "{kind}");
            for line in &lines {
                let last = line.split('\n').next_back().unwrap();
                let indent = if line.contains('\n') { NAME_WIDTH + 2 } else { NAME_WIDTH };
                let (name, what) = last.split_at(indent);
                assert!(name.ends_with(' ') && !what.starts_with(' '), "{line}");
            }
        }
    }
}
