//! Where a running component stands in its files: so that what goes wrong later is told as what is wrong at the start.

use super::Settings;
use std::{
    fmt::{self, Display},
    sync::{Arc, Mutex, PoisonError},
};

/// The settings of a component as the files have them now. Clones share them.
#[derive(Clone, Default)]
pub struct Origin(Arc<Mutex<Settings>>);

impl Origin {
    /// Of a component with these settings.
    pub fn new(settings: Settings) -> Self {
        Self(Arc::new(Mutex::new(settings)))
    }

    /// The same settings, which may stand on other lines now.
    pub fn set(&self, settings: Settings) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// The reason with its place in front, in the form of a problem at the start: that of the property that the reason
    /// names, else that of the component.
    pub fn tell(&self, reason: &dyn Display) -> String {
        let settings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = reason.to_string();
        if settings.is_empty() {
            return reason;
        }
        let named = settings.iter().filter(|(key, _)| names(&reason, key, settings.prefix()));
        match named.max_by_key(|(key, _)| key.len()) {
            Some((key, setting)) => {
                let at = setting.at.as_ref().map_or_else(String::new, |at| format!("{at}: "));
                format!("{at}{}: {reason}", settings.full_key(key))
            }
            None => {
                let at = settings.place().map_or_else(String::new, |at| format!("{at}: "));
                format!("{at}{}: {reason}", settings.prefix())
            }
        }
    }
}

/// Without the settings, which may be secret.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Origin")
    }
}

/// Whether a text names a property: by its whole key, or by its own where that is no word of a sentence (`sink.directory`).
fn names(text: &str, key: &str, prefix: &str) -> bool {
    let part_of_key = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    text.split(|c| !part_of_key(c)).any(|word| {
        let word = word.trim_end_matches('.');
        let own = word.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
        own == Some(key) || (word == key && key.contains(['.', '-']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_stands_behind_the_line_of_the_property_that_it_names() {
        let pairs = [("type", "x"), ("sink.directory", "/d"), ("sink", "odd"), ("port", "1")];
        let origin = Origin::new(Settings::from_pairs("a.sinks.k", &pairs));
        for (reason, told) in [
            ("no disk", "flume.conf:1: a.sinks.k: no disk"),
            ("see sink.directory.", "flume.conf:2: a.sinks.k.sink.directory: see sink.directory."),
            ("in use (a.sinks.k.port)", "flume.conf:4: a.sinks.k.port: in use (a.sinks.k.port)"),
            ("a port is a port", "flume.conf:1: a.sinks.k: a port is a port"),
            ("not a.sinks.kk.port", "flume.conf:1: a.sinks.k: not a.sinks.kk.port"),
        ] {
            assert_eq!(origin.tell(&reason), told);
        }
        let moved = Settings::from_pairs("a.sinks.k", &[("remark", ""), ("type", "x"), ("port", "1")]);
        origin.clone().set(moved);
        assert!(origin.tell(&"see a.sinks.k.port").starts_with("flume.conf:3: "), "clones share it");
        assert_eq!(Origin::default().tell(&"x"), "x");
    }
}
