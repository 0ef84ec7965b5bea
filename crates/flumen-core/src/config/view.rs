//! Reads a component's properties, remembers which were asked for, and gathers what is wrong with them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::nearest;
use super::problem::{Place, Problem, Severity, sort_problems};
use super::property::{Configuration, Effect, Property, PropertyValue, flat};
use super::settings::{Setting, Settings};

/// The longest value that a message repeats, in characters.
const LONGEST_SHOWN: usize = 120;

/// Unknown keys of a component that are compared with the known ones.
const MAX_COMPARED: usize = 200;

/// Reads a component's settings whole: its own, and the check for unknown keys. `known` are the properties that others read
/// from the same settings (`type`, `channel`, …). Problems come in the order of the file.
pub fn read<C: Configuration>(
    settings: &Settings,
    known: &[&'static [Property]],
) -> (Option<C>, Vec<Problem>) {
    let mut view = View::new(settings);
    let config = C::read(&mut view);
    let mut all = vec![C::PROPERTIES];
    all.extend_from_slice(known);
    let unknown = view.unknown(&all);
    let mut problems = view.into_problems();
    problems.extend(unknown);
    sort_problems(&mut problems);
    (config, problems)
}

/// The properties under one component's prefix. It knows which were read.
#[derive(Debug)]
pub struct View<'a> {
    settings: &'a Settings,
    /// Put before each key that is asked for; not empty within a nested part.
    scope: String,
    read: BTreeSet<&'a str>,
    problems: Vec<Problem>,
}

/// Typed values, as `#[derive(Configuration)]` reads them.
impl<'a> View<'a> {
    /// Reads a property that is required or has a default. `None` where it is missing or bad, which is noted.
    pub fn value<T: PropertyValue>(&mut self, property: &Property) -> Option<T> {
        let found = self.look_up(property, |_| Ok(()))?;
        self.or_default(property, found)
    }

    /// Reads a property that may be missing: `Some(None)`. `None` where it is bad, which is noted.
    pub fn optional<T: PropertyValue>(&mut self, property: &Property) -> Option<Option<T>> {
        self.look_up(property, |_| Ok(()))
    }

    /// Like [`View::value`], and checks `min` and `max`.
    pub fn value_within<T: PropertyValue + PartialOrd>(&mut self, property: &Property) -> Option<T> {
        let found = self.look_up(property, |value| within(property, value))?;
        self.or_default(property, found)
    }

    /// Like [`View::optional`], and checks `min` and `max`.
    pub fn optional_within<T: PropertyValue + PartialOrd>(
        &mut self,
        property: &Property,
    ) -> Option<Option<T>> {
        self.look_up(property, |value| within(property, value))
    }

    /// Reads all properties that begin with the property's key. The rest of each key is the key in the map.
    pub fn map<K: PropertyValue + Ord, V: PropertyValue>(
        &mut self,
        property: &Property,
    ) -> Option<BTreeMap<K, V>> {
        let mut map = BTreeMap::new();
        let mut good = true;
        let rests: Vec<&'a str> = self.within(property.key, |view| view.keys().collect());
        for rest in rests {
            let key = format!("{}{rest}", property.key);
            let Some(text) = self.get(&key) else { continue };
            let name = match K::parse(rest) {
                Ok(name) => Some(name),
                Err(why) => {
                    let what = format!("`{}` is not {}: {why}", shorten(rest), K::KIND);
                    self.error(&key, what);
                    None
                }
            };
            match (name, self.parse::<V>(property, &key, text, &|_| Ok(()))) {
                (Some(name), Some(Some(value))) => drop(map.insert(name, value)),
                (Some(_), Some(None)) => {}
                _ => good = false,
            }
        }
        good.then_some(map)
    }

    /// Notes the properties that were set and do nothing. False where one of them must not be ignored.
    pub fn effects(&mut self, properties: &'static [Property]) -> bool {
        let mut good = true;
        for property in properties.iter().filter(|property| property.effect != Effect::Works) {
            let keys = match property.prefix {
                true => self.within(property.key, |view| view.keys().collect::<Vec<_>>()),
                false => vec![""],
            };
            for rest in keys {
                let key = format!("{}{rest}", property.key);
                let Some(text) = self.get(&key) else { continue };
                match property.effect {
                    Effect::Ignored { why } => self.info(&key, format!("has no effect here: {why}")),
                    Effect::Refused { unless: Some(harmless), .. }
                        if text.trim().eq_ignore_ascii_case(harmless) => {}
                    Effect::Refused { instead, .. } => {
                        good = false;
                        self.note(Severity::Error, &key, "is not supported", Some(instead));
                    }
                    Effect::Works => {}
                }
            }
        }
        good
    }

    /// Finds the text under one of a property's keys, and parses it.
    fn look_up<T: PropertyValue>(
        &mut self,
        property: &Property,
        accept: impl Fn(&T) -> Result<(), String>,
    ) -> Option<Option<T>> {
        let spellings = [property.key].into_iter().chain(property.aliases.iter().copied());
        let mut found: Option<(&str, &'a str)> = None;
        for key in spellings.chain(property.deprecated.iter().copied()) {
            let Some(text) = self.get(key) else { continue };
            match found {
                Some((first, _)) => self.warn(key, format!("is ignored, as `{first}` is set too")),
                None => found = Some((key, text)),
            }
            if property.deprecated.contains(&key) {
                self.note(
                    Severity::Info,
                    key,
                    "is an old spelling",
                    Some(&format!("write `{}`", property.key)),
                );
            }
        }
        match found {
            Some((key, text)) => self.parse(property, key, text, &accept),
            None => Some(None),
        }
    }

    /// `Some(None)`: bad, and to be replaced by the default.
    fn parse<T: PropertyValue>(
        &mut self,
        property: &Property,
        key: &str,
        text: &str,
        accept: &dyn Fn(&T) -> Result<(), String>,
    ) -> Option<Option<T>> {
        let secret = property.secret || T::SECRET;
        let shown = if secret { Cow::Borrowed("***") } else { shorten(&T::shown(text)).into_owned().into() };
        let wrong = match T::parse(text) {
            Ok(value) => match accept(&value) {
                Ok(()) => return Some(Some(value)),
                Err(why) => format!("`{shown}` is {why}"),
            },
            Err(why) => match T::forgive(text) {
                Some((value, understood)) if accept(&value).is_ok() => {
                    let understood = if secret {
                        Cow::Borrowed("***")
                    } else {
                        shorten(&T::shown(&understood)).into_owned().into()
                    };
                    let what = format!("`{shown}` is read as `{understood}`");
                    self.note(Severity::Warning, key, &what, Some(&format!("write {}", T::KIND)));
                    return Some(Some(value));
                }
                _ if secret => format!("`{shown}` is not {}", T::KIND),
                _ => format!("`{shown}` is not {}: {why}", T::KIND),
            },
        };
        if !property.default_if_bad {
            self.error(key, wrong);
            return None;
        }
        let instead = match property.default {
            Some(default) if !secret => format!("{wrong}; the default `{default}` is used"),
            _ => format!("{wrong}; it is ignored"),
        };
        self.warn(key, instead);
        Some(None)
    }

    fn or_default<T: PropertyValue>(&mut self, property: &Property, found: Option<T>) -> Option<T> {
        if found.is_some() {
            return found;
        }
        let Some(default) = property.default else {
            self.error(property.key, "is required");
            return None;
        };
        match T::parse(default) {
            Ok(value) => Some(value),
            Err(why) => {
                self.error(property.key, format!("its default `{default}` is not {}: {why}", T::KIND));
                None
            }
        }
    }
}

/// Plain text, for configurations that are read by hand.
impl<'a> View<'a> {
    /// A view of which nothing has been read.
    pub fn new(settings: &'a Settings) -> Self {
        View { settings, scope: String::new(), read: BTreeSet::new(), problems: Vec::new() }
    }

    /// The text of a property, which counts as read from now on.
    pub fn get(&mut self, key: &str) -> Option<&'a str> {
        let (key, setting) = self.entry(key)?;
        self.read.insert(key);
        Some(&setting.value)
    }

    /// Says that a property is known, although nobody reads it.
    pub fn mark_read(&mut self, key: &str) {
        self.get(key);
    }

    /// Where a property stands.
    pub fn place(&self, key: &str) -> Option<&'a Place> {
        self.entry(key)?.1.at.as_ref()
    }

    /// The keys in view, in alphabetical order.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let length = self.scope.len();
        let keys: Vec<&'a str> = self.settings.below(&self.scope).map(|(key, _)| &key[length..]).collect();
        keys.into_iter()
    }

    /// Reads a part: within `f`, keys are those that begin with `prefix` (`serializer.`), without it.
    pub fn within<R>(&mut self, prefix: &str, f: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.scope.len();
        self.scope.push_str(prefix);
        let result = f(self);
        self.scope.truncate(before);
        result
    }

    /// A part as settings of its own, for something that is built later by a type of its own (`serializer.`). All of it counts
    /// as read.
    pub fn part(&mut self, prefix: &str) -> Settings {
        self.within(prefix, |view| {
            let keys: Vec<&'a str> = view.keys().collect();
            keys.into_iter().for_each(|key| view.mark_read(key));
            view.settings.part(&view.scope)
        })
    }

    /// The whole key, as the file spells it.
    pub fn full_key(&self, key: &str) -> String {
        self.settings.full_key(&format!("{}{key}", self.scope))
    }

    fn entry(&self, key: &str) -> Option<(&'a str, &'a Setting)> {
        match self.scope.as_str() {
            "" => self.settings.entry(key),
            scope => self.settings.entry(&format!("{scope}{key}")),
        }
    }
}

/// Problems.
impl View<'_> {
    /// Notes that a property is wrong. The caller then answers `None`.
    pub fn error(&mut self, key: &str, what: impl AsRef<str>) {
        self.note(Severity::Error, key, what.as_ref(), None);
    }

    /// Notes that something was guessed or ignored.
    pub fn warn(&mut self, key: &str, what: impl AsRef<str>) {
        self.note(Severity::Warning, key, what.as_ref(), None);
    }

    /// Notes something worth knowing.
    pub fn info(&mut self, key: &str, what: impl AsRef<str>) {
        self.note(Severity::Info, key, what.as_ref(), None);
    }

    /// Notes a problem of a property, at its place; of a missing one, at the place of the component.
    pub fn note(&mut self, severity: Severity, key: &str, what: &str, cure: Option<&str>) {
        let at = self.place(key).or_else(|| self.settings.place()).cloned();
        let mut problem = Problem::new(severity, self.full_key(key), at, what);
        problem.cure = cure.map(str::to_owned);
        self.problems.push(problem);
    }

    /// A warning for every property that nobody has read and none of the slices has, with the nearest key that is known.
    pub fn unknown(&self, known: &[&'static [Property]]) -> Vec<Problem> {
        let known: Vec<(String, &Property)> = known.iter().flat_map(|slice| flat(slice)).collect();
        let unread = self.settings.iter().filter(|(key, _)| !self.read.contains(key));
        unread
            .filter(|(key, _)| !nearest::is_known(key, &known))
            .enumerate()
            .map(|(i, (key, setting))| {
                let (key_in_file, at) = (self.settings.full_key(key), setting.at.clone());
                let mut problem =
                    Problem::new(Severity::Warning, key_in_file, at, "unknown property").of_unknown_key();
                // Where this many are wrong, the first ones show what is meant.
                problem.nearest = if i < MAX_COMPARED { nearest::nearest(key, &known) } else { None };
                problem
            })
            .collect()
    }

    /// What was noted so far, in the order in which it was found.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// What was noted, in the order of the file.
    pub fn into_problems(mut self) -> Vec<Problem> {
        sort_problems(&mut self.problems);
        self.problems
    }
}

/// Whether a value keeps to the property's limits, and if not, which it breaks.
fn within<T: PropertyValue + PartialOrd>(property: &Property, value: &T) -> Result<(), String> {
    let breaks = |limit: Option<&'static str>, wrong: fn(&T, &T) -> bool| {
        limit.filter(|text| T::parse(text).is_ok_and(|limit| wrong(value, &limit)))
    };
    if let Some(min) = breaks(property.min, |value, min| value < min) {
        return Err(format!("below {min}"));
    }
    if let Some(max) = breaks(property.max, |value, max| value > max) {
        return Err(format!("above {max}"));
    }
    Ok(())
}

/// A text as messages repeat it: on one line, and not longer than needed to find it.
fn shorten(text: &str) -> Cow<'_, str> {
    if text.chars().nth(LONGEST_SHOWN).is_none() && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut short: String =
        text.chars().take(LONGEST_SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    Cow::Owned(short)
}
