//! What the channel counts beside what every channel does, under the names of Java's counters.

use flumen_core::{metrics, metrics::Counter};

metrics! {
    /// See the module.
    pub(super) struct KafkaChannelMetrics {
        /// Milliseconds from sending a put to its confirmation, in sum.
        send_ms: Counter = "KafkaEventSendTimer",
        /// Takes that were given back.
        rollbacks: Counter = "RollbackCount",
    }
}
