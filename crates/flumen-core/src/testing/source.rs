//! The contract of sources, as a suite: what was acknowledged is in the channel, whatever happens.

use super::{LIMIT, Once, ScriptedChannel, until};
use crate::{
    channel::Channel,
    event::Event,
    processor::ChannelProcessor,
    route::{ChannelSet, Route, Selector},
    source::{DynSource, Shutdown, SourceError},
};
use std::{collections::BTreeSet, fmt, ops::Range, sync::Arc, time::Duration};
use tokio::time::{sleep, timeout};

/// What stands at the other end of a source. It is shared: what changes in it lies behind a lock.
pub trait SourcePeer: Send + Sync + 'static {
    /// A fresh source for this peer.
    fn source(&self) -> Box<dyn DynSource>;

    /// Offers events whose bodies are these numbers in decimal, in order. It does not wait for the answer.
    fn offer(&self, numbers: Range<u64>);

    /// The numbers that were acknowledged; `None` for a protocol without an answer.
    fn acknowledged(&self) -> Option<Vec<u64>>;

    /// Whether what was not acknowledged is offered again, to the next source too.
    fn offers_again(&self) -> bool;
}

/// Checks a source against the contract of [`crate::source::Source`].
pub struct SourceSuite<P> {
    peer: Arc<P>,
    next: u64,
}

impl<P: SourcePeer> SourceSuite<P> {
    /// A suite for the sources of this peer.
    pub fn new(peer: P) -> Self {
        Self { peer: Arc::new(peer), next: 0 }
    }

    /// Runs all of it.
    ///
    /// # Panics
    /// The source breaks a rule.
    pub async fn run(&mut self) {
        self.everything_is_stored_once_and_in_order().await;
        self.a_full_channel_is_not_acknowledged().await;
        self.a_failed_commit_is_not_acknowledged().await;
        self.dropped_at_any_moment_it_has_acknowledged_only_what_is_stored().await;
    }

    fn offer(&mut self, n: u64) -> Vec<u64> {
        let range = self.next..self.next + n;
        self.next = range.end;
        self.peer.offer(range.clone());
        range.collect()
    }

    /// Runs a source until `watch` is over and it has stopped.
    async fn with_source(&self, channel: &Arc<ScriptedChannel>, watch: impl Future<Output = ()>) {
        let mut source = self.peer.source();
        let (stop, shutdown) = Shutdown::new();
        let run = source.run(processor(channel.clone()), shutdown);
        let watch = async {
            watch.await;
            stop.request();
        };
        let (end, ()) = tokio::join!(timeout(LIMIT * 2, run), watch);
        let end: Result<(), SourceError> =
            end.unwrap_or_else(|_| panic!("the source has not stopped after {} s", LIMIT.as_secs() * 2));
        assert!(end.is_ok(), "a source that was told to stop has failed: {end:?}");
    }

    async fn everything_is_stored_once_and_in_order(&mut self) {
        let channel = channel(10_000);
        let events = self.offer(200);
        self.with_source(&channel, async {
            until("a source that stores all", || channel.depth().queued >= 200).await;
            if self.peer.acknowledged().is_some() {
                until("an answer for all", || self.peer.acknowledged().is_some_and(|all| all.len() >= 200))
                    .await;
            }
        })
        .await;
        assert_eq!(channel.numbers(), events, "each once, in order");
    }

    async fn a_full_channel_is_not_acknowledged(&mut self) {
        let before = self.peer.acknowledged().map_or(0, |all| all.len());
        let channel = channel(0);
        let mut limits = channel.limits();
        let events = self.offer(10);
        self.with_source(&channel, async {
            sleep(Duration::from_millis(200)).await;
            let now = self.peer.acknowledged().map_or(0, |all| all.len());
            assert_eq!(now, before, "acknowledged although the channel is full");
            limits.capacity = 10_000;
            channel.reconfigure(&limits).expect("a scripted channel takes any limits");
            if self.peer.offers_again() {
                until("a source that goes on when there is room", || contains(&channel, &events)).await;
            }
        })
        .await;
    }

    async fn a_failed_commit_is_not_acknowledged(&mut self) {
        let before: BTreeSet<u64> = self.peer.acknowledged().unwrap_or_default().into_iter().collect();
        let channel = channel(10_000);
        channel.once(Once::PutCommitFails);
        channel.once(Once::PutFails);
        let events = self.offer(50);
        let mut source = self.peer.source();
        let (_stop, shutdown) = Shutdown::new();
        // It may give up: then a fresh one goes on.
        let _ = timeout(Duration::from_millis(300), source.run(processor(channel.clone()), shutdown)).await;
        drop(source);
        let stored: BTreeSet<u64> = channel.numbers().into_iter().collect();
        let acknowledged = self.peer.acknowledged().unwrap_or_default();
        let early: Vec<_> =
            acknowledged.iter().filter(|n| !before.contains(n) && !stored.contains(n)).collect();
        assert!(early.is_empty(), "acknowledged although the commit failed: {early:?}");
        if self.peer.offers_again() {
            self.with_source(&channel, until("a fresh source that goes on", || contains(&channel, &events)))
                .await;
        }
    }

    async fn dropped_at_any_moment_it_has_acknowledged_only_what_is_stored(&mut self) {
        let channel = channel(100_000);
        let before: BTreeSet<u64> = self.peer.acknowledged().unwrap_or_default().into_iter().collect();
        let mut events = Vec::new();
        for moment in 0..30 {
            events.extend(self.offer(20));
            let mut source = self.peer.source();
            let (_stop, shutdown) = Shutdown::new();
            let _ = timeout(Duration::from_millis(moment), source.run(processor(channel.clone()), shutdown))
                .await;
            drop(source);
            assert_eq!(channel.depth().reserved, 0, "a dropped source holds room");
            let stored: BTreeSet<u64> = channel.numbers().into_iter().collect();
            let acknowledged = self.peer.acknowledged().unwrap_or_default();
            let lost: Vec<_> =
                acknowledged.iter().filter(|n| !before.contains(n) && !stored.contains(n)).collect();
            assert!(
                lost.is_empty(),
                "acknowledged and not stored when it was dropped after {moment} ms: {lost:?}"
            );
        }
        if self.peer.offers_again() {
            self.with_source(
                &channel,
                until("a last source that stores the rest", || contains(&channel, &events)),
            )
            .await;
        }
    }
}

fn channel(capacity: u64) -> Arc<ScriptedChannel> {
    let limits = crate::channel::ChannelLimits {
        capacity,
        transaction_capacity: 1_000,
        byte_slots: None,
        keep_alive: Duration::from_millis(20),
    };
    Arc::new(ScriptedChannel::with_limits("c", limits).durable())
}

fn contains(channel: &ScriptedChannel, events: &[u64]) -> bool {
    let stored: BTreeSet<u64> = channel.numbers().into_iter().collect();
    events.iter().all(|event| stored.contains(event))
}

/// A processor without interceptors, for one channel.
fn processor(channel: Arc<ScriptedChannel>) -> ChannelProcessor {
    let selector = Arc::new(Everywhere(1));
    ChannelProcessor::new(Vec::new(), selector, vec![channel], &[0], Arc::default())
}

/// A selector that requires all of so many channels.
#[derive(Debug)]
pub struct Everywhere(pub usize);

impl Selector for Everywhere {
    fn route(&self, _event: Event<'_>) -> Route {
        Route { required: ChannelSet::first(self.0), optional: ChannelSet::EMPTY }
    }

    fn fixed(&self) -> Option<Route> {
        Some(Route { required: ChannelSet::first(self.0), optional: ChannelSet::EMPTY })
    }
}

impl<P> fmt::Debug for SourceSuite<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceSuite").field("next", &self.next).finish_non_exhaustive()
    }
}
