//! Mistakes that can be switched on in tests, to show that the crash tests would find them. None exists outside of tests.

/// A deliberate mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    /// A failed write is answered as if it had worked.
    FailedWriteIsFine,
    /// A failed sync is tried again, and believed when it then works.
    SyncAgain,
    /// Events can be taken before their put is durable.
    VisibleBeforeDurable,
    /// A record's watermark names its own write-order id.
    WatermarkAhead,
    /// Data files are removed although they hold events that wait.
    RemoveLive,
    /// Data files are removed although a checkpoint still needs them.
    RemoveEarly,
    /// A checkpoint says more than is durable.
    CheckpointAhead,
    /// A checkpoint leaves out what is on loan.
    CheckpointWithoutLoans,
}
