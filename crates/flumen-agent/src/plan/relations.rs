//! What must hold between components, once each of them is right by itself.

use super::{Plan, PlanContext};
use flumen_core::config::{Problem, Settings, Severity};
use std::collections::BTreeSet;

/// Mends what can be mended (a batch size that is too large) and takes out what cannot work.
pub(super) fn check(plan: &mut Plan, context: &PlanContext, problems: &mut Vec<Problem>) {
    fit_batches(plan, context, problems);
    drop_unconnected(plan, problems);
}

fn problem(severity: Severity, settings: &Settings, key: &str, what: String) -> Problem {
    let at = settings.get(key).and_then(|setting| setting.at.clone()).or_else(|| settings.place().cloned());
    Problem::new(severity, settings.full_key(key), at, what)
}

/// Lowers batch sizes to what the channels take in one transaction. Java 1.9 and later drop the component instead.
fn fit_batches(plan: &mut Plan, context: &PlanContext, problems: &mut Vec<Problem>) {
    let limit = |channel: &str| -> Option<u32> {
        let part = &plan.channels[channel];
        let entry = context.registry.find_channel(part.type_name)?;
        let build = context.build_context(&plan.agent, channel);
        Some((entry.limits)(&part.settings, &build).ok()?.transaction_capacity)
    };
    let mut lowered = Vec::new();
    for (name, source) in &plan.sources {
        let Some(batch_size) = source.part.facts.batch_size else { continue };
        let limits = source.channels.iter().filter_map(|channel| Some((limit(channel)?, channel)));
        if let Some((limit, channel)) = limits.min()
            && batch_size > limit
        {
            lowered.push((true, name.clone(), 0, batch_size, limit, channel.clone()));
        }
    }
    for (name, group) in &plan.groups {
        for (i, sink) in group.sinks.iter().enumerate() {
            if let Some(limit) = limit(&sink.channel)
                && sink.batch_size > limit
            {
                lowered.push((false, name.clone(), i, sink.batch_size, limit, sink.channel.clone()));
            }
        }
    }
    for (is_source, name, i, from, to, channel) in lowered {
        let part = if is_source {
            &mut plan.sources.get_mut(&name).expect("named above").part
        } else {
            let sink = &mut plan.groups.get_mut(&name).expect("named above").sinks[i];
            sink.batch_size = to;
            &mut sink.part
        };
        let key = part.facts.batch_size_key;
        let what = format!(
            "a batch of {from} events is more than channel `{channel}` takes in one transaction; lowered to {to}"
        );
        let cure = format!("raise transactionCapacity of `{channel}`, or write {to} here");
        problems.push(problem(Severity::Warning, &part.settings, key, what).with_cure(cure));
        part.facts.batch_size = Some(to);
        if !key.is_empty() {
            let at = part.settings.get(key).and_then(|setting| setting.at.clone());
            part.settings.set(key, to.to_string(), at);
        }
    }
}

/// A channel that nobody reads or writes is of no use.
fn drop_unconnected(plan: &mut Plan, problems: &mut Vec<Problem>) {
    let written: BTreeSet<&String> = plan.sources.values().flat_map(|source| &source.channels).collect();
    let read: BTreeSet<&String> =
        plan.groups.values().flat_map(|group| &group.sinks).map(|sink| &sink.channel).collect();
    let mut unused = Vec::new();
    for (name, part) in &plan.channels {
        let what = match (written.contains(name), read.contains(name)) {
            (true, true) => continue,
            (false, false) => {
                unused.push(name.clone());
                "no source writes to it and no sink reads from it: it is left out"
            }
            (true, false) => "no sink reads from it: it fills up, and then its sources stop",
            (false, true) => "no source writes to it",
        };
        problems.push(problem(Severity::Warning, &part.settings, "type", what.to_owned()));
    }
    for name in unused {
        plan.channels.remove(&name);
        plan.channel_order.retain(|channel| *channel != name);
    }
}
