//! What a Kafka channel does not get because another reads in its group.

use super::problem;
use crate::plan::{Part, Plan};
use flumen_core::config::{Problem, Severity};

/// Says so of each other reader. Two sources in one group share on purpose.
pub(super) fn check(plan: &Plan, problems: &mut Vec<Problem>) {
    let channels: Vec<(&String, &Part)> = plan.channels.iter().collect();
    for (at, (name, channel)) in channels.iter().enumerate() {
        let later = channels[at + 1..].iter().map(|(_, part)| *part);
        for other in later.chain(plan.sources.values().map(|source| &source.part)) {
            for own in &channel.facts.reads_in {
                let Some(same) =
                    other.facts.reads_in.iter().find(|it| it.group == own.group && it.topic == own.topic)
                else {
                    continue;
                };
                let what = format!(
                    "reads topic `{}` in group `{}` as channel `{name}` does: what it gets does not reach the sinks of that channel",
                    own.topic, own.group
                );
                let problem = problem(Severity::Warning, &other.settings, same.key, what);
                problems.push(problem.with_cure("give it a group of its own"));
            }
        }
    }
}
