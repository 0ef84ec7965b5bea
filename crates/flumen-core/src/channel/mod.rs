//! A channel is a queue with all-or-nothing puts and leased takes. Its methods never wait; the two functions here do.

mod commit;
mod error;
mod signal;
mod transaction;

pub use commit::Commit;
pub use error::{ChannelError, NeedsRebuild};
pub use signal::{Signal, Signals};
pub use transaction::{PutSlot, PutTransaction, TakeLease, TakeTransaction};

use crate::event::BatchSize;
use std::{fmt::Debug, time::Duration};
use tokio::time::{Instant, timeout_at};

/// What a source puts into and a sink takes from.
pub trait Channel: Debug + Send + Sync + 'static {
    /// The name that the configuration gives, for messages.
    fn name(&self) -> &str;

    /// What fits, and how long to wait.
    fn limits(&self) -> ChannelLimits;

    /// Raised when something is stored or room is freed.
    fn signals(&self) -> &Signals;

    /// Holds room for `size`, or gives `None` while there is none.
    ///
    /// # Errors
    /// `TooLarge` if it can never fit, `Closed` after `close`, `Storage` if the disk under the channel fails, `Broken`
    /// after a panic within the channel.
    fn try_put(&self, size: BatchSize) -> Result<Option<PutTransaction>, ChannelError>;

    /// Told when a put of this size was given up for want of room, so that the attempt is counted once however often it
    /// was tried.
    fn put_missed(&self, _size: BatchSize) {}

    /// Leases up to `max_events` in order, or gives `None` while none are ready.
    ///
    /// # Errors
    /// `TooLarge` if more is asked for than one transaction may take, `Closed` after `close`, `Storage` if the disk
    /// under the channel fails, `Broken` after a panic within the channel.
    fn try_take(&self, max_events: u32) -> Result<Option<TakeTransaction>, ChannelError>;

    /// Takes new limits while it runs.
    ///
    /// # Errors
    /// The channel must be built anew for these limits.
    fn reconfigure(&self, limits: &ChannelLimits) -> Result<(), NeedsRebuild>;

    /// What is in it now.
    fn depth(&self) -> ChannelDepth;

    /// Whether an answered commit outlives the process. A channel that says no never fails a commit for which room is
    /// held; one that says yes may.
    fn durable(&self) -> bool {
        false
    }

    /// Whether a panic has left it half changed. It then refuses everything, and the agent ends.
    fn is_broken(&self) -> bool {
        false
    }

    /// Opens what is under the channel (files, a connection). The answer comes when it can be used.
    fn open(&self) -> Commit {
        Commit::done(Ok(()))
    }

    /// Why it must be opened again, once something under it has failed. Until then it refuses everything.
    fn failure(&self) -> Option<ChannelError> {
        None
    }

    /// Ends what `open` has begun, after `close`: waits for commits under way and gives free what is open. Transactions that
    /// are still open are refused from then on.
    fn end(&self) -> Commit {
        Commit::done(Ok(()))
    }

    /// Refuses puts and takes from now on. Room that is held may still be filled, and leases may still be answered.
    fn close(&self);
}

/// What fits into a channel, and how long to wait for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelLimits {
    /// Events that may be queued, on loan and reserved together.
    pub capacity: u64,
    /// Events of one put or take.
    pub transaction_capacity: u32,
    /// Java's byte slots (100 bytes of body, at least one an event) that may be queued, on loan and reserved together.
    /// `None`: not counted.
    pub byte_slots: Option<u64>,
    /// How long a put waits for room, and a take for an event.
    pub keep_alive: Duration,
}

/// What is in a channel at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelDepth {
    /// Stored and not on loan.
    pub queued: u64,
    /// Taken and neither committed nor rolled back.
    pub on_loan: u64,
    /// Room that put transactions hold.
    pub reserved: u64,
    /// Events that were stored since the channel was made, those found at its opening included. Read under one lock
    /// with the rest: `stored_total` is `removed_total + queued + on_loan`.
    pub stored_total: u64,
    /// Events that left it for good.
    pub removed_total: u64,
    /// Bytes of the bodies that are queued or on loan.
    pub bytes: u64,
    /// When the oldest event that is still here was stored.
    pub oldest: Option<Instant>,
}

/// Waits for room, at most the channel's keep-alive. The only such loop in the program.
///
/// # Errors
/// `Full` when the keep-alive is over, and whatever [`Channel::try_put`] says.
pub async fn begin_put(channel: &dyn Channel, size: BatchSize) -> Result<PutTransaction, ChannelError> {
    match channel.try_put(size)? {
        Some(room) => Ok(room),
        None => wait_for_room(channel, size).await,
    }
}

/// The rest of [`begin_put`], after a try that found no room.
pub(crate) async fn wait_for_room(
    channel: &dyn Channel,
    size: BatchSize,
) -> Result<PutTransaction, ChannelError> {
    let deadline = Instant::now() + channel.limits().keep_alive;
    loop {
        // Listening begins before the second try: room that is freed between the two is not missed.
        let freed = channel.signals().freed.listen();
        if let Some(room) = channel.try_put(size)? {
            return Ok(room);
        }
        if timeout_at(deadline, freed).await.is_err() {
            channel.put_missed(size);
            return Err(ChannelError::full(channel, size));
        }
    }
}

/// Waits for an event, at most the channel's keep-alive. `None`: nothing came. Stopping to wait loses nothing.
///
/// # Errors
/// Whatever [`Channel::try_take`] says.
pub async fn begin_take(
    channel: &dyn Channel,
    max_events: u32,
) -> Result<Option<TakeTransaction>, ChannelError> {
    if let Some(taken) = channel.try_take(max_events)? {
        return Ok(Some(taken));
    }
    let deadline = Instant::now() + channel.limits().keep_alive;
    loop {
        let stored = channel.signals().stored.listen();
        if let Some(taken) = channel.try_take(max_events)? {
            return Ok(Some(taken));
        }
        if timeout_at(deadline, stored).await.is_err() {
            return Ok(None);
        }
    }
}
