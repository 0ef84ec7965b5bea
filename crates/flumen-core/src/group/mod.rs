//! From a channel to its sinks: the take side of the hot path, steps 6 to 9. `step` is the only place that takes.

mod flight;
mod runner;

pub use runner::{RunnerEnd, SinkRunner};

use crate::{
    channel::{Channel, ChannelError, Commit, Signal, TakeTransaction},
    config::Origin,
    metrics::SinkMetrics,
    planted::{self, Bug},
    sink::{DeliverError, Delivery, DynSink, Retry},
    source::BoxError,
};
use flight::Flight;
use std::{
    fmt::{self, Debug},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// Chooses the next sink of a group. No I/O, no clock of its own: it gets the time and answers.
pub trait SinkProcessor: Debug + Send {
    /// The sink that is to deliver next.
    ///
    /// # Errors
    /// None may now: the time at which to ask again.
    fn pick(&mut self, now: Instant) -> Result<SinkIndex, Instant>;

    /// What became of the last pick of this sink.
    fn report(&mut self, sink: SinkIndex, outcome: Outcome, now: Instant);
}

/// The place of a sink in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SinkIndex(pub usize);

/// What became of a pick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Events were delivered.
    Delivered,
    /// The sink could not deliver; the events are back in the channel.
    Failed,
    /// The sink asks for a pause, although it delivered what it could.
    Paused,
    /// There was nothing to take: it says nothing about the sink's health.
    Idle,
}

/// How a member gets a fresh sink.
pub type SinkFactory = Box<dyn FnMut() -> Result<Box<dyn DynSink>, BoxError> + Send>;

/// One sink of a group, with what it takes from and what is under way.
pub struct Member {
    name: Arc<str>,
    sink: Box<dyn DynSink>,
    factory: SinkFactory,
    channel: Arc<dyn Channel>,
    batch_size: u32,
    options: MemberOptions,
    metrics: Arc<SinkMetrics>,
    wake: Arc<Signal>,
    flight: Flight,
    /// Since when fewer events than a batch are waiting.
    lingering_since: Option<Instant>,
    /// After a failed `on_deadline`, when it may be called again.
    deadline_pause: Option<Instant>,
    /// Since when it fails, and how often it has.
    failing: Option<(Instant, u64)>,
}

/// What every sink has besides its own settings.
#[derive(Debug, Clone)]
pub struct MemberOptions {
    /// How long to wait for a fuller batch (`batchLinger`); zero: take at once what is there.
    pub linger: Duration,
    /// Held batches at which the sink is asked to settle some early (`maxHeldBatches`).
    pub max_held_batches: usize,
    /// Bytes of held bodies at which it is asked (`maxHeldBytes`).
    pub max_held_bytes: u64,
    /// Where its settings stand, for messages.
    pub origin: Origin,
}

impl Default for MemberOptions {
    fn default() -> Self {
        Self {
            linger: Duration::ZERO,
            max_held_batches: 1_000,
            max_held_bytes: 256 << 20,
            origin: Origin::default(),
        }
    }
}

impl Member {
    /// A member whose first sink the factory builds at once. `wake` is the signal that the factory's sinks raise when
    /// held batches may have become safe.
    ///
    /// # Errors
    /// What the factory said.
    pub fn new(
        name: Arc<str>,
        mut factory: SinkFactory,
        channel: Arc<dyn Channel>,
        batch_size: u32,
        options: MemberOptions,
        metrics: Arc<SinkMetrics>,
        wake: Arc<Signal>,
    ) -> Result<Self, BoxError> {
        let sink = factory()?;
        let batch_size = batch_size.max(1);
        Ok(Self {
            name,
            sink,
            factory,
            channel,
            batch_size,
            options,
            metrics,
            wake,
            flight: Flight::default(),
            lingering_since: None,
            deadline_pause: None,
            failing: None,
        })
    }

    /// Whether more events are to be waited for, and until when.
    fn linger(&mut self, now: Instant) -> Option<Instant> {
        if self.options.linger.is_zero() {
            return None;
        }
        let queued = self.channel.depth().queued;
        if queued == 0 || queued >= u64::from(self.batch_size) {
            self.lingering_since = None;
            return None;
        }
        let until = *self.lingering_since.get_or_insert(now) + self.options.linger;
        if now < until {
            return Some(until);
        }
        self.lingering_since = None;
        None
    }

    /// Takes a batch; a batch size beyond what a changed channel allows is lowered to that.
    fn take(&mut self) -> Result<Option<TakeTransaction>, ChannelError> {
        match self.channel.try_take(self.batch_size) {
            Err(ChannelError::TooLarge { limit, .. }) if limit < u64::from(self.batch_size) && limit > 0 => {
                tracing::warn!(sink = %self.name, from = self.batch_size, to = limit, "batch size lowered to what the channel allows");
                self.batch_size = u32::try_from(limit).unwrap_or(self.batch_size);
                self.channel.try_take(self.batch_size)
            }
            other => other,
        }
    }

    fn count_batch(&self, n_events: usize) {
        self.metrics.attempted.add(n_events as u64);
        if n_events < self.batch_size as usize {
            self.metrics.batch_underflow.add(1);
        } else {
            self.metrics.batch_complete.add(1);
        }
    }
}

/// What one round did.
#[derive(Debug)]
#[must_use]
pub enum Step {
    /// A batch is delivered and its take commit under way.
    Delivered {
        /// By which sink.
        sink: SinkIndex,
        /// How many of its events leave the channel.
        events: u32,
        /// The commit.
        commit: Commit,
    },
    /// A batch is sent and held until its sink has settled it.
    Held {
        /// By which sink.
        sink: SinkIndex,
    },
    /// The sink had nothing to take.
    Idle,
    /// The sink failed; the events are back in the channel.
    Failed {
        /// Which sink.
        sink: SinkIndex,
        /// Why, and what it asks for.
        error: DeliverError,
    },
    /// No sink may deliver before this.
    Waiting {
        /// When to try again.
        until: Instant,
    },
}

/// One round: pick a sink, take from its channel, deliver, start the commit, report. It waits for the sink only.
///
/// # Errors
/// The channel of the picked sink cannot be taken from.
pub async fn step(group: &mut [Member], policy: &mut dyn SinkProcessor) -> Result<Step, ChannelError> {
    let now = Instant::now();
    let sink = match policy.pick(now) {
        Ok(sink) => sink,
        Err(until) => return Ok(Step::Waiting { until }),
    };
    let member = &mut group[sink.0];
    if member.flight.is_full(&member.options, &*member.channel) {
        policy.report(sink, Outcome::Idle, now);
        return Ok(Step::Idle);
    }
    if let Some(until) = member.linger(now) {
        policy.report(sink, Outcome::Idle, now);
        return Ok(Step::Waiting { until });
    }
    let taken = match member.take() {
        Ok(Some(taken)) => taken,
        Ok(None) => {
            member.metrics.batch_empty.add(1);
            policy.report(sink, Outcome::Idle, now);
            return Ok(Step::Idle);
        }
        Err(error) => {
            member.metrics.channel_read_fail.add(1);
            return Err(error);
        }
    };
    member.count_batch(taken.batch().len());
    let result = member.sink.deliver(taken.batch()).await;
    let done_at = Instant::now();
    member.metrics.deliver_time.add(done_at.duration_since(now));
    match result {
        Ok(delivery) => {
            policy.report(sink, outcome(&delivery), done_at);
            Ok(member.accept(sink, taken, &delivery))
        }
        Err(error) => {
            member.metrics.write_fail.add(1);
            policy.report(sink, Outcome::Failed, done_at);
            if planted::is(Bug::FailedDeliveryIsCommitted) {
                let events = u32::try_from(taken.batch().len()).unwrap_or(u32::MAX);
                drop(taken.commit_first(events));
            } else if planted::is(Bug::FailedDeliveryKeepsItsLoan) {
                std::mem::forget(taken);
            }
            Ok(Step::Failed { sink, error }) // `taken` is dropped: rolled back
        }
    }
}

fn outcome(delivery: &Delivery) -> Outcome {
    // Nothing done and nothing held would be offered again at once, without end.
    if delivery.pause || (delivery.done == 0 && !delivery.held) {
        Outcome::Paused
    } else {
        Outcome::Delivered
    }
}

impl Member {
    fn accept(&mut self, sink: SinkIndex, taken: TakeTransaction, delivery: &Delivery) -> Step {
        self.metrics.discarded.add(delivery.discarded.len() as u64);
        if let Some((at, reason)) = delivery.discarded.first() {
            let events = delivery.discarded.len();
            tracing::warn!(sink = %self.name, events, first = at, reason, "events refused for good, and discarded");
        }
        let all = u32::try_from(taken.batch().len()).unwrap_or(u32::MAX);
        let events = if planted::is(Bug::PartCommitsAll) { all } else { delivery.done.min(all) };
        if delivery.held && !planted::is(Bug::HeldBatchIsCommittedAtOnce) {
            self.flight.hold(taken, events, &self.metrics);
            return Step::Held { sink };
        }
        let events = if planted::is(Bug::DeliveryCommitsNothing) { 0 } else { events };
        Step::Delivered { sink, events, commit: taken.commit_first(events) }
    }

    /// Says once that the sink works again.
    fn works(&mut self) {
        if let Some((since, failures)) = self.failing.take() {
            tracing::info!(
                sink = %self.name,
                failures,
                "delivers again, after {:.1} s and {failures} failed {}",
                since.elapsed().as_secs_f64(),
                if failures == 1 { "attempt" } else { "attempts" }
            );
        }
    }

    /// Puts what is held back into the channel, and builds the sink anew where it asks for that.
    async fn recover(&mut self, retry: Retry) {
        self.flight.roll_back_held(&self.metrics);
        if retry == Retry::Backoff {
            return;
        }
        match (self.factory)() {
            Ok(fresh) => {
                let mut old = std::mem::replace(&mut self.sink, fresh);
                self.metrics.rebuilt.add(1);
                // What it cannot close in this time is left to the system.
                let _ = tokio::time::timeout(CLOSE_LIMIT, old.close()).await;
            }
            Err(error) => {
                let error = self.options.origin.tell(&error);
                tracing::error!(sink = %self.name, error, "sink cannot be built anew; going on with the old one")
            }
        }
    }
}

/// How long a sink may take to close when it is replaced.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("name", &self.name)
            .field("channel", &self.channel)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
