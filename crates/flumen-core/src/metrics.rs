//! What components count, under Flume's names. Writing is a relaxed add, once a batch; reading walks the live components.

use std::{
    fmt::Debug,
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Duration,
};

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `n`.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The sum so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    /// Sets the value.
    pub fn set(&self, n: i64) {
        self.0.store(n, Ordering::Relaxed);
    }

    /// Adds `n`, which may be negative.
    pub fn add(&self, n: i64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The present value.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How often something was done and how long it took in all: from both a rate and a mean follow.
#[derive(Debug, Default)]
pub struct Timer {
    count: Counter,
    sum_us: Counter,
}

impl Timer {
    /// Adds one that took this long.
    pub fn add(&self, took: Duration) {
        self.count.add(1);
        self.sum_us.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// How often.
    pub fn count(&self) -> u64 {
        self.count.get()
    }

    /// All of them together, in microseconds.
    pub fn sum_us(&self) -> u64 {
        self.sum_us.get()
    }
}

/// One number as a report shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Flume's attribute name (`EventDrainSuccessCount`), or ours in the same style.
    pub name: &'static str,
    /// What it means, for people.
    pub help: &'static str,
    /// The value now.
    pub value: Value,
}

/// The value of a reading, which also says how it may be added up.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Only grows.
    Counter(u64),
    /// Goes up and down.
    Gauge(f64),
    /// Goes up and down, and is written with its decimals, as Java's `double`.
    Fraction(f64),
    /// How often, and microseconds in all.
    Timer(u64, u64),
    /// A word (`true`).
    Text(String),
}

/// A group of numbers that reports read together.
pub trait MetricSet: Debug + Send + Sync + 'static {
    /// All of them, now.
    fn readings(&self) -> Vec<Reading>;
}

/// How a handle of a `metrics!` struct shows in a report.
pub trait Metric {
    /// The value now.
    fn value(&self) -> Value;
}

impl Metric for Counter {
    fn value(&self) -> Value {
        Value::Counter(self.get())
    }
}

impl Metric for Gauge {
    #[allow(clippy::cast_precision_loss, reason = "a report shows fifteen digits")]
    fn value(&self) -> Value {
        Value::Gauge(self.get() as f64)
    }
}

impl Metric for Timer {
    fn value(&self) -> Value {
        Value::Timer(self.count(), self.sum_us())
    }
}

/// Declares a struct of handles with the name and help text that reports show. A macro, since the struct, its default
/// and its list of readings must name the same fields.
#[macro_export]
macro_rules! metrics {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( #[doc = $help:literal] $field:ident: $kind:ty = $flume:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        $vis struct $name {
            $( #[doc = $help] pub $field: $kind, )*
        }

        impl $crate::metrics::MetricSet for $name {
            fn readings(&self) -> Vec<$crate::metrics::Reading> {
                vec![$( $crate::metrics::Reading {
                    name: $flume,
                    help: $help.trim_ascii(),
                    value: $crate::metrics::Metric::value(&self.$field),
                } ),*]
            }
        }
    };
}

metrics! {
    /// What every source counts. The channel processor counts events and batches; a source adds what only it knows.
    pub struct SourceMetrics {
        /// Events that the source handed on, before interceptors.
        received: Counter = "EventReceivedCount",
        /// Received events whose required channels have all committed what interceptors left of them.
        accepted: Counter = "EventAcceptedCount",
        /// Calls that brought a single event.
        append_received: Counter = "AppendReceivedCount",
        /// Such calls that were accepted.
        append_accepted: Counter = "AppendAcceptedCount",
        /// Batches that came in.
        batch_received: Counter = "AppendBatchReceivedCount",
        /// Batches that were accepted.
        batch_accepted: Counter = "AppendBatchAcceptedCount",
        /// Connections that are open now.
        open_connections: Gauge = "OpenConnectionCount",
        /// Failures on the input side: what could not be read or understood.
        read_fail: Counter = "EventReadFail",
        /// Puts that a required channel refused.
        channel_write_fail: Counter = "ChannelWriteFail",
        /// Every other failure.
        generic_fail: Counter = "GenericProcessingFail",
        /// Events that interceptors dropped on purpose.
        intercepted_away: Counter = "EventDroppedCount",
        /// Events that interceptors added, beyond one for one.
        intercepted_more: Counter = "EventAddedCount",
        /// Events that an optional channel had no room for.
        optional_missed: Counter = "OptionalChannelMissCount",
        /// Events that no channel was chosen for.
        routed_nowhere: Counter = "EventUnroutedCount",
        /// Events beyond one for one that channels got, as an event may go to several.
        copied: Counter = "EventCopiedCount",
        /// Events that the source had to give up: their sender was told, or sends them again.
        refused: Counter = "EventRefusedCount",
        /// Events that are on their way through interceptors, or wait for a channel.
        in_flight: Gauge = "EventInFlightCount",
        /// Puts, from the first reservation to the last commit.
        put_time: Timer = "PutTime",
    }
}

metrics! {
    /// What every channel counts. Size, capacity and fill are read from the channel when asked for.
    pub struct ChannelMetrics {
        /// Events that were to be put.
        put_attempt: Counter = "EventPutAttemptCount",
        /// Events that were put and committed.
        put_success: Counter = "EventPutSuccessCount",
        /// Events that were asked for; an empty take counts one, as in Java.
        take_attempt: Counter = "EventTakeAttemptCount",
        /// Events that were taken and committed.
        take_success: Counter = "EventTakeSuccessCount",
    }
}

metrics! {
    /// What every sink counts. The runner counts events and batches; a sink adds what only it knows.
    pub struct SinkMetrics {
        /// Events that were handed to the sink.
        attempted: Counter = "EventDrainAttemptCount",
        /// Events that the sink delivered and that left the channel.
        drained: Counter = "EventDrainSuccessCount",
        /// Takes that found nothing.
        batch_empty: Counter = "BatchEmptyCount",
        /// Batches smaller than the batch size.
        batch_underflow: Counter = "BatchUnderflowCount",
        /// Full batches.
        batch_complete: Counter = "BatchCompleteCount",
        /// Connections made, or files opened.
        connections_created: Counter = "ConnectionCreatedCount",
        /// Connections or files closed.
        connections_closed: Counter = "ConnectionClosedCount",
        /// Connections or files that could not be opened.
        connections_failed: Counter = "ConnectionFailedCount",
        /// Batches that the sink could not deliver.
        write_fail: Counter = "EventWriteFail",
        /// Takes that failed.
        channel_read_fail: Counter = "ChannelReadFail",
        /// Events that the peer refused for good and that left the channel undelivered.
        discarded: Counter = "EventDiscardedCount",
        /// Events that are sent but not safe yet, and so still on loan.
        held: Gauge = "EventHeldCount",
        /// Times that the sink was built anew after a failure.
        rebuilt: Counter = "SinkRebuildCount",
        /// Deliveries, failed ones too.
        deliver_time: Timer = "DeliverTime",
    }
}

metrics! {
    /// What a source that reads from Kafka counts beside [`SourceMetrics`], under the names of Java's counters.
    pub struct KafkaSourceMetrics {
        /// Milliseconds spent waiting for records, in sum.
        event_get_ms: Counter = "KafkaEventGetTimer",
        /// Milliseconds spent committing offsets, in sum.
        commit_ms: Counter = "KafkaCommitTimer",
        /// Looks that brought nothing.
        empty: Counter = "KafkaEmptyCount",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(set: &dyn MetricSet) -> Vec<(&'static str, u64)> {
        let all = set.readings().into_iter();
        all.filter_map(|reading| match reading.value {
            Value::Counter(n) if n > 0 => Some((reading.name, n)),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn mon_03_a_channel_shows_exactly_what_was_added() {
        let metrics = ChannelMetrics::default();
        assert!(counts(&metrics).is_empty());
        metrics.put_attempt.add(1);
        metrics.put_attempt.add(30);
        metrics.put_success.add(20);
        metrics.take_attempt.add(12);
        metrics.take_success.add(11);
        let want = [
            ("EventPutAttemptCount", 31),
            ("EventPutSuccessCount", 20),
            ("EventTakeAttemptCount", 12),
            ("EventTakeSuccessCount", 11),
        ];
        assert_eq!(counts(&metrics), want);
    }

    #[test]
    fn mon_09_timers_and_empty_looks_begin_at_zero_and_are_running_sums() {
        let metrics = KafkaSourceMetrics::default();
        let names: Vec<_> = metrics.readings().iter().map(|reading| reading.name).collect();
        assert_eq!(names, ["KafkaEventGetTimer", "KafkaCommitTimer", "KafkaEmptyCount"]);
        assert!(counts(&metrics).is_empty());
        for (n, total) in [(10, 10), (5, 15), (0, 15)] {
            metrics.event_get_ms.add(n);
            metrics.commit_ms.add(2 * n);
            metrics.empty.add(1);
            assert_eq!((metrics.event_get_ms.get(), metrics.commit_ms.get()), (total, 2 * total));
        }
        let want = [("KafkaEventGetTimer", 15), ("KafkaCommitTimer", 30), ("KafkaEmptyCount", 3)];
        assert_eq!(counts(&metrics), want);
    }

    #[test]
    fn mon_04_a_source_shows_what_was_added_one_by_one_and_in_bulk() {
        let metrics = SourceMetrics::default();
        assert!(counts(&metrics).is_empty());
        for _ in 0..3 {
            metrics.received.add(1);
            metrics.append_received.add(1);
        }
        metrics.received.add(40);
        metrics.accepted.add(41);
        metrics.append_accepted.add(2);
        metrics.batch_received.add(5);
        metrics.batch_accepted.add(4);
        let want = [
            ("EventReceivedCount", 43),
            ("EventAcceptedCount", 41),
            ("AppendReceivedCount", 3),
            ("AppendAcceptedCount", 2),
            ("AppendBatchReceivedCount", 5),
            ("AppendBatchAcceptedCount", 4),
        ];
        assert_eq!(counts(&metrics), want);
    }
}
