//! The delivery paragraph of a component, read from the first lines of its module.

use std::path::Path;

/// What a paragraph's lines can begin with, in the order in which they are written.
const LABELS: &[&str] =
    &["Delivery", "Transient failure", "Permanent failure", "Duplicates", "Deduplication key"];

/// The promise of the type at a path of Rust (`flumen_components::sinks::null::NullSink`): label and words. Empty where
/// its module makes none.
pub(super) fn of(root: &Path, implementation: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = implementation.split("::").collect();
    let Some((package, modules)) = parts.split_first() else { return Vec::new() };
    let sources = root.join("crates").join(package.replace('_', "-")).join("src");
    // The type may stand in a module below the component's.
    (1..=modules.len())
        .rev()
        .map(|depth| sources.join(modules[..depth].join("/")))
        .flat_map(|module| [module.join("mod.rs"), module.with_extension("rs")])
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .map(|text| parse(&text))
        .find(|promise| !promise.is_empty())
        .unwrap_or_default()
}

fn parse(text: &str) -> Vec<(String, String)> {
    let mut promise: Vec<(String, String)> = Vec::new();
    for line in text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim) {
        let labelled = labelled(line);
        match (labelled, promise.last_mut()) {
            (Some((label, words)), _) => promise.push((label.to_owned(), words.to_owned())),
            (None, Some(_)) if line.is_empty() => break,
            (None, Some((_, words))) => {
                words.push(' ');
                words.push_str(line);
            }
            (None, None) => {}
        }
    }
    promise
}

/// A line's label and what follows. The label may have a remark in brackets, which may have colons of its own.
fn labelled(line: &str) -> Option<(&str, &str)> {
    let label = LABELS.iter().find(|label| line.starts_with(**label))?;
    let remark = line[label.len()..].trim_start().starts_with('(');
    let after = if remark { line.find("):")? + 1 } else { label.len() };
    Some((&line[..after], line[after..].strip_prefix(':')?.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_is_labels_and_words() {
        let text = "//! Sends.\n//!\n//! Delivery: at least once. A batch\n//! is committed.\n\
                    //! Transient failure (no connection: any): again.\n//!\n//! More.\n\nuse x;\n//! Delivery: no.\n";
        let promise = parse(text);
        let expected = [
            ("Delivery", "at least once. A batch is committed."),
            ("Transient failure (no connection: any)", "again."),
        ];
        let got: Vec<(&str, &str)> = promise.iter().map(|(label, words)| (&**label, &**words)).collect();
        assert_eq!(got, expected);
        assert!(parse("//! Nothing.\nfn x() {}\n").is_empty());
    }
}
