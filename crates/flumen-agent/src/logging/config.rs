//! What a log4j file says, in the terms of either version; and the look-ups in its texts.

use super::levels;
use flumen_core::registry::Environment;
use std::collections::BTreeMap;
use tracing::level_filters::LevelFilter;

/// How deep look-ups may lie in each other, and how long a text may grow, in bytes.
const MAX_DEPTH: u32 = 16;
const MAX_TEXT: usize = 64 * 1024;

/// A file's appenders and levels.
#[derive(Debug, Default)]
pub(super) struct FileConfig {
    pub(super) root_level: Option<LevelFilter>,
    pub(super) root_appenders: Vec<Reference>,
    /// By name in lower case.
    pub(super) appenders: BTreeMap<String, AppenderConfig>,
    pub(super) loggers: Vec<LoggerConfig>,
    /// What is not simple, with the way out.
    pub(super) notes: Vec<String>,
}

/// A logger other than the root.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LoggerConfig {
    pub(super) name: String,
    pub(super) level: Option<LevelFilter>,
    pub(super) appenders: Vec<Reference>,
    /// Whether its lines go to the loggers above it too.
    pub(super) additive: bool,
}

/// An appender that a logger names, and the least serious level that goes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) level: Option<LevelFilter>,
}

impl Reference {
    pub(super) fn to(name: &str) -> Self {
        Self { name: name.to_owned(), level: None }
    }
}

/// An appender.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AppenderConfig {
    pub(super) kind: Kind,
    pub(super) layout: LayoutConfig,
    pub(super) threshold: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Stderr,
    Stdout,
    File(FileConfigText),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum LayoutConfig {
    /// As people at a terminal like it.
    #[default]
    Short,
    Json,
    Pattern(String),
}

/// A file, in texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileConfigText {
    pub(super) path: String,
    /// log4j 2's `filePattern`; without one finished files are numbered.
    pub(super) archive: Option<String>,
    pub(super) max_bytes: Option<u64>,
    /// The date pattern whose text begins a new file.
    pub(super) period: Option<String>,
    pub(super) keep: Option<usize>,
    pub(super) truncate: bool,
    /// Folder, beginning of names, bytes, milliseconds.
    pub(super) delete: Option<(String, String, Option<u64>, Option<i64>)>,
}

impl FileConfig {
    /// A logger's or the root's level.
    pub(super) fn level(&mut self, of: &str, text: &str) -> Option<LevelFilter> {
        let level = levels::parse(text);
        let inherited = ["INHERITED", "NULL", ""].iter().any(|word| text.trim().eq_ignore_ascii_case(word));
        if level.is_none() && !inherited {
            self.notes.push(format!(
                "level `{text}` of {of} is none of OFF, ERROR, WARN, INFO, DEBUG, TRACE: ignored"
            ));
        }
        level
    }
}

/// `100 MB`, `10KB`, `1 GB`, `5000`.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_uppercase();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let factor = match text[digits..].trim().trim_end_matches('B') {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(factor)
}

/// Resolves `${…}` in a log4j file's texts.
pub(super) struct Lookups<'a> {
    pub(super) environment: &'a Environment,
    /// The file's own properties.
    pub(super) own: BTreeMap<String, String>,
}

impl Lookups<'_> {
    pub(super) fn resolve(&self, text: &str) -> String {
        self.resolve_at(text, 0)
    }

    fn resolve_at(&self, text: &str, depth: u32) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${").filter(|_| depth < MAX_DEPTH) {
            out.push_str(&rest[..at]);
            let inside = &rest[at + 2..];
            let Some(end) = closing(inside) else {
                out.push_str(&rest[at..]);
                rest = "";
                break;
            };
            match self.value(&inside[..end]) {
                Some(value) => out.push_str(&self.resolve_at(&value, depth + 1)),
                None => out.push_str(&rest[at..at + 2 + end + 1]),
            }
            rest = &inside[end + 1..];
            if out.len() > MAX_TEXT {
                return text.to_owned();
            }
        }
        out.push_str(rest);
        out
    }

    /// The value of a name. A `-D` setting counts before the file's own, so that `-DLOG_DIR=…` works.
    fn value(&self, name: &str) -> Option<String> {
        let (name, default) =
            name.split_once(":-").map_or((name, None), |(name, default)| (name, Some(default)));
        let environment = self.environment;
        let found = match name.split_once(':') {
            Some(("sys", name)) => environment.property(name).map(str::to_owned),
            Some(("env", name)) => environment.variables.get(name).cloned(),
            Some(("main" | "ctx" | "date" | "java" | "jndi", _)) => None,
            _ => environment.property(name).map(str::to_owned).or_else(|| self.own.get(name).cloned()),
        };
        found.or_else(|| default.map(str::to_owned))
    }
}

/// The end of a look-up; those inside are counted.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1_u32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_take_the_command_line_first_and_end() {
        let environment = Environment {
            properties: [("LOG_DIR", "/d"), ("x", "${x}${x}")].map(|(k, v)| (k.into(), v.into())).into(),
            variables: [("HOST", "h")].map(|(k, v)| (k.into(), v.into())).into(),
            ..Environment::default()
        };
        let own = [("LOG_DIR", "."), ("file", "${LOG_DIR}/${env:HOST}.log")];
        let own = own.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let lookups = Lookups { environment: &environment, own };
        assert_eq!(
            lookups.resolve("${file} ${sys:no:-d} ${jndi:ldap://x} ${open"),
            "/d/h.log d ${jndi:ldap://x} ${open"
        );
        assert!(lookups.resolve("${x}").len() < 1 << 20);
        assert_eq!(bytes("100 MB"), Some(100 << 20));
        assert_eq!(bytes("lots"), None);
    }
}
