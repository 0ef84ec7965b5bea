//! Sorts an agent's properties by component, and complains about keys that belong to none.

use super::sources::BLANKS;
use crate::conf::{Entries, Entry};
use flumen_core::config::{Place, Problem, PropertyValue, Settings, Severity, Words, nearest_name};
use std::collections::{BTreeMap, HashSet};

/// The lists that an agent has.
pub(super) const LISTS: [&str; 5] = ["sources", "channels", "sinks", "sinkgroups", "configfilters"];

/// Names that a message lists.
const MOST_NAMED: usize = 20;

/// An agent's properties: its lists, and the settings of each component named in a key.
#[derive(Debug, Default)]
pub(super) struct AgentKeys {
    pub(super) lists: BTreeMap<&'static str, List>,
    pub(super) components: BTreeMap<&'static str, BTreeMap<String, Settings>>,
    /// Components of other agents in the same files, by list and name, each with its agent.
    pub(super) elsewhere: BTreeMap<(&'static str, String), String>,
    /// Names before which components stand although they list none: for each its first component, and where that stands.
    pub(super) lost: BTreeMap<String, (&'static str, String, Place)>,
    /// Whole keys whose values do not stand in the file: they come from a lookup or a config filter.
    pub(super) looked_up: HashSet<String>,
}

/// The names in a list, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct List {
    pub(super) names: Vec<String>,
    pub(super) at: Place,
}

impl AgentKeys {
    /// The names of a list, or none.
    pub(super) fn names(&self, list: &str) -> Vec<String> {
        self.lists.get(list).map(|list| list.names.clone()).unwrap_or_default()
    }

    /// Takes the settings of a component out.
    pub(super) fn take(&mut self, list: &str, name: &str) -> Option<Settings> {
        self.components.get_mut(list)?.remove(name)
    }

    /// Where a list stands.
    pub(super) fn place(&self, list: &str) -> Option<Place> {
        self.lists.get(list).map(|list| list.at.clone())
    }
}

/// The names of all agents in the properties, in order.
pub fn agents(entries: &Entries) -> Vec<String> {
    let mut agents: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for entry in &entries.list {
        if let Some((agent, rest)) = entry.key.split_once('.')
            && kind_of(rest).is_some()
            && known.insert(agent)
        {
            agents.push(agent.to_owned());
        }
    }
    agents
}

/// Names in a message: the first ones, and how many more there are.
pub fn some_names(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MOST_NAMED].join(", ")),
    }
}

/// The list that a key below the agent's name belongs to.
fn kind_of(rest: &str) -> Option<&'static str> {
    let head = rest.split('.').next().unwrap_or_default();
    LISTS.into_iter().find(|list| *list == head)
}

/// Sorts the properties of one agent.
pub(super) fn sort(entries: &Entries, agent: &str, problems: &mut Vec<Problem>) -> AgentKeys {
    let mut keys = AgentKeys::default();
    let mut listing = HashSet::new();
    for entry in &entries.list {
        let Some((owner, rest)) = entry.key.split_once('.') else {
            if !entry.used {
                problems.push(no_agent(entry));
            }
            continue;
        };
        if owner != agent {
            if owner.is_empty() && !entry.used {
                problems.push(no_agent(entry));
            }
            if LISTS.contains(&rest) {
                listing.insert(owner);
            }
            keys.note_elsewhere(owner, rest, entry);
            continue;
        }
        problems.extend(unfilled_template(entry));
        match kind_of(rest) {
            Some(kind) if rest == kind => keys.add_list(kind, entry, problems),
            Some(kind) => keys.add_setting(agent, kind, &rest[kind.len() + 1..], entry, problems),
            None if entry.used => {}
            None => problems.push(unknown_kind(rest, entry)),
        }
    }
    keys.lost.retain(|owner, _| !listing.contains(owner.as_str()));
    keys
}

impl AgentKeys {
    fn note_elsewhere(&mut self, owner: &str, rest: &str, entry: &Entry) {
        if let Some(kind) = kind_of(rest)
            && let Some((name, _)) = rest.get(kind.len() + 1..).and_then(|rest| rest.split_once('.'))
        {
            self.elsewhere.entry((kind, name.to_owned())).or_insert_with(|| owner.to_owned());
            // What other properties refer to is there for them.
            if !entry.used && kind != "configfilters" && !self.lost.contains_key(owner) {
                self.lost.insert(owner.to_owned(), (kind, name.to_owned(), entry.at.clone()));
            }
        }
    }

    fn add_list(&mut self, kind: &'static str, entry: &Entry, problems: &mut Vec<Problem>) {
        let names = match Words::<String>::parse(&entry.value) {
            Ok(names) => names.0,
            Err(what) => match Words::<String>::forgive(&entry.value) {
                Some((names, understood)) => {
                    let what = format!("`{}` is read as `{understood}`", entry.value);
                    problems.push(problem(Severity::Warning, entry, what).with_cure(BLANKS));
                    names.0
                }
                None => return problems.push(problem(Severity::Error, entry, what)),
            },
        };
        let mut unique: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name.clone()) {
                problems.push(problem(Severity::Warning, entry, format!("names `{name}` twice")));
            } else {
                unique.push(name);
            }
        }
        self.lists.insert(kind, List { names: unique, at: entry.at.clone() });
    }

    fn add_setting(
        &mut self,
        agent: &str,
        kind: &'static str,
        rest: &str,
        entry: &Entry,
        problems: &mut Vec<Problem>,
    ) {
        let Some((name, setting)) =
            rest.split_once('.').filter(|(name, rest)| !name.is_empty() && !rest.is_empty())
        else {
            let cure = format!("write {agent}.{kind}.NAME.PROPERTY");
            problems.push(
                problem(Severity::Warning, entry, "names no property of a component and is ignored")
                    .of_unknown_key()
                    .with_cure(cure),
            );
            return;
        };
        let components = self.components.entry(kind).or_default();
        let settings = components
            .entry(name.to_owned())
            .or_insert_with(|| Settings::new(&format!("{agent}.{kind}.{name}")));
        settings.set(setting, entry.value.as_str(), Some(entry.at.clone()));
        if entry.secret {
            settings.mark_secret(setting);
        }
        if entry.looked_up {
            self.looked_up.insert(entry.key.clone());
        }
    }
}

/// What template engines leave where a value was to be filled in.
fn unfilled_template(entry: &Entry) -> Option<Problem> {
    let left =
        |open: &str, close: &str| entry.value.split_once(open).is_some_and(|(_, rest)| rest.contains(close));
    let what = match () {
        () if left("{{", "}}") => "holds `{{…}}`",
        () if left("<%", "%>") => "holds `<%…%>`",
        () => return None,
    };
    let what = format!("{what}, which looks like a template that was not filled in");
    Some(problem(Severity::Info, entry, what))
}

fn no_agent(entry: &Entry) -> Problem {
    let cure = "begin a remark with `#`, and a setting with the name of its agent";
    problem(Severity::Info, entry, "belongs to no agent: only ${…} lookups can use it").with_cure(cure)
}

fn unknown_kind(rest: &str, entry: &Entry) -> Problem {
    let head = rest.split('.').next().unwrap_or_default();
    let mut problem = problem(Severity::Warning, entry, "is not a property of an agent and is ignored");
    problem = problem.of_unknown_key();
    problem.nearest = nearest_name(head, LISTS).map(str::to_owned);
    if problem.nearest.is_none() {
        problem.cure = Some(format!("an agent has {}", LISTS.join(", ")));
    }
    problem
}

pub(super) fn problem(severity: Severity, entry: &Entry, what: impl Into<String>) -> Problem {
    Problem::new(severity, &entry.key, Some(entry.at.clone()), what)
}
