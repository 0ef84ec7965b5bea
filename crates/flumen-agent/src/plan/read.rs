//! Turns properties into a plan. As in Java a component with errors is left out and the rest runs; unlike Java the
//! smallest part that is wrong is left out, and everything that is wrong is told at once.

use super::{
    Part, Plan,
    agent_keys::{self, AgentKeys},
    channels, groups, relations, sources,
};
use crate::conf::Entries;
use flumen_core::{
    config::{Problem, ProblemKind, Settings, Severity, View, nearest_name},
    registry::{BuildContext, EntryInfo, Environment, ExtraMetrics, Facts, Kind, Registry},
    world::WallClock,
};
use std::sync::Arc;

/// Problems with a nearest name; those behind them are told without.
const MAX_COMPARED: usize = 200;

/// What reading a plan needs besides the text.
#[derive(Debug, Clone)]
pub struct PlanContext {
    /// What the configuration can name.
    pub registry: Arc<Registry>,
    /// What the process was started with.
    pub environment: Arc<Environment>,
    /// The time of day.
    pub clock: Arc<dyn WallClock>,
}

impl PlanContext {
    /// A build context for the pure parts that are tried while a plan is read.
    pub fn build_context(&self, agent: &str, name: &str) -> BuildContext {
        BuildContext {
            agent: agent.into(),
            name: name.into(),
            clock: self.clock.clone(),
            seed: 0,
            environment: self.environment.clone(),
            registry: self.registry.clone(),
            extra: ExtraMetrics::default(),
        }
    }
}

/// Reads the plan of one agent, with all that is wrong in the order of the files.
pub fn read(entries: &Entries, agent: &str, context: &PlanContext) -> (Plan, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut plan = Plan { agent: agent.to_owned(), ..Plan::default() };
    let known = agent_keys::agents(entries);
    if !known.iter().any(|name| name == agent) {
        problems.push(no_such_agent(agent, &known, entries));
        return (plan, problems);
    }
    let mut keys = agent_keys::sort(entries, agent, &mut problems);
    for list in ["channels", "sources", "sinks"] {
        if keys.names(list).is_empty() {
            let what = if list == "channels" { Severity::Error } else { Severity::Warning };
            let key = format!("{agent}.{list}");
            problems.push(Problem::new(what, key, keys.place(list), format!("names no {list}")));
        }
    }
    let mut reader = Reader { agent, context, problems, keys: &mut keys };
    channels::read(&mut reader, &mut plan);
    sources::read(&mut reader, &mut plan);
    groups::read(&mut reader, &mut plan);
    reader.unlisted();
    reader.misnamed();
    let mut problems = reader.problems;
    relations::check(&mut plan, context, &mut problems);
    if plan.is_empty() {
        let what = "has nothing to run: no source and no sink is left";
        problems.push(Problem::new(Severity::Error, agent, None, what));
    }
    entries.sort(&mut problems);
    (plan, problems)
}

fn no_such_agent(agent: &str, known: &[String], entries: &Entries) -> Problem {
    let files: Vec<&str> = entries.files.iter().map(|file| &**file).collect();
    let what = format!("no agent of this name in {}", files.join(", "));
    let mut problem = Problem::new(Severity::Error, agent, None, what);
    problem.nearest = nearest_name(agent, known.iter().map(String::as_str)).map(str::to_owned);
    problem.cure = Some(match known {
        [] if entries.list.is_empty() => "there are no properties at all".to_owned(),
        [] => "no property is of the form AGENT.sources, AGENT.channels or AGENT.sinks".to_owned(),
        _ => format!("agents there: {}; choose one with -n", agent_keys::some_names(known)),
    });
    problem
}

/// What the readers of the kinds share.
pub(super) struct Reader<'a> {
    pub(super) agent: &'a str,
    pub(super) context: &'a PlanContext,
    pub(super) problems: Vec<Problem>,
    pub(super) keys: &'a mut AgentKeys,
}

impl Reader<'_> {
    /// Notes a problem about a key of a component.
    pub(super) fn note(
        &mut self,
        severity: Severity,
        settings: &Settings,
        key: &str,
        what: impl Into<String>,
    ) -> &mut Problem {
        let at =
            settings.get(key).and_then(|setting| setting.at.clone()).or_else(|| settings.place().cloned());
        self.problems.push(Problem::new(severity, settings.full_key(key), at, what));
        self.problems.last_mut().expect("one was just pushed")
    }

    /// The settings of a listed component, or the complaint that there are none.
    pub(super) fn settings(&mut self, list: &'static str, name: &str) -> Option<Settings> {
        let settings = self.keys.take(list, name);
        if settings.is_none() {
            let key = format!("{}.{list}", self.agent);
            let others: Vec<String> =
                self.keys.components.get(list).map(|map| map.keys().cloned().collect()).unwrap_or_default();
            let mut problem = Problem::new(
                Severity::Error,
                key,
                self.keys.place(list),
                format!("names `{name}`, which has no properties"),
            );
            if self.problems.len() < MAX_COMPARED {
                problem.nearest = nearest_name(name, others.iter().map(String::as_str)).map(str::to_owned);
            }
            if let Some(agent) = self.keys.elsewhere.get(&(list, name.to_owned())) {
                problem.cure = Some(format!("agent `{agent}` has properties of this name: are they meant?"));
            }
            self.problems.push(problem);
        }
        settings
    }

    /// Looks a component's type up, in any case of its letters: the entry, or the complaint.
    pub(super) fn find<'r, E>(
        &mut self,
        kind: Kind,
        settings: &Settings,
        key: &str,
        name: &str,
        find: impl Fn(&'r Registry, &str) -> Option<&'r E>,
        registry: &'r Registry,
    ) -> Option<&'r E> {
        if let Some(entry) = find(registry, name) {
            let infos = registry.infos(kind);
            let known = infos.iter().find(|info| info.is_named(name));
            // In capitals they are the constants of Java's enums, as Flume's own documents write them.
            let usual = |known: &&&EntryInfo| known.names.contains(&name) || *name == *name.to_uppercase();
            if let Some(known) = known.filter(|known| !usual(known)) {
                let usual = known.names.iter().find(|usual| usual.eq_ignore_ascii_case(name));
                let what = format!("`{name}` is read as `{}`", usual.copied().unwrap_or(known.short_name()));
                self.note(Severity::Warning, settings, key, what);
            }
            return Some(entry);
        }
        if let Some(absent) = registry.find_absent(kind, name) {
            let what = format!("`{name}` is a {kind} of Flume's that is known and not there yet");
            self.note(Severity::Error, settings, key, what).cure = Some(absent.instead.to_owned());
            return None;
        }
        let infos = registry.infos(kind);
        let names = infos.iter().flat_map(|info| info.names.iter().copied());
        let usual = (kind == Kind::Selector && name.eq_ignore_ascii_case("default")).then_some("replicating");
        let nearest = usual.or_else(|| nearest_name(name, names)).map(str::to_owned);
        let short: Vec<&str> = infos.iter().map(|info| info.short_name()).collect();
        let custom = name.contains('.');
        let problem = self.note(Severity::Error, settings, key, format!("unknown {kind} type `{name}`"));
        problem.cure = Some(if custom {
            format!("custom Java classes cannot be loaded; built in are {}", short.join(", "))
        } else {
            format!("there are {}", short.join(", "))
        });
        problem.nearest = nearest;
        None
    }

    /// Runs the type's own check of the settings.
    pub(super) fn check(
        &mut self,
        info: &EntryInfo,
        settings: Settings,
        check: fn(&Settings) -> (Option<Facts>, Vec<Problem>),
    ) -> Option<Part> {
        let (facts, problems) = check(&settings);
        self.problems.extend(problems);
        let looked_up = |key: &str| self.keys.looked_up.contains(key);
        relations::secrets::check(info, &settings, looked_up, &mut self.problems);
        let mut common = View::new(&settings);
        info.common.iter().for_each(|properties| _ = common.effects(properties));
        self.problems.extend(common.into_problems());
        let facts = facts?;
        for (severity, list) in [(Severity::Warning, &facts.advice), (Severity::Info, &facts.hints)] {
            for (key, what) in list {
                self.note(severity, &settings, key, what.clone());
            }
        }
        Some(Part { type_name: info.short_name(), settings, facts })
    }

    /// The type of a component, or the complaint that it has none.
    pub(super) fn type_of(&mut self, settings: &Settings) -> Option<String> {
        let name = self.name_in(settings, "type");
        if name.is_none() {
            self.note(Severity::Error, settings, "type", "is required");
        }
        name
    }

    /// A property that is one name. A remark behind it is left out, and told.
    pub(super) fn name_in(&mut self, settings: &Settings, key: &str) -> Option<String> {
        let text = settings.text(key)?;
        let name = match text.split_once(['#', '!']) {
            Some((name, _)) if name.ends_with([' ', '\t']) && !name.trim().is_empty() => name.trim(),
            _ => return Some(text.to_owned()),
        };
        let what = format!("`{text}` is read as `{name}`");
        self.note(Severity::Warning, settings, key, what).cure =
            Some("give the remark a line of its own".to_owned());
        Some(name.to_owned())
    }

    /// Components below a name that is no agent's: nothing is listed there, so it cannot run by itself.
    fn misnamed(&mut self) {
        let (agent, lost) = (self.agent, std::mem::take(&mut self.keys.lost));
        for (owner, (list, name, at)) in lost {
            let key = format!("{owner}.{list}.{name}");
            let what = format!("`{owner}` lists nothing, so this runs nowhere");
            let cure = format!("write {agent}.{list}.{name} if agent `{agent}` is meant");
            self.problems.push(Problem::new(Severity::Warning, key, Some(at), what).with_cure(cure));
        }
    }

    /// What has settings and is in no list.
    fn unlisted(&mut self) {
        for (list, components) in std::mem::take(&mut self.keys.components) {
            if list == "configfilters" {
                continue;
            }
            for (name, settings) in components {
                let listed = self.keys.names(list);
                let key = format!("{}.{list}", self.agent);
                let what = format!("has properties, but `{key}` does not name it: it does not run");
                let at = settings.place().cloned();
                let mut problem = Problem::new(Severity::Warning, format!("{key}.{name}"), at, what);
                // Each is compared with all: in a file that is wrong throughout, the first ones show what is meant.
                if self.problems.len() < MAX_COMPARED {
                    problem.nearest =
                        nearest_name(&name, listed.iter().map(String::as_str)).map(str::to_owned);
                }
                if problem.nearest.is_some() {
                    problem.kind = ProblemKind::UnknownKey;
                } else {
                    problem.cure = Some(format!("add `{name}` to `{key}`, or remove its lines"));
                }
                self.problems.push(problem);
            }
        }
    }
}
