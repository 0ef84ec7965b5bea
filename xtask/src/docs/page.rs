//! One page of the reference: a section for each type, with its promise and its properties.

use serde_json::Value;

use super::{list, promise, strings};
use crate::shell;

/// The page of a kind: its types, and those of Flume's that are not there yet.
pub(super) fn print(title: &str, about: &str, types: &[Value], absent: &[Value]) -> String {
    let mut text = format!(
        "<!-- Printed by `cargo xtask docs` from the registry. Do not edit. -->\n\n# {title}\n\n{about}\n\n"
    );
    let sections: Vec<Section<'_>> = types.iter().filter_map(Section::of).collect();
    guarantees(&sections, &mut text);
    common(&sections, &mut text);
    for section in &sections {
        section.print(&mut text);
    }
    not_there_yet(absent, &mut text);
    format!("{}\n", text.trim_end())
}

/// A type, as its section shows it.
struct Section<'a> {
    name: &'a str,
    others: Vec<&'a str>,
    summary: &'a str,
    promise: Vec<(String, String)>,
    properties: &'a [Value],
    common: &'a [Value],
}

impl<'a> Section<'a> {
    fn of(component: &'a Value) -> Option<Self> {
        let mut names = strings(&component["names"]);
        (!names.is_empty()).then(|| Section {
            name: names.remove(0),
            others: names,
            summary: component["summary"].as_str().unwrap_or_default(),
            promise: promise::of(&shell::root(), component["implementation"].as_str().unwrap_or_default()),
            properties: list(&component["properties"]),
            common: list(&component["common"]),
        })
    }

    fn print(&self, text: &mut String) {
        text.push_str(&format!("## {}\n\n{}\n\n", self.name, self.summary));
        if !self.others.is_empty() {
            let others: Vec<String> = self.others.iter().map(|name| format!("`{name}`")).collect();
            text.push_str(&format!("Other names: {}\n\n", others.join(", ")));
        }
        for (label, words) in &self.promise {
            text.push_str(&format!("- **{label}**: {words}\n"));
        }
        if !self.promise.is_empty() {
            text.push('\n');
        }
        match self.properties {
            [] => text.push_str("No properties of its own.\n\n"),
            properties => table(properties, text),
        }
    }
}

/// What each type promises, at a glance.
fn guarantees(sections: &[Section<'_>], text: &mut String) {
    let promised: Vec<(&str, &str)> = sections
        .iter()
        .filter_map(|section| section.promise.first().map(|(_, words)| (section.name, words.as_str())))
        .collect();
    if promised.is_empty() {
        return;
    }
    text.push_str("| Type | Delivery |\n| --- | --- |\n");
    for (name, words) in promised {
        let first = words.split_once(". ").map_or(words, |(first, _)| first).trim_end_matches('.');
        text.push_str(&format!("| [{name}](#{}) | {} |\n", anchor(name), cell(first)));
    }
    text.push('\n');
}

/// The properties that every type here has.
fn common(sections: &[Section<'_>], text: &mut String) {
    let Some((first, others)) = sections.split_first() else { return };
    let shared: Vec<Value> = first
        .common
        .iter()
        .filter(|one| others.iter().all(|other| other.common.contains(one)))
        .cloned()
        .collect();
    if !shared.is_empty() {
        text.push_str("Every type here has these:\n\n");
        table(&shared, text);
    }
}

fn not_there_yet(absent: &[Value], text: &mut String) {
    if absent.is_empty() {
        return;
    }
    text.push_str("## Not there yet\n\nFlume has these, Flumen knows their names and says so:\n\n");
    for one in absent {
        let names: Vec<String> = strings(&one["names"]).iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!("- {}: {}\n", names.join(", "), one["instead"].as_str().unwrap_or_default()));
    }
}

fn table(properties: &[Value], text: &mut String) {
    text.push_str("| Key | Default | What it does |\n| --- | --- | --- |\n");
    for property in properties {
        text.push_str(&row(property));
    }
    text.push('\n');
}

fn row(property: &Value) -> String {
    let key = property["key"].as_str().unwrap_or_default();
    let key = if property["prefix"] == true { format!("`{key}*`") } else { format!("`{key}`") };
    let default = match property["default"].as_str() {
        _ if property["required"] == true => "**required**".to_owned(),
        Some("") => "empty".to_owned(),
        Some(default) => format!("`{default}`"),
        None => "none".to_owned(),
    };
    let mut doc = property["doc"].as_str().unwrap_or_default().trim().replace('\n', " ");
    if let Some(kind) = property["kind"].as_str().filter(|kind| !matches!(*kind, "" | "text")) {
        doc.push_str(&format!(" ({kind})"));
    }
    for (field, words) in [("aliases", "Also"), ("deprecated", "Old spelling:")] {
        let spelt: Vec<String> = strings(&property[field]).iter().map(|other| format!("`{other}`")).collect();
        if !spelt.is_empty() {
            doc.push_str(&format!(" {words} {}.", spelt.join(", ")));
        }
    }
    let note = property["note"].as_str().unwrap_or_default();
    match property["effect"].as_str() {
        Some("ignored") => doc = format!("Known, without effect: {note}."),
        Some("refused") => doc = format!("Not supported: {note}."),
        _ => {}
    }
    format!("| {} | {} | {} |\n", cell(&key), cell(&default), cell(doc.trim()))
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn anchor(name: &str) -> String {
    name.to_lowercase().chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_a_section_and_a_property_a_row() {
        let channel =
            serde_json::json!({"key": "channel", "doc": "Its channel.", "kind": "name", "required": true});
        let null = serde_json::json!(
        {"kind": "sink", "names": ["null", "org.apache.flume.sink.NullSink"], "summary": "Drops all.",
         "common": [channel], "properties": [
            {"key": "batchSize", "doc": "Most events a batch.", "kind": "a whole number", "default": "100",
             "aliases": ["batch-size"], "deprecated": ["txnSize"], "required": false, "prefix": false},
            {"key": "a|b.", "doc": "X.", "kind": "text", "default": null, "required": true, "prefix": true},
                {"key": "threads", "doc": "", "kind": "text", "effect": "ignored", "note": "all share them"},
        ]});
        let avro =
            serde_json::json!({"kind": "sink", "names": ["avro"], "common": [channel], "properties": []});
        let absent = serde_json::json!({"kind": "sink", "names": ["hive", "H"], "instead": "use hdfs"});
        let page = print("Sinks", "About.", &[avro, null], &[absent]);
        assert!(
            page.contains("## null\n\nDrops all.\n\nOther names: `org.apache.flume.sink.NullSink`\n"),
            "{page}"
        );
        let row = "| `batchSize` | `100` | Most events a batch. (a whole number) Also `batch-size`. Old spelling: \
                   `txnSize`. |\n";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("| `a\\|b.*` | **required** | X. |\n"), "{page}");
        assert!(page.contains("| `threads` | none | Known, without effect: all share them. |\n"), "{page}");
        assert!(page.ends_with("- `hive`, `H`: use hdfs\n"), "{page}");
        assert!(page.contains("\n\nNo properties of its own.\n"), "{page}");
        assert_eq!(page.matches("| `channel` | **required** | Its channel. (name) |").count(), 1, "{page}");
    }
}
