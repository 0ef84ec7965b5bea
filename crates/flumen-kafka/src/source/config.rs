//! The settings of the Kafka source, with Java's old names.

use crate::{
    client::{self, ClientSettings, Role},
    keys,
};
use flumen_core::config::{Commas, Configuration, Millis, Property, Settings, View};
use flumen_java::regex::{Flags, Pattern};
use std::{collections::BTreeMap, sync::Arc};

/// What stands below the source.
#[derive(Debug)]
pub struct KafkaSourceConfig {
    pub(super) keys: Keys,
    pub(super) consumer: ClientSettings,
    pub(super) pattern: Option<Arc<Pattern>>,
}

#[derive(Debug, Configuration)]
#[configuration(
    ignored(key = "timestampHeader", why = "no version of Flume reads it: the header is always `timestamp`"),
    ignored(
        key = "kafka.auto.commit.enable",
        why = "offsets are committed when the channels have the events"
    )
)]
pub(super) struct Keys {
    /// Brokers to begin with, as `host:port` with commas between; the others are found through them. Required, unless
    /// `zookeeperConnect` is there.
    #[property(key = "kafka.bootstrap.servers")]
    pub(super) servers: Option<keys::Servers>,
    /// Group of consumers: its members share the partitions, and its offsets say where to go on.
    #[property(key = "kafka.consumer.group.id", deprecated = "groupId", default = "flume")]
    pub(super) group: String,
    /// Topics to read, with commas between. One of this and `kafka.topics.regex` is required.
    #[property(key = "kafka.topics", deprecated = "topic")]
    pub(super) topics: Option<Commas>,
    /// Regular expression (Java's) that the whole name of a topic must match to be read; wins over `kafka.topics`. New topics are
    /// looked for every `kafka.consumer.metadata.max.age.ms` (300000).
    #[property(key = "kafka.topics.regex")]
    pub(super) topics_regex: Option<String>,
    /// Events that are put as one batch.
    #[property(default = "1000", min = "1", max = "2147483647")]
    pub(super) batch_size: u32,
    /// How long to wait for a full batch when fewer events are there.
    #[property(default = "1000")]
    pub(super) batch_duration_millis: Millis,
    /// Whether a record's value is a whole event, headers and all, as an Avro datum; false: the body. What is no such datum is left
    /// out, counted and named in the log.
    #[property(default = "false")]
    pub(super) use_flume_event_format: bool,
    /// Whether the topic becomes a header, unless the event has one of that name already.
    #[property(default = "true")]
    pub(super) set_topic_header: bool,
    /// Header for the topic.
    #[property(default = "topic")]
    pub(super) topic_header: String,
    /// `header.H = K`: the record header `K` becomes the header `H` of the event.
    #[property(prefix = "header.")]
    pub(super) record_headers: BTreeMap<String, String>,
    /// What each further refusal of a channel adds to the pause before the batch is offered again.
    #[property(default = "1000")]
    pub(super) backoff_sleep_increment: Millis,
    /// The longest such pause.
    #[property(default = "5000")]
    pub(super) max_backoff_sleep: Millis,
    /// ZooKeeper of an old cluster: gives the brokers' addresses where there are no `kafka.bootstrap.servers`, and offsets that an
    /// old consumer has left.
    #[property(key = "zookeeperConnect")]
    pub(super) zookeeper: Option<String>,
    /// With `zookeeperConnect` and one topic: whether offsets in ZooKeeper count where Kafka has none.
    #[property(default = "true")]
    pub(super) migrate_zookeeper_offsets: bool,
    /// Settings of Kafka's consumer by Java's names (`kafka.consumer.auto.offset.reset`, by default `latest`).
    #[property(prefix = "kafka.consumer.")]
    #[expect(dead_code, reason = "they are read by their own table, in `read`")]
    consumer: Settings,
}

impl Configuration for KafkaSourceConfig {
    const PROPERTIES: &'static [Property] = Keys::PROPERTIES;

    fn read(view: &mut View<'_>) -> Option<Self> {
        let keys = Keys::read(view);
        let consumer = client::read(view, "kafka.consumer.", Role::Consumer);
        keys::tell_strangers(view, &["kafka.consumer.", "kafka.auto.commit.enable"], "kafka.consumer.");
        let (keys, mut consumer) = (keys?, consumer?);
        if keys.servers.is_none() && keys.zookeeper.is_none() {
            view.error("kafka.bootstrap.servers", "is required");
            return None;
        }
        let pattern = pattern(view, &keys)?;
        if pattern.is_none() {
            let topics = keys.topics.as_ref().map(|topics| topics.0.as_slice()).unwrap_or_default();
            if topics.is_empty() {
                view.error("kafka.topics", "is required, or kafka.topics.regex");
                return None;
            }
            for topic in topics {
                keys::check_topic(view, "kafka.topics", topic)?;
            }
        }
        if let Some(keys::Servers(servers)) = &keys.servers {
            consumer.force("bootstrap.servers", &**servers);
        }
        keys::consumer_defaults(&mut consumer, &keys.group, "latest");
        Some(Self { keys, consumer, pattern })
    }
}

fn pattern(view: &mut View<'_>, keys: &Keys) -> Option<Option<Arc<Pattern>>> {
    let Some(text) = &keys.topics_regex else { return Some(None) };
    if keys.topics.is_some() {
        view.warn("kafka.topics", "is ignored, as `kafka.topics.regex` is set too");
    }
    match Pattern::compile(text, Flags::default()) {
        Ok(pattern) => Some(Some(Arc::new(pattern))),
        Err(error) => {
            view.error("kafka.topics.regex", format!("is no regular expression: {error}"));
            None
        }
    }
}
