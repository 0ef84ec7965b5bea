//! No batch may be larger than what a channel takes in one transaction.

use super::problem;
use crate::plan::{Plan, PlanContext};
use flumen_core::config::{Problem, Severity};

/// Lowers batch sizes to what the channels take in one transaction. Java 1.9 and later drop the component instead.
pub(super) fn fit(plan: &mut Plan, context: &PlanContext, problems: &mut Vec<Problem>) {
    let limit = |channel: &str| -> Option<u32> {
        let part = &plan.channels[channel];
        let entry = context.registry.find_channel(part.type_name)?;
        let build = context.build_context(&plan.agent, channel);
        Some((entry.limits)(&part.settings, &build).ok()?.transaction_capacity)
    };
    tell_growing(plan, limit, problems);
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

/// An interceptor that makes more events of a batch wants room for them.
fn tell_growing(plan: &Plan, limit: impl Fn(&str) -> Option<u32>, problems: &mut Vec<Problem>) {
    for source in plan.sources.values() {
        let Some((name, part)) = source.interceptors.iter().find(|(_, part)| part.facts.may_grow) else {
            continue;
        };
        let Some(batch_size) = source.part.facts.batch_size else { continue };
        let limits = source.channels.iter().filter_map(|channel| Some((limit(channel)?, channel)));
        if let Some((limit, channel)) = limits.min()
            && batch_size.saturating_mul(2) > limit
        {
            let what = format!(
                "interceptor `{name}` can make a batch of {batch_size} events larger than the {limit} that channel `{channel}` \
                 takes in one transaction: such a batch is refused whole"
            );
            let cure =
                format!("raise transactionCapacity of `{channel}`, or lower the batch size of the source");
            problems.push(problem(Severity::Warning, &part.settings, "type", what).with_cure(cure));
        }
    }
}
