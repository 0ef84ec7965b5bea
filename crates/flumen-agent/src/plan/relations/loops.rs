//! A sink must not send to a source of its own agent from which the events come back to it.

use super::problem;
use crate::plan::{Plan, SinkPlan, SourcePlan};
use flumen_core::{
    config::{Problem, Severity},
    registry::{Listening, Transport},
};
use std::collections::BTreeSet;

/// Tells of sinks whose events go round for ever.
pub(super) fn check(plan: &Plan, problems: &mut Vec<Problem>) {
    for sink in plan.groups.values().flat_map(|group| &group.sinks) {
        let Some((name, key)) = own_source(plan, sink) else { continue };
        if !reached(plan, &plan.sources[name]).contains(&sink.channel) {
            continue;
        }
        let what = format!(
            "this is source `{name}` of the same agent, and what it receives comes back to channel `{}`: events go round for ever",
            sink.channel
        );
        problems.push(problem(Severity::Warning, &sink.part.settings, key, what));
    }
}

/// The source of this agent that a sink sends to, and the sink's property that says so.
fn own_source<'a>(plan: &'a Plan, sink: &SinkPlan) -> Option<(&'a String, &'static str)> {
    sink.part.facts.sends_to.iter().find_map(|(host, port, key)| {
        let mut sources = plan.sources.iter();
        let (name, _) =
            sources.find(|(_, source)| source.part.facts.listens.iter().any(|own| is(own, host, *port)))?;
        Some((name, *key))
    })
}

/// Whether a host and port lead to this address of our own, as far as names tell.
fn is(own: &Listening, host: &str, port: u16) -> bool {
    let is_local = host.eq_ignore_ascii_case("localhost")
        || host.starts_with("127.")
        || matches!(host, "::1" | "0.0.0.0");
    own.transport == Transport::Tcp && own.port == port && (is_local || own.host.eq_ignore_ascii_case(host))
}

/// The channels that events of a source come to, also by way of other sinks and sources of this agent.
fn reached(plan: &Plan, from: &SourcePlan) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&String> = from.channels.iter().collect();
    while let Some(channel) = next.pop() {
        if !reached.insert(channel.clone()) {
            continue;
        }
        for sink in
            plan.groups.values().flat_map(|group| &group.sinks).filter(|sink| sink.channel == *channel)
        {
            if let Some((name, _)) = own_source(plan, sink) {
                next.extend(&plan.sources[name].channels);
            }
        }
    }
    reached
}
