//! A sink whose path holds the time wants a `timestamp` header that somebody sets.

use super::problem;
use crate::plan::Plan;
use flumen_core::config::{Problem, Severity};

/// Tells of sinks that get events of a source that sets no timestamp.
pub(super) fn check(plan: &Plan, problems: &mut Vec<Problem>) {
    for sink in plan.groups.values().flat_map(|group| &group.sinks) {
        let Some(key) = sink.part.facts.needs_timestamp else { continue };
        let feeding = plan.sources.iter().filter(|(_, source)| source.channels.contains(&sink.channel));
        let without = feeding.filter(|(_, source)| {
            let own = source.part.facts.sets_timestamp;
            !own && !source.interceptors.iter().any(|(_, part)| part.facts.sets_timestamp)
        });
        let names: Vec<&str> = without.map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            let what = format!("needs a `timestamp` header, and source `{}` sets none", names.join("`, `"));
            let cure = "add a timestamp interceptor to the source, or use the sink's local time";
            problems.push(problem(Severity::Warning, &sink.part.settings, key, what).with_cure(cure));
        }
    }
}
