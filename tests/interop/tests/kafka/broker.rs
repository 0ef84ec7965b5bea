//! The broker that all tests of this program share, and what is read from its topics.

use interop::Peer;
use rdkafka::{
    ClientConfig, Message, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    consumer::{BaseConsumer, CommitMode, Consumer},
    producer::{BaseRecord, DefaultProducerContext, Producer as _, ThreadedProducer},
};
use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};
use tempfile::TempDir;

const WAIT: Duration = Duration::from_secs(60);

/// A broker; it ends with the last test that holds it.
pub(crate) struct Broker {
    peer: Mutex<Option<Peer>>,
    port: u16,
    pub(crate) dir: TempDir,
}

/// A record as it stands in a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) partition: i32,
    pub(crate) key: Option<String>,
    pub(crate) value: Vec<u8>,
}

impl Seen {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.value).into_owned()
    }
}

impl Broker {
    /// The one that runs, or a new one.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Broker>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(broker) = shared.upgrade() {
            return broker;
        }
        let broker = Arc::new(Self::start());
        *shared = Arc::downgrade(&broker);
        broker
    }

    /// A new one, for tests that kill it.
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let peer = Peer::start("kafka", dir.path(), 0).unwrap();
        Self { port: peer.port(), peer: Mutex::new(Some(peer)), dir }
    }

    /// `kill -9`, and started again on the same data and ports.
    pub(crate) fn kill_and_start(&self) {
        let mut peer = self.peer.lock().unwrap();
        drop(peer.take());
        *peer = Some(Peer::start("kafka", self.dir.path(), self.port).unwrap());
    }

    /// Its address; `listener` 0: in the open, 1: TLS, 2: SASL.
    pub(crate) fn address(&self, listener: u16) -> String {
        format!("127.0.0.1:{}", self.port + listener)
    }

    fn config(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", self.address(0))
            .set("group.id", "reader")
            .set("enable.auto.commit", "false");
        config
    }

    /// Makes a topic.
    pub(crate) async fn topic(&self, name: &str, n_partitions: i32, settings: &[(&str, &str)]) {
        let admin: AdminClient<DefaultClientContext> = self.config().create().unwrap();
        let mut topic = NewTopic::new(name, n_partitions, TopicReplication::Fixed(1));
        topic.config = settings.to_vec();
        let made =
            admin.create_topics([&topic], &AdminOptions::new().operation_timeout(Some(WAIT))).await.unwrap();
        made.into_iter().for_each(|made| drop(made.unwrap()));
    }

    /// Writes numbers, in turn to each partition.
    pub(crate) fn write(&self, topic: &str, n_partitions: u64, numbers: std::ops::Range<u64>) {
        let producer: ThreadedProducer<DefaultProducerContext> = self.config().create().unwrap();
        for n in numbers {
            let text = n.to_string();
            let record =
                BaseRecord::<str, str>::to(topic).partition((n % n_partitions) as i32).payload(&text);
            producer.send(record).map_err(|(error, _)| error).unwrap();
        }
        producer.flush(WAIT).unwrap();
    }

    /// The offset that a group has committed.
    pub(crate) fn committed(&self, group: &str, topic: &str, partition: i32) -> Option<i64> {
        let consumer: BaseConsumer = self.config().set("group.id", group).create().unwrap();
        let mut list = TopicPartitionList::new();
        list.add_partition(topic, partition);
        match consumer.committed_offsets(list, WAIT).unwrap().elements()[0].offset() {
            Offset::Offset(offset) => Some(offset),
            _ => None,
        }
    }

    /// Commits an offset for a group.
    pub(crate) fn commit(&self, group: &str, topic: &str, partition: i32, offset: i64) {
        let consumer: BaseConsumer = self.config().set("group.id", group).create().unwrap();
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(topic, partition, Offset::Offset(offset)).unwrap();
        consumer.commit(&list, CommitMode::Sync).unwrap();
    }

    /// How many records a topic has; none while it is not there.
    pub(crate) fn count(&self, topic: &str, n_partitions: i32) -> i64 {
        let consumer: BaseConsumer = self.config().create().unwrap();
        let high = |partition| consumer.fetch_watermarks(topic, partition, WAIT).map_or(0, |(_, high)| high);
        (0..n_partitions).map(high).sum()
    }

    /// All records of a topic, partition by partition.
    pub(crate) fn records(&self, topic: &str, n_partitions: i32) -> Vec<Seen> {
        let consumer: BaseConsumer = self.config().create().unwrap();
        let (mut list, mut left) = (TopicPartitionList::new(), Vec::new());
        for partition in 0..n_partitions {
            let (low, high) = consumer.fetch_watermarks(topic, partition, WAIT).unwrap();
            if high > low {
                list.add_partition_offset(topic, partition, Offset::Beginning).unwrap();
                left.push((partition, high));
            }
        }
        consumer.assign(&list).unwrap();
        let mut all = Vec::new();
        while !left.is_empty() {
            let message = consumer.poll(WAIT).expect("a record in time").unwrap();
            left.retain(|(partition, high)| {
                *partition != message.partition() || message.offset() + 1 < *high
            });
            all.push(Seen {
                partition: message.partition(),
                key: message.key().map(|key| String::from_utf8_lossy(key).into_owned()),
                value: message.payload().unwrap_or_default().to_vec(),
            });
        }
        all.sort_by_key(|seen| seen.partition);
        all
    }
}
