//! A put whose commits are under way, and what a source gets back when one fails.

use super::fate::Fate;
use crate::{
    channel::{ChannelError, Commit},
    event::Batch,
    intercept::InterceptError,
    route::ChannelSet,
};
use smallvec::SmallVec;
use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::Instant;

/// A put under way. It ends when every required channel has committed every event that survived interception.
///
/// Dropping it undoes nothing: the answer is lost, not the events, and the peer must not be told OK.
#[derive(Debug)]
#[must_use = "the put is only known to have worked when this says so"]
pub struct PendingPut {
    /// Channel, events, commit.
    commits: SmallVec<[(usize, u64, Commit); 1]>,
    retained: Option<Batch>,
    failed: Option<Box<ChannelError>>,
    /// `None` when it has ended.
    begun: Option<Begun>,
}

/// What a put knows when its commits begin.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) committed: ChannelSet,
    pub(super) n_received: u64,
    /// `None` where nothing had to be waited for so far: such a put takes no time that could be measured.
    pub(super) started: Option<Instant>,
    pub(super) fate: Fate,
}

impl PendingPut {
    pub(super) fn new(
        commits: SmallVec<[(usize, u64, Commit); 1]>,
        retained: Option<Batch>,
        begun: Begun,
    ) -> Self {
        let mut put = Self { commits, retained, failed: None, begun: Some(begun) };
        // What is stored may be delivered at once: it is counted before anybody looks at this future.
        put.note(|commit| commit.try_answer());
        put
    }

    /// Takes note of the commits that are answered.
    fn note(&mut self, mut answer: impl FnMut(&mut Commit) -> Option<Result<(), ChannelError>>) {
        let Some(begun) = &mut self.begun else { return };
        let failed = &mut self.failed;
        self.commits.retain(|(channel, n_events, commit)| match answer(commit) {
            None => true,
            Some(Ok(())) => {
                begun.committed.insert(*channel);
                begun.fate.placed(*n_events);
                false
            }
            Some(Err(error)) => {
                failed.get_or_insert_with(|| Box::new(error));
                false
            }
        });
    }
}

impl Drop for PendingPut {
    fn drop(&mut self) {
        if let Some(begun) = &mut self.begun {
            self.commits.iter().for_each(|(_, n_events, _)| begun.fate.placed(*n_events));
        }
    }
}

impl Future for PendingPut {
    type Output = Result<(), PutError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.note(|commit| match Pin::new(commit).poll(context) {
            Poll::Pending => None,
            Poll::Ready(answer) => Some(answer),
        });
        let begun = this.begun.as_mut().expect("a future is not polled after its end");
        if !this.commits.is_empty() {
            begun.started.get_or_insert_with(Instant::now);
            return Poll::Pending;
        }
        let Begun { committed, n_received, started, fate } =
            this.begun.take().expect("it was there a moment ago");
        fate.metrics().put_time.add(started.map_or(Duration::ZERO, |started| started.elapsed()));
        Poll::Ready(match this.failed.take() {
            None => {
                fate.accept(n_received);
                Ok(())
            }
            Some(error) => {
                fate.metrics().channel_write_fail.add(1);
                let batch = this.retained.take();
                Err(PutError {
                    batch: batch.expect("only a durable channel fails a commit, and then a copy is kept"),
                    committed,
                    cause: PutCause::Channel(*error),
                    n_received,
                    n_intercepted: usize::MAX,
                    fate,
                })
            }
        })
    }
}

/// A refused put. It gives the intercepted batch back with the channels that have it already, so that
/// [`ChannelProcessor::retry`](super::ChannelProcessor::retry) skips both.
#[derive(thiserror::Error)]
#[error("{cause}")]
pub struct PutError {
    /// The batch, as interceptors left it.
    pub batch: Batch,
    /// Channels that have committed their part, and optional ones that were asked.
    pub committed: ChannelSet,
    /// Why.
    #[source]
    pub cause: PutCause,
    pub(super) n_received: u64,
    /// How many interceptors have worked on the batch.
    pub(super) n_intercepted: usize,
    pub(super) fate: Fate,
}

impl PutError {
    /// What the channel said, if it was a channel.
    pub fn channel_error(&self) -> Option<&ChannelError> {
        match &self.cause {
            PutCause::Channel(error) => Some(error),
            PutCause::Intercept(_) => None,
        }
    }

    /// How many events the source had handed on, before interception.
    pub fn n_received(&self) -> u64 {
        self.n_received
    }
}

impl fmt::Debug for PutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PutError")
            .field("events", &self.batch.len())
            .field("committed", &self.committed)
            .field("cause", &self.cause)
            .finish_non_exhaustive()
    }
}

/// Why a put was refused.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PutCause {
    /// A required channel refused.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// An interceptor could not handle the batch.
    #[error(transparent)]
    Intercept(#[from] InterceptError),
}
