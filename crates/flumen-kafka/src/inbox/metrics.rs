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

#[cfg(test)]
mod tests {
    use super::*;
    use rdkafka::statistics::{Partition, Topic};

    #[test]
    fn the_lag_is_a_sum_and_stands_by_partition() {
        let partition = |consumer_lag| Partition { consumer_lag, ..Partition::default() };
        let partitions = [(0, partition(7)), (1, partition(0)), (2, partition(-1))].into_iter().collect();
        let topics = [("t".to_owned(), Topic { partitions, ..Topic::default() })].into_iter().collect();
        let lag = Lag::default();
        lag.take(&Statistics { topics, ..Statistics::default() });
        let values: Vec<Value> = lag.readings().into_iter().map(|reading| reading.value).collect();
        assert_eq!(values, [Value::Gauge(7.0), Value::Text("t-0=7 t-1=0".to_owned())]);
    }
}
