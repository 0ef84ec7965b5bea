//! The settings of the Kafka channel, with Java's old names.

use crate::{
    client::{self, ClientSettings, Role},
    keys,
};
use flumen_core::config::{Configuration, Millis, Property, Settings, View};

/// What stands below the channel.
#[derive(Debug)]
pub struct KafkaChannelConfig {
    pub(super) keys: Keys,
    pub(super) producer: ClientSettings,
    pub(super) consumer: ClientSettings,
}

#[derive(Debug, Configuration)]
#[configuration(ignored(key = "timeout", why = "only Flume 1.6 read it; sinks are woken when events come"))]
pub(super) struct Keys {
    /// Brokers to begin with, as `host:port` with commas between; the others are found through them.
    #[property(key = "kafka.bootstrap.servers", deprecated = "brokerList")]
    pub(super) servers: keys::Servers,
    /// Topic that the events wait in.
    #[property(key = "kafka.topic", deprecated = "topic", default = "flume-channel")]
    pub(super) topic: String,
    /// Group of consumers: agents whose channels have the same topic and group share its events. Nothing else may read in this
    /// group: what it gets the sinks do not.
    #[property(key = "kafka.consumer.group.id", deprecated = "groupId", default = "flume")]
    pub(super) group: String,
    /// Whether records are whole events, headers and all, as Avro datums; false: the body, and the header `key` as the record's key.
    #[property(default = "true")]
    pub(super) parse_as_flume_event: bool,
    /// How long a put waits while too much is under way to the brokers. Sinks are woken when events come.
    #[property(key = "kafka.pollTimeout", alias = "pollTimeout", default = "500")]
    pub(super) poll_timeout: Millis,
    /// Partition of events that name none by their headers. Unset: the key chooses it, as in Java; without a key the client does.
    #[property(min = "0")]
    pub(super) default_partition_id: Option<i32>,
    /// Header with the number of the partition; wins over `defaultPartitionId`.
    pub(super) partition_id_header: Option<String>,
    /// Old name of `kafka.consumer.auto.offset.reset`: `true` is `earliest`, `false` is `latest`.
    pub(super) read_smallest_offset: Option<bool>,
    /// ZooKeeper of an old cluster, for the offsets that an old consumer has left there.
    #[property(key = "zookeeperConnect")]
    pub(super) zookeeper: Option<String>,
    /// With `zookeeperConnect`: whether offsets in ZooKeeper count where Kafka has none.
    #[property(default = "true")]
    pub(super) migrate_zookeeper_offsets: bool,
    /// Settings of Kafka's producer by Java's names. By default `acks` is `all`, with an idempotent producer.
    #[property(prefix = "kafka.producer.")]
    #[expect(dead_code, reason = "they are read by their own table, in `read`")]
    producer: Settings,
    /// Settings of Kafka's consumer by Java's names (`kafka.consumer.auto.offset.reset`, by default `earliest`).
    #[property(prefix = "kafka.consumer.")]
    #[expect(dead_code, reason = "they are read by their own table, in `read`")]
    consumer: Settings,
}

impl Configuration for KafkaChannelConfig {
    const PROPERTIES: &'static [Property] = Keys::PROPERTIES;

    fn read(view: &mut View<'_>) -> Option<Self> {
        let keys = Keys::read(view);
        let producer = client::read(view, "kafka.producer.", Role::Producer);
        let consumer = client::read(view, "kafka.consumer.", Role::Consumer);
        keys::tell_strangers(view, &[], "kafka.producer.");
        let (keys, mut producer, mut consumer) = (keys?, producer?, consumer?);
        keys::check_topic(view, "kafka.topic", &keys.topic)?;
        if matches!(producer.get("acks"), Some("0" | "1")) {
            view.warn(
                "kafka.producer.acks",
                "with less than `all` the channel can lose events that it has acknowledged",
            );
        }
        producer.force("bootstrap.servers", &*keys.servers.0);
        keys::producer_defaults(&mut producer);
        consumer.force("bootstrap.servers", &*keys.servers.0);
        let reset = if keys.read_smallest_offset == Some(false) { "latest" } else { "earliest" };
        keys::consumer_defaults(&mut consumer, &keys.group, reset);
        Some(Self { keys, producer, consumer })
    }
}
