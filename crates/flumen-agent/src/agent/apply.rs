//! Goes from the running plan to the next one: what did not change is not touched.

use super::{
    Agent,
    build::{Channels, NewChannel, NewGroup, NewSource},
    ports,
};
use crate::plan::{Changes, Plan, SecretValues, SourcePlan};
use flumen_core::{
    channel::Channel,
    config::{Problem, Severity},
    planted::{self, Bug},
    registry::Kind,
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::time::{Instant, timeout_at};

/// How long parts that go may take to stop, and removed channels to drain.
pub(super) const STOP_LIMIT: Duration = Duration::from_secs(10);

/// What became of a new plan.
#[derive(Debug, Default)]
pub struct Applied {
    /// What was done.
    pub changes: Changes,
    /// Parts that could not be built: the old ones go on, new ones are left out.
    pub problems: Vec<Problem>,
    /// Parts that ran, are in the new plan, and could neither be built as it says nor go on: `source r`.
    pub lost: Vec<String>,
    /// Parts that ran and are not in the new plan.
    pub gone: Vec<String>,
}

/// The new parts, made before anything is stopped.
#[derive(Default)]
struct Fresh {
    channels: BTreeMap<String, NewChannel>,
    sources: BTreeMap<String, NewSource>,
    groups: BTreeMap<String, NewGroup>,
}

impl Agent {
    /// Makes the new parts, stops what goes, starts what comes. A part that cannot be made leaves the old one running.
    /// Safe to give up at any await: what is not started yet is then missing, nothing is lost, and `stop` works.
    pub async fn apply(&mut self, next: Plan) -> Applied {
        let agent = next.agent.clone();
        self.plan.agent.clone_from(&agent);
        let wanted = part_names(&next);
        let mut next = next;
        let (fresh, changes, problems) = self.make(&mut next);
        let (ran, runs) = (part_names(&self.plan), part_names(&next));
        let stopped = ran.into_iter().filter(|name| !runs.contains(name));
        let (lost, gone) = stopped.partition(|name| wanted.contains(name));
        self.stop_parts(&changes).await;
        self.switch_channels(&changes, &next, fresh.channels).await;
        for (name, group) in fresh.groups {
            if self.plan.groups.contains_key(&name) && planted::is(Bug::ReloadForgetsChangedSinks) {
                continue;
            }
            self.start_group(&name, group);
        }
        for (name, source) in fresh.sources {
            self.start_source(&name, source);
        }
        self.plan = next;
        self.refresh_origins();
        Applied { changes, problems, lost, gone }
    }

    /// Makes all parts of a plan and lets them go: what only a build finds. Parts that cannot be made go out of the plan.
    pub(crate) fn try_build(mut self, plan: &mut Plan) -> Vec<Problem> {
        self.plan.agent.clone_from(&plan.agent);
        self.make(plan).2
    }

    /// Makes everything that is to start. What cannot be made keeps its old plan, or goes out of the new one.
    fn make(&self, next: &mut Plan) -> (Fresh, Changes, Vec<Problem>) {
        let mut problems = Vec::new();
        let secrets = SecretValues::of(next.parts(), &self.registry);
        // Each failure changes the plan, and with it what else must start: again, until all that is left can be made.
        loop {
            let changes = self.plan.changes_to(next, &self.registry);
            let before = problems.len();
            let fresh = self.try_make(next, &changes, &mut problems);
            if problems.len() == before {
                let hide =
                    |problem: &mut Problem| problem.what = secrets.hide(std::mem::take(&mut problem.what));
                problems.iter_mut().for_each(hide);
                return (fresh, changes, problems);
            }
        }
    }

    fn try_make(&self, next: &mut Plan, changes: &Changes, problems: &mut Vec<Problem>) -> Fresh {
        let mut fresh = Fresh::default();
        for name in &changes.channels_built {
            match self.new_channel(name, &next.channels[name]) {
                Ok(channel) => _ = fresh.channels.insert(name.clone(), channel),
                Err(error) => {
                    problems.push(self.keep_channel(next, name, error.to_string()));
                    return fresh;
                }
            }
        }
        let channels = self.seen_channels(next, &fresh.channels);
        for name in &changes.groups_started {
            match self.new_group(name, &next.groups[name], &channels) {
                Ok(group) => _ = fresh.groups.insert(name.clone(), group),
                Err(error) => {
                    let settings = &next.groups[name].sinks[0].part.settings;
                    problems.push(left_out(settings.prefix(), settings.place().cloned(), error.to_string()));
                    let usable = |old: &&crate::plan::GroupPlan| {
                        old.sinks.iter().all(|s| channels.contains_key(&s.channel))
                    };
                    match self.plan.groups.get(name).filter(usable) {
                        Some(old) if next.groups[name] != *old => {
                            _ = next.groups.insert(name.clone(), old.clone())
                        }
                        _ => _ = next.groups.remove(name),
                    }
                    return fresh;
                }
            }
        }
        for name in &changes.sources_started {
            let source = &next.sources[name];
            let usable = |old: &&SourcePlan| old.channels.iter().all(|c| channels.contains_key(c));
            let old = self.plan.sources.get(name).filter(usable).filter(|old| source != *old);
            let refused = old.and_then(|_| ports::refused(source, &self.plan));
            let made = self.new_source(name, source, next, &channels).map_err(|error| error.to_string());
            match refused.map_or(made, Err) {
                Ok(source) => _ = fresh.sources.insert(name.clone(), source),
                Err(error) => {
                    let settings = &source.part.settings;
                    problems.push(left_out(settings.prefix(), settings.place().cloned(), error));
                    match old {
                        Some(old) => _ = next.sources.insert(name.clone(), old.clone()),
                        None => _ = next.sources.remove(name),
                    }
                    return fresh;
                }
            }
        }
        fresh
    }

    /// A channel that cannot be made: the old one stays, or what is attached to the new one goes.
    fn keep_channel(&self, next: &mut Plan, name: &str, reason: String) -> Problem {
        let settings = &next.channels[name].settings;
        let problem = left_out(settings.prefix(), settings.place().cloned(), reason);
        match self.plan.channels.get(name) {
            Some(old) if next.channels[name] != *old => {
                next.channels.insert(name.to_owned(), old.clone());
            }
            _ => {
                next.channels.remove(name);
                next.channel_order.retain(|channel| channel != name);
                next.sources.retain(|_, source| !source.channels.iter().any(|channel| channel == name));
                next.groups.retain(|_, group| !group.sinks.iter().any(|sink| sink.channel == name));
            }
        }
        problem
    }

    fn seen_channels(&self, next: &Plan, fresh: &BTreeMap<String, NewChannel>) -> Channels {
        let object = |name: &String| match fresh.get(name) {
            Some(new) => Some(new.channel.clone()),
            None => self.channels.get(name).map(|live| live.channel.clone()),
        };
        next.channels.keys().filter_map(|name| Some((name.clone(), object(name)?))).collect()
    }

    /// Sources first, so that nothing new comes in; then channels that go may drain; then the sinks.
    async fn stop_parts(&mut self, changes: &Changes) {
        let sources: Vec<_> =
            changes.sources_stopped.iter().filter_map(|name| self.sources.remove(name)).collect();
        if planted::is(Bug::ReloadLeavesOldSourcesRunning) {
            std::mem::forget(sources);
        } else {
            stop_all(sources, STOP_LIMIT).await;
        }
        for name in &changes.sources_stopped {
            self.board.leave(Kind::Source, name);
        }
        let has_sink = |name: &str| {
            let mut sinks = self.plan.groups.values().flat_map(|group| &group.sinks);
            sinks.any(|sink| sink.channel == name)
        };
        let going = changes.channels_removed.iter().filter_map(|name| self.channels.get(name));
        let going = going.map(|live| live.channel.clone());
        let going: Vec<_> = going.filter(|channel| !channel.durable() && has_sink(channel.name())).collect();
        for channel in going.iter().filter(|channel| channel.depth().queued > 0) {
            tracing::info!(
                channel = channel.name(),
                events = channel.depth().queued,
                "the channel goes: its sinks have up to {} s to empty it",
                STOP_LIMIT.as_secs()
            );
        }
        drain(&going, STOP_LIMIT).await;
        let groups: Vec<_> =
            changes.groups_stopped.iter().filter_map(|name| self.groups.remove(name)).collect();
        stop_all(groups, STOP_LIMIT).await;
        for name in &changes.groups_stopped {
            for sink in self.plan.groups.get(name).iter().flat_map(|group| &group.sinks) {
                self.board.leave(Kind::Sink, &sink.name);
            }
        }
    }

    async fn switch_channels(&mut self, changes: &Changes, next: &Plan, fresh: BTreeMap<String, NewChannel>) {
        for name in &changes.channels_removed {
            let Some(live) = self.channels.remove(name) else { continue };
            live.channel.close();
            let left = live.channel.depth().queued;
            if left > 0 {
                if live.channel.durable() {
                    tracing::info!(
                        channel = name,
                        events = left,
                        "the channel goes; its events stay on disk"
                    );
                } else {
                    tracing::error!(
                        channel = name,
                        events = left,
                        "the channel goes with events in it, which no sink has taken, and they are lost"
                    );
                }
            }
            live.task.stop(STOP_LIMIT).await;
            self.board.leave(Kind::Channel, name);
        }
        for name in &changes.channels_reconfigured {
            let (Some(live), Some(part)) = (self.channels.get(name), next.channels.get(name)) else {
                continue;
            };
            let Some(entry) = self.registry.find_channel(part.type_name) else { continue };
            let limits = (entry.limits)(&part.settings, &self.context(name));
            let done = limits
                .map_err(|e| e.to_string())
                .and_then(|l| live.channel.reconfigure(&l).map_err(|e| e.to_string()));
            match done {
                Ok(()) => tracing::info!(channel = name, "channel has new limits and keeps its events"),
                Err(error) => tracing::warn!(channel = name, error, "channel keeps its old limits"),
            }
        }
        for (name, channel) in fresh {
            self.start_channel(&name, channel);
        }
    }
}

/// All parts of a plan, as messages name them.
fn part_names(plan: &Plan) -> Vec<String> {
    let sources = plan.sources.keys().map(|name| format!("source {name}"));
    let channels = plan.channels.keys().map(|name| format!("channel {name}"));
    let sinks = plan.groups.values().flat_map(|group| &group.sinks).map(|sink| format!("sink {}", sink.name));
    sources.chain(channels).chain(sinks).collect()
}

fn left_out(key: &str, at: Option<flumen_core::config::Place>, reason: String) -> Problem {
    Problem::new(Severity::Error, key, at, reason)
}

/// Asks all to stop, then waits for each. Says which had to be cut off.
pub(super) async fn stop_all(tasks: Vec<super::task::Task>, limit: Duration) -> usize {
    for task in &tasks {
        task.request_stop();
    }
    let cut_off = futures_util::future::join_all(tasks.into_iter().map(|task| task.stop(limit))).await;
    cut_off.into_iter().filter(|cut| *cut).count()
}

/// Waits until the channels are empty, at most this long.
pub(super) async fn drain(channels: &[Arc<dyn Channel>], limit: Duration) {
    let deadline = Instant::now() + limit;
    for channel in channels {
        loop {
            let freed = channel.signals().freed.listen();
            let depth = channel.depth();
            if depth.queued + depth.on_loan == 0 {
                break;
            }
            if timeout_at(deadline, freed).await.is_err() {
                return;
            }
        }
    }
}
