//! What must hold between components, once each of them is right by itself.

mod batches;
mod directories;
mod groups;
mod loops;
mod places;
pub(super) mod secrets;
mod sharing;
mod timestamps;

use super::{Plan, PlanContext};
use flumen_core::config::{Problem, Settings, Severity};
use std::collections::BTreeSet;

/// Mends what can be mended (a batch size that is too large), takes out what cannot work, and says what is likely not meant.
pub(super) fn check(plan: &mut Plan, context: &PlanContext, problems: &mut Vec<Problem>) {
    batches::fit(plan, context, problems);
    places::check(plan, context, problems);
    drop_unconnected(plan, problems);
    sharing::check(plan, problems);
    groups::check(plan, problems);
    loops::check(plan, problems);
    directories::check(plan, problems);
    timestamps::check(plan, problems);
}

/// A problem about a key of a component, or about the component where it has no such key.
fn problem(severity: Severity, settings: &Settings, key: &str, what: String) -> Problem {
    let at = settings.get(key).and_then(|setting| setting.at.clone()).or_else(|| settings.place().cloned());
    Problem::new(severity, settings.full_key(key), at, what)
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
            // Another agent may be at its other end.
            (true, false) | (false, true) if part.facts.open_to_others => continue,
            (false, false) => {
                unused.push(name.clone());
                "no source that runs writes to it and no sink that runs reads from it: it is left out"
            }
            (true, false) => "no sink that runs reads from it: it fills up, and then its sources stop",
            (false, true) => "no source that runs writes to it",
        };
        problems.push(problem(Severity::Warning, &part.settings, "type", what.to_owned()));
    }
    for name in unused {
        plan.channels.remove(&name);
        plan.channel_order.retain(|channel| *channel != name);
    }
}
