//! The thread of a consumer: reading ahead, pausing, rebalances, topics by pattern.

use super::{
    Plan, Shared,
    form::Builder,
    queue::{Mark, Position},
};
use crate::client::{Reports, told};
use flumen_core::seldom::Seldom;
use flumen_java::regex::Pattern;
use rdkafka::{
    ClientConfig, ClientContext, Message, Offset, Statistics, TopicPartitionList,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, CommitMode, Consumer as _, ConsumerContext, Rebalance},
    error::{KafkaError, KafkaResult},
    message::BorrowedMessage,
};
use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// Which topics are read.
#[derive(Debug, Clone)]
pub(crate) enum Topics {
    /// These.
    Named(Vec<String>),
    /// Those whose whole names match, looked for now and then.
    Matching(Arc<Pattern>, Duration),
}

pub(super) type Consumer = BaseConsumer<Events>;

/// How long the client waits for records at a time, and so how long an end takes.
const WAIT: Duration = Duration::from_millis(100);
/// A full queue is borne so long before partitions are paused.
const BEAR: Duration = Duration::from_millis(300);
/// How long partitions that go to another wait for what is on loan of them.
const HAND_OVER: Duration = Duration::from_secs(15);
/// How long the last commit may take.
const LAST: Duration = Duration::from_secs(5);
/// How long a question to a broker may take.
const ASK: Duration = Duration::from_secs(10);
/// Where no topic matches, they are looked for again after this time.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// A piece of what was read is no larger: events, and bytes of their values.
const PIECE: (usize, usize) = (1_000, 1 << 20);

/// What the client calls.
pub(crate) struct Events {
    shared: Arc<Shared>,
    reports: Reports,
}

/// Makes the consumer and starts its thread; the answer comes when that has ended.
pub(super) fn start(
    config: &ClientConfig,
    plan: Plan,
    reports: Reports,
    shared: Arc<Shared>,
) -> Result<oneshot::Receiver<()>, String> {
    let events = Events { shared: shared.clone(), reports };
    let consumer: Arc<Consumer> =
        Arc::new(config.create_with_context(events).map_err(|error| error.to_string())?);
    let (ended, told) = oneshot::channel();
    let name = format!("kafka-{}", plan.name);
    let (weak, of_committer) = (Arc::downgrade(&consumer), shared.clone());
    let committer = std::thread::Builder::new().name(format!("commit-{}", plan.name));
    let committer = committer.spawn(move || super::committer::run(&weak, &of_committer));
    committer.map(drop).map_err(|error| format!("no thread for the Kafka client: {error}"))?;
    let work = move || {
        Worker {
            consumer,
            shared,
            seldom: Seldom::default(),
            last: None,
            paused: false,
            looked: None,
            topics: Vec::new(),
            plan,
        }
        .run();
        drop(ended);
    };
    let thread = std::thread::Builder::new().name(name).spawn(work);
    thread.map(drop).map_err(|error| format!("no thread for the Kafka client: {error}"))?;
    Ok(told)
}

struct Worker {
    plan: Plan,
    consumer: Arc<Consumer>,
    shared: Arc<Shared>,
    seldom: Seldom,
    /// The slot of the last record: mostly that of the next one, too.
    last: Option<u32>,
    paused: bool,
    /// When topics were last looked for, and which were found.
    looked: Option<Instant>,
    topics: Vec<String>,
}

impl Worker {
    fn run(mut self) {
        let mut builder = Builder::new(self.plan.form.clone());
        while !self.shared.is_stopping() {
            if let Err(error) = self.subscribe() {
                self.trouble(&error);
            }
            if self.is_full() {
                self.bear();
                continue;
            }
            self.resume();
            self.read(&mut builder);
        }
        self.end();
    }

    /// Subscribes at the start, and to what has come since where topics are matched.
    fn subscribe(&mut self) -> KafkaResult<()> {
        match &self.plan.topics {
            Topics::Named(topics) => {
                if self.looked.is_none() {
                    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
                    self.consumer.subscribe(&topics)?;
                    self.looked = Some(Instant::now());
                }
            }
            Topics::Matching(pattern, again) => {
                let again = if self.topics.is_empty() { LOOK_AGAIN.min(*again) } else { *again };
                if self.looked.is_some_and(|looked| looked.elapsed() < again) {
                    return Ok(());
                }
                self.looked = Some(Instant::now());
                let all = self.consumer.fetch_metadata(None, ASK)?;
                let matches = |name: &&str| {
                    !name.starts_with("__") && pattern.matches(name.as_bytes(), None).unwrap_or(false)
                };
                let mut found: Vec<String> = all
                    .topics()
                    .iter()
                    .map(|topic| topic.name())
                    .filter(matches)
                    .map(str::to_owned)
                    .collect();
                found.sort();
                if found != self.topics && !found.is_empty() {
                    let topics: Vec<&str> = found.iter().map(String::as_str).collect();
                    self.consumer.subscribe(&topics)?;
                    tracing::info!(component = %self.plan.name, topics = found.join(" "), "reads the topics that match");
                    self.topics = found;
                }
            }
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        let state = self.shared.lock();
        state.queue.n_ready() >= self.plan.max_events || state.queue.bytes() >= self.plan.max_bytes
    }

    /// Waits for room; after a while it pauses the partitions, so that the client can be asked without bringing more.
    fn bear(&mut self) {
        let state = self.shared.lock();
        let limit = if self.paused { WAIT } else { BEAR };
        let waited = self.shared.changed.wait_timeout(state, limit);
        drop(waited.unwrap_or_else(PoisonError::into_inner).0);
        if !self.is_full() || self.shared.is_stopping() {
            return;
        }
        if !self.paused {
            self.paused = self.consumer.assignment().and_then(|all| self.consumer.pause(&all)).is_ok();
        }
        // Paused partitions bring nothing; commits and rebalances are served.
        let mut builder = Builder::new(self.plan.form.clone());
        let consumer = self.consumer.clone();
        if let Some(message) = consumer.poll(Duration::ZERO) {
            self.add(&mut builder, message);
            self.push(&mut builder);
        }
    }

    fn resume(&mut self) {
        if self.paused {
            self.paused = self.consumer.assignment().and_then(|all| self.consumer.resume(&all)).is_err();
        }
    }

    /// Waits for a record, and takes with it what is there.
    fn read(&mut self, builder: &mut Builder) {
        let (since, consumer) = (Instant::now(), self.consumer.clone());
        let first = consumer.poll(WAIT);
        let counts = &self.shared.counts;
        counts.reader.event_get_ms.add(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX));
        let Some(first) = first else {
            counts.reader.empty.add(1);
            return;
        };
        self.add(builder, first);
        while builder.size().0 < PIECE.0 && builder.size().1 < PIECE.1 {
            let Some(next) = consumer.poll(Duration::ZERO) else { break };
            self.add(builder, next);
        }
        self.push(builder);
    }

    fn add(&mut self, builder: &mut Builder, message: KafkaResult<BorrowedMessage<'_>>) {
        let message = match message {
            Ok(message) => message,
            Err(error) => return self.trouble(&error),
        };
        let (topic, partition) = (message.topic(), message.partition());
        let slot = {
            let mut state = self.shared.lock();
            match self.last.filter(|last| state.queue.is_slot(*last, topic, partition)) {
                Some(last) => last,
                None => state.queue.slot(topic, partition),
            }
        };
        self.last = Some(slot);
        if let Err(why) = builder.add(&message, slot) {
            if let Some(metrics) = &self.shared.counts.source {
                metrics.read_fail.add(1);
            }
            if let Some(unsaid) = self.seldom.due() {
                let (component, offset) = (&self.plan.name, message.offset());
                tracing::warn!(%component, topic, partition, offset, unsaid, "the record is no Flume event, and left out: {why}");
            }
        }
    }

    fn push(&mut self, builder: &mut Builder) {
        let (piece, skipped): (_, Vec<Mark>) = builder.finish();
        let any = !piece.marks.is_empty();
        self.shared.lock().queue.push(piece, &skipped);
        if any {
            (self.shared.stored)();
        }
    }

    /// Most errors pass by themselves; the client goes on.
    fn trouble(&self, error: &KafkaError) {
        if let KafkaError::MessageConsumptionFatal(_) = error {
            self.shared.lock().failure = Some(told(error));
            self.shared.stop();
            (self.shared.stored)();
            return;
        }
        if let Some(unsaid) = self.seldom.due() {
            tracing::warn!(component = %self.plan.name, unsaid, "Kafka: {}", told(error));
        }
    }

    /// Waits for the last commit. The group is left when the consumer is dropped.
    fn end(self) {
        let end = Instant::now() + LAST;
        let mut state = self.shared.lock();
        while !state.committer_ended {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                tracing::warn!(component = %self.plan.name, "offsets were not committed at the end, and their records come again");
                break;
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Positions as the client takes them.
pub(super) fn list(positions: &[Position]) -> TopicPartitionList {
    let mut list = TopicPartitionList::with_capacity(positions.len());
    for position in positions {
        // It fails only for offsets below 0, which no record has.
        let _ = list.add_partition_offset(&position.topic, position.partition, Offset::Offset(position.next));
    }
    list
}

impl ClientContext for Events {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        self.reports.log(level, facility, line);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.reports.error(&error, reason);
    }

    fn stats(&self, statistics: Statistics) {
        self.shared.counts.lag.take(&statistics);
    }
}

impl ConsumerContext for Events {
    /// Before partitions go to another member: what is on loan of them is finished or given up.
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let Rebalance::Revoke(list) = rebalance else { return };
        let partitions: Vec<(String, i32)> =
            list.elements().iter().map(|one| (one.topic().to_owned(), one.partition())).collect();
        let end = Instant::now() + HAND_OVER;
        let mut state = self.shared.lock();
        let slots = state.queue.withdraw(&partitions);
        while state.queue.on_loan_of(&slots) > 0 && !self.shared.is_stopping() && !consumer.assignment_lost()
        {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let events = state.queue.on_loan_of(&slots);
                tracing::warn!(
                    events,
                    "partitions go to another member before these events were finished: they come twice"
                );
                break;
            }
            // They would wait for this thread; the offsets are committed below.
            super::tell(std::mem::take(&mut state.waiting));
            let waited = self.shared.changed.wait_timeout(state, left.min(WAIT));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let positions = state.queue.positions(Some(&slots));
        state.queue.end(&slots);
        drop(state);
        if !positions.is_empty() && !consumer.assignment_lost() && !self.shared.is_stopping() {
            let committed = consumer.commit(&super::worker::list(&positions), CommitMode::Sync);
            if let Err(error) = committed {
                tracing::warn!(
                    "offsets were not committed at the hand-over, and their records come twice: {}",
                    told(&error)
                );
            }
        }
    }
}
