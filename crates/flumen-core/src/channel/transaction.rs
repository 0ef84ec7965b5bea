//! Transactions as values: commit consumes them, dropping them rolls back. Rollback does no I/O and cannot fail.

use super::Commit;
use crate::event::{Batch, BatchSize};
use std::fmt;

/// A channel's side of an open put. Exactly one of the two is called, once.
pub trait PutSlot: Send {
    /// Stores the batch, which has this size, in the room that is held, and gives back what is left of the room.
    fn commit(self: Box<Self>, batch: Batch, size: BatchSize) -> Commit;
    /// Gives the room back.
    fn rollback(self: Box<Self>);
}

/// A channel's side of an open take. Exactly one of the two is called, once.
pub trait TakeLease: Send {
    /// Forgets the first `n_events`; the rest, `batch`, goes back to where it was.
    fn commit(self: Box<Self>, n_events: u32, rest: Batch) -> Commit;
    /// Puts all of them back where they were.
    fn rollback(self: Box<Self>, batch: Batch);
}

/// Room held in a channel. Dropping it gives the room back.
#[must_use = "dropping a put transaction rolls it back"]
pub struct PutTransaction {
    slot: Option<Box<dyn PutSlot>>,
    size: BatchSize,
}

impl PutTransaction {
    /// For channels: room of this size, held by `slot`.
    pub fn new(slot: Box<dyn PutSlot>, size: BatchSize) -> Self {
        Self { slot: Some(slot), size }
    }

    /// How much room is held.
    pub fn size(&self) -> BatchSize {
        self.size
    }

    /// Stores the batch, whole or not at all.
    ///
    /// # Panics
    /// The batch is larger than the room that is held: whoever reserves must measure what it stores.
    pub fn commit(mut self, batch: Batch) -> Commit {
        let size = batch.size();
        let fits =
            size.events <= self.size.events && size.slots <= self.size.slots && size.bytes <= self.size.bytes;
        assert!(fits, "a put of {size:?} does not fit into the room of {:?} that it holds", self.size);
        self.slot.take().expect("a slot is taken once, here or in drop").commit(batch, size)
    }
}

impl Drop for PutTransaction {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            slot.rollback();
        }
    }
}

/// Events on loan, never none. Dropping it puts them back where they were.
#[must_use = "dropping a take transaction rolls it back"]
pub struct TakeTransaction {
    lease: Option<Box<dyn TakeLease>>,
    batch: Batch,
}

impl TakeTransaction {
    /// For channels: these events, on loan under `lease`.
    pub fn new(lease: Box<dyn TakeLease>, batch: Batch) -> Self {
        debug_assert!(!batch.is_empty(), "a take transaction holds events");
        Self { lease: Some(lease), batch }
    }

    /// The events.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Removes the events from the channel.
    pub fn commit(self) -> Commit {
        let n_events = self.batch.len();
        self.commit_first(u32::try_from(n_events).expect("a batch has fewer than 2^32 events"))
    }

    /// Removes the first `n_events`, at most all; the rest goes back to its old place. None at all is a rollback.
    pub fn commit_first(mut self, n_events: u32) -> Commit {
        if n_events == 0 {
            return Commit::done(Ok(()));
        }
        let mut rest = std::mem::take(&mut self.batch);
        let done = rest.split_front(n_events as usize);
        let n_done = u32::try_from(done.len()).expect("a batch has fewer than 2^32 events");
        self.lease.take().expect("a lease is taken once, here or in drop").commit(n_done, rest)
    }
}

impl Drop for TakeTransaction {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            lease.rollback(std::mem::take(&mut self.batch));
        }
    }
}

impl fmt::Debug for PutTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PutTransaction").field("size", &self.size).finish_non_exhaustive()
    }
}

impl fmt::Debug for TakeTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TakeTransaction").field("events", &self.batch.len()).finish_non_exhaustive()
    }
}
