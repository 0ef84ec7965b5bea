//! How far behind the end of its partitions a reader is.

use flumen_core::metrics::{MetricSet, Reading, Value};
use rdkafka::Statistics;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Records between what is committed and the end, by topic and partition.
#[derive(Debug, Default)]
pub(crate) struct Lag(Mutex<BTreeMap<(String, i32), i64>>);

impl Lag {
    /// Takes what the client says every few seconds.
    pub(super) fn take(&self, statistics: &Statistics) {
        let all = statistics.topics.iter().flat_map(|(name, topic)| {
            topic
                .partitions
                .iter()
                .map(move |(partition, numbers)| ((name.clone(), *partition), numbers.consumer_lag))
        });
        // -1 is a partition that somebody else has, or no partition at all.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = all.filter(|(_, lag)| *lag >= 0).collect();
    }
}

impl MetricSet for Lag {
    #[allow(clippy::cast_precision_loss, reason = "a report shows fifteen digits")]
    fn readings(&self) -> Vec<Reading> {
        let lag = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let parts: Vec<String> =
            lag.iter().map(|((topic, partition), n)| format!("{topic}-{partition}={n}")).collect();
        vec![
            Reading {
                name: "KafkaConsumerLag",
                help: "Records of the assigned partitions that are not committed yet.",
                value: Value::Gauge(lag.values().sum::<i64>() as f64),
            },
            Reading {
                name: "KafkaConsumerLagByPartition",
                help: "The same for each partition, as topic-partition=records.",
                value: Value::Text(parts.join(" ")),
            },
        ]
    }
}
