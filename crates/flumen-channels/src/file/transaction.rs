//! The file channel's side of an open put and an open take.

use super::{Shared, batch::Encoded};
use flumen_core::{
    channel::{ChannelError, Commit, PutSlot, TakeLease},
    event::{Batch, BatchSize},
};
use flumen_wal::log::{Answer, Loan, Log};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Room that is held.
pub(super) struct Room {
    channel: Arc<Shared>,
    log: Arc<Log>,
    n_events: u32,
}

impl Room {
    pub(super) fn new(channel: Arc<Shared>, log: Arc<Log>, n_events: u32) -> Self {
        Self { channel, log, n_events }
    }
}

impl PutSlot for Room {
    fn commit(self: Box<Self>, batch: Batch, size: BatchSize) -> Commit {
        if batch.is_empty() {
            self.rollback();
            return Commit::done(Ok(()));
        }
        let encoded = Encoded::of(&batch);
        let less = size.events < self.n_events;
        let (channel, n_events) = (self.channel.clone(), u64::from(size.events));
        let (answer, commit) = answer(&self.channel, move |result| {
            match result {
                Ok(()) => {
                    channel.metrics.put_success.add(n_events);
                    channel.signals.stored.raise();
                }
                Err(_) => {
                    channel.file_metrics.put_errors.add(1);
                    channel.signals.freed.raise();
                }
            };
        });
        self.log.put(&encoded.events(&batch), self.n_events, self.channel.now(), answer);
        if less {
            self.channel.signals.freed.raise();
        }
        commit
    }

    fn rollback(self: Box<Self>) {
        self.log.release(self.n_events);
        self.channel.signals.freed.raise();
    }
}

/// Events on loan.
pub(super) struct Lease {
    channel: Arc<Shared>,
    log: Arc<Log>,
    loan: Loan,
}

impl Lease {
    pub(super) fn new(channel: Arc<Shared>, log: Arc<Log>, loan: Loan) -> Self {
        Self { channel, log, loan }
    }
}

impl TakeLease for Lease {
    fn commit(self: Box<Self>, n_events: u32, rest: Batch) -> Commit {
        let channel = self.channel.clone();
        let (answer, commit) = answer(&self.channel, move |result| match result {
            Ok(()) => {
                channel.metrics.take_success.add(u64::from(n_events));
                channel.signals.freed.raise();
            }
            Err(_) => {
                channel.file_metrics.take_errors.add(1);
                channel.signals.stored.raise();
            }
        });
        self.log.commit(self.loan, n_events, answer);
        if !rest.is_empty() {
            self.channel.signals.stored.raise();
        }
        commit
    }

    fn rollback(self: Box<Self>, _batch: Batch) {
        self.log.give_back(self.loan);
        self.channel.signals.stored.raise();
    }
}

/// The log's answer, and the commit that it becomes; `before` is told first.
fn answer(
    channel: &Arc<Shared>,
    before: impl FnOnce(&Result<(), ChannelError>) + Send + 'static,
) -> (Answer, Commit) {
    let (sender, answered) = oneshot::channel();
    let shared = channel.clone();
    let answer: Answer = Box::new(move |result| {
        let result = result.map_err(|error| shared.error(error));
        before(&result);
        // Whoever dropped the commit does not want to know.
        let _ = sender.send(result);
    });
    (answer, Commit::pending(&channel.name, answered))
}
