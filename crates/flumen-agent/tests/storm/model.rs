//! A configuration as data: its text, its components, and which of them differ from another's.

use flumen_core::registry::Kind;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

/// The source, the channel and the sink of a flow that no edit names.
pub(crate) const PINNED_SOURCE: &str = "pinned";
pub(super) const PINNED_CHANNEL: &str = "c0";
pub(super) const PINNED_SINK: &str = "k0";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    pub(super) sources: BTreeMap<String, Source>,
    pub(super) channels: BTreeMap<String, Channel>,
    pub(super) sinks: BTreeMap<String, Sink>,
    /// The type of the processor, and the members.
    pub(super) groups: BTreeMap<String, (&'static str, Vec<String>)>,
    pub(super) next_name: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Source {
    pub(super) channels: Vec<String>,
    pub(super) interceptors: Vec<&'static str>,
    pub(super) rows: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Channel {
    pub(super) capacity: u32,
    pub(super) keep_alive_s: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sink {
    pub(super) channel: String,
    pub(super) rows: u32,
    pub(super) mode: &'static str,
}

impl Model {
    /// The pinned flow, a flow of real components beside it, and nothing else.
    pub(crate) fn new() -> Self {
        let source = Source { channels: vec![PINNED_CHANNEL.into()], interceptors: vec![], rows: 2 };
        let sink = Sink { channel: PINNED_CHANNEL.into(), rows: 10, mode: "good" };
        Self {
            sources: [(PINNED_SOURCE.into(), source)].into(),
            channels: [(PINNED_CHANNEL.into(), Channel { capacity: 1_000, keep_alive_s: 1 })].into(),
            sinks: [(PINNED_SINK.into(), sink)].into(),
            groups: BTreeMap::new(),
            next_name: 1,
        }
    }

    /// The configuration file. Components write into this ledger.
    pub(crate) fn text(&self, ledger: u64) -> String {
        let names =
            |names: &mut dyn Iterator<Item = &String>| names.map(|n| format!(" {n}")).collect::<String>();
        let mut text = format!(
            "a.sources = seq{}\na.channels = noise{}\na.sinks = nowhere{}\na.sinkgroups ={}\n\
             a.sources.seq.type = seq\na.sources.seq.channels = noise\na.sources.seq.totalEvents = 5000\n\
             a.channels.noise.type = memory\na.sinks.nowhere.type = null\na.sinks.nowhere.channel = noise\n",
            names(&mut self.sources.keys()),
            names(&mut self.channels.keys()),
            names(&mut self.sinks.keys()),
            names(&mut self.groups.keys())
        );
        if self.groups.is_empty() {
            text = text.replace("a.sinkgroups =\n", "");
        }
        for (name, source) in &self.sources {
            let (key, channels) = (format!("a.sources.{name}"), source.channels.join(" "));
            writeln!(text, "{key}.type = numbers\n{key}.channels = {channels}\n{key}.lands = {channels}")
                .unwrap();
            writeln!(text, "{key}.rows = {}\n{key}.ledger = {ledger}", source.rows).unwrap();
            if !source.interceptors.is_empty() {
                writeln!(text, "{key}.interceptors = {}", source.interceptors.join(" ")).unwrap();
            }
            for interceptor in &source.interceptors {
                writeln!(text, "{key}.interceptors.{interceptor}.type = {interceptor}").unwrap();
            }
        }
        for (name, channel) in &self.channels {
            let (key, keep_alive_s) = (format!("a.channels.{name}"), channel.keep_alive_s);
            writeln!(text, "{key}.type = memory\n{key}.capacity = {}", channel.capacity).unwrap();
            writeln!(text, "{key}.keep-alive = {keep_alive_s}").unwrap();
        }
        for (name, sink) in &self.sinks {
            let (key, channel) = (format!("a.sinks.{name}"), &sink.channel);
            writeln!(text, "{key}.type = collect\n{key}.channel = {channel}\n{key}.from = {channel}")
                .unwrap();
            writeln!(text, "{key}.rows = {}\n{key}.mode = {}\n{key}.ledger = {ledger}", sink.rows, sink.mode)
                .unwrap();
        }
        for (name, (processor, members)) in &self.groups {
            let key = format!("a.sinkgroups.{name}");
            writeln!(text, "{key}.sinks = {}\n{key}.processor.type = {processor}", members.join(" "))
                .unwrap();
            for (priority, member) in members.iter().enumerate().filter(|_| *processor == "failover") {
                writeln!(text, "{key}.processor.priority.{member} = {priority}").unwrap();
            }
        }
        text
    }

    /// All components, as reports list them.
    pub(crate) fn components(&self) -> Vec<(Kind, String)> {
        let mut all: Vec<_> = [(Kind::Source, "seq"), (Kind::Channel, "noise"), (Kind::Sink, "nowhere")]
            .map(|(kind, name)| (kind, name.to_owned()))
            .into();
        all.extend(self.sources.keys().map(|name| (Kind::Source, name.clone())));
        all.extend(self.channels.keys().map(|name| (Kind::Channel, name.clone())));
        all.extend(self.sinks.keys().map(|name| (Kind::Sink, name.clone())));
        all.sort();
        all
    }

    /// The components that may have been stopped or started on the way from another model to this one. Channels that are
    /// in both are never among them, whatever their limits.
    pub(crate) fn touched_since(&self, old: &Model) -> BTreeSet<(Kind, String)> {
        let mut touched = BTreeSet::new();
        let both = self.sources.keys().chain(old.sources.keys());
        let changed = both.filter(|name| self.sources.get(*name) != old.sources.get(*name));
        touched.extend(changed.map(|name| (Kind::Source, name.clone())));
        let changed =
            self.sinks.keys().chain(old.sinks.keys()).filter(|name| self.runner(name) != old.runner(name));
        touched.extend(changed.map(|name| (Kind::Sink, name.clone())));
        touched
    }

    /// A sink with all that shares its runner.
    fn runner(&self, sink: &str) -> (Option<&'static str>, Vec<(String, Option<Sink>)>) {
        let group = self.groups.iter().find(|(_, (_, members))| members.iter().any(|member| member == sink));
        let (processor, members) = match group {
            Some((_, (processor, members))) => (Some(*processor), members.clone()),
            None => (None, vec![sink.to_owned()]),
        };
        let with_settings = members.into_iter().map(|name| (name.clone(), self.sinks.get(&name).cloned()));
        (processor, with_settings.collect())
    }
}
