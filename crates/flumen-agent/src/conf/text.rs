//! Java properties text, of one or several files, as entries with their places. Of two with one key the later one wins.

use super::encoding::misread;
use flumen_core::config::{Place, Problem, Severity};
use flumen_java::properties::{self, Encoding, NotText};
use std::{collections::HashMap, sync::Arc};

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
    /// Why a text is no configuration at all: with one of these nothing of it may run.
    pub unusable: Vec<Problem>,
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
    /// Whether a lookup of another property took the value: then the key needs no other use.
    pub used: bool,
    /// Whether the value came from a config filter or from a lookup of a secret. It is never printed.
    pub secret: bool,
    /// Whether a lookup or a config filter has changed the value: then it does not stand in the file as it is here.
    pub looked_up: bool,
}

impl ConfigText {
    /// A text in ISO-8859-1, as files are.
    pub fn latin_1(name: &str, text: &str) -> Self {
        Self { name: name.into(), bytes: text.into(), encoding: Encoding::Latin1 }
    }
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

    /// Takes the values that are secret out of what is said.
    pub fn hide_secrets(&self, problems: &mut [Problem]) {
        for entry in self.list.iter().filter(|entry| entry.secret) {
            for problem in &mut *problems {
                let own = problem.at.as_ref() == Some(&entry.at);
                // A short text stands in many a message by chance.
                if own || entry.value.len() >= SHORTEST_HIDDEN {
                    hide(&mut problem.what, &entry.value);
                    problem.cure.iter_mut().for_each(|cure| hide(cure, &entry.value));
                }
            }
        }
    }
}

/// Secrets shorter than this are hidden in what is said of their own property only.
const SHORTEST_HIDDEN: usize = 4;

fn hide(text: &mut String, secret: &str) {
    if !secret.is_empty() && text.contains(secret) {
        *text = text.replace(secret, "***");
    }
}

/// Reads the texts into one set of properties.
pub fn load(texts: &[ConfigText]) -> (Entries, Vec<Problem>) {
    let mut entries = Entries::default();
    let mut problems = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
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
                entries.unusable.push(Problem::new(Severity::Error, text.name.to_string(), None, what));
                continue;
            }
        }
        let loaded = properties::load(bytes, text.encoding);
        if text.encoding == Encoding::Latin1 {
            problems.extend(misread(&loaded.pairs, &text.name));
        }
        for pair in loaded.pairs {
            let entry = Entry {
                key: trim(&pair.key),
                value: trim(&pair.value),
                at: place(pair.line),
                used: false,
                secret: false,
                looked_up: false,
            };
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
            entries.unusable.push(Problem::new(
                Severity::Error,
                text.name.to_string(),
                None,
                error.to_string(),
            ));
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

    #[test]
    fn what_is_no_text_is_unusable_and_a_cut_escape_too() {
        let cases: [&[u8]; 5] = [
            b"\xff\xfea\0.\0",
            b"\x7fELF\x01\0\0",
            b"a.x=1\na.y=C:\\users\n",
            b"a.x = \\u00",
            b"\0\0\xfe\xff",
        ];
        for bytes in cases {
            let text = ConfigText { name: "f".into(), bytes: bytes.into(), encoding: Encoding::Latin1 };
            let (entries, _) = load(&[text]);
            assert_eq!(entries.unusable.len(), 1, "{bytes:?}");
        }
        let (entries, problems) = load(&[text("f", "\u{feff}a.x=1\n")]);
        assert_eq!((entries.unusable.len(), entries.list[0].key.as_str(), problems.len()), (0, "a.x", 1));
    }

    #[test]
    fn secrets_are_taken_out_of_what_is_said() {
        let (mut entries, _) = load(&[text("f", "a.x=geheim\na.y=7\n")]);
        entries.list.iter_mut().for_each(|entry| entry.secret = true);
        let at = |line| Some(Place { file: "f".into(), line });
        let mut problems = [
            Problem::new(Severity::Error, "a.x", at(1), "`geheim` is not a number"),
            Problem::new(Severity::Error, "a.y", at(2), "`7` is too small"),
            Problem::new(Severity::Error, "a.z", at(3), "`7` beside geheim").with_cure("not geheim"),
        ];
        entries.hide_secrets(&mut problems);
        assert_eq!(problems[0].what, "`***` is not a number");
        assert_eq!(problems[1].what, "`***` is too small");
        assert_eq!(problems[2].to_string(), "f:3: a.z: `7` beside ***; not ***");
    }

    #[test]
    fn a_hundred_thousand_lines_are_read_in_a_second() {
        let mut text = String::new();
        (0..100_000).for_each(|i| text.push_str(&format!("a{}.sinks.k{i}.type = null\n", i % 500)));
        let started = tokio::time::Instant::now();
        let text = ConfigText { name: "f".into(), bytes: text.into(), encoding: Encoding::Latin1 };
        assert_eq!(load(&[text]).0.list.len(), 100_000);
        assert!(started.elapsed().as_millis() < 1_000, "{:?}", started.elapsed());
    }
}
