//! A put whose commits are under way, and what a source gets back when one fails.

use crate::{
    channel::{ChannelError, Commit},
    event::Batch,
    intercept::InterceptError,
    metrics::SourceMetrics,
    route::ChannelSet,
};
use smallvec::SmallVec;
use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
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
    metrics: Arc<SourceMetrics>,
    commits: SmallVec<[(usize, Commit); 1]>,
    retained: Option<Batch>,
    committed: ChannelSet,
    failed: Option<Box<ChannelError>>,
    n_received: u64,
    /// `None` where nothing had to be waited for so far: such a put takes no time that could be measured.
    started: Option<Instant>,
}

impl PendingPut {
    pub(super) fn new(
        metrics: Arc<SourceMetrics>,
        commits: SmallVec<[(usize, Commit); 1]>,
        retained: Option<Batch>,
        committed: ChannelSet,
        n_received: u64,
        started: Option<Instant>,
    ) -> Self {
        Self { metrics, commits, retained, committed, failed: None, n_received, started }
    }
}

impl Future for PendingPut {
    type Output = Result<(), PutError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let (committed, failed) = (&mut this.committed, &mut this.failed);
        this.commits.retain(|(channel, commit)| match Pin::new(commit).poll(context) {
            Poll::Pending => true,
            Poll::Ready(Ok(())) => {
                committed.insert(*channel);
                false
            }
            Poll::Ready(Err(error)) => {
                failed.get_or_insert_with(|| Box::new(error));
                false
            }
        });
        if !this.commits.is_empty() {
            this.started.get_or_insert_with(Instant::now);
            return Poll::Pending;
        }
        this.metrics.put_time.add(this.started.map_or(Duration::ZERO, |started| started.elapsed()));
        Poll::Ready(match this.failed.take() {
            None => {
                this.metrics.accepted.add(this.n_received);
                Ok(())
            }
            Some(error) => {
                this.metrics.channel_write_fail.add(1);
                Err(PutError {
                    batch: this
                        .retained
                        .take()
                        .expect("only a durable channel fails a commit, and then a copy is kept"),
                    committed: this.committed,
                    cause: PutCause::Channel(*error),
                    n_received: this.n_received,
                    n_intercepted: usize::MAX,
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
