//! The settings of the failover processor.

use flumen_core::config::{Configuration, Millis};
use std::collections::BTreeMap;

/// What stands below `processor.`.
#[derive(Debug, Clone, Configuration)]
pub struct FailoverConfig {
    /// For a sink of the group its priority: a higher number comes first. Sinks without one come last, in the order of
    /// the group's list.
    #[property(prefix = "priority.", on_bad = default)]
    pub priority: BTreeMap<String, i64>,
    /// The longest time for which a sink that failed is set aside. The first failure costs 2 s, each further one doubles
    /// it.
    #[property(default = "30000", on_bad = default)]
    pub maxpenalty: Millis,
}

impl FailoverConfig {
    /// The priority of each sink; those without one get -1, -2 and so on, as in Java.
    pub(super) fn priorities(&self, sinks: &[String]) -> Vec<i64> {
        let mut next = 0;
        let own = |sink: &String| {
            self.priority.get(sink).copied().unwrap_or_else(|| {
                next -= 1;
                next
            })
        };
        sinks.iter().map(own).collect()
    }

    /// Priorities that do not do what they seem to.
    pub(super) fn advice(&self, sinks: &[String]) -> Vec<(String, String)> {
        let mut advice = Vec::new();
        for (sink, priority) in &self.priority {
            if !sinks.contains(sink) {
                let what = format!("`{sink}` is not a sink of this group ({})", sinks.join(" "));
                advice.push((format!("priority.{sink}"), what));
            }
            let same = |other: &&String| {
                *other < sink && self.priority[*other] == *priority && sinks.contains(other)
            };
            if let Some(other) = self.priority.keys().find(same) {
                let what =
                    format!("`{other}` has priority {priority} too; the first in the list comes first");
                advice.push((format!("priority.{sink}"), what));
            }
        }
        for sink in sinks.iter().filter(|sink| !self.priority.contains_key(*sink)) {
            advice.push(("type".to_owned(), format!("sink `{sink}` has no priority, and comes last")));
        }
        advice
    }
}
