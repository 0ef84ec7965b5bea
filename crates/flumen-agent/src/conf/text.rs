//! Java properties text, of one or several files, as entries with their places. Of two with one key the later one wins.

use flumen_core::config::{Place, Problem, Severity};
use flumen_java::properties::{self, Encoding, NotText};
use std::{collections::BTreeMap, sync::Arc};

/// One configuration text, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigText {
    /// The file's name or URI, as it was given.
    pub name: Arc<str>,
    /// The text.
    pub bytes: Vec<u8>,
    /// How to read it.
    pub encoding: Encoding,
}

/// The properties of all texts: each key once, in the order in which they stand.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    /// In order; keys and values are trimmed.
    pub list: Vec<Entry>,
    /// The names of the texts, in the order in which they were given.
    pub files: Vec<Arc<str>>,
}

/// One property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The whole key (`a.sources.r.type`).
    pub key: String,
    /// The value, after lookups and filters.
    pub value: String,
    /// Where it stands.
    pub at: Place,
}

impl Entries {
    /// Puts problems in the order in which the files were given, and in each by line.
    pub fn sort(&self, problems: &mut [Problem]) {
        let rank = |problem: &Problem| {
            let at = problem.at.as_ref()?;
            Some((self.files.iter().position(|file| *file == at.file), at.line))
        };
        problems.sort_by(|a, b| (rank(a), &a.key).cmp(&(rank(b), &b.key)));
    }
}

/// Reads the texts into one set of properties.
pub fn load(texts: &[ConfigText]) -> (Entries, Vec<Problem>) {
    let mut entries = Entries::default();
    let mut problems = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for text in texts {
        entries.files.push(text.name.clone());
        let place = |line| Place { file: text.name.clone(), line };
        let mut bytes = text.bytes.as_slice();
        match properties::sniff(bytes) {
            None => {}
            Some(mark @ NotText::Utf8Mark) => {
                bytes = &bytes[UTF8_MARK_LEN..];
                problems.push(Problem::new(
                    Severity::Warning,
                    text.name.to_string(),
                    None,
                    format!("{mark}; it is left out here"),
                ));
            }
            Some(not_text) => {
                let what = format!("is not a properties file: {not_text}");
                problems.push(Problem::new(Severity::Error, text.name.to_string(), None, what));
                continue;
            }
        }
        let loaded = properties::load(bytes, text.encoding);
        for pair in loaded.pairs {
            let entry = Entry { key: trim(&pair.key), value: trim(&pair.value), at: place(pair.line) };
            if entry.value.is_empty() {
                let problem = Problem::new(
                    Severity::Warning,
                    &entry.key,
                    Some(entry.at.clone()),
                    "has no value and is ignored",
                );
                problems.push(problem.with_cure("give it a value, or remove the line"));
                continue;
            }
            match places.get(&entry.key) {
                Some(&i) => {
                    let old: &Entry = &entries.list[i];
                    // Another file may overrule on purpose; the same file twice is an oversight.
                    if old.at.file == entry.at.file {
                        let what = format!("is set on line {} too; the later one counts", old.at.line);
                        problems.push(Problem::new(
                            Severity::Warning,
                            &entry.key,
                            Some(entry.at.clone()),
                            what,
                        ));
                    }
                    entries.list[i] = entry;
                }
                None => {
                    places.insert(entry.key.clone(), entries.list.len());
                    entries.list.push(entry);
                }
            }
        }
        if let Some(error) = loaded.error {
            problems.push(Problem::new(Severity::Error, text.name.to_string(), None, error.to_string()));
        }
    }
    (entries, problems)
}

const UTF8_MARK_LEN: usize = 3;

/// Java's `String.trim`: everything up to and with the blank.
fn trim(text: &str) -> String {
    text.trim_matches(|c| c <= ' ').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, text: &str) -> ConfigText {
        ConfigText { name: name.into(), bytes: text.into(), encoding: Encoding::Latin1 }
    }

    #[test]
    fn a_later_file_wins_and_places_stay() {
        let texts = [text("one", "a.x = 1\na.y=2\n"), text("two", "\na.x = 3 \n")];
        let (entries, problems) = load(&texts);
        assert_eq!(problems, []);
        let shown: Vec<_> = entries.list.iter().map(|e| format!("{} {}={}", e.at, e.key, e.value)).collect();
        assert_eq!(shown, ["two:2 a.x=3", "one:2 a.y=2"]);
    }

    #[test]
    fn the_same_key_twice_in_a_file_and_an_empty_value_are_told() {
        let (entries, problems) = load(&[text("f", "a.x=1\na.z=\na.x=2\n")]);
        let shown: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "f:2: a.z: has no value and is ignored; give it a value, or remove the line",
                "f:3: a.x: is set on line 1 too; the later one counts",
            ]
        );
        assert_eq!(entries.list.len(), 1);
    }
}
