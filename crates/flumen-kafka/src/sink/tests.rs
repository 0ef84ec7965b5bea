//! The sink against a cluster that works, refuses and comes back.

use super::*;
use crate::testing::{LIMIT, Mock, config, read_config, sink_context, told, until};
use flumen_core::{
    channel::{Channel, Signal},
    group::{Member, MemberOptions, RunnerEnd, SinkRunner},
    metrics::SinkMetrics,
    registry::Registry,
    sink::DynSink,
    source::Shutdown,
    testing::{Alone, ScriptedChannel, SinkPeer, SinkSuite, numbered},
};
use rdkafka::types::{RDKafkaApiKey::Produce, RDKafkaRespErr as Error};
use tokio::time::timeout;

/// How long a record may be on its way where brokers are to fail.
const SOON: (&str, &str) = ("kafka.producer.delivery.timeout.ms", "1500");

fn sink(mock: &Mock, pairs: &[(&str, &str)], context: &SinkContext) -> KafkaSink {
    let mut all = vec![("kafka.bootstrap.servers", &*mock.servers), ("kafka.topic", "t"), SOON];
    all.extend_from_slice(pairs);
    KafkaSink::build(config("a.sinks.k", &all), context).unwrap()
}

struct Peer {
    mock: Mock,
    wake: Arc<Signal>,
}

impl SinkPeer for Peer {
    fn sink(&self) -> Box<dyn DynSink> {
        let context = SinkContext { wake: self.wake.clone(), ..sink_context() };
        Box::new(sink(&self.mock, &[], &context))
    }

    fn arrived(&self) -> Vec<u64> {
        let records = self.mock.records("t", 1);
        records.iter().map(|record| String::from_utf8_lossy(&record.value).parse().unwrap()).collect()
    }

    fn set_failing(&self, failing: bool) {
        match failing {
            true => self.mock.fail(Produce, Error::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 10_000),
            false => self.mock.works(Produce),
        }
    }

    fn wake(&self) -> Arc<Signal> {
        self.wake.clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_keeps_the_contract_of_sinks() {
    SinkSuite::new(Peer { mock: Mock::new(&[("t", 1)]), wake: Arc::default() }).run().await;
}

/// Runs a sink until the channel is empty; what the sink has counted.
async fn run(mock: &Mock, pairs: &[(&str, &str)], batch: &Batch) -> Arc<SinkMetrics> {
    let context = sink_context();
    let metrics = context.metrics.clone();
    let channel = Arc::new(ScriptedChannel::new("c", 10_000, 1_000));
    channel.fill(batch);
    let factory = {
        let (context, servers) = (context.clone(), mock.servers.clone());
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        move || {
            let mut all = vec![("kafka.bootstrap.servers", &*servers), ("kafka.topic", "t"), SOON];
            all.extend(pairs.iter().map(|(a, b)| (&**a, &**b)));
            Ok(Box::new(KafkaSink::build(config("a.sinks.k", &all), &context)?) as Box<dyn DynSink>)
        }
    };
    let options = MemberOptions::default();
    let member = Member::new(
        "k".into(),
        Box::new(factory),
        channel.clone(),
        100,
        options,
        metrics.clone(),
        context.wake.clone(),
    );
    let mut runner = SinkRunner::new(vec![member.unwrap()], Box::new(Alone::default()));
    let (stop, shutdown) = Shutdown::new();
    let empty = async {
        until("empty channel", || channel.depth().queued + channel.depth().on_loan == 0).await;
        stop.request();
    };
    let (end, ()) = tokio::join!(timeout(LIMIT, runner.run(shutdown)), empty);
    assert!(matches!(end, Ok(RunnerEnd::Stopped)), "{end:?}");
    metrics
}

fn values(mock: &Mock, topic: &str, n_partitions: i32) -> Vec<String> {
    let records = mock.records(topic, n_partitions);
    records.iter().map(|record| String::from_utf8_lossy(&record.value).into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_discarded_and_counted_and_the_rest_arrives() {
    let mock = Mock::new(&[("t", 1)]);
    let mut batch = Batch::new();
    for body in ["a".to_owned(), "b".repeat(3000), "c".to_owned()] {
        batch.push(Default::default(), body);
    }
    let metrics = run(&mock, &[("kafka.producer.max.request.size", "2000")], &batch).await;
    assert_eq!(values(&mock, "t", 1), ["a", "c"]);
    assert_eq!((metrics.discarded.get(), metrics.drained.get()), (1, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn records_that_were_too_large_together_are_sent_each_by_itself() {
    let mock = Mock::new(&[("t", 1)]);
    // The batch, then the second record alone.
    mock.fail(Produce, Error::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 1);
    let metrics = run(&mock, &[], &numbered(0..5)).await;
    assert_eq!(values(&mock, "t", 1), ["0", "1", "2", "3", "4"]);
    assert_eq!(metrics.discarded.get(), 0);
    mock.fail(Produce, Error::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 2);
    let metrics = run(&mock, &[], &numbered(5..8)).await;
    assert_eq!(values(&mock, "t", 1), ["0", "1", "2", "3", "4", "6", "7"]);
    assert_eq!((metrics.discarded.get(), metrics.drained.get()), (1, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_36_partitions_are_chosen_by_header_then_static_then_key() {
    let mock = Mock::new(&[("t", 4)]);
    let mut batch = Batch::new();
    for (headers, body) in
        [(&[("p", "1")][..], "header"), (&[], "static"), (&[("p", "9")], "none"), (&[("p", "x")], "bad")]
    {
        batch.push(headers.iter().copied().collect(), body);
    }
    let metrics = run(&mock, &[("partitionIdHeader", "p"), ("defaultPartitionId", "3")], &batch).await;
    let places = |mock: &Mock| -> Vec<(i32, String)> {
        let mut all: Vec<_> = mock
            .records("t", 4)
            .iter()
            .map(|record| (record.partition, String::from_utf8_lossy(&record.value).into_owned()))
            .collect();
        all.sort();
        all
    };
    assert_eq!(places(&mock), [(1, "header".to_owned()), (3, "static".to_owned())]);
    assert_eq!(metrics.discarded.get(), 2);
    // As Java's client has it: murmur2 of the key, without its sign, by four.
    let mock = Mock::new(&[("t", 4)]);
    let mut batch = Batch::new();
    for key in
        ["21", "foobar", "a-little-bit-long-string", "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"]
    {
        batch.push([("key", key)].into_iter().collect(), key);
    }
    run(&mock, &[], &batch).await;
    let of = |hash: i32| (hash & 0x7fff_ffff) % 4;
    let mut expected = [
        (of(-973_932_308), "21"),
        (of(-790_332_482), "foobar"),
        (of(-985_981_536), "a-little-bit-long-string"),
        (of(-58_897_971), "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"),
    ]
    .map(|(partition, key)| (partition, key.to_owned()));
    expected.sort();
    assert_eq!(places(&mock), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_comes_back_gets_everything() {
    let mock = Mock::new(&[("t", 1)]);
    mock.fail(Produce, Error::RD_KAFKA_RESP_ERR__TRANSPORT, 3);
    let metrics = run(&mock, &[], &numbered(0..250)).await;
    let expected: Vec<String> = (0..250).map(|n| n.to_string()).collect();
    assert_eq!(values(&mock, "t", 1), expected);
    assert_eq!(metrics.drained.get(), 250);
}

#[test]
fn kss_28_old_names_are_read_and_kss_27_new_ones_win() {
    let old = [("topic", "x"), ("batchSize", "300"), ("brokerList", "h:1,i:2"), ("requiredAcks", "all")];
    let (read, problems) = read_config::<KafkaSinkConfig>("a.sinks.k", &old);
    let read = read.unwrap();
    assert_eq!((&*read.keys.topic, read.keys.batch_size, &*read.keys.servers.0), ("x", 300, "h:1,i:2"));
    assert_eq!(
        (read.producer.get("acks"), read.producer.get("bootstrap.servers")),
        (Some("-1"), Some("h:1,i:2"))
    );
    assert_eq!(problems.len(), 4, "{problems:?}");

    let mixed = [
        ("kafka.bootstrap.servers", "new:1"),
        ("brokerList", "old:2"),
        ("kafka.producer.acks", "1"),
        ("requiredAcks", "all"),
        ("kafka.producer.fake.property", "x"),
        ("kafka.producer.value.serializer", "org.example.Other"),
        ("kafka.flumeBatchSize", "7"),
        ("kafka.compression.codec", "gzip"),
    ];
    let (read, problems) = read_config::<KafkaSinkConfig>("a.sinks.k", &mixed);
    let (read, problems) = (read.unwrap(), told(&problems));
    assert_eq!(
        (&*read.keys.servers.0, read.producer.get("acks"), read.keys.batch_size),
        ("new:1", Some("1"), 7)
    );
    assert_eq!(read.producer.get("enable.idempotence"), Some("false"));
    let tells = |part: &str| assert!(problems.iter().any(|told| told.contains(part)), "{part}: {problems:?}");
    tells("a.sinks.k.kafka.producer.fake.property: is no setting of a Kafka client");
    tells("a.sinks.k.kafka.producer.value.serializer: has no counterpart here");
    tells("a.sinks.k.kafka.compression.codec: is not read: only Flume 1.6");
    tells("a.sinks.k.brokerList: is ignored");
    tells("with 1 events are lost");
}

#[test]
fn kss_38_what_is_not_set_any_more_is_gone() {
    let with: KafkaSinkConfig = config("a.sinks.k", &[("kafka.producer.compression.type", "snappy")]);
    assert_eq!(with.producer.get("compression.type"), Some("snappy"));
    let without: KafkaSinkConfig = config("a.sinks.k", &[]);
    assert_eq!(without.producer.get("compression.type"), None);
    assert_eq!(
        (without.producer.get("acks"), without.producer.get("enable.idempotence")),
        (Some("-1"), Some("true"))
    );
}

#[test]
fn what_cannot_be_is_told_at_the_check() {
    for (pair, why) in [
        (("kafka.topic", "a b"), "is no name of a topic"),
        (("kafka.bootstrap.servers", "host"), "there is no port"),
        (("kafka.bootstrap.servers", "host:x"), "is no port"),
        (("kafka.producer.compression.type", "rar"), "is refused"),
        (
            ("kafka.producer.sasl.jaas.config", "org.x.PlainLoginModule required username=u;"),
            "needs username and password",
        ),
        (("requiredAcks", "some"), "is none of 0, 1, -1 and all"),
    ] {
        let (read, problems) = read_config::<KafkaSinkConfig>("a.sinks.k", &[pair]);
        assert!(
            read.is_none() && told(&problems).iter().any(|told| told.contains(why)),
            "{pair:?}: {problems:?}"
        );
    }
    assert_eq!(
        crate::register(Registry::new()).find_sink("kafka").map(|entry| entry.info.short_name()),
        Some(KafkaSink::NAMES[0])
    );
}

#[test]
fn the_number_of_rollbacks_is_counted() {
    let context = sink_context();
    let mock = Mock::new(&[]);
    let mut sink = sink(&mock, &[], &context);
    let error = sink.give_up("why".to_owned());
    assert_eq!((error.to_string(), sink.numbers.rollbacks.get()), ("why".to_owned(), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_does_not_wait_for_a_broker_that_is_away() {
    let context = sink_context();
    let far = [("kafka.bootstrap.servers", "127.0.0.1:9"), ("kafka.topic", "t")];
    let mut sink = KafkaSink::build(config("a.sinks.k", &far), &context).unwrap();
    assert!(Sink::deliver(&mut sink, &numbered(0..3)).await.unwrap().held);
    let begun = Instant::now();
    timeout(LIMIT, Sink::close(&mut sink)).await.unwrap().unwrap();
    assert!(begun.elapsed() < LIMIT / 2, "the time of one try is two minutes");
    assert_eq!(Sink::settled(&mut sink).unwrap(), 0);
}
