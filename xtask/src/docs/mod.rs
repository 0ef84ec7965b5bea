//! `xtask docs`: prints `docs/reference/` from the registry: what `flumen components --json` says, page by kind.

mod page;
mod promise;

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
    (
        "channel selector",
        "selectors.md",
        "Channel selectors",
        "A selector chooses the channels of each event.",
    ),
    (
        "sink processor",
        "processors.md",
        "Sink processors",
        "A sink processor chooses which sink of a group goes next.",
    ),
    ("serializer", "serializers.md", "Serializers", "A serializer writes events into a file."),
    ("deserializer", "deserializers.md", "Deserializers", "A deserializer reads events from a file."),
    (
        "config filter",
        "config-filters.md",
        "Config filters",
        "A config filter fills placeholders of the configuration, such as passwords.",
    ),
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
    render(&registry)
}

/// The pages of a registry; kinds of which there is none have no page.
fn render(registry: &Value) -> Result<BTreeMap<&'static str, String>, String> {
    let types = list(&registry["types"]);
    let absent = list(&registry["absent"]);
    if let Some(stranger) = types.iter().find(|one| PAGES.iter().all(|(kind, ..)| one["kind"] != *kind)) {
        return Err(format!("the kind {} has no page: add one to xtask/src/docs/mod.rs", stranger["kind"]));
    }
    Ok(PAGES
        .iter()
        .filter_map(|&(kind, file, title, about)| {
            let of_kind = |all: &'_ [Value]| -> Vec<Value> {
                let mut own: Vec<Value> = all.iter().filter(|one| one["kind"] == kind).cloned().collect();
                own.sort_by_key(|one| strings(&one["names"]).first().map(|name| (*name).to_owned()));
                own
            };
            let own = of_kind(types);
            (!own.is_empty()).then(|| (file, page::print(title, about, &own, &of_kind(absent))))
        })
        .collect())
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
    fn each_kind_has_its_page_and_a_new_kind_is_told() {
        let registry = serde_json::json!({"types": [
            {"kind": "sink", "names": ["null"], "properties": []},
            {"kind": "sink processor", "names": ["default"], "properties": []},
        ]});
        let pages = render(&registry).unwrap();
        assert_eq!(pages.keys().copied().collect::<Vec<_>>(), ["processors.md", "sinks.md"]);
        let stranger = serde_json::json!({"types": [{"kind": "codec", "names": ["x"]}]});
        assert!(render(&stranger).unwrap_err().contains("\"codec\" has no page"));
    }
}
