//! What the sink counts beside what every sink does, under the names of Java's counters.

use flumen_core::{metrics, metrics::Counter};

metrics! {
    /// See the module.
    pub(super) struct KafkaSinkMetrics {
        /// Milliseconds from sending a batch to its confirmation, in sum.
        send_ms: Counter = "KafkaEventSendTimer",
        /// Times that batches under way went back into the channel.
        rollbacks: Counter = "RollbackCount",
    }
}
