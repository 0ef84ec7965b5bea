//! Puts that are open, in order: acknowledged is what all before it are.

use flumen_core::{
    event::Batch,
    processor::{ChannelProcessor, PendingPut, PutError},
};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::sleep;

/// Puts that are open at a time.
const MOST_OPEN: usize = 8;

/// See the module. `A` says what is done when a put is, and everything before it.
pub(crate) struct OpenPuts<A> {
    name: Arc<str>,
    out: ChannelProcessor,
    open: VecDeque<(A, State)>,
    acks: Vec<A>,
    pauses: Pauses,
    pause: Duration,
}

/// The pause after a refusal. It doubles from one to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pauses {
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

enum State {
    Open(PendingPut),
    Refused(Box<PutError>),
    /// It is being offered again. Whoever is dropped meanwhile leaves it so, and then nothing from here on is acknowledged.
    Offered,
}

impl<A: Copy> OpenPuts<A> {
    pub(crate) fn new(name: Arc<str>, out: ChannelProcessor, pauses: Pauses) -> Self {
        Self { name, out, open: VecDeque::new(), acks: Vec::new(), pauses, pause: pauses.first }
    }

    /// Puts a batch. Waits while too many are open, and while the channels refuse.
    pub(crate) async fn put(&mut self, batch: Batch, ack: A) {
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
    pub(crate) async fn settle_all(&mut self) {
        while !self.open.is_empty() {
            self.settle_first().await;
        }
    }

    /// Waits for what is open and not refused, in order.
    pub(crate) async fn finish(&mut self) {
        while let Some((ack, State::Open(open))) = self.open.front_mut() {
            let ack = *ack;
            if open.await.is_err() {
                return;
            }
            self.accepted(ack);
        }
    }

    /// Whether nothing is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// What was acknowledged since it was last asked, in order.
    pub(crate) fn take_acks(&mut self) -> Vec<A> {
        std::mem::take(&mut self.acks)
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
                self.pause = (pause * 2).min(self.pauses.longest);
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

    fn accepted(&mut self, ack: A) {
        self.out.metrics().batch_accepted.add(1);
        self.pause = self.pauses.first;
        self.open.pop_front();
        self.acks.push(ack);
    }
}
