//! Java Flume's source, sink and channel on the other side, in both formats, and as a member of one group with ours.

use crate::{
    agent::{Agent, Maker},
    broker::Broker,
    parts::{channel, config, processor, source_context},
    wait::{LIMIT, until},
};
use flumen_core::{
    channel::Channel,
    registry::SourceType,
    source::{Shutdown, Source},
};
use flumen_kafka::source::KafkaSource;
use interop::missing;
use std::fmt::Write as _;
use tokio::time::timeout;

const N: u64 = 500;

/// The lines of an agent, flow by flow.
#[derive(Default)]
struct Flows {
    names: [Vec<String>; 3],
    lines: String,
}

impl Flows {
    fn part(&mut self, kind: usize, name: &str, pairs: &[(&str, &str)]) {
        self.names[kind].push(name.to_owned());
        let kind = ["sources", "channels", "sinks"][kind];
        for (key, value) in pairs {
            let _ = writeln!(self.lines, "a.{kind}.{name}.{key} = {value}");
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (kind, names) in ["sources", "channels", "sinks"].iter().zip(&self.names) {
            let _ = writeln!(text, "a.{kind} = {}", names.join(" "));
        }
        text + &self.lines
    }

    fn memory(&mut self, name: &str) {
        self.part(1, name, &[("type", "memory"), ("capacity", "10000"), ("transactionCapacity", "1000")]);
    }

    fn source(&mut self, name: &str, servers: &str, topic: &str, whole: &str) {
        let pairs = [
            ("type", "org.apache.flume.source.kafka.KafkaSource"),
            ("channels", name),
            ("kafka.bootstrap.servers", servers),
            ("kafka.topics", topic),
            ("kafka.consumer.group.id", topic),
            ("kafka.consumer.auto.offset.reset", "earliest"),
            ("useFlumeEventFormat", whole),
        ];
        self.part(0, name, &pairs);
    }

    fn sink(&mut self, name: &str, servers: &str, topic: &str, whole: &str) {
        let pairs = [
            ("type", "org.apache.flume.sink.kafka.KafkaSink"),
            ("channel", name),
            ("kafka.bootstrap.servers", servers),
            ("kafka.topic", topic),
            ("allowTopicOverride", "false"),
            ("useFlumeEventFormat", whole),
        ];
        self.part(2, name, &pairs);
    }

    fn kafka(&mut self, name: &str, servers: &str, topic: &str, whole: &str) {
        let pairs = [
            ("type", "org.apache.flume.channel.kafka.KafkaChannel"),
            ("kafka.bootstrap.servers", servers),
            ("kafka.topic", topic),
            ("kafka.consumer.group.id", topic),
            ("parseAsFlumeEvent", whole),
        ];
        self.part(1, name, &pairs);
    }
}

/// Java's sink, our source and channel and sink, Java's source and channel, our channel: a chain for each format.
#[tokio::test(flavor = "multi_thread")]
async fn events_go_through_both_in_both_formats() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    let servers = broker.address(0);
    let formats = [("raw", "false"), ("whole", "true")];
    let (mut java, mut ours) = (Flows::default(), Flows::default());
    for (format, whole) in formats {
        let topic = |n: u32| format!("{format}{n}");
        for n in 1..=5 {
            broker.topic(&topic(n), 1, &[]).await;
        }
        let seq = [
            ("type", "seq"),
            ("totalEvents", "500"),
            ("channels", &*format!("{format}-a")),
            ("interceptors", "i"),
            ("interceptors.i.type", "static"),
            ("interceptors.i.key", "key"),
            ("interceptors.i.value", "kv"),
        ];
        java.part(0, &format!("{format}-a"), &seq);
        java.memory(&format!("{format}-a"));
        java.sink(&format!("{format}-a"), &servers, &topic(1), whole);
        ours.source(&format!("{format}-b"), &servers, &topic(1), whole);
        ours.kafka(&format!("{format}-b"), &servers, &topic(2), whole);
        ours.sink(&format!("{format}-b"), &servers, &topic(3), whole);
        java.source(&format!("{format}-c"), &servers, &topic(3), whole);
        java.kafka(&format!("{format}-c"), &servers, &topic(4), whole);
        ours.kafka(&format!("{format}-d"), &servers, &topic(4), whole);
        ours.sink(&format!("{format}-d"), &servers, &topic(5), whole);
    }
    let java = Agent::of(Maker::Java, &dir.path().join("java"), &java.text());
    let ours = Agent::start(&dir.path().join("ours"), &ours.text());
    for (format, whole) in formats {
        let topic = format!("{format}5");
        until(&format!("{format} events; {}", dir.path().display()), || broker.count(&topic, 1) >= N as i64)
            .await;
        let pairs = [
            ("kafka.bootstrap.servers", &*servers),
            ("kafka.topics", &*topic),
            ("kafka.consumer.group.id", "last"),
            ("kafka.consumer.auto.offset.reset", "earliest"),
            ("useFlumeEventFormat", whole),
            ("batchDurationMillis", "50"),
        ];
        let mut source = KafkaSource::build(config("a.sources.r", &pairs), &source_context()).unwrap();
        let (stored, (stop, stops)) = (channel(), Shutdown::new());
        let watch = async {
            until("the last events", || stored.depth().queued >= N).await;
            stop.request();
        };
        let (end, ()) =
            tokio::join!(timeout(LIMIT, Source::run(&mut source, processor(&stored), stops)), watch);
        end.unwrap().unwrap();
        let mut numbers = stored.numbers();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..N).collect::<Vec<_>>(), "{format}: {} {}", java.log(), ours.log());
        let contents = stored.contents();
        for event in contents.iter() {
            let header =
                |name: &str| event.headers.get(name).map(|text| text.to_string()).unwrap_or_default();
            assert_eq!(header("key"), "kv", "{format}");
            // Whole events bring the headers of the first source that read them.
            let expected = if whole == "true" { "whole1" } else { "raw5" };
            assert_eq!(header("topic"), expected, "{format}");
        }
    }
}

/// Java's agent and ours in one group, as while one after the other is replaced.
#[tokio::test(flavor = "multi_thread")]
async fn java_and_ours_share_a_group() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    broker.topic("mixed", 4, &[]).await;
    broker.topic("mixed-java", 1, &[]).await;
    broker.topic("mixed-ours", 1, &[]).await;
    let mut agents = Vec::new();
    for (maker, out) in [(Maker::Java, "mixed-java"), (Maker::Flumen, "mixed-ours")] {
        let mut flows = Flows::default();
        flows.source("r", &broker.address(0), "mixed", "false");
        flows.memory("r");
        flows.sink("r", &broker.address(0), out, "false");
        agents.push(Agent::of(maker, &dir.path().join(out), &flows.text()));
    }
    let mut n = 0;
    until("events of both", || {
        broker.write("mixed", 4, n..n + 40);
        n += 40;
        broker.count("mixed-java", 1) > 0 && broker.count("mixed-ours", 1) > 0
    })
    .await;
    let mut all = std::collections::BTreeSet::new();
    until("all numbers", || {
        if broker.count("mixed-java", 1) + broker.count("mixed-ours", 1) >= n as i64 {
            let records = [broker.records("mixed-java", 1), broker.records("mixed-ours", 1)].concat();
            all = records.iter().map(|record| record.text().parse::<u64>().unwrap()).collect();
        }
        all.len() as u64 == n
    })
    .await;
}
