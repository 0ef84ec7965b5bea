//! The properties of one component as the files gave them: plain data that a plan can hold and compare.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::problem::Place;

/// A component's properties by key, without the component's prefix. Two are equal where keys and values are: a property that
/// moved to another line has not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    prefix: String,
    entries: BTreeMap<String, Setting>,
}

/// One property's text and place.
#[derive(Clone)]
pub struct Setting {
    /// The text, after lookups and filters.
    pub value: String,
    /// Where it stands.
    pub at: Option<Place>,
    /// Whether the text came from a secret place (a credential store): it is never shown, whatever its key is.
    pub secret: bool,
}

/// Without the value, which may be a secret: only its reader knows.
impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "*** ({at})"),
            None => f.write_str("***"),
        }
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Setting {}

impl Settings {
    /// No properties yet, below `prefix` (`a.sinks.k`, with or without a dot at the end).
    pub fn new(prefix: &str) -> Self {
        Settings { prefix: prefix.trim_end_matches('.').to_owned(), entries: BTreeMap::new() }
    }

    /// Properties from pairs, as if they were the lines of a `flume.conf`. For tests.
    pub fn from_pairs(prefix: &str, pairs: &[(&str, &str)]) -> Self {
        let mut settings = Settings::new(prefix);
        let file: Arc<str> = Arc::from("flume.conf");
        for (line, (key, value)) in (1..).zip(pairs) {
            settings.set(*key, *value, Some(Place { file: file.clone(), line }));
        }
        settings
    }

    /// Sets a property, and gives back what stood there before (Java: the last one wins).
    pub fn set(
        &mut self,
        key: impl Into<String>,
        value: impl Into<String>,
        at: Option<Place>,
    ) -> Option<Setting> {
        self.entries.insert(key.into(), Setting { value: value.into(), at, secret: false })
    }

    /// Says that a property's text is never to be shown.
    pub fn mark_secret(&mut self, key: &str) {
        if let Some(setting) = self.entries.get_mut(key) {
            setting.secret = true;
        }
    }

    /// Removes a property.
    pub fn remove(&mut self, key: &str) -> Option<Setting> {
        self.entries.remove(key)
    }

    /// A property, if there is one under this key.
    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.entries.get(key)
    }

    /// A property with its key, which lives as long as the settings.
    pub(super) fn entry<'a>(&'a self, key: &str) -> Option<(&'a str, &'a Setting)> {
        self.entries.get_key_value(key).map(|(key, setting)| (key.as_str(), setting))
    }

    /// The text of a property.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).map(|setting| setting.value.as_str())
    }

    /// All properties whose keys begin with `before`, in the order of their keys.
    pub fn below<'a>(&'a self, before: &str) -> impl Iterator<Item = (&'a str, &'a Setting)> {
        self.entries
            .range::<str, _>((std::ops::Bound::Included(before), std::ops::Bound::Unbounded))
            .take_while(move |(key, _)| key.starts_with(before))
            .map(|(key, setting)| (key.as_str(), setting))
    }

    /// A part as settings of its own: those whose keys begin with `before` (`interceptors.i1.`), without it.
    pub fn part(&self, before: &str) -> Settings {
        let entries =
            self.below(before).map(|(key, setting)| (key[before.len()..].to_owned(), setting.clone()));
        Settings { entries: entries.collect(), ..Settings::new(&self.full_key(before)) }
    }

    /// All properties in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.entries.iter().map(|(key, setting)| (key.as_str(), setting))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What stands before the keys, without a dot at the end.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The whole key as it stands in the file.
    pub fn full_key(&self, key: &str) -> String {
        if self.prefix.is_empty() { key.to_owned() } else { format!("{}.{key}", self.prefix) }
    }

    /// Where the component begins: the first place of any of its properties.
    pub fn place(&self) -> Option<&Place> {
        self.entries.values().filter_map(|setting| setting.at.as_ref()).min()
    }
}
