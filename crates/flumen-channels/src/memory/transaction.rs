//! The memory channel's side of an open put and an open take. Splitting and joining is done outside of the lock.

use super::{
    Shared,
    store::{Pieces, Spans, cut_spans, first_number, less, pieces_of},
};
use flumen_core::{
    channel::{ChannelError, Commit, PutSlot, TakeLease},
    event::{Batch, BatchSize},
    planted::{self, Bug},
};
use std::sync::Arc;
use tokio::time::Instant;

/// Room that is held.
pub(super) struct Room {
    channel: Arc<Shared>,
    size: BatchSize,
}

impl Room {
    pub(super) fn new(channel: Arc<Shared>, size: BatchSize) -> Self {
        Self { channel, size }
    }
}

impl PutSlot for Room {
    fn commit(self: Box<Self>, batch: Batch, size: BatchSize) -> Commit {
        let now = Instant::now();
        match self.channel.store() {
            Ok(mut store) => store.put(batch, size, self.size, now),
            Err(broken) => return Commit::done(Err(broken)),
        }
        self.channel.metrics.put_success.add(u64::from(size.events));
        if size.events > 0 && !planted::is(Bug::StoredEventsWakeNobody) {
            self.channel.signals.stored.raise();
        }
        if size.events < self.size.events || size.slots < self.size.slots {
            self.channel.signals.freed.raise();
        }
        Commit::done(Ok(()))
    }

    fn rollback(self: Box<Self>) {
        // Nobody gets anything from a broken channel any more; a panic in a rollback would only end the process harder.
        if let Ok(mut store) = self.channel.store()
            && !planted::is(Bug::RolledBackRoomIsKept)
        {
            store.release(self.size);
        }
        self.channel.signals.freed.raise();
    }
}

/// Events on loan.
pub(super) struct Lease {
    channel: Arc<Shared>,
    size: BatchSize,
    spans: Spans,
}

impl Lease {
    pub(super) fn new(channel: Arc<Shared>, size: BatchSize, spans: Spans) -> Self {
        Self { channel, size, spans }
    }

    /// Forgets the first `n_done` and puts the rest back.
    fn settle(mut self, n_done: u32, rest: Batch) -> Result<(), ChannelError> {
        let first = first_number(&self.spans);
        drop(cut_spans(&mut self.spans, u64::from(n_done)));
        let n_back = rest.len();
        let back = pieces_of(rest, self.spans);
        let done = back.iter().fold(self.size, |left, piece| less(left, piece.size));
        self.channel.store()?.settle(first, done, back);
        self.channel.metrics.take_success.add(u64::from(n_done));
        if n_done > 0 {
            self.channel.signals.freed.raise();
        }
        if n_back > 0 {
            self.channel.signals.stored.raise();
        }
        Ok(())
    }
}

impl TakeLease for Lease {
    fn commit(self: Box<Self>, n_events: u32, rest: Batch) -> Commit {
        Commit::done(self.settle(n_events, rest))
    }

    fn rollback(self: Box<Self>, batch: Batch) {
        if planted::is(Bug::TakeIsFinal) {
            let n_events = self.size.events;
            let _ = self.settle(n_events, Batch::new());
            return;
        }
        // Of a broken channel nothing can be put back.
        let _ = self.settle(0, batch);
    }
}

/// One batch of all pieces, in order. A single piece is moved.
pub(super) fn join(pieces: Pieces) -> (Batch, BatchSize, Spans) {
    let mut pieces = pieces.into_iter();
    let Some(first) = pieces.next() else { return Default::default() };
    let (mut batch, mut size, mut spans) = (first.batch, first.size, first.spans);
    for piece in pieces {
        batch.append(piece.batch);
        size += piece.size;
        spans.extend(piece.spans);
    }
    (batch, size, spans)
}
