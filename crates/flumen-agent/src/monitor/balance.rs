//! Where all events went: for every channel what came in is what went out and what is there, at any moment.

use crate::agent::ComponentReport;
use flumen_core::{metrics::Value, registry::Kind};

/// The figures of the whole agent by name. `EventBalance` is what came into the channels less what went out of them and
/// what is in them; each channel's part is read under one lock, so that it is always 0.
pub(super) fn balance(report: &[ComponentReport]) -> Vec<(&'static str, i64)> {
    let sum = |kind: Kind, name: &str| -> i64 {
        let of_kind = report.iter().filter(|component| component.kind == kind);
        let readings =
            of_kind.flat_map(|component| &component.readings).filter(|reading| reading.name == name);
        readings.map(|reading| whole(&reading.value)).sum()
    };
    vec![
        ("EventReceivedCount", sum(Kind::Source, "EventReceivedCount")),
        ("EventAcceptedCount", sum(Kind::Source, "EventAcceptedCount")),
        ("EventDroppedCount", sum(Kind::Source, "EventDroppedCount")),
        ("EventAddedCount", sum(Kind::Source, "EventAddedCount")),
        ("EventUnroutedCount", sum(Kind::Source, "EventUnroutedCount")),
        ("OptionalChannelMissCount", sum(Kind::Source, "OptionalChannelMissCount")),
        ("EventStoredCount", sum(Kind::Channel, "EventStoredCount")),
        ("EventRemovedCount", sum(Kind::Channel, "EventRemovedCount")),
        ("EventsInChannels", sum(Kind::Channel, "ChannelSize")),
        ("EventBalance", sum(Kind::Channel, "EventBalance")),
        ("EventDrainSuccessCount", sum(Kind::Sink, "EventDrainSuccessCount")),
        ("EventDiscardedCount", sum(Kind::Sink, "EventDiscardedCount")),
        ("EventHeldCount", sum(Kind::Sink, "EventHeldCount")),
    ]
}

#[expect(clippy::cast_possible_truncation, reason = "these gauges are whole numbers below 2^53")]
fn whole(value: &Value) -> i64 {
    match value {
        Value::Counter(n) | Value::Timer(n, _) => i64::try_from(*n).unwrap_or(i64::MAX),
        Value::Gauge(n) | Value::Fraction(n) => *n as i64,
        Value::Text(_) => 0,
    }
}
