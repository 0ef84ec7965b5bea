//! Random edits of a model. Every channel keeps a sink, and one is only removed while its sinks work: then all of it drains.

use super::model::{Channel, Model, PINNED_CHANNEL, PINNED_SINK, PINNED_SOURCE, Sink, Source};
use std::fmt;

/// What was done to a model.
#[derive(Debug)]
pub(crate) struct Edit {
    what: String,
    /// Whether it names a part that cannot be built.
    pub(crate) is_broken: bool,
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// The most components of a kind.
const MOST: usize = 8;

const INTERCEPTORS: [&str; 2] = ["timestamp", "host"];
const PROCESSORS: [&str; 2] = ["failover", "load_balance"];

impl Model {
    /// Makes one random edit.
    pub(crate) fn edit(&mut self, rng: &mut fastrand::Rng) -> Edit {
        loop {
            let number = rng.u8(0..17);
            if let Some(what) = self.try_edit(number, rng) {
                return Edit { what, is_broken: matches!(number, 15 | 16) };
            }
        }
    }

    /// Lets every sink deliver.
    pub(crate) fn mend_sinks(&mut self) {
        self.sinks.values_mut().for_each(|sink| sink.mode = "good");
    }

    fn try_edit(&mut self, number: u8, rng: &mut fastrand::Rng) -> Option<String> {
        match number {
            0..=4 => self.edit_source(number, rng),
            5..=7 => self.edit_channel(number, rng),
            8..=11 => self.edit_sink(number, rng),
            12..=14 => self.edit_group(number, rng),
            15 => {
                let name = self.some_sink(rng)?;
                self.sinks.get_mut(&name)?.mode = "unbuildable";
                Some(format!("sink {name} cannot be built"))
            }
            _ => {
                let (name, channel) = (self.fresh("k"), self.some_channel(rng)?);
                self.sinks.insert(name.clone(), Sink { channel, rows: 1, mode: "unbuildable" });
                Some(format!("new sink {name} cannot be built"))
            }
        }
    }

    fn edit_source(&mut self, number: u8, rng: &mut fastrand::Rng) -> Option<String> {
        if number == 0 {
            if self.sources.len() >= MOST {
                return None;
            }
            let (name, channels) = (self.fresh("s"), self.some_channels(rng));
            self.sources.insert(name.clone(), Source { channels, interceptors: vec![], rows: rng.u32(1..5) });
            return Some(format!("new source {name}"));
        }
        let others: Vec<String> =
            self.sources.keys().filter(|name| *name != PINNED_SOURCE).cloned().collect();
        let name = rng.choice(others)?;
        if number == 1 {
            self.sources.remove(&name);
            return Some(format!("source {name} goes"));
        }
        let channels = self.some_channels(rng);
        let source = self.sources.get_mut(&name)?;
        match number {
            2 => source.rows = source.rows % 5 + 1,
            3 => source.channels = channels,
            _ => source.interceptors = INTERCEPTORS.into_iter().filter(|_| rng.bool()).collect(),
        }
        Some(format!("source {name} is now {source:?}"))
    }

    fn edit_channel(&mut self, number: u8, rng: &mut fastrand::Rng) -> Option<String> {
        match number {
            5 if self.channels.len() < MOST => {
                let (name, sink) = (self.fresh("c"), self.fresh("k"));
                self.channels
                    .insert(name.clone(), Channel { capacity: rng.u32(100..2_000), keep_alive_s: 1 });
                self.sinks.insert(sink, Sink { channel: name.clone(), rows: 3, mode: "good" });
                Some(format!("new channel {name}"))
            }
            6 => {
                let others: Vec<&String> =
                    self.channels.keys().filter(|name| *name != PINNED_CHANNEL).collect();
                let name = rng.choice(others)?.clone();
                if self.sinks.values().any(|sink| sink.channel == name && sink.mode != "good") {
                    return None;
                }
                let sinks: Vec<String> =
                    self.sinks.keys().filter(|k| self.sinks[*k].channel == name).cloned().collect();
                if self.groups.values().flat_map(|(_, members)| members).any(|member| sinks.contains(member))
                {
                    return None;
                }
                self.channels.remove(&name);
                self.sinks.retain(|sink, _| !sinks.contains(sink));
                self.sources
                    .values_mut()
                    .for_each(|source| source.channels.retain(|channel| *channel != name));
                self.sources.retain(|_, source| !source.channels.is_empty());
                Some(format!("channel {name} goes"))
            }
            7 => {
                let name = self.some_channel(rng)?;
                let channel = self.channels.get_mut(&name)?;
                *channel = Channel { capacity: rng.u32(100..2_000), keep_alive_s: rng.u32(1..3) };
                Some(format!("channel {name} is now {channel:?}"))
            }
            _ => None,
        }
    }

    fn edit_sink(&mut self, number: u8, rng: &mut fastrand::Rng) -> Option<String> {
        if number == 8 {
            if self.sinks.len() >= 2 * MOST {
                return None;
            }
            let (name, channel) = (self.fresh("k"), self.some_channel(rng)?);
            self.sinks.insert(name.clone(), Sink { channel, rows: rng.u32(1..5), mode: "good" });
            return Some(format!("new sink {name}"));
        }
        let name = self.some_sink(rng)?;
        let channel = self.sinks[&name].channel.clone();
        let grouped = self.groups.values().any(|(_, members)| members.contains(&name));
        match number {
            9 => {
                let good = |(other, sink): (&String, &Sink)| *other != name && sink.channel == channel;
                if grouped || !self.sinks.iter().any(good) {
                    return None;
                }
                self.sinks.remove(&name);
                return Some(format!("sink {name} goes"));
            }
            10 => self.sinks.get_mut(&name)?.rows += 1,
            _ => {
                let sink = self.sinks.get_mut(&name)?;
                sink.mode = if sink.mode == "good" { "failing" } else { "good" };
            }
        }
        Some(format!("sink {name} is now {:?}", self.sinks[&name]))
    }

    fn edit_group(&mut self, number: u8, rng: &mut fastrand::Rng) -> Option<String> {
        match number {
            12 => {
                let grouped: Vec<&String> = self.groups.values().flat_map(|(_, members)| members).collect();
                let free = |name: &&String| *name != PINNED_SINK && !grouped.contains(name);
                let mut free: Vec<String> = self.sinks.keys().filter(free).cloned().collect();
                if free.len() < 2 {
                    return None;
                }
                rng.shuffle(&mut free);
                free.truncate(rng.usize(2..4));
                let name = self.fresh("g");
                self.groups.insert(name.clone(), (rng.choice(PROCESSORS)?, free));
                Some(format!("new group {name}: {:?}", self.groups[&name]))
            }
            13 => {
                let name = rng.choice(self.groups.keys())?.clone();
                self.groups.remove(&name);
                Some(format!("group {name} goes"))
            }
            _ => {
                let name = rng.choice(self.groups.keys())?.clone();
                let group = self.groups.get_mut(&name)?;
                group.0 = *PROCESSORS.iter().find(|processor| **processor != group.0)?;
                Some(format!("group {name} is now {group:?}"))
            }
        }
    }

    fn fresh(&mut self, letter: &str) -> String {
        self.next_name += 1;
        format!("{letter}{}", self.next_name)
    }

    fn some_channel(&self, rng: &mut fastrand::Rng) -> Option<String> {
        rng.choice(self.channels.keys()).cloned()
    }

    fn some_channels(&self, rng: &mut fastrand::Rng) -> Vec<String> {
        let mut names: Vec<String> = self.channels.keys().cloned().collect();
        rng.shuffle(&mut names);
        names.truncate(rng.usize(1..4));
        names
    }

    /// A sink other than the pinned one.
    fn some_sink(&self, rng: &mut fastrand::Rng) -> Option<String> {
        let others: Vec<&String> = self.sinks.keys().filter(|name| *name != PINNED_SINK).collect();
        rng.choice(others).cloned()
    }
}
