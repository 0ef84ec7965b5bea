//! The source: its contract, hand-overs within a group, TLS, offsets in ZooKeeper, agents that are killed.

use crate::{
    agent::Agent,
    broker::Broker,
    parts::{channel, config, processor, source_context},
    wait::{LIMIT, until},
};
use flumen_core::{
    channel::Channel,
    registry::SourceType,
    source::{DynSource, Shutdown, Source},
    testing::{ScriptedChannel, SourcePeer, SourceSuite},
};
use flumen_kafka::source::KafkaSource;
use interop::{Peer, missing};
use std::{collections::BTreeSet, ops::Range, sync::Arc};
use tokio::time::timeout;
use zookeeper_client::{Acls, Client, CreateMode};

fn source(broker: &Broker, topic: &str, more: &[(&str, &str)]) -> KafkaSource {
    let (servers, group) = (broker.address(0), format!("group-{topic}"));
    let mut pairs = vec![
        ("kafka.bootstrap.servers", &*servers),
        ("kafka.topics", topic),
        ("kafka.consumer.group.id", &*group),
        ("kafka.consumer.auto.offset.reset", "earliest"),
        ("batchDurationMillis", "20"),
        ("backoffSleepIncrement", "20"),
        ("batchSize", "50"),
    ];
    pairs.retain(|(key, _)| !more.iter().any(|(other, _)| other == key));
    pairs.extend_from_slice(more);
    KafkaSource::build(config("a.sources.r", &pairs), &source_context()).unwrap()
}

struct Contract(Arc<Broker>);

impl SourcePeer for Contract {
    fn source(&self) -> Box<dyn DynSource> {
        Box::new(source(&self.0, "contract", &[]))
    }

    fn offer(&self, numbers: Range<u64>) {
        self.0.write("contract", 1, numbers);
    }

    fn acknowledged(&self) -> Option<Vec<u64>> {
        Some((0..self.0.committed("group-contract", "contract", 0).unwrap_or(0) as u64).collect())
    }

    fn offers_again(&self) -> bool {
        true
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_keeps_the_contract_of_sources() {
    if missing() {
        return;
    }
    let broker = Broker::shared();
    broker.topic("contract", 1, &[]).await;
    SourceSuite::new(Contract(broker)).run().await;
}

/// Two sources of a group, the second a little later and the first gone a little earlier; all numbers, sorted.
async fn hand_over(broker: &Broker, topic: &str, more: &[(&str, &str)]) -> (Vec<u64>, u64) {
    broker.topic(topic, 4, &[]).await;
    broker.write(topic, 4, 0..400);
    let (one, two) = (channel(), channel());
    let (mut first, mut second) = (source(broker, topic, more), source(broker, topic, more));
    let ((stop_first, first_stops), (stop_second, second_stops)) = (Shutdown::new(), Shutdown::new());
    let (begin, gate) = tokio::sync::oneshot::channel();
    let queued = |channel: &ScriptedChannel| channel.depth().queued;
    let watch = async {
        until("events of the first", || queued(&one) >= 400).await;
        begin.send(()).unwrap();
        let mut next = 400;
        until("partitions of the second", || {
            broker.write(topic, 4, next..next + 40);
            next += 40;
            queued(&two) > 0
        })
        .await;
        stop_first.request();
        until("all events", || queued(&one) + queued(&two) >= next).await;
        stop_second.request();
        next
    };
    let (first, second, next) = tokio::join!(
        timeout(LIMIT, Source::run(&mut first, processor(&one), first_stops)),
        timeout(LIMIT, async {
            gate.await.unwrap();
            Source::run(&mut second, processor(&two), second_stops).await
        }),
        watch
    );
    first.unwrap().unwrap();
    second.unwrap().unwrap();
    let mut all = [one.numbers(), two.numbers()].concat();
    all.sort_unstable();
    (all, next)
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_are_handed_over_without_loss_and_without_duplicates() {
    if missing() {
        return;
    }
    let broker = Broker::shared();
    let cooperative = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor";
    for (topic, strategy) in [("eager", "range"), ("cooperative", cooperative)] {
        let more = [("kafka.consumer.partition.assignment.strategy", strategy)];
        let (all, next) = hand_over(&broker, topic, &more).await;
        let distinct: BTreeSet<u64> = all.iter().copied().collect();
        assert_eq!((distinct.len() as u64, all.len() as u64), (next, next), "{topic}: distinct and all");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_20_offsets_in_zookeeper_count_where_kafka_has_none_and_kss_18_brokers_are_found_there() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    let server = Peer::start("zookeeper", dir.path(), 0).unwrap();
    let client = Client::connect(&server.address).await.unwrap();
    let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
    let registration = format!(r#"{{"endpoints":["PLAINTEXT://{}"]}}"#, broker.address(0));
    client.mkdir("/brokers/ids", &options).await.unwrap();
    client.create("/brokers/ids/1", registration.as_bytes(), &options).await.unwrap();
    // Only ZooKeeper's offset, only Kafka's, both, and a topic that is not there yet (KSS-21).
    for (topic, zookeeper, kafka, begins) in
        [("z-zk", Some(11), None, 11), ("z-kafka", None, Some(6), 6), ("z-both", Some(11), Some(6), 6)]
    {
        broker.topic(topic, 1, &[]).await;
        broker.write(topic, 1, 0..20);
        let group = format!("group-{topic}");
        if let Some(offset) = zookeeper {
            let folder = format!("/consumers/{group}/offsets/{topic}");
            client.mkdir(&folder, &options).await.unwrap();
            let offset = i64::from(offset).to_string();
            client.create(&format!("{folder}/0"), offset.as_bytes(), &options).await.unwrap();
        }
        if let Some(offset) = kafka {
            broker.commit(&group, topic, 0, offset);
        }
        let more = [("zookeeperConnect", &*server.address)];
        let mut source = source_by_zookeeper(topic, &more);
        let stored = channel();
        let (stop, stops) = Shutdown::new();
        let n = 20 - begins;
        let watch = async {
            until("events behind the offset", || stored.depth().queued >= n).await;
            stop.request();
        };
        let (end, ()) =
            tokio::join!(timeout(LIMIT, Source::run(&mut source, processor(&stored), stops)), watch);
        end.unwrap().unwrap();
        assert_eq!(stored.numbers(), (begins..20).collect::<Vec<_>>(), "{topic}");
    }
    let more = [("zookeeperConnect", &*server.address)];
    let mut source = source_by_zookeeper("z-none", &more);
    let (stored, (_stop, stops)) = (channel(), Shutdown::new());
    let run =
        timeout(std::time::Duration::from_secs(2), Source::run(&mut source, processor(&stored), stops)).await;
    assert!(run.is_err(), "a source of a topic that is not there goes on: {run:?}");
}

fn source_by_zookeeper(topic: &str, more: &[(&str, &str)]) -> KafkaSource {
    let group = format!("group-{topic}");
    let mut pairs = vec![
        ("kafka.topics", topic),
        ("groupId", &*group),
        ("kafka.consumer.auto.offset.reset", "earliest"),
        ("batchDurationMillis", "20"),
    ];
    pairs.extend_from_slice(more);
    KafkaSource::build(config("a.sources.r", &pairs), &source_context()).unwrap()
}

fn flow(servers: &str, topic: &str, more: &[(&str, &str)]) -> String {
    let more: String = more.iter().map(|(key, value)| format!("a.sources.r.{key} = {value}\n")).collect();
    format!(
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = org.apache.flume.source.kafka.KafkaSource\n\
         a.sources.r.channels = c\na.sources.r.kafka.bootstrap.servers = {servers}\na.sources.r.kafka.topics = {topic}\n\
         a.sources.r.kafka.consumer.group.id = {topic}\na.sources.r.kafka.consumer.auto.offset.reset = earliest\n\
         a.sources.r.batchDurationMillis = 50\n{more}\
         a.channels.c.type = file\na.channels.c.checkpointDir = @DIR@/c\na.channels.c.dataDirs = @DIR@/d\n\
         a.sinks.k.type = kafka\na.sinks.k.channel = c\na.sinks.k.kafka.bootstrap.servers = {servers}\n\
         a.sinks.k.allowTopicOverride = false\na.sinks.k.kafka.topic = {topic}-out\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_25_tls_works_without_host_names_and_kss_26_not_with_them() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    broker.topic("secret", 1, &[]).await;
    broker.topic("secret-out", 1, &[]).await;
    broker.write("secret", 1, 0..5);
    let store = broker.dir.path().join("trust.jks").display().to_string();
    let sink = |text: String| text.replace(&broker.address(1), &broker.address(0));
    let tls = |servers: &str, more: &[(&str, &str)]| {
        let mut all = vec![
            ("kafka.consumer.security.protocol", "SSL"),
            ("kafka.consumer.ssl.truststore.location", &*store),
            ("kafka.consumer.ssl.truststore.password", "changeit"),
        ];
        all.extend_from_slice(more);
        // The sink writes in the open.
        let text = sink(flow(servers, "secret", &all));
        text.replacen(&broker.address(0), servers, 1)
    };
    let refused = Agent::start(&dir.path().join("1"), &tls(&broker.address(1), &[]));
    until("a certificate that is refused", || refused.log().contains("TLS failed")).await;
    assert_eq!(broker.count("secret-out", 1), 0);
    drop(refused);
    let off = [("kafka.consumer.ssl.disableTLSHostnameVerification", "true")];
    let agent = Agent::start(&dir.path().join("2"), &tls(&broker.address(1), &off));
    until("records over TLS", || broker.count("secret-out", 1) >= 5).await;
    drop(agent);
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_the_agent_lose_nothing_and_repeat_little() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    broker.topic("through", 2, &[]).await;
    broker.topic("through-out", 1, &[]).await;
    let n = 40_000;
    broker.write("through", 2, 0..n);
    let quick = [("batchSize", "100"), ("kafka.consumer.session.timeout.ms", "6000")];
    let mut agent = Agent::start(dir.path(), &flow(&broker.address(0), "through", &quick));
    for _ in 0..2 {
        let before = broker.count("through-out", 1);
        until("some that came through", || broker.count("through-out", 1) > before || before >= n as i64)
            .await;
        agent.kill_and_start();
    }
    let mut all = Vec::new();
    until("all numbers", || {
        if broker.count("through-out", 1) >= n as i64 {
            all = broker
                .records("through-out", 1)
                .iter()
                .map(|record| record.text().parse::<u64>().unwrap())
                .collect();
        }
        all.iter().collect::<BTreeSet<_>>().len() as u64 == n
    })
    .await;
    println!("{} duplicates after two kills", all.len() as u64 - n);
}
