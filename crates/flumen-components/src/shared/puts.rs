//! The way into the channels for messages that nobody answers: several puts are open at a time, and what a channel refuses is
//! offered again until it fits, while the peer waits.

use flumen_core::{
    channel::ChannelError,
    event::Batch,
    processor::{ChannelProcessor, PendingPut, PutError},
    seldom::Seldom,
    source::Shutdown,
};
use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    time::Duration,
};
use tokio::time::sleep;

/// Puts that may be open together.
const MAX_OPEN: usize = 8;
/// The pause after a refusal, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The puts of one stream of messages.
#[derive(Debug)]
pub(crate) struct Puts {
    source: Arc<str>,
    out: ChannelProcessor,
    shutdown: Shutdown,
    open: VecDeque<Open>,
    warnings: Arc<Seldom>,
}

#[derive(Debug)]
struct Open {
    put: PendingPut,
    ended: Option<Result<(), PutError>>,
    /// What was put, where it might have to be split.
    again: Option<Batch>,
}

impl Puts {
    pub(crate) fn new(
        source: Arc<str>,
        out: ChannelProcessor,
        shutdown: Shutdown,
        warnings: Arc<Seldom>,
    ) -> Self {
        Self { source, out, shutdown, open: VecDeque::new(), warnings }
    }

    /// The channels.
    pub(crate) fn out(&self) -> &ChannelProcessor {
        &self.out
    }

    /// Whether there are puts whose end is not known.
    pub(crate) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Puts a batch, after waiting for room where there is none. When the source stops, what is refused is given up.
    pub(crate) async fn add(&mut self, batch: Batch) {
        let mut waiting = vec![batch];
        while let Some(batch) = waiting.pop() {
            if batch.is_empty() {
                continue;
            }
            let again = (batch.len() > 1).then(|| batch.clone());
            let begun = self.out.begin(batch).await;
            self.follow(begun, again, &mut waiting).await;
            while self.open.len() >= MAX_OPEN {
                self.settle(&mut waiting).await;
            }
        }
    }

    /// Waits for the end of the oldest put; [`Self::settle_ended`] then sees to it. Dropping this future loses nothing.
    pub(crate) async fn oldest_ended(&mut self) {
        let Some(oldest) = self.open.front_mut() else { return };
        if oldest.ended.is_none() {
            oldest.ended = Some(poll_fn(|context| Pin::new(&mut oldest.put).poll(context)).await);
        }
    }

    /// Sees to the puts at the front that have ended.
    pub(crate) async fn settle_ended(&mut self) {
        let mut waiting = Vec::new();
        while self.open.front().is_some_and(|oldest| oldest.ended.is_some()) {
            self.settle(&mut waiting).await;
        }
        while let Some(batch) = waiting.pop() {
            self.add(batch).await;
        }
    }

    /// Waits for all puts.
    pub(crate) async fn finish(&mut self) {
        let mut waiting = Vec::new();
        while self.are_open() {
            self.settle(&mut waiting).await;
            while let Some(batch) = waiting.pop() {
                self.add(batch).await;
            }
        }
    }

    async fn settle(&mut self, waiting: &mut Vec<Batch>) {
        let Some(Open { put, ended: None, again }) = self.open.pop_front() else { return };
        if let Err(error) = put.await {
            self.follow(Err(error), again, waiting).await;
        }
    }

    /// Goes on with a put until it is under way, split, or given up.
    async fn follow(
        &mut self,
        mut begun: Result<PendingPut, PutError>,
        again: Option<Batch>,
        waiting: &mut Vec<Batch>,
    ) {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match begun {
                Ok(put) => return self.open.push_back(Open { put, ended: None, again }),
                Err(error) => error,
            };
            if error.channel_error().is_some_and(ChannelError::is_permanent)
                || error.channel_error().is_none()
            {
                match again {
                    // Smaller batches may fit where this one never can, and one bad event spoils no other.
                    Some(mut batch) if error.committed.is_empty() => {
                        let front = batch.split_front(batch.len() / 2);
                        waiting.push(batch);
                        waiting.push(front);
                    }
                    _ => self.give_up(&error, "it can never be stored"),
                }
                return;
            }
            if self.shutdown.is_requested() {
                return self.give_up(&error, "the source stops");
            }
            if let Some(unsaid) = self.warnings.due() {
                tracing::warn!(source = %self.source, %error, unsaid, "messages wait for the channel");
            }
            tokio::select! {
                () = self.shutdown.requested() => {}
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
            begun = self.out.retry(error).await;
        }
    }

    fn give_up(&self, error: &PutError, why: &str) {
        self.out.metrics().generic_fail.add(1);
        tracing::error!(source = %self.source, messages = error.batch.len(), %error, "messages lost: {why}");
    }
}
