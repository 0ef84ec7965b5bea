//! What the settings of source, sink and channel have in common.

use crate::client::ClientSettings;
use flumen_core::config::{PropertyValue, View};

/// `host:port` with commas between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Servers(pub(crate) String);

impl PropertyValue for Servers {
    const KIND: &'static str = "`host:port`, with commas between several";

    fn parse(text: &str) -> Result<Self, String> {
        let mut all = Vec::new();
        for (n, one) in (1..).zip(text.split(',').map(str::trim).filter(|one| !one.is_empty())) {
            let address = one.rsplit_once("://").map_or(one, |(_, address)| address);
            let (host, port) =
                address.rsplit_once(':').ok_or_else(|| format!("item {n}: there is no port"))?;
            let port: u16 = port.parse().map_err(|_| format!("item {n}: `{port}` is no port"))?;
            if host.is_empty() || port == 0 {
                return Err(format!("item {n}: host or port is missing"));
            }
            all.push(one);
        }
        if all.is_empty() { Err("there is none".to_owned()) } else { Ok(Self(all.join(","))) }
    }
}

/// The name of a topic, by Kafka's rules.
pub(crate) fn is_topic(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=249).contains(&name.len()) && name.bytes().all(good) && name != "." && name != ".."
}

/// Notes a topic that no broker would take.
pub(crate) fn check_topic(view: &mut View<'_>, key: &str, topic: &str) -> Option<()> {
    if is_topic(topic) {
        return Some(());
    }
    view.error(key, format!("`{topic}` is no name of a topic: 1 to 249 of A-Z a-z 0-9 . _ -"));
    None
}

/// Keys below `kafka.` that nobody has read since Flume 1.7, which handed them on as they were.
pub(crate) fn tell_strangers(view: &mut View<'_>, prefixes: &[&str], write: &str) {
    let known = [
        "kafka.bootstrap.servers",
        "kafka.topic",
        "kafka.topics",
        "kafka.topics.regex",
        "kafka.flumeBatchSize",
        "kafka.pollTimeout",
        "kafka.consumer.group.id",
    ];
    let strange: Vec<&str> = view
        .keys()
        .filter(|key| key.starts_with("kafka.") && !known.contains(key))
        .filter(|key| !prefixes.iter().any(|prefix| key.starts_with(prefix)))
        .filter(|key| !key.starts_with("kafka.producer.") && !key.starts_with("kafka.consumer."))
        .collect();
    for key in strange {
        view.mark_read(key);
        let rest = key.trim_start_matches("kafka.");
        view.warn(key, format!("is not read: only Flume 1.6 handed it on to its client; write `{write}{rest}` if it is still wanted"));
    }
}

/// What Java's producer does by default and librdkafka does not, and idempotence where nothing forbids it.
pub(crate) fn producer_defaults(producer: &mut ClientSettings) {
    producer.or_set("acks", "-1");
    let number = |key: &str| producer.get(key).and_then(|text| text.parse::<i64>().ok());
    let forbids = producer.get("acks") != Some("-1")
        || number("max.in.flight.requests.per.connection").is_some_and(|n| n > 5)
        || number("retries").is_some_and(|n| n == 0);
    producer.or_set("enable.idempotence", if forbids { "false" } else { "true" });
    producer.or_set("partitioner", "murmur2_random");
    producer.or_set("delivery.timeout.ms", "120000");
    producer.or_set("queue.buffering.max.kbytes", "65536");
    producer.or_set("client.id", "flumen");
}

/// What Java's consumer does by default and librdkafka does not, and what Flume decides itself.
pub(crate) fn consumer_defaults(consumer: &mut ClientSettings, group: &str, reset: &str) {
    consumer.force("group.id", group);
    consumer.force("enable.auto.commit", "false");
    consumer.force("enable.auto.offset.store", "false");
    consumer.or_set("auto.offset.reset", reset);
    consumer.or_set("isolation.level", "read_uncommitted");
    consumer.or_set("partition.assignment.strategy", "range");
    consumer.or_set("allow.auto.create.topics", "true");
    consumer.or_set("client.id", "flumen");
    consumer.or_set("statistics.interval.ms", "5000");
    consumer.or_set("queued.max.messages.kbytes", "16384");
}
