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
    /// Messages that were given to this, and of which it is neither known that they are stored nor told that they are not.
    n_held: usize,
    warnings: Arc<Seldom>,
}

#[derive(Debug)]
struct Open {
    put: PendingPut,
    n_messages: usize,
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
        Self { source, out, shutdown, open: VecDeque::new(), n_held: 0, warnings }
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
        self.n_held += batch.len();
        self.add_all(vec![batch]).await;
    }

    async fn add_all(&mut self, mut waiting: Vec<Batch>) {
        while let Some(batch) = waiting.pop() {
            if batch.is_empty() {
                continue;
            }
            let (n_messages, again) = (batch.len(), (batch.len() > 1).then(|| batch.clone()));
            let begun = self.out.begin(batch).await;
            self.follow(begun, n_messages, again, &mut waiting).await;
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
        self.add_all(waiting).await;
    }

    /// Waits for all puts.
    pub(crate) async fn finish(&mut self) {
        while self.are_open() {
            let mut waiting = Vec::new();
            self.settle(&mut waiting).await;
            self.add_all(waiting).await;
        }
    }

    async fn settle(&mut self, waiting: &mut Vec<Batch>) {
        // It stays among the open ones until it has ended: whoever is dropped meanwhile tells of it.
        self.oldest_ended().await;
        let Some(Open { ended: Some(ended), n_messages, again, .. }) = self.open.pop_front() else { return };
        match ended {
            Ok(()) => self.n_held -= n_messages,
            Err(error) => self.follow(Err(error), n_messages, again, waiting).await,
        }
    }

    /// Goes on with a put until it is under way, split, or given up.
    async fn follow(
        &mut self,
        mut begun: Result<PendingPut, PutError>,
        n_messages: usize,
        again: Option<Batch>,
        waiting: &mut Vec<Batch>,
    ) {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match begun {
                Ok(put) => {
                    return self.open.push_back(Open { put, n_messages, ended: None, again });
                }
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
                    _ => self.give_up(&error, n_messages, "it can never be stored"),
                }
                return;
            }
            if self.shutdown.is_requested() {
                return self.give_up(&error, n_messages, "the source stops");
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

    fn give_up(&mut self, error: &PutError, n_messages: usize, why: &str) {
        self.n_held -= n_messages;
        self.out.metrics().generic_fail.add(1);
        tracing::error!(source = %self.source, messages = error.batch.len(), %error, "messages lost: {why}");
    }
}

impl Drop for Puts {
    fn drop(&mut self) {
        if self.n_held > 0 {
            self.out.metrics().generic_fail.add(1);
            tracing::error!(source = %self.source, messages = self.n_held, "messages lost, perhaps: the source was cut off before the channel had answered");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LIMIT, batch_of, bodies, channel, logged, processor};
    use flumen_core::testing::Once;
    use tokio::time::timeout;

    fn puts(out: ChannelProcessor) -> (Puts, flumen_core::source::ShutdownHandle) {
        let (stop, shutdown) = Shutdown::new();
        (Puts::new("r".into(), out, shutdown, Arc::default()), stop)
    }

    #[test]
    fn what_is_cut_off_before_the_channel_has_answered_is_counted_and_told() {
        let said = logged(async {
            let channel = channel(10, 10);
            channel.answer_late(true);
            let out = processor(&[&channel]);
            let (mut puts, _stop) = puts(out.clone());
            puts.add(batch_of(&["a", "b"])).await;
            puts.add(batch_of(&["c"])).await;
            assert!(timeout(Duration::from_millis(1), puts.finish()).await.is_err(), "nothing answers");
            drop(puts);
            assert_eq!(out.metrics().generic_fail.get(), 1);
        });
        assert_eq!(said.matches("messages=3").count(), 1, "{said}");
    }

    #[test]
    fn what_a_full_channel_refuses_is_told_when_its_wait_is_cut_off_and_once_only_when_it_is_given_up() {
        for is_stopped in [false, true] {
            let said = logged(async {
                let channel = channel(1, 10);
                let (mut puts, stop) = puts(processor(&[&channel]));
                puts.add(batch_of(&["a"])).await;
                puts.finish().await;
                if is_stopped {
                    stop.request();
                    puts.add(batch_of(&["b", "c"])).await;
                } else {
                    let adding = puts.add(batch_of(&["b", "c"]));
                    assert!(timeout(Duration::from_millis(1), adding).await.is_err(), "it is full");
                }
            });
            assert_eq!(said.matches("messages lost").count(), 1, "{said}");
            assert!(said.contains("messages=2"), "{said}");
        }
    }

    /// It has ended, and nobody had seen to it yet.
    #[tokio::test]
    async fn a_put_whose_commit_fails_is_offered_again() {
        let channel = channel(10, 10);
        channel.once(Once::PutCommitFails);
        let (mut puts, _stop) = puts(processor(&[&channel]));
        puts.add(batch_of(&["a", "b"])).await;
        timeout(LIMIT, puts.oldest_ended()).await.unwrap();
        puts.settle_ended().await;
        puts.finish().await;
        assert_eq!(bodies(&channel.contents()), ["a", "b"]);
    }
}
