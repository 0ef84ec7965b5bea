//! The configuration of a simulated agent: made by chance, changed by chance, written as an operator would.

use crate::events::{Rules, Selector};
use fastrand::Rng;

/// The most events that a scripted source puts at once; no channel takes less.
pub(crate) const MOST_EVENTS: u32 = 8;

/// What the configuration file says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) channels: Vec<ChannelPlan>,
    /// For each source its rules and how many puts it keeps open.
    pub(crate) sources: Vec<(Rules, usize)>,
    /// For each runner its sinks.
    pub(crate) runners: Vec<RunnerPlan>,
}

/// A memory channel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChannelPlan {
    pub(crate) capacity: u64,
    transaction_capacity: u32,
    keep_alive_s: u32,
}

/// A sink, or a group of them, on one channel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunnerPlan {
    /// The last part of its sinks' names.
    pub(crate) channel: usize,
    batch_sizes: Vec<u32>,
    processor: &'static str,
}

/// The lines of a group that say how it chooses; `default` is a sink alone.
const PROCESSORS: [&str; 4] = [
    "type = failover\nPRIORITY",
    "type = load_balance\n",
    "type = load_balance\nselector = random\n",
    "type = load_balance\nbackoff = true\n",
];

impl Scenario {
    /// One of very many.
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let n_channels = rng.usize(1..=3);
        let mut scenario = Self {
            channels: (0..n_channels).map(|_| ChannelPlan::new(rng)).collect(),
            sources: Vec::new(),
            runners: Vec::new(),
        };
        for _ in 0..rng.usize(1..=3) {
            scenario.sources.push((rules(rng, n_channels), rng.usize(1..=4)));
        }
        for channel in 0..n_channels {
            for _ in 0..if rng.u8(..4) == 0 { 2 } else { 1 } {
                scenario.runners.push(RunnerPlan::new(rng, channel));
            }
        }
        scenario
    }

    /// The same after an operator has changed something.
    pub(crate) fn edited(&self, rng: &mut Rng) -> Self {
        let mut next = self.clone();
        let n_channels = next.channels.len();
        match rng.u8(..7) {
            0 => next.channels[rng.usize(..n_channels)] = ChannelPlan::new(rng),
            1 => {
                let at = rng.usize(..next.sources.len());
                next.sources[at] = (rules(rng, n_channels), rng.usize(1..=4));
            }
            2 => {
                let at = rng.usize(..next.runners.len());
                next.runners[at] = RunnerPlan::new(rng, next.runners[at].channel);
            }
            3 if next.sources.len() > 1 => {
                next.sources.pop();
            }
            4 if next.sources.len() < 4 => next.sources.push((rules(rng, n_channels), 2)),
            5 if next.runners.len() < 6 => {
                let channel = rng.usize(..n_channels);
                next.runners.push(RunnerPlan::new(rng, channel));
            }
            6 if n_channels < 4 => {
                next.channels.push(ChannelPlan::new(rng));
                next.runners.push(RunnerPlan::new(rng, n_channels));
                next.sources.push((rules(rng, n_channels + 1), 1));
            }
            // A remark, as it were.
            _ => {}
        }
        next
    }

    /// The runners, and the sinks, that take from a channel.
    pub(crate) fn takers(&self, channel: usize) -> (usize, usize) {
        let runners = self.runners.iter().filter(|runner| runner.channel == channel);
        runners.fold((0, 0), |(runners, sinks), runner| (runners + 1, sinks + runner.batch_sizes.len()))
    }

    /// The file. `world` leads the scripted ends to their observer, `rules` gives each source the number of its rules there.
    pub(crate) fn text(&self, world: u64, mut rules: impl FnMut(&Rules) -> usize) -> String {
        let names =
            |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(" ");
        let mut text = format!(
            "a.sources = {}\na.channels = {}\n",
            names("r", self.sources.len()),
            names("c", self.channels.len())
        );
        for (n, channel) in self.channels.iter().enumerate() {
            let ChannelPlan { capacity, transaction_capacity, keep_alive_s } = channel;
            text += &format!(
                "a.channels.c{n}.type = memory\na.channels.c{n}.capacity = {capacity}\n\
                 a.channels.c{n}.transactionCapacity = {transaction_capacity}\n\
                 a.channels.c{n}.keep-alive = {keep_alive_s}\n"
            );
        }
        for (n, (of, open_puts)) in self.sources.iter().enumerate() {
            let source = format!("a.sources.r{n}");
            let rules = rules(of);
            text += &format!(
                "{source}.type = scripted\n{source}.world = {world}\n{source}.rules = {rules}\n\
                 {source}.openPuts = {open_puts}\n{}",
                of.text(&source)
            );
        }
        let (mut sinks, mut groups) = (Vec::new(), Vec::new());
        for (n, runner) in self.runners.iter().enumerate() {
            let mut members = Vec::new();
            for (i, batch_size) in runner.batch_sizes.iter().enumerate() {
                let name = format!("k{n}-{i}-{}", runner.channel);
                text += &format!(
                    "a.sinks.{name}.type = scripted\na.sinks.{name}.world = {world}\n\
                     a.sinks.{name}.channel = c{}\na.sinks.{name}.batchSize = {batch_size}\n",
                    runner.channel
                );
                members.push(name);
            }
            if members.len() > 1 {
                let group = format!("g{n}");
                text += &format!("a.sinkgroups.{group}.sinks = {}\n", members.join(" "));
                for line in runner.processor.lines() {
                    match line {
                        "PRIORITY" => members.iter().enumerate().for_each(|(i, name)| {
                            text += &format!("a.sinkgroups.{group}.processor.priority.{name} = {}\n", 10 - i);
                        }),
                        line => text += &format!("a.sinkgroups.{group}.processor.{line}\n"),
                    }
                }
                groups.push(group);
            }
            sinks.extend(members);
        }
        text += &format!("a.sinks = {}\n", sinks.join(" "));
        if !groups.is_empty() {
            text += &format!("a.sinkgroups = {}\n", groups.join(" "));
        }
        text
    }
}

impl ChannelPlan {
    fn new(rng: &mut Rng) -> Self {
        let transaction_capacity = rng.u32(MOST_EVENTS..20);
        let capacity = u64::from(transaction_capacity) + rng.u64(..40);
        Self { capacity, transaction_capacity, keep_alive_s: rng.u32(..4) }
    }
}

impl RunnerPlan {
    fn new(rng: &mut Rng, channel: usize) -> Self {
        let n_sinks = if rng.u8(..3) == 0 { rng.usize(2..=3) } else { 1 };
        let batch_sizes = (0..n_sinks).map(|_| rng.u32(1..=MOST_EVENTS)).collect();
        Self { channel, batch_sizes, processor: PROCESSORS[rng.usize(..PROCESSORS.len())] }
    }
}

fn rules(rng: &mut Rng, n_channels: usize) -> Rules {
    let mut some = |least: usize| {
        let mut all: Vec<usize> = (0..n_channels).collect();
        rng.shuffle(&mut all);
        all.truncate(rng.usize(least..=n_channels));
        all
    };
    let selector = match (some(0).len() + n_channels) % 3 {
        0 => {
            let all = some(1);
            // One required channel at least.
            let optional = all[1..].iter().copied().filter(|channel| channel % 2 == 1).collect();
            Selector::Replicating(all, optional)
        }
        1 => {
            let mapping = [some(0), some(0), some(0)];
            let optional_x = some(0);
            // Without a default some events go nowhere; a source has one channel at least.
            let default = some(usize::from(mapping.iter().all(Vec::is_empty) && optional_x.is_empty()));
            Selector::Multiplexing { mapping, default, optional_x }
        }
        _ => Selector::Balancing(some(1)),
    };
    Rules { selector, filters: rng.bool() }
}
