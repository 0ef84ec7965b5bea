//! `xtask docs`: prints `docs/reference/` from the registry: what `flumen components --json` says, page by kind.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::{Outcome, shell};

const FOLDER: &str = "docs/reference";

/// Pages by kind, in the order of the table of contents: kind in the registry, file, title, first sentence.
const PAGES: &[(&str, &str, &str, &str)] = &[
    ("source", "sources.md", "Sources", "A source receives or reads events and puts them into its channels."),
    ("channel", "channels.md", "Channels", "A channel holds events until a sink has delivered them."),
    ("sink", "sinks.md", "Sinks", "A sink takes batches of events from its channel and delivers them."),
    (
        "interceptor",
        "interceptors.md",
        "Interceptors",
        "An interceptor changes, drops or adds events between a source and its channels.",
    ),
    ("selector", "selectors.md", "Channel selectors", "A selector chooses the channels of each event."),
    (
        "processor",
        "processors.md",
        "Sink processors",
        "A sink processor chooses which sink of a group goes next.",
    ),
    ("serializer", "serializers.md", "Serializers", "A serializer writes events into a file."),
    ("deserializer", "deserializers.md", "Deserializers", "A deserializer reads events from a file."),
];

pub(crate) fn task(arguments: &[String]) -> Outcome {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("usage: docs [--check]".to_owned()),
    };
    shell::run(shell::cargo().args(["build", "--package", "flumen-agent", "--bin", "flumen"]))?;
    if check { check_built() } else { write(&pages()?) }
}

/// Compares the pages in the tree with what the built program says.
pub(crate) fn check_built() -> Outcome {
    let pages = pages()?;
    let folder = shell::root().join(FOLDER);
    let mut stale: Vec<String> = pages
        .iter()
        .filter(|(file, text)| std::fs::read_to_string(folder.join(file)).ok().as_ref() != Some(text))
        .map(|(file, _)| format!("{FOLDER}/{file}"))
        .collect();
    stale
        .extend(left_over(&folder, &pages).iter().map(|file| format!("{FOLDER}/{file} (no longer printed)")));
    match stale.len() {
        0 => Ok(()),
        _ => Err(format!("stale: {}; print them with cargo xtask docs", stale.join(", "))),
    }
}

fn write(pages: &BTreeMap<&str, String>) -> Outcome {
    let folder = shell::root().join(FOLDER);
    let cannot = |error: std::io::Error| format!("{FOLDER}: {error}");
    std::fs::create_dir_all(&folder).map_err(cannot)?;
    for file in left_over(&folder, pages) {
        std::fs::remove_file(folder.join(file)).map_err(cannot)?;
    }
    for (file, text) in pages {
        std::fs::write(folder.join(file), text).map_err(cannot)?;
        println!("{FOLDER}/{file}");
    }
    Ok(())
}

fn left_over(folder: &Path, pages: &BTreeMap<&str, String>) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !pages.contains_key(name.as_str())).collect()
}

fn pages() -> Result<BTreeMap<&'static str, String>, String> {
    let program = shell::binary("flumen")?;
    let text = shell::output(shell::command(&program.to_string_lossy()).args(["components", "--json"]))?;
    let registry =
        serde_json::from_str(&text).map_err(|error| format!("flumen components --json: {error}"))?;
    Ok(render(&registry))
}

/// The pages of a registry; kinds of which there is none have no page.
fn render(registry: &Value) -> BTreeMap<&'static str, String> {
    let all = list(&registry["components"]);
    PAGES
        .iter()
        .filter_map(|&(kind, file, title, about)| {
            let mut own: Vec<&Value> = all.iter().filter(|one| one["kind"] == kind).collect();
            own.sort_by_key(|one| names(one).first().copied().unwrap_or_default());
            (!own.is_empty()).then(|| (file, page(title, about, &own)))
        })
        .collect()
}

fn page(title: &str, about: &str, components: &[&Value]) -> String {
    let mut text = format!(
        "<!-- Printed by `cargo xtask docs` from the registry. Do not edit. -->\n\n# {title}\n\n{about}\n\n"
    );
    for component in components {
        section(component, &mut text);
    }
    format!("{}\n", text.trim_end())
}

fn section(component: &Value, text: &mut String) {
    let names = names(component);
    let Some((first, others)) = names.split_first() else { return };
    text.push_str(&format!("## {first}\n\n"));
    if !others.is_empty() {
        let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!("Also: {}\n\n", others.join(", ")));
    }
    for part in ["doc", "delivery"] {
        if let Some(words) = component[part].as_str().filter(|words| !words.trim().is_empty()) {
            text.push_str(&format!("{}\n\n", words.trim()));
        }
    }
    let properties = list(&component["properties"]);
    if properties.is_empty() {
        text.push_str("No properties of its own.\n\n");
        return;
    }
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
    let aliases: Vec<String> =
        strings(&property["aliases"]).iter().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        doc.push_str(&format!(" Also spelt {}.", aliases.join(", ")));
    }
    format!("| {} | {} | {} |\n", cell(&key), cell(&default), cell(&doc))
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn names(component: &Value) -> Vec<&str> {
    strings(&component["names"])
}

fn strings(value: &Value) -> Vec<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_a_page_and_a_property_a_row() {
        let registry = serde_json::json!({"components": [
            {"kind": "sink", "names": ["null", "org.apache.flume.sink.NullSink"], "doc": "Drops all.",
             "delivery": "Delivery: never.", "properties": [
                {"key": "batchSize", "doc": "Most events a batch.", "kind": "a whole number", "default": "100",
                 "aliases": ["batch-size"], "required": false, "prefix": false},
                {"key": "a|b.", "doc": "X.", "kind": "text", "default": null, "aliases": [], "required": true, "prefix": true},
            ]},
            {"kind": "sink", "names": ["avro"], "properties": []},
        ]});
        let pages = render(&registry);
        assert_eq!(pages.keys().collect::<Vec<_>>(), [&"sinks.md"]);
        let page = &pages["sinks.md"];
        assert!(page.find("## avro") < page.find("## null"), "sorted by name");
        assert!(
            page.contains("Also: `org.apache.flume.sink.NullSink`\n\nDrops all.\n\nDelivery: never.\n"),
            "{page}"
        );
        let row =
            "| `batchSize` | `100` | Most events a batch. (a whole number) Also spelt `batch-size`. |\n";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("| `a\\|b.*` | **required** | X. |\n"), "{page}");
        assert!(page.contains("## avro\n\nNo properties of its own.\n"), "{page}");
    }
}
