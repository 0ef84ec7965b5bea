//! Replaces `${…}` in values: nested names, defaults, escapes, references from one property to another.

use super::{Lookups, looks_secret, table::Found};
use crate::conf::Entry;
use flumen_core::config::{Problem, Severity};
use std::collections::HashMap;

/// Lookups inside lookups, and properties that refer to properties, at most.
const MAX_DEPTH: usize = 50;
/// The longest value, in bytes.
const MAX_VALUE: usize = 1 << 20;
/// What all lookups together may add, in bytes.
const MAX_TOTAL: usize = 64 << 20;

/// One run over all properties.
pub(super) struct Expander<'a> {
    lookups: &'a Lookups,
    raw: Vec<String>,
    index: HashMap<String, usize>,
    states: Vec<State>,
    used: Vec<bool>,
    /// What is being looked up, from the outside in.
    chain: Vec<String>,
    /// Bytes that may still be added.
    left: usize,
    problems: Vec<(usize, Problem)>,
    places: Vec<Entry>,
    bare: bool,
}

/// How far a property is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done { value: String, secret: bool },
}

/// The property whose text is expanded, and what was learnt of it.
struct Scope {
    entry: usize,
    secret: bool,
    broken: bool,
}

impl<'a> Expander<'a> {
    pub(super) fn new(lookups: &'a Lookups, list: &[Entry]) -> Self {
        let named = |(i, entry): (usize, &Entry)| (entry.key.clone(), i);
        Self {
            lookups,
            raw: list.iter().map(|entry| entry.value.clone()).collect(),
            index: list.iter().enumerate().map(named).collect(),
            states: vec![State::New; list.len()],
            used: vec![false; list.len()],
            chain: Vec::new(),
            left: MAX_TOTAL,
            problems: Vec::new(),
            places: list.to_vec(),
            bare: lookups.bare_names_are_variables(),
        }
    }

    /// Resolves all, and writes the values back.
    pub(super) fn run(mut self, list: &mut [Entry]) -> Vec<Problem> {
        for i in 0..list.len() {
            self.property(i);
        }
        for ((entry, state), used) in list.iter_mut().zip(self.states).zip(self.used) {
            if let State::Done { value, secret } = state {
                entry.looked_up |= entry.value != value;
                entry.value = value;
                entry.secret |= secret;
            }
            entry.used |= used;
        }
        self.problems.into_iter().map(|(_, problem)| problem).collect()
    }

    /// The value of a property, resolved once.
    fn property(&mut self, i: usize) -> Option<(String, bool)> {
        match &self.states[i] {
            State::Done { value, secret } => return Some((value.clone(), *secret)),
            State::Open => return None,
            State::New => {}
        }
        let raw = std::mem::take(&mut self.raw[i]);
        if !raw.contains("${") {
            self.states[i] = State::Done { value: raw.clone(), secret: false };
            return Some((raw, false));
        }
        self.states[i] = State::Open;
        self.chain.push(self.places[i].key.clone());
        let mut scope = Scope { entry: i, secret: false, broken: false };
        let expanded = self.expand(&raw, &mut scope);
        self.chain.pop();
        let value = if scope.broken { raw } else { expanded };
        self.states[i] = State::Done { value: value.clone(), secret: scope.secret };
        (!scope.broken).then_some((value, scope.secret))
    }

    /// Replaces every `${…}` of a text. A broken scope makes the result worthless.
    fn expand(&mut self, text: &str, scope: &mut Scope) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, inside) = (&rest[..start], &rest[start + 2..]);
            if let Some(unescaped) = before.strip_suffix('$') {
                out.push_str(unescaped);
                out.push_str("${");
                rest = inside;
                continue;
            }
            let Some(end) = closing(inside) else { break };
            out.push_str(before);
            match self.variable(&inside[..end], scope) {
                Some(value) => out.push_str(&value),
                None => out.push_str(&rest[start..start + 2 + end + 1]),
            }
            rest = &inside[end + 1..];
            if scope.broken {
                return out;
            }
            if out.len() > MAX_VALUE {
                self.broken(scope, format!("grows beyond {MAX_VALUE} bytes by its lookups"));
                return out;
            }
        }
        out.push_str(rest);
        out
    }

    /// What stands for the text between `${` and `}`; `None` where it stays.
    fn variable(&mut self, inside: &str, scope: &mut Scope) -> Option<String> {
        if is_filter(inside) {
            return None;
        }
        if self.chain.len() > MAX_DEPTH {
            self.broken(scope, format!("has lookups more than {MAX_DEPTH} deep"));
            return None;
        }
        let expanded;
        let inside = if inside.contains("${") {
            self.chain.push("a nested name".to_owned());
            expanded = self.expand(inside, scope);
            self.chain.pop();
            expanded.as_str()
        } else {
            inside
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if let Some(at) = self.chain.iter().position(|open| open == name) {
            let mut way = self.chain[at..].to_vec();
            way.push(name.to_owned());
            self.broken(scope, format!("refers to itself: {}", way.join(" -> ")));
            return None;
        }
        let found = self.look_up(name, default.is_some(), scope)?;
        let (value, whole) = found.or_else(|| Some((default?.to_owned(), false)))?;
        self.left = match self.left.checked_sub(value.len()) {
            Some(left) => left,
            None => {
                self.broken(
                    scope,
                    format!("is one lookup too many: together they add more than {MAX_TOTAL} bytes"),
                );
                return None;
            }
        };
        if whole || !value.contains("${") {
            return Some(value);
        }
        self.chain.push(name.to_owned());
        let value = self.expand(&value, scope);
        self.chain.pop();
        Some(value)
    }

    /// Asks the table, then the properties: the value, and whether it is expanded already. The outer `None`: it is broken.
    /// The inner: nothing of this name.
    fn look_up(
        &mut self,
        name: &str,
        has_default: bool,
        scope: &mut Scope,
    ) -> Option<Option<(String, bool)>> {
        let mut key = name;
        let mut complaint = None;
        if let Some((prefix, rest)) = name.split_once(':') {
            match self.lookups.table.look_up(&prefix.trim().to_ascii_lowercase(), rest, self.lookups) {
                Found::Value(value) => {
                    scope.secret |= looks_secret(rest);
                    return Some(Some((value, false)));
                }
                Found::Nothing(what) => complaint = Some(what),
                // Not ours: `${header.x:type}` is meant for a component.
                Found::NoSuchPrefix => return Some(None),
                Found::Off(what) => {
                    self.note(scope.entry, what);
                    return Some(None);
                }
            }
            key = rest;
        } else if self.bare
            && let Some(value) = self.lookups.environment.variables.get(name)
        {
            scope.secret |= looks_secret(name);
            return Some(Some((value.clone(), false)));
        }
        if let Some(&other) = self.index.get(key) {
            self.used[other] = true;
            if self.states[other] == State::Open {
                let mut way: Vec<String> = self.chain.clone();
                way.push(key.to_owned());
                self.broken(scope, format!("refers to itself: {}", way.join(" -> ")));
                return None;
            }
            let Some((value, secret)) = self.property(other) else {
                self.broken(scope, format!("needs `{key}`, which cannot be resolved"));
                return None;
            };
            scope.secret |= secret || looks_secret(key);
            // Expanded already: an escape in it must not be taken for a lookup.
            return Some(Some((value, true)));
        }
        if has_default {
            return Some(None);
        }
        match complaint {
            Some(what) => self.note(scope.entry, format!("{what}: `${{{name}}}` stays as it is")),
            None => self.guess(name, scope.entry),
        }
        Some(None)
    }

    /// Says something about a bare name only where it is likely meant for us.
    fn guess(&mut self, name: &str, entry: usize) {
        let own = self.places[entry].key.split('.').next().unwrap_or_default();
        if name.split_once('.').is_some_and(|(agent, _)| agent == own) {
            self.note(entry, format!("there is no property `{name}`: `${{{name}}}` stays as it is"));
        } else if self.lookups.environment.variables.contains_key(name) {
            self.note(
                entry,
                format!("`${{{name}}}` stays as it is; for the environment variable write `${{env:{name}}}`"),
            );
        } else if name.len() > 1
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        {
            let what = "neither a property nor an environment variable has this name (which is looked up by";
            self.note(entry, format!("`${{{name}}}` stays as it is: {what} `${{env:{name}}}`)"));
        }
    }

    fn broken(&mut self, scope: &mut Scope, what: String) {
        if !scope.broken {
            scope.broken = true;
            self.problem(Severity::Error, scope.entry, what);
        }
    }

    fn note(&mut self, entry: usize, what: String) {
        self.problem(Severity::Warning, entry, what);
    }

    fn problem(&mut self, severity: Severity, entry: usize, what: String) {
        let place = &self.places[entry];
        let problem = Problem::new(severity, &place.key, Some(place.at.clone()), what);
        if !self.problems.iter().rev().take(8).any(|(_, known)| *known == problem) {
            self.problems.push((entry, problem));
        }
    }
}

/// Where the `}` is that belongs to an opened `${`.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut i, mut open) = (0, 0);
    while i < bytes.len() {
        match bytes[i] {
            b'$' if bytes.get(i + 1) == Some(&b'{') => {
                open += 1;
                i += 1;
            }
            b'}' if open == 0 => return Some(i),
            b'}' => open -= 1,
            _ => {}
        }
        i += 1;
    }
    None
}

/// Whether the text is a config filter's, `name["key"]`: a `:-` in its key is no default.
fn is_filter(inside: &str) -> bool {
    inside.trim_end().ends_with(']')
        && inside.split_once('[').is_some_and(|(name, _)| !name.is_empty() && !name.contains([':', '$', '{']))
}
