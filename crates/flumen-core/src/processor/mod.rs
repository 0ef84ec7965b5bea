//! From a source to its channels: the put side of the hot path, steps 2 to 5.

mod fate;
mod pending;
mod split;

pub use pending::{PendingPut, PutCause, PutError};

use crate::{
    channel::{Channel, ChannelError, PutTransaction, wait_for_room},
    event::{Batch, BatchSize},
    intercept::{InterceptError, Interceptor},
    metrics::SourceMetrics,
    planted::{self, Bug},
    route::{ChannelSet, Selector},
};
use fate::Fate;
use pending::Begun;
use smallvec::SmallVec;
use split::Parts;
use std::{fmt, sync::Arc};
use tokio::time::Instant;

/// What a source puts its batches into. Cheap to clone; all of a source's tasks share one.
#[derive(Clone)]
pub struct ChannelProcessor(Arc<Inner>);

struct Inner {
    interceptors: Vec<Arc<dyn Interceptor>>,
    selector: Arc<dyn Selector>,
    channels: Vec<Arc<dyn Channel>>,
    /// Positions in `channels`, in the order in which room is reserved: the same for all sources of an agent, so that
    /// two of them cannot hold and wait for each other.
    reserve_order: Vec<usize>,
    metrics: Arc<SourceMetrics>,
}

/// Room that is held for one part of a batch.
type Reserved = SmallVec<[(usize, PutTransaction); 1]>;

impl ChannelProcessor {
    /// A processor for the channels of one source, in the order of its `channels` list. `agent_order` gives each of
    /// them its place in the agent's own list of channels.
    ///
    /// # Panics
    /// There are more than [`ChannelSet::MAX_CHANNELS`] channels, or `agent_order` has another length.
    pub fn new(
        interceptors: Vec<Arc<dyn Interceptor>>,
        selector: Arc<dyn Selector>,
        channels: Vec<Arc<dyn Channel>>,
        agent_order: &[usize],
        metrics: Arc<SourceMetrics>,
    ) -> Self {
        assert!(channels.len() <= ChannelSet::MAX_CHANNELS, "a source has at most 64 channels");
        assert_eq!(channels.len(), agent_order.len(), "each channel has one place in the agent");
        let mut reserve_order: Vec<usize> = (0..channels.len()).collect();
        reserve_order.sort_by_key(|channel| agent_order[*channel]);
        Self(Arc::new(Inner { interceptors, selector, channels, reserve_order, metrics }))
    }

    /// Puts a batch and waits until every required channel has committed all of it that interceptors left.
    ///
    /// # Errors
    /// As [`Self::begin`], and when a commit fails.
    pub async fn put(&self, batch: Batch) -> Result<(), PutError> {
        self.begin(batch).await?.await
    }

    /// Intercepts, routes, reserves and starts the commits; their places in the channels' order are then fixed. What is
    /// returned ends when every required channel has committed. A source may keep several open and acknowledge the
    /// contiguous prefix that succeeded.
    ///
    /// # Errors
    /// An interceptor refused, or a required channel has no room within its keep-alive. Nothing is stored then.
    pub async fn begin(&self, mut batch: Batch) -> Result<PendingPut, PutError> {
        let n_received = batch.len() as u64;
        let mut fate = Fate::new(self.0.metrics.clone(), n_received);
        let committed = ChannelSet::EMPTY;
        if let Err((n_intercepted, error)) = self.intercept(&mut batch, 0, &mut fate) {
            let cause = PutCause::Intercept(error);
            return Err(PutError { batch, committed, cause, n_received, n_intercepted, fate });
        }
        self.start(batch, n_received, committed, fate).await
    }

    /// Offers a refused batch again, to the channels that do not have it yet and from the interceptor on that refused it, so
    /// that none sees it twice.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub async fn retry(&self, error: PutError) -> Result<PendingPut, PutError> {
        let PutError { mut batch, committed, cause, n_received, n_intercepted, mut fate } = error;
        if matches!(cause, PutCause::Intercept(_))
            && let Err((n_intercepted, error)) = self.intercept(&mut batch, n_intercepted, &mut fate)
        {
            let cause = PutCause::Intercept(error);
            return Err(PutError { batch, committed, cause, n_received, n_intercepted, fate });
        }
        self.start(batch, n_received, committed, fate).await
    }

    /// The metrics of the source, for what only the source can count.
    pub fn metrics(&self) -> &SourceMetrics {
        &self.0.metrics
    }

    /// The channels' names in the source's order, for messages.
    pub fn channel_names(&self) -> impl Iterator<Item = &str> {
        self.0.channels.iter().map(|channel| channel.name())
    }

    /// The largest batch that all channels take in one transaction.
    pub fn max_batch_events(&self) -> u32 {
        self.0.channels.iter().map(|channel| channel.limits().transaction_capacity).min().unwrap_or(u32::MAX)
    }

    /// Runs the interceptors from one on. Where one refuses: how many have worked, and why.
    fn intercept(
        &self,
        batch: &mut Batch,
        from: usize,
        fate: &mut Fate,
    ) -> Result<(), (usize, InterceptError)> {
        let from = if planted::is(Bug::InterceptorsAreSkipped) { usize::MAX } else { from };
        for (n_intercepted, interceptor) in self.0.interceptors.iter().enumerate().skip(from) {
            let answer = interceptor.intercept(batch);
            fate.intercepted(batch.len() as u64);
            if let Err(error) = answer {
                self.0.metrics.generic_fail.add(1);
                return Err((n_intercepted, error));
            }
        }
        // A few short events in a large read buffer would keep all of it in the channel.
        batch.compact();
        Ok(())
    }

    async fn start(
        &self,
        batch: Batch,
        n_received: u64,
        committed: ChannelSet,
        mut fate: Fate,
    ) -> Result<PendingPut, PutError> {
        let parts = split::split(&batch, &*self.0.selector, committed);
        fate.unrouted(parts.n_unrouted);
        let mut started = None;
        let reserved = match self.reserve(&parts, &mut started).await {
            Ok(reserved) => reserved,
            Err(_) if planted::is(Bug::RefusedPutIsAcknowledged) => Reserved::new(),
            Err(error) => {
                self.0.metrics.channel_write_fail.add(1);
                let (cause, n_intercepted) = (PutCause::Channel(error), usize::MAX);
                return Err(PutError { batch, committed, cause, n_received, n_intercepted, fate });
            }
        };
        Ok(self.commit(batch, parts, reserved, Begun { committed, n_received, started, fate }))
    }

    /// All rooms first: a full second channel leaves no copy in the first one.
    ///
    /// `started` is set when something that takes time begins: reading a clock costs more than all the rest of this.
    async fn reserve(&self, parts: &Parts, started: &mut Option<Instant>) -> Result<Reserved, ChannelError> {
        let mut reserved = Reserved::new();
        for &channel in &self.0.reserve_order {
            let Some(size) = parts.required_size(channel) else { continue };
            if !reserved.is_empty() && planted::is(Bug::LastChannelIsForgotten) {
                break;
            }
            let to = &*self.0.channels[channel];
            if to.durable() {
                started.get_or_insert_with(Instant::now);
            }
            let room = match to.try_put(size)? {
                Some(room) => room,
                None => {
                    started.get_or_insert_with(Instant::now);
                    wait_for_room(to, size).await?
                }
            };
            reserved.push((channel, room));
        }
        Ok(reserved)
    }

    /// Then all commits.
    fn commit(&self, batch: Batch, parts: Parts, reserved: Reserved, mut begun: Begun) -> PendingPut {
        // A durable channel can still fail: the source then gets back what it has put.
        let durable = reserved.iter().any(|(channel, _)| self.0.channels[*channel].durable());
        let retained = durable.then(|| batch.clone());
        let mut parts = parts.with_batch(batch, reserved.len());
        let mut commits = SmallVec::new();
        for (channel, transaction) in reserved {
            let part = parts.take(channel);
            commits.push((channel, part.len() as u64, transaction.commit(part)));
        }
        for channel in parts.optional() {
            let size = parts.optional_size(channel);
            if !self.offer(channel, size, || parts.take_optional(channel)) {
                self.0.metrics.optional_missed.add(u64::from(size.events));
            }
            begun.fate.placed(u64::from(size.events));
            begun.committed.insert(channel);
        }
        PendingPut::new(commits, retained, begun)
    }

    /// One try, never a wait.
    fn offer(&self, channel: usize, size: BatchSize, part: impl FnOnce() -> Batch) -> bool {
        let name = self.0.channels[channel].name();
        match self.0.channels[channel].try_put(size) {
            Ok(Some(room)) => match room.commit(part()).try_answer() {
                Some(Err(error)) => {
                    tracing::warn!(channel = name, %error, "optional channel refused");
                    false
                }
                _ => true,
            },
            Ok(None) => {
                self.0.channels[channel].put_missed(size);
                tracing::debug!(channel = name, events = size.events, "optional channel is full");
                false
            }
            Err(error) => {
                tracing::warn!(channel = name, %error, "optional channel refused");
                false
            }
        }
    }
}

impl fmt::Debug for ChannelProcessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelProcessor")
            .field("interceptors", &self.0.interceptors)
            .field("selector", &self.0.selector)
            .field("channels", &self.0.channels)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
