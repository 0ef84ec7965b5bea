//! A cluster of the client library's own, on a thread that keeps it, and a reader of its topics.

use rdkafka::{
    ClientConfig, Message, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer},
    message::{BorrowedMessage, Header, Headers as _, OwnedHeaders},
    mocking::MockCluster,
    producer::{BaseRecord, DefaultProducerContext, Producer as _, ThreadedProducer},
    types::{RDKafkaApiKey, RDKafkaRespErr},
};
use std::{
    sync::{Mutex, mpsc},
    time::Duration,
};

type Cluster = MockCluster<'static, DefaultProducerContext>;
type Order = Box<dyn FnOnce(&Cluster) + Send>;

/// One broker. It ends when it is dropped.
pub(crate) struct Mock {
    orders: mpsc::SyncSender<Order>,
    pub(crate) servers: String,
    reader: Mutex<Reader>,
    writer: ThreadedProducer<DefaultProducerContext>,
}

struct Reader {
    consumer: BaseConsumer,
    seen: Vec<Seen>,
}

/// A record as it stands in a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) topic: String,
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) key: Option<String>,
    pub(crate) value: Vec<u8>,
    pub(crate) timestamp: Option<i64>,
    pub(crate) headers: Vec<(String, String)>,
}

const WAIT: Duration = Duration::from_secs(20);

impl Mock {
    /// A cluster with these topics and numbers of partitions.
    pub(crate) fn new(topics: &[(&str, i32)]) -> Self {
        let (orders, inbox) = mpsc::sync_channel::<Order>(1);
        let (tell, told) = mpsc::sync_channel(1);
        let topics: Vec<(String, i32)> = topics.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        let keep = move || {
            let cluster = MockCluster::new(1).unwrap();
            for (name, n_partitions) in &topics {
                cluster.create_topic(name, *n_partitions, 1).unwrap();
            }
            tell.send(cluster.bootstrap_servers()).unwrap();
            inbox.iter().for_each(|order| order(&cluster));
        };
        #[expect(clippy::disallowed_methods, reason = "the cluster stays on the thread that made it")]
        std::thread::spawn(keep);
        let servers = told.recv().unwrap();
        let reader = ClientConfig::new()
            .set("bootstrap.servers", &servers)
            .set("group.id", "reader")
            .set("enable.auto.commit", "false")
            .set("fetch.wait.max.ms", "10")
            .create()
            .unwrap();
        let writer =
            ClientConfig::new().set("bootstrap.servers", &servers).set("linger.ms", "0").create().unwrap();
        Self { orders, servers, writer, reader: Mutex::new(Reader { consumer: reader, seen: Vec::new() }) }
    }

    fn order(&self, order: impl FnOnce(&Cluster) + Send + 'static) {
        let (done, over) = mpsc::sync_channel(1);
        let order = move |cluster: &Cluster| {
            order(cluster);
            done.send(()).unwrap();
        };
        self.orders.send(Box::new(order)).unwrap();
        over.recv().unwrap();
    }

    /// Answers the next requests of a kind with this.
    pub(crate) fn fail(&self, api: RDKafkaApiKey, error: RDKafkaRespErr, times: usize) {
        self.order(move |cluster| cluster.request_errors(api, &vec![error; times]));
    }

    /// Answers requests of a kind as they are again.
    pub(crate) fn works(&self, api: RDKafkaApiKey) {
        self.order(move |cluster| cluster.clear_request_errors(api));
    }

    /// Writes a record.
    pub(crate) fn write(
        &self,
        topic: &str,
        partition: i32,
        key: Option<&str>,
        value: &[u8],
        headers: &[(&str, &str)],
    ) {
        let mut all = OwnedHeaders::new();
        for (key, value) in headers {
            all = all.insert(Header { key, value: Some(*value) });
        }
        let mut record = BaseRecord::<str, [u8]>::to(topic)
            .partition(partition)
            .payload(value)
            .headers(all)
            .timestamp(1_234_567);
        if let Some(key) = key {
            record = record.key(key);
        }
        self.writer.send(record).map_err(|(error, _)| error).unwrap();
    }

    /// Waits until all that was written is there.
    pub(crate) fn written(&self) {
        self.writer.flush(WAIT).unwrap();
    }

    /// The offset that a group has committed for a partition.
    pub(crate) fn committed(&self, group: &str, topic: &str, partition: i32) -> Option<i64> {
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", &self.servers)
            .set("group.id", group)
            .create()
            .unwrap();
        let mut list = TopicPartitionList::new();
        list.add_partition(topic, partition);
        match consumer.committed_offsets(list, WAIT).unwrap().elements()[0].offset() {
            Offset::Offset(offset) => Some(offset),
            _ => None,
        }
    }

    /// All records of these partitions of a topic.
    pub(crate) fn records(&self, topic: &str, n_partitions: i32) -> Vec<Seen> {
        let mut reader = self.reader.lock().unwrap();
        let mut left = Vec::new();
        let mut list = TopicPartitionList::new();
        for partition in 0..n_partitions {
            let (_, high) = reader.consumer.fetch_watermarks(topic, partition, WAIT).unwrap();
            let known =
                reader.seen.iter().filter(|seen| seen.topic == topic && seen.partition == partition).count()
                    as i64;
            if high > known {
                list.add_partition_offset(topic, partition, Offset::Offset(known)).unwrap();
                left.push((partition, high));
            }
        }
        reader.consumer.assign(&list).unwrap();
        while !left.is_empty() {
            let seen = match reader.consumer.poll(WAIT) {
                Some(message) => seen(&message.unwrap()),
                None => panic!("no record of {topic} within {} s", WAIT.as_secs()),
            };
            left.retain(|(partition, high)| *partition != seen.partition || seen.offset + 1 < *high);
            reader.seen.push(seen);
        }
        reader.seen.iter().filter(|seen| seen.topic == topic).cloned().collect()
    }
}

fn seen(message: &BorrowedMessage<'_>) -> Seen {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let headers = message.headers().into_iter().flat_map(|headers| {
        headers
            .iter()
            .map(|header| (header.key.to_owned(), text(header.value.unwrap_or_default())))
            .collect::<Vec<_>>()
    });
    Seen {
        topic: message.topic().to_owned(),
        partition: message.partition(),
        offset: message.offset(),
        key: message.key().map(text),
        value: message.payload().unwrap_or_default().to_vec(),
        timestamp: message.timestamp().to_millis(),
        headers: headers.collect(),
    }
}
