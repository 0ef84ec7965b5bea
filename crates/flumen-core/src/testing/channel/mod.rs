//! The contract of channels, as a suite.

mod model;
mod rules;
mod threads;

use super::LIMIT;
use crate::channel::{Channel, ChannelLimits, Commit, TakeTransaction, begin_take};
use std::{fmt, future::Future, sync::Arc, time::Duration};
use tokio::time::{Instant, timeout};

type Open<'a> = Box<dyn Fn(&ChannelLimits) -> Arc<dyn Channel> + Send + Sync + 'a>;
type Reopen<'a> = Box<dyn Fn(Arc<dyn Channel>) -> Arc<dyn Channel> + Send + Sync + 'a>;

/// Checks a channel against the contract of [`Channel`].
pub struct ChannelSuite<'a> {
    open: Open<'a>,
    reopen: Option<Reopen<'a>>,
    byte_slots: bool,
    seed: u64,
    runs: u64,
}

impl<'a> ChannelSuite<'a> {
    /// A suite for channels that `open` makes: empty ones, with these limits, ready for use.
    pub fn new(open: impl Fn(&ChannelLimits) -> Arc<dyn Channel> + Send + Sync + 'a) -> Self {
        Self { open: Box::new(open), reopen: None, byte_slots: true, seed: 1, runs: 30 }
    }

    /// For a durable channel: `reopen` closes it and opens what it has left. All transactions are over by then.
    #[must_use]
    pub fn reopened_by(
        mut self,
        reopen: impl Fn(Arc<dyn Channel>) -> Arc<dyn Channel> + Send + Sync + 'a,
    ) -> Self {
        self.reopen = Some(Box::new(reopen));
        self
    }

    /// For a channel that does not limit bytes.
    #[must_use]
    pub fn without_byte_slots(mut self) -> Self {
        self.byte_slots = false;
        self
    }

    /// How many random runs to make (30 if not said), from which seed on.
    #[must_use]
    pub fn random_runs(mut self, runs: u64, seed: u64) -> Self {
        (self.runs, self.seed) = (runs, seed);
        self
    }

    /// Runs all of it.
    ///
    /// # Panics
    /// The channel breaks a rule.
    pub fn run(&self) {
        self.rules();
        for seed in self.seed..self.seed + self.runs {
            self.random_transactions(seed);
        }
        self.threads();
    }

    fn open(&self, capacity: u64, transaction_capacity: u32) -> Arc<dyn Channel> {
        (self.open)(&limits(capacity, transaction_capacity))
    }
}

impl fmt::Debug for ChannelSuite<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSuite")
            .field("seed", &self.seed)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}

fn limits(capacity: u64, transaction_capacity: u32) -> ChannelLimits {
    ChannelLimits { capacity, transaction_capacity, byte_slots: None, keep_alive: Duration::from_millis(40) }
}

/// Runs a future on a runtime of this thread.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime with nothing but timers can be built").block_on(future)
}

/// Waits for what must come soon.
async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(LIMIT, future).await {
        Ok(output) => output,
        Err(_) => panic!("stuck for {} s: {what}", LIMIT.as_secs()),
    }
}

/// Waits for a commit that must work.
async fn committed(commit: Commit) {
    soon("a commit", commit).await.expect("the commit of a sound channel works");
}

/// Takes, where something must be there; a channel may need a moment to read it.
async fn taken(channel: &dyn Channel, max_events: u32) -> TakeTransaction {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(taken) = begin_take(channel, max_events).await.expect("a sound channel can be taken from")
        {
            return taken;
        }
    }
    panic!("nothing could be taken for {} s, although {:?} is there", LIMIT.as_secs(), channel.depth());
}

/// Everything that is in the channel, in order.
async fn drain(channel: &dyn Channel) -> Vec<u64> {
    let mut all = Vec::new();
    while channel.depth().queued > 0 {
        let taken = taken(channel, channel.limits().transaction_capacity).await;
        all.extend(super::numbers(taken.batch()));
        committed(taken.commit()).await;
    }
    all
}
