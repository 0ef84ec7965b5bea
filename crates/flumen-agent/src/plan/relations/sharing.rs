//! Several sinks on one channel share its events; many authors mean copies.

use super::problem;
use crate::plan::{Plan, SinkPlan};
use flumen_core::config::{Problem, Severity};
use std::collections::BTreeMap;

/// Says so once a channel. Sinks of one group share on purpose.
pub(super) fn check(plan: &Plan, problems: &mut Vec<Problem>) {
    let mut readers: BTreeMap<&str, Vec<&SinkPlan>> = BTreeMap::new();
    for group in plan.groups.values() {
        let mut channels: Vec<&str> = group.sinks.iter().map(|sink| sink.channel.as_str()).collect();
        channels.dedup();
        for channel in channels {
            let first = group.sinks.iter().find(|sink| sink.channel == channel);
            readers.entry(channel).or_default().extend(first);
        }
    }
    for (channel, sinks) in readers {
        if let [first, .., last] = sinks[..] {
            let what = format!(
                "takes from channel `{channel}` as sink `{}` does: each event goes to one of them, not to both",
                first.name
            );
            let cure = "for a copy to each, give each sink a channel of its own and the source both channels";
            problems.push(problem(Severity::Info, &last.part.settings, "channel", what).with_cure(cure));
        }
    }
}
