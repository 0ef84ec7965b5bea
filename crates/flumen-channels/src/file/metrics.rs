//! What a file channel counts beside what every channel counts, under Java Flume's names.

use flumen_core::metrics::{Counter, Gauge, Metric, MetricSet, Reading, Value};

/// The numbers of a file channel.
#[derive(Debug, Default)]
pub(super) struct FileMetrics {
    open: Gauge,
    unhealthy: Gauge,
    pub(super) put_errors: Counter,
    pub(super) take_errors: Counter,
    pub(super) checkpoint_errors: Counter,
    pub(super) lost: Counter,
    /// Those of the lost ones that were in the channel while it was open.
    pub(super) unreadable: Counter,
    replay_percent: Gauge,
    replay_left_s: Gauge,
}

impl FileMetrics {
    pub(super) fn set_open(&self, open: bool, unhealthy: bool) {
        self.open.set(i64::from(open));
        self.unhealthy.set(i64::from(unhealthy));
    }
}

impl FileMetrics {
    /// How far an opening is with reading the data files.
    pub(super) fn set_replay(&self, percent: u64, left_s: u64) {
        self.replay_percent.set(i64::try_from(percent).unwrap_or(100));
        self.replay_left_s.set(i64::try_from(left_s).unwrap_or(i64::MAX));
    }
}

impl MetricSet for FileMetrics {
    fn readings(&self) -> Vec<Reading> {
        let open = self.open.get() == 1;
        let reading = |name, help, value| Reading { name, help, value };
        vec![
            reading("Open", "Whether the channel is open.", Value::Text(open.to_string())),
            reading("Closed", "1 while the channel is not open.", Value::Gauge(f64::from(u8::from(!open)))),
            reading("Unhealthy", "1 when the channel could not be opened.", self.unhealthy.value()),
            reading("EventPutErrorCount", "Puts that failed on the disk.", self.put_errors.value()),
            reading("EventTakeErrorCount", "Takes that failed on the disk.", self.take_errors.value()),
            reading(
                "CheckpointWriteErrorCount",
                "Checkpoints that could not be written.",
                self.checkpoint_errors.value(),
            ),
            reading(
                "CheckpointBackupWriteErrorCount",
                "Always 0: there is no backup of the checkpoint to be written.",
                Value::Counter(0),
            ),
            reading(
                "EventLostCount",
                "Events on disk that could not be read any more, those missed at the opening included.",
                self.lost.value(),
            ),
            reading(
                "EventUnreadableCount",
                "Events that were in the open channel and could not be read any more.",
                self.unreadable.value(),
            ),
            reading(
                "ReplayPercent",
                "How much of the data files an opening has read; 100 when it is done.",
                self.replay_percent.value(),
            ),
            reading(
                "ReplaySecondsLeft",
                "How long the reading will still take, by what it took so far.",
                self.replay_left_s.value(),
            ),
        ]
    }
}
