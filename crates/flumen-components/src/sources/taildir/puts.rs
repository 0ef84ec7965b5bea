//! Puts that are open, in order: acknowledged is what all before it are.

use super::file::Ack;
use flumen_core::{
    event::Batch,
    processor::{ChannelProcessor, PendingPut, PutError},
};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::sleep;

/// Puts that are open at a time.
const MOST_OPEN: usize = 8;
/// The pause after a refusal, at first and at most, as in Java.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// See the module.
pub(super) struct Puts {
    name: Arc<str>,
    out: ChannelProcessor,
    open: VecDeque<(Ack, State)>,
    acks: Vec<Ack>,
    pause: Duration,
}

enum State {
    Open(PendingPut),
    Refused(Box<PutError>),
    /// It is being offered again. Whoever is dropped meanwhile leaves it so, and then nothing from here on is acknowledged.
    Offered,
}

impl Puts {
    pub(super) fn new(name: Arc<str>, out: ChannelProcessor) -> Self {
        Self { name, out, open: VecDeque::new(), acks: Vec::new(), pause: FIRST_PAUSE }
    }

    /// Puts a batch. Waits while too many are open, and while the channels refuse.
    pub(super) async fn put(&mut self, batch: Batch, ack: Ack) {
        while self.open.len() >= MOST_OPEN {
            self.settle_first().await;
        }
        self.out.metrics().batch_received.add(1);
        self.open.push_back((ack, State::Offered));
        let state = match self.out.begin(batch).await {
            Ok(open) => State::Open(open),
            Err(error) => State::Refused(Box::new(error)),
        };
        let refused = matches!(state, State::Refused(_));
        if let Some(last) = self.open.back_mut() {
            last.1 = state;
        }
        if refused {
            // What comes behind it would be refused as well, or overtake it.
            self.settle_all().await;
        }
    }

    /// Waits until all that is open is in the channels.
    pub(super) async fn settle_all(&mut self) {
        while !self.open.is_empty() {
            self.settle_first().await;
        }
    }

    /// Waits for what is open and not refused, in order.
    pub(super) async fn finish(&mut self) {
        while let Some((ack, State::Open(open))) = self.open.front_mut() {
            let ack = *ack;
            if open.await.is_err() {
                return;
            }
            self.accepted(ack);
        }
    }

    /// Whether nothing is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// What was acknowledged since it was last asked, in order; of one content only the last.
    pub(super) fn take_acks(&mut self) -> Vec<Ack> {
        let mut acks = std::mem::take(&mut self.acks);
        acks.dedup_by(|later, earlier| {
            let same = (later.key, later.epoch) == (earlier.key, earlier.epoch);
            if same {
                *earlier = *later;
            }
            same
        });
        acks
    }

    async fn settle_first(&mut self) {
        let Some((ack, state)) = self.open.front_mut() else { return };
        let ack = *ack;
        let next = match state {
            State::Open(open) => match open.await {
                Ok(()) => {
                    self.accepted(ack);
                    return;
                }
                Err(error) => State::Refused(Box::new(error)),
            },
            State::Refused(error) => {
                let pause = self.pause;
                tracing::warn!(source = %self.name, events = error.batch.len(), %error, "lines not stored; trying the same again in {pause:?}");
                sleep(pause).await;
                self.pause = (pause * 2).min(LONGEST_PAUSE);
                let State::Refused(error) = std::mem::replace(state, State::Offered) else { return };
                match self.out.retry(*error).await {
                    Ok(open) => State::Open(open),
                    Err(error) => State::Refused(Box::new(error)),
                }
            }
            // Its future was dropped, and so will this one be.
            State::Offered => std::future::pending().await,
        };
        if let Some((_, state)) = self.open.front_mut() {
            *state = next;
        }
    }

    fn accepted(&mut self, ack: Ack) {
        self.out.metrics().batch_accepted.add(1);
        self.pause = FIRST_PAUSE;
        self.open.pop_front();
        self.acks.push(ack);
    }
}
