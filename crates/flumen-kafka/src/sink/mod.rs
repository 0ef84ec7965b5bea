//! Sends events as records to Kafka.
//!
//! Delivery: at least once. A batch leaves its channel when the brokers have confirmed all of its records, with `acks=all` by
//! the producer's idempotence each once; further batches are under way meanwhile.
//! Transient failure (no broker, no leader, no confirmation within `delivery.timeout.ms`, a refused login): what is under way
//! stays in the channel and is sent again after a pause, by a fresh client.
//! Permanent failure (a record that is too large, a header that names no topic or no partition): the event is discarded with its
//! reason, and counted; the rest goes on.
//! Duplicates: what was under way at a failure or at an abrupt end.
//! Deduplication key: whatever headers or body have; within one client a record is written once.

mod config;
mod metrics;
mod record;
#[cfg(test)]
mod tests;

pub use config::KafkaSinkConfig;

use crate::{
    client::{ClientSettings, Reports, complete},
    outbox::{NotSent, Outbox, Outcome, TOO_LARGE, drop_aside},
};
use flumen_core::{
    channel::Signal,
    event::Batch,
    registry::{BuildError, Facts, SinkContext, SinkType},
    sink::{DeliverError, Delivery, Sink},
};
use metrics::KafkaSinkMetrics;
use record::Records;
use std::{collections::VecDeque, fmt, sync::Arc, time::Duration};
use tokio::{
    sync::oneshot,
    task::{spawn_blocking, yield_now},
    time::{Instant, timeout},
};

/// Records that are made without a pause for other tasks.
const AT_ONCE: usize = 256;
/// How long records under way may take at the end; what is not confirmed then is sent again after the next start.
const END: Duration = Duration::from_secs(10);
/// A full queue is looked at again after this time.
const LOOK: Duration = Duration::from_millis(200);

/// See the module.
pub struct KafkaSink {
    context: SinkContext,
    settings: ClientSettings,
    servers: String,
    records: Records,
    outbox: Option<Outbox>,
    /// Oldest first.
    under_way: VecDeque<UnderWay>,
    /// Batches that were answered with `held` and are confirmed.
    n_settled: u32,
    /// Why those behind them are not; to be told when these are committed.
    failed: Option<String>,
    numbers: Arc<KafkaSinkMetrics>,
}

/// A batch that is sent.
struct UnderWay {
    batch: Batch,
    at: Instant,
    state: State,
}

enum State {
    /// Waits for the brokers.
    Sent(oneshot::Receiver<Outcome>),
    /// These are to be sent again, each by itself.
    Alone(Vec<u32>),
}

impl SinkType for KafkaSink {
    const NAMES: &'static [&'static str] = &["kafka", "org.apache.flume.sink.kafka.KafkaSink"];
    const SUMMARY: &'static str = "Sends events as records to Kafka.";
    type Config = KafkaSinkConfig;

    fn build(config: Self::Config, context: &SinkContext) -> Result<Self, BuildError> {
        let numbers = Arc::new(KafkaSinkMetrics::default());
        context.common.extra.add(numbers.clone());
        let servers = config.keys.servers.0.clone();
        let records = Records::new(config.keys, &context.common)?;
        Ok(Self {
            context: context.clone(),
            settings: config.producer,
            servers,
            records,
            outbox: None,
            under_way: VecDeque::new(),
            n_settled: 0,
            failed: None,
            numbers,
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        Facts {
            batch_size: Some(config.keys.batch_size),
            batch_size_key: "flumeBatchSize",
            ..Facts::default()
        }
    }
}

impl Sink for KafkaSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        if let Some(why) = self.failed.take() {
            return Err(self.give_up(why));
        }
        // Taken out: after a delivery that is dropped halfway nobody knows what of it is under way.
        let outbox = match self.outbox.take() {
            Some(outbox) => Aside(Some(outbox)),
            None => {
                self.under_way.clear();
                Aside(Some(self.connect().await?))
            }
        };
        let sent = self.send(outbox.get(), batch).await;
        match sent {
            Ok(receiver) => {
                self.outbox = outbox.keep();
                let state = State::Sent(receiver);
                self.under_way.push_back(UnderWay { batch: batch.clone(), at: Instant::now(), state });
                Ok(Delivery::held(batch))
            }
            Err(why) if self.n_settled > 0 => {
                // These are to be committed first, or they would be sent again.
                self.failed = Some(why);
                Ok(Delivery::first(0))
            }
            Err(why) => Err(self.give_up(why)),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        matches!(self.under_way.front(), Some(UnderWay { state: State::Alone(_), .. })).then(Instant::now)
    }

    async fn on_deadline(&mut self) -> Result<(), DeliverError> {
        let Some(UnderWay { batch, state: State::Alone(alone), .. }) = self.under_way.front() else {
            return Ok(());
        };
        let (batch, alone) = (batch.clone(), alone.clone());
        let Some(outbox) = self.outbox.take().map(|outbox| Aside(Some(outbox))) else { return Ok(()) };
        let sent = self.send_alone(outbox.get(), &batch, &alone).await;
        match sent {
            Ok(refused) => {
                self.outbox = outbox.keep();
                let at = self.under_way.pop_front().map(|front| front.at);
                self.finish(&refused, at);
                self.context.wake.raise();
                Ok(())
            }
            Err(why) => Err(self.give_up(why)),
        }
    }

    fn settled(&mut self) -> Result<u32, DeliverError> {
        if self.failed.is_none() {
            self.failed = self.look().err();
        }
        if self.n_settled > 0 {
            // A failure behind them is told at the next call.
            return Ok(std::mem::take(&mut self.n_settled));
        }
        match self.failed.take() {
            Some(why) => Err(self.give_up(why)),
            None => Ok(0),
        }
    }

    async fn close(&mut self) -> Result<(), DeliverError> {
        let end = Instant::now() + END;
        while !self.under_way.is_empty() && Instant::now() < end {
            let Some(outbox) = &self.outbox else { break };
            let confirmed = outbox.confirmed();
            // Looked at again now and then: a signal before the wait may be missed.
            let _ = timeout(LOOK, confirmed).await;
            if let Err(why) = self.look() {
                // What is confirmed is committed; the rest goes back by itself.
                tracing::warn!(sink = %self.context.common.name, why, "records under way at the end are sent again after the next start");
                break;
            }
            self.on_deadline().await?;
        }
        drop_aside(self.outbox.take());
        Ok(())
    }
}

impl KafkaSink {
    async fn connect(&self) -> Result<Outbox, DeliverError> {
        let (settings, environment) = (self.settings.clone(), self.context.common.environment.clone());
        let reports = Reports::new(self.context.common.name.clone(), &self.servers);
        let made = spawn_blocking(move || Outbox::new(&complete(&settings, &environment)?, reports));
        let made = made.await.unwrap_or_else(|error| Err(error.to_string()));
        let counter = match made {
            Ok(_) => &self.context.metrics.connections_created,
            Err(_) => &self.context.metrics.connections_failed,
        };
        counter.add(1);
        made.map_err(|why| DeliverError::backoff(format!("the Kafka client was not made: {why}")))
    }

    /// Queues all records of a batch.
    async fn send(&mut self, outbox: &Outbox, batch: &Batch) -> Result<oneshot::Receiver<Outcome>, String> {
        let (sender, receiver) = oneshot::channel();
        let wake = self.context.wake.clone();
        let n_records = u32::try_from(batch.len()).unwrap_or(u32::MAX);
        let serial = outbox.begin(n_records, move |outcome| answer(sender, &wake, outcome));
        let mut refused = Vec::new();
        for (at, event) in batch.iter().enumerate() {
            let index = u32::try_from(at).unwrap_or(u32::MAX);
            if at % AT_ONCE == AT_ONCE - 1 {
                yield_now().await;
            }
            loop {
                let full = outbox.confirmed();
                match self.records.letter(event).and_then(|letter| outbox.send(serial, index, letter)) {
                    Ok(()) => break,
                    Err(NotSent::Refused(why)) => {
                        refused.push((index, why));
                        break;
                    }
                    Err(NotSent::Failed { why, .. }) => return Err(why),
                    Err(NotSent::Full) => {
                        // Looked at again now and then: a signal between the try and the wait may be missed.
                        let _ = timeout(LOOK, full).await;
                        self.look()?;
                    }
                }
            }
        }
        outbox.end(serial, refused);
        Ok(receiver)
    }

    /// Sends records one after the other, each as a request of its own, and says which are too large even so.
    async fn send_alone(
        &mut self,
        outbox: &Outbox,
        batch: &Batch,
        alone: &[u32],
    ) -> Result<Vec<(u32, &'static str)>, String> {
        let mut refused = Vec::new();
        for &index in alone {
            let one = batch.slice(index as usize..index as usize + 1);
            let outcome = self.send(outbox, &one).await?.await.map_err(|_| ENDED.to_owned())?;
            if let Some(why) = outcome.failure {
                return Err(why);
            }
            refused.extend(outcome.refused.iter().map(|(_, why)| (index, *why)));
            refused.extend(outcome.too_large.iter().map(|_| (index, TOO_LARGE)));
        }
        Ok(refused)
    }

    /// Looks at the oldest batches that are under way.
    fn look(&mut self) -> Result<(), String> {
        while let Some(UnderWay { state: State::Sent(receiver), at, .. }) = self.under_way.front_mut() {
            let at = *at;
            let outcome = match receiver.try_recv() {
                Ok(outcome) => outcome,
                Err(oneshot::error::TryRecvError::Empty) => return Ok(()),
                Err(oneshot::error::TryRecvError::Closed) => return Err(ENDED.to_owned()),
            };
            if let Some(why) = outcome.failure {
                return Err(why);
            }
            if !outcome.too_large.is_empty() {
                self.tell_discarded(&outcome.refused);
                if let Some(front) = self.under_way.front_mut() {
                    front.state = State::Alone(outcome.too_large);
                }
                return Ok(());
            }
            self.under_way.pop_front();
            self.finish(&outcome.refused, Some(at));
        }
        Ok(())
    }

    /// A batch is done with.
    fn finish(&mut self, refused: &[(u32, &'static str)], since: Option<Instant>) {
        self.tell_discarded(refused);
        let took = since.map_or(Duration::ZERO, |since| since.elapsed());
        self.numbers.send_ms.add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        self.n_settled += 1;
    }

    fn tell_discarded(&self, refused: &[(u32, &'static str)]) {
        let Some((at, reason)) = refused.first() else { return };
        self.context.metrics.discarded.add(refused.len() as u64);
        let (sink, events) = (&self.context.common.name, refused.len());
        tracing::warn!(%sink, events, first = at, reason, "events refused for good, and discarded");
    }

    /// The runner puts all that is held back, and makes a fresh sink: what this one has queued must not be sent as well.
    fn give_up(&mut self, why: String) -> DeliverError {
        self.under_way.clear();
        (self.n_settled, self.failed) = (0, None);
        drop_aside(self.outbox.take());
        self.numbers.rollbacks.add(1);
        DeliverError::backoff(why)
    }
}

const ENDED: &str = "the Kafka client has ended";

fn answer(sender: oneshot::Sender<Outcome>, wake: &Signal, outcome: Outcome) {
    // The sink may have given up.
    drop(sender.send(outcome));
    wake.raise();
}

/// A client that is dropped beside the async threads unless it is kept.
struct Aside(Option<Outbox>);

impl Aside {
    fn get(&self) -> &Outbox {
        self.0.as_ref().expect("it is there until it is kept")
    }

    fn keep(mut self) -> Option<Outbox> {
        self.0.take()
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        drop_aside(self.0.take());
    }
}

impl Drop for KafkaSink {
    fn drop(&mut self) {
        drop_aside(self.outbox.take());
    }
}

impl fmt::Debug for KafkaSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KafkaSink").field("servers", &self.servers).finish_non_exhaustive()
    }
}
