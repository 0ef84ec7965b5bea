//! What all components count together, those included that a reload has replaced: what came in is what went out, what was
//! dropped on purpose, what is in channels and what is on its way, over the whole life of the agent.

use super::board::ComponentReport;
use flumen_core::{metrics::Value, registry::Kind};
use std::collections::BTreeMap;

/// Sums by kind and name of what is counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals(BTreeMap<(Kind, &'static str), i64>);

/// What a removed channel still had in it.
const LEFT: (Kind, &str) = (Kind::Channel, "EventsLeftCount");

impl Totals {
    /// Adds a component that runs.
    pub(super) fn add(&mut self, report: &ComponentReport) {
        for reading in &report.readings {
            if let Some(n) = whole(&reading.value) {
                *self.0.entry((report.kind, reading.name)).or_default() += n;
            }
        }
    }

    /// Adds a component that is gone: what it counted stays, what it had in it is left behind.
    pub(super) fn add_gone(&mut self, report: &ComponentReport) {
        let mut all = Self::default();
        all.add(report);
        let left = all.get(report.kind, "ChannelSize");
        all.0.insert(LEFT, left);
        let stays = |(_, name): &&(Kind, &'static str)| *name == LEFT.1 || is_counter(report, name);
        let names: Vec<_> = all.0.keys().filter(stays).copied().collect();
        for name in names {
            *self.0.entry(name).or_default() += all.0[&name];
        }
    }

    /// A sum; 0 where nobody counts this.
    pub fn get(&self, kind: Kind, name: &'static str) -> i64 {
        self.0.get(&(kind, name)).copied().unwrap_or(0)
    }

    /// The figures of the whole agent by name. Those that came (received, added, copied, found) are those that went
    /// (dropped, unrouted, refused, missed, delivered, discarded, unreadable, left behind) and those that are here (in channels, in flight).
    /// `EventBalance` is what the channels stored less what left them, is in them, or was left behind in them: each channel's
    /// part is read under one lock, so that it is always 0.
    pub fn figures(&self) -> Vec<(&'static str, i64)> {
        let source = |name| self.get(Kind::Source, name);
        let channel = |name| self.get(Kind::Channel, name);
        let sink = |name| self.get(Kind::Sink, name);
        let (stored, removed) = (channel("EventStoredCount"), channel("EventRemovedCount"));
        let found = stored - channel("EventPutSuccessCount");
        let delivered = sink("EventDrainSuccessCount") - sink("EventDiscardedCount");
        let came =
            source("EventReceivedCount") + source("EventAddedCount") + source("EventCopiedCount") + found;
        let went = source("EventDroppedCount")
            + source("EventUnroutedCount")
            + source("EventRefusedCount")
            + source("OptionalChannelMissCount")
            + sink("EventDrainSuccessCount")
            + channel("EventUnreadableCount")
            + self.left();
        let in_channels = channel("ChannelSize");
        vec![
            ("EventReceivedCount", source("EventReceivedCount")),
            ("EventAddedCount", source("EventAddedCount")),
            ("EventCopiedCount", source("EventCopiedCount")),
            ("EventFoundCount", found),
            ("EventAcceptedCount", source("EventAcceptedCount")),
            ("EventDroppedCount", source("EventDroppedCount")),
            ("EventUnroutedCount", source("EventUnroutedCount")),
            ("EventRefusedCount", source("EventRefusedCount")),
            ("OptionalChannelMissCount", source("OptionalChannelMissCount")),
            ("EventStoredCount", stored),
            ("EventRemovedCount", removed),
            ("EventsInChannels", in_channels),
            ("EventsInFlight", came - went - in_channels),
            ("EventsLeftCount", self.left()),
            ("EventUnreadableCount", channel("EventUnreadableCount")),
            ("EventDrainSuccessCount", sink("EventDrainSuccessCount")),
            ("EventDeliveredCount", delivered),
            ("EventDiscardedCount", sink("EventDiscardedCount")),
            ("EventHeldCount", sink("EventHeldCount")),
            ("EventBalance", stored - removed - in_channels - self.left()),
        ]
    }

    /// Events that removed channels still had in them. A durable channel has kept them on its disk.
    fn left(&self) -> i64 {
        self.get(LEFT.0, LEFT.1)
    }
}

fn is_counter(report: &ComponentReport, name: &str) -> bool {
    report.readings.iter().any(|reading| reading.name == name && matches!(reading.value, Value::Counter(_)))
}

#[expect(clippy::cast_possible_truncation, reason = "these gauges are whole numbers below 2^53")]
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Counter(n) => Some(i64::try_from(*n).unwrap_or(i64::MAX)),
        Value::Gauge(n) => Some(*n as i64),
        Value::Timer(..) | Value::Fraction(_) | Value::Text(_) => None,
    }
}
