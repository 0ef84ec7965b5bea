//! The settings of the Kafka sink, with Java's old names.

use crate::{
    client::{self, ClientSettings, Role},
    keys,
};
use flumen_core::config::{Configuration, Property, Settings, View};
use std::collections::BTreeMap;

/// What stands below the sink.
#[derive(Debug)]
pub struct KafkaSinkConfig {
    pub(super) keys: Keys,
    pub(super) producer: ClientSettings,
}

#[derive(Debug, Configuration)]
#[configuration(
    ignored(key = "key.serializer.class", why = "keys are text, as Flume has them"),
    ignored(key = "serializer.class", why = "values are bytes, as Flume has them"),
    ignored(key = "zookeeperConnect", why = "brokers are found by kafka.bootstrap.servers")
)]
pub(super) struct Keys {
    /// Brokers to begin with, as `host:port` with commas between; the others are found through them.
    #[property(key = "kafka.bootstrap.servers", deprecated = "brokerList")]
    pub(super) servers: keys::Servers,
    /// Topic of events that name none by their headers. While `allowTopicOverride` is true, `%{header}` and the other escapes
    /// of paths (`%Y`, `%[localhost]`) are replaced in it.
    #[property(key = "kafka.topic", deprecated = "topic", default = "default-flume-topic")]
    pub(super) topic: String,
    /// Events to send as one batch, which leaves the channel when the brokers have confirmed all of it.
    #[property(
        key = "flumeBatchSize",
        alias = "kafka.flumeBatchSize",
        deprecated = "batchSize",
        default = "100",
        min = "1",
        max = "2147483647"
    )]
    pub(super) batch_size: u32,
    /// Old name of `kafka.producer.acks`.
    pub(super) required_acks: Option<String>,
    /// Whether a record's value is the whole event, headers and all, as an Avro datum; false: the body.
    #[property(default = "false")]
    pub(super) use_flume_event_format: bool,
    /// Partition of events that name none by their headers. Unset: the key chooses it, as in Java; without a key the client does.
    #[property(min = "0")]
    pub(super) default_partition_id: Option<i32>,
    /// Header with the number of the partition; wins over `defaultPartitionId`. An event whose header is no number is discarded.
    pub(super) partition_id_header: Option<String>,
    /// Whether a header may name the topic, and escapes are replaced in `kafka.topic`.
    #[property(default = "true")]
    pub(super) allow_topic_override: bool,
    /// Header that names the topic of an event.
    #[property(default = "topic")]
    pub(super) topic_header: String,
    /// Header with the record's time, in milliseconds since 1970. What is no number is left out, with a warning.
    pub(super) timestamp_header: Option<String>,
    /// `header.H = K`: the header `H` of an event becomes the record header `K`, in UTF-8.
    #[property(prefix = "header.")]
    pub(super) record_headers: BTreeMap<String, String>,
    /// Settings of Kafka's producer by Java's names (`kafka.producer.compression.type`). By default `acks` is `all`, with an
    /// idempotent producer.
    #[property(prefix = "kafka.producer.")]
    #[expect(dead_code, reason = "they are read by their own table, in `read`")]
    producer: Settings,
}

impl Configuration for KafkaSinkConfig {
    const PROPERTIES: &'static [Property] = Keys::PROPERTIES;

    fn read(view: &mut View<'_>) -> Option<Self> {
        let keys = Keys::read(view);
        let producer = client::read(view, "kafka.producer.", Role::Producer);
        keys::tell_strangers(view, &["kafka.producer."], "kafka.producer.");
        let (keys, mut producer) = (keys?, producer?);
        if !keys.allow_topic_override || !keys.topic.contains('%') {
            keys::check_topic(view, "kafka.topic", &keys.topic)?;
        }
        acks(view, &keys, &mut producer)?;
        producer.force("bootstrap.servers", &*keys.servers.0);
        keys::producer_defaults(&mut producer);
        Some(Self { keys, producer })
    }
}

/// Idempotence unless the file asks for less.
fn acks(view: &mut View<'_>, keys: &Keys, producer: &mut ClientSettings) -> Option<()> {
    if let Some(old) = &keys.required_acks {
        view.info("requiredAcks", "is an old spelling; write `kafka.producer.acks`");
        let acks = match old.trim() {
            "all" | "-1" => "-1",
            "0" => "0",
            "1" => "1",
            _ => {
                view.error("requiredAcks", "is none of 0, 1, -1 and all");
                return None;
            }
        };
        producer.or_set("acks", acks);
    }
    let key = if keys.required_acks.is_some() { "requiredAcks" } else { "kafka.producer.acks" };
    let what = match producer.get("acks").unwrap_or("-1") {
        "0" => "with 0 nothing is confirmed: events that a broker or the network loses are lost",
        "1" => {
            "with 1 events are lost when a broker dies that has confirmed and not yet copied them; `all` is the default here"
        }
        _ => return Some(()),
    };
    view.warn(key, what);
    Some(())
}
