//! Reads records of Kafka's topics as events.
//!
//! Delivery: at least once. Offsets are committed when every required channel has committed the events of all records before them.
//! Transient failure (full channel, no broker, a rebalance): events wait in memory, at most two batches, and are offered again; the
//! source stays in its group meanwhile.
//! Permanent failure: with `useFlumeEventFormat` a record that is no Flume event is left out, counted in `EventReadFail` and named
//! in the log.
//! Duplicates: what was put and not committed when the agent ended abruptly, at most what the last commit, a fraction of a second
//! ago, has not seen; and what a channel has not finished within 15 s of a rebalance.
//! Deduplication key: the headers `topic`, `partition` and `offset`.

mod config;
#[cfg(test)]
mod tests;

pub use config::KafkaSourceConfig;

use crate::{
    client::{ClientSettings, Reports, complete},
    inbox::{Counts, Form, Inbox, Mark, Plan, Topics},
    zookeeper,
};
use flumen_core::{
    channel::Signal,
    event::Text,
    processor::{ChannelProcessor, PendingPut, PutError},
    registry::{BuildError, Facts, ReadsIn, SourceContext, SourceType},
    source::{Shutdown, Source, SourceError},
};
use std::{collections::VecDeque, fmt, sync::Arc, time::Duration};
use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep, timeout, timeout_at},
};

/// Puts that are open at a time.
const MOST_OPEN: usize = 8;
/// How long the puts that are open at the end may take.
const END: Duration = Duration::from_secs(10);
/// How often a client that brings nothing is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Bytes that are read ahead at most.
const AHEAD_BYTES: u64 = 32 << 20;
/// How often topics are looked for by a pattern, where the client's settings do not say.
const TOPICS: Duration = Duration::from_secs(300);

/// See the module.
pub struct KafkaSource {
    context: SourceContext,
    config: KafkaSourceConfig,
    counts: Counts,
}

impl SourceType for KafkaSource {
    const NAMES: &'static [&'static str] = &["kafka", "org.apache.flume.source.kafka.KafkaSource"];
    const SUMMARY: &'static str = "Reads records of Kafka's topics as events.";
    type Config = KafkaSourceConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        let counts = Counts { source: Some(context.metrics.clone()), ..Counts::default() };
        context.common.extra.add(counts.reader.clone());
        context.common.extra.add(counts.lag.clone());
        Ok(Self { context: context.clone(), config, counts })
    }

    fn facts(config: &Self::Config) -> Facts {
        let topics =
            config.keys.topics.iter().flat_map(|topics| &topics.0).filter(|_| config.pattern.is_none());
        let group = &config.keys.group;
        let reads_in = topics.map(|topic| ReadsIn {
            group: group.clone(),
            topic: topic.clone(),
            key: "kafka.consumer.group.id",
        });
        Facts {
            batch_size: Some(config.keys.batch_size),
            batch_size_key: "batchSize",
            sets_timestamp: true,
            reads_in: reads_in.collect(),
            ..Facts::default()
        }
    }
}

impl Source for KafkaSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let stored = Arc::new(Signal::default());
        let mut inbox = tokio::select! {
            biased;
            () = shutdown.requested() => return Ok(()),
            inbox = self.open(stored.clone()) => inbox.map_err(SourceError::new)?,
        };
        let flow =
            Flow { out, stored, inbox: &inbox, keys: &self.config.keys, open: VecDeque::new(), since: None };
        let result = flow.run(&mut shutdown).await;
        inbox.close().await;
        result
    }
}

impl KafkaSource {
    /// Asks ZooKeeper what is to be asked there, and begins to read.
    async fn open(&self, stored: Arc<Signal>) -> Result<Inbox, String> {
        let KafkaSourceConfig { keys, consumer, pattern } = &self.config;
        let mut consumer: ClientSettings = consumer.clone();
        if let (None, Some(zookeeper)) = (&keys.servers, &keys.zookeeper) {
            let servers = zookeeper::brokers(zookeeper, &zookeeper::protocol(&consumer)).await?;
            consumer.force("bootstrap.servers", servers);
        }
        let servers = consumer.get("bootstrap.servers").unwrap_or_default().to_owned();
        let topics = match pattern {
            Some(pattern) => {
                let age = consumer.get("metadata.max.age.ms").and_then(|text| text.parse().ok());
                Topics::Matching(pattern.clone(), age.map_or(TOPICS, Duration::from_millis))
            }
            None => Topics::Named(keys.topics.as_ref().map(|topics| topics.0.clone()).unwrap_or_default()),
        };
        let environment = self.context.common.environment.clone();
        let whole = spawn_blocking(move || complete(&consumer, &environment));
        let whole = whole.await.map_err(|error| error.to_string())??;
        if let (Some(zookeeper), true, Topics::Named(topics)) =
            (&keys.zookeeper, keys.migrate_zookeeper_offsets, &topics)
            && let [topic] = topics.as_slice()
        {
            zookeeper::migrate(zookeeper, &whole, &keys.group, topic).await?;
        }
        let name = self.context.common.name.clone();
        let plan = Plan {
            name: name.clone(),
            topics,
            form: Form {
                whole: keys.use_flume_event_format,
                topic: keys.set_topic_header.then(|| Text::kept(&keys.topic_header)),
                places: true,
                record_headers: keys
                    .record_headers
                    .iter()
                    .map(|(name, key)| (Text::kept(name), key.clone()))
                    .collect(),
            },
            max_events: u64::from(keys.batch_size) * 2,
            max_bytes: AHEAD_BYTES,
        };
        let (reports, counts) = (Reports::new(name, &servers), self.counts.clone());
        let started = spawn_blocking(move || {
            Inbox::start(&whole, plan, reports, Arc::new(move || stored.raise()), counts)
        });
        started.await.map_err(|error| error.to_string())?
    }
}

/// From an inbox to the channels, with several puts open.
struct Flow<'a> {
    out: ChannelProcessor,
    stored: Arc<Signal>,
    inbox: &'a Inbox,
    keys: &'a config::Keys,
    open: VecDeque<(Vec<Mark>, PendingPut)>,
    /// Since when fewer events than a batch are there.
    since: Option<Instant>,
}

impl Flow<'_> {
    async fn run(mut self, shutdown: &mut Shutdown) -> Result<(), SourceError> {
        let most = self.keys.batch_size.min(self.out.max_batch_events()).max(1) as usize;
        while !shutdown.is_requested() {
            let may_take = self.open.len() < MOST_OPEN;
            let next = next_batch(
                self.inbox,
                &self.stored,
                &mut self.since,
                most,
                self.keys.batch_duration_millis.duration(),
            );
            let answered = tokio::select! {
                biased;
                () = shutdown.requested() => break,
                answer = first(&mut self.open) => Some(answer),
                () = next, if may_take => None,
            };
            match answered {
                Some(Ok(())) => self.finish_first(),
                Some(Err(error)) => {
                    if !self.again(error, shutdown).await {
                        break;
                    }
                }
                None => {
                    self.since = None;
                    let Some(piece) = self.inbox.take(most).map_err(SourceError::new)? else { continue };
                    self.out.metrics().batch_received.add(1);
                    match self.out.begin(piece.batch).await {
                        Ok(put) => self.open.push_back((piece.marks, put)),
                        Err(error) => {
                            // What is before it comes first.
                            self.settle().await?;
                            let Some(put) = self.offer(error, shutdown).await else { break };
                            self.open.push_back((piece.marks, put));
                        }
                    }
                }
            }
        }
        // What cannot be finished in time comes again.
        let _ = timeout(END, self.settle()).await;
        Ok(())
    }

    fn finish_first(&mut self) {
        if let Some((marks, _)) = self.open.pop_front() {
            self.out.metrics().batch_accepted.add(1);
            self.inbox.shared().done(&marks);
        }
    }

    /// Waits for all that is open.
    async fn settle(&mut self) -> Result<(), SourceError> {
        while !self.open.is_empty() {
            match first(&mut self.open).await {
                Ok(()) => self.finish_first(),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Offers the first batch again until it is taken. False: it is time to stop.
    async fn again(&mut self, error: PutError, shutdown: &mut Shutdown) -> bool {
        let Some((marks, _)) = self.open.pop_front() else { return true };
        match self.offer(error, shutdown).await {
            Some(put) => {
                self.open.push_front((marks, put));
                true
            }
            None => false,
        }
    }

    async fn offer(&self, mut error: PutError, shutdown: &mut Shutdown) -> Option<PendingPut> {
        let (step, longest) =
            (self.keys.backoff_sleep_increment.duration(), self.keys.max_backoff_sleep.duration());
        for n in 1.. {
            if n == 1 {
                tracing::warn!(%error, "source waits for its channel");
            }
            tokio::select! {
                biased;
                () = shutdown.requested() => return None,
                () = sleep(step.saturating_mul(n).min(longest)) => {}
            }
            match self.out.retry(error).await {
                Ok(put) => return Some(put),
                Err(again) => error = again,
            }
        }
        None
    }
}

/// The answer of the oldest put; never, where none is open.
async fn first(open: &mut VecDeque<(Vec<Mark>, PendingPut)>) -> Result<(), PutError> {
    match open.front_mut() {
        Some((_, put)) => put.await,
        None => std::future::pending().await,
    }
}

/// Waits for a whole batch, or for as much of one as comes in time.
async fn next_batch(
    inbox: &Inbox,
    stored: &Signal,
    since: &mut Option<Instant>,
    most: usize,
    wait: Duration,
) {
    loop {
        let more = stored.listen();
        let (n_ready, ..) = inbox.depth();
        if n_ready >= most as u64 || inbox.has_failed() {
            return;
        }
        if n_ready == 0 {
            *since = None;
            // Also looked at now and then: a client that fails raises nothing.
            let _ = timeout(LOOK, more).await;
            continue;
        }
        let until = *since.get_or_insert_with(Instant::now) + wait;
        if Instant::now() >= until {
            return;
        }
        // Too late means that what is there is the batch.
        let _ = timeout_at(until, more).await;
    }
}

impl fmt::Debug for KafkaSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KafkaSource").field("name", &self.context.common.name).finish_non_exhaustive()
    }
}
