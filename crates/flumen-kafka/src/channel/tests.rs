//! The channel against a cluster within the process.

use super::*;
use crate::{
    datum,
    testing::{LIMIT, Mock, channel_context, config, read_config, told, until},
};
use flumen_core::{
    channel::{begin_put, begin_take},
    event::Batch,
    testing::{numbered, numbers},
};
use rdkafka::types::{RDKafkaApiKey::Produce, RDKafkaRespErr as Error};
use tokio::time::timeout;

async fn open(mock: &Mock, pairs: &[(&str, &str)], context: &ChannelContext) -> KafkaChannel {
    let mut all = vec![
        ("kafka.bootstrap.servers", &*mock.servers),
        ("kafka.topic", "t"),
        ("kafka.producer.delivery.timeout.ms", "1500"),
    ];
    all.extend_from_slice(pairs);
    let channel = KafkaChannel::build(config("a.channels.c", &all), context).unwrap();
    channel.open().await.unwrap();
    channel
}

async fn put(channel: &KafkaChannel, batch: Batch) -> Result<(), ChannelError> {
    begin_put(channel, batch.size()).await?.commit(batch).await
}

/// Takes once something is there.
async fn take(channel: &KafkaChannel, most: u32) -> TakeTransaction {
    let taken = async {
        loop {
            if let Some(taken) = begin_take(channel, most).await.unwrap() {
                return taken;
            }
        }
    };
    timeout(LIMIT, taken).await.expect("events in time")
}

async fn end(channel: &KafkaChannel) {
    channel.close();
    timeout(LIMIT, channel.end()).await.expect("an end in time").unwrap();
}

fn batch(events: &[(&[(&str, &str)], &str)]) -> Batch {
    let mut batch = Batch::new();
    for (headers, body) in events {
        batch.push(headers.iter().copied().collect(), (*body).to_owned());
    }
    batch
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_put_taken_given_back_and_removed_in_order() {
    let mock = Mock::new(&[("t", 1)]);
    let context = channel_context();
    let channel = open(&mock, &[], &context).await;
    put(&channel, numbered(0..10)).await.unwrap();
    let first = take(&channel, 4).await;
    assert_eq!(numbers(first.batch()), [0, 1, 2, 3]);
    // Part of it is done with, and the rest goes back to its old place.
    first.commit_first(2).await.unwrap();
    assert_eq!(mock.committed("flume", "t", 0), Some(2));
    let second = take(&channel, 100).await;
    assert_eq!(numbers(second.batch()), [2, 3, 4, 5, 6, 7, 8, 9]);
    drop(second);
    assert_eq!((channel.0.numbers.rollbacks.get(), channel.depth().queued), (1, 8));
    let third = take(&channel, 100).await;
    assert_eq!((numbers(third.batch()).len(), channel.depth().on_loan), (8, 8));
    third.commit().await.unwrap();
    assert_eq!((mock.committed("flume", "t", 0), channel.depth().removed_total), (Some(10), 10));
    let metrics = &context.metrics;
    assert_eq!(
        (metrics.put_success.get(), metrics.take_success.get(), metrics.put_attempt.get()),
        (10, 10, 10)
    );
    end(&channel).await;
    assert!(matches!(put(&channel, numbered(0..1)).await, Err(ChannelError::Closed { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn kch_15_kch_16_kch_06_bodies_alone_have_the_key_as_their_header() {
    let mock = Mock::new(&[("t", 1)]);
    let channel = open(&mock, &[("parseAsFlumeEvent", "false")], &channel_context()).await;
    mock.write("t", 0, Some("1-header"), b"raw", &[]);
    mock.write("t", 0, None, b"no key", &[]);
    mock.written();
    put(&channel, batch(&[(&[("key", "k"), ("other", "x")], "own")])).await.unwrap();
    let records = mock.records("t", 1);
    assert_eq!((records[2].key.as_deref(), &records[2].value[..]), (Some("k"), &b"own"[..]));
    until("three events", || {
        drop(channel.try_take(1).unwrap());
        channel.depth().queued >= 3
    })
    .await;
    let taken = take(&channel, 10).await;
    let all: Vec<(Vec<(String, String)>, String)> = taken
        .batch()
        .iter()
        .map(|event| {
            let headers =
                event.headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            (headers, String::from_utf8_lossy(event.body).into_owned())
        })
        .collect();
    let key = |key: &str| vec![("key".to_owned(), key.to_owned())];
    assert_eq!(
        all,
        [(key("1-header"), "raw".to_owned()), (vec![], "no key".to_owned()), (key("k"), "own".to_owned())]
    );
    taken.commit().await.unwrap();
    end(&channel).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_events_keep_their_headers_and_what_is_none_is_left_out() {
    let mock = Mock::new(&[("t", 1)]);
    let channel = open(&mock, &[], &channel_context()).await;
    mock.write("t", 0, None, b"\xff poison", &[]);
    mock.written();
    put(&channel, batch(&[(&[("a", "b")], "body")])).await.unwrap();
    assert_eq!(datum::decode(&mock.records("t", 1)[1].value).unwrap().0.len(), 1);
    let taken = take(&channel, 10).await;
    let event = taken.batch().get(0).unwrap();
    assert_eq!((event.body, event.headers.len(), taken.batch().len()), (&b"body"[..], 1, 1));
    taken.commit().await.unwrap();
    assert_eq!(mock.committed("flume", "t", 0), Some(2));
    end(&channel).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kch_18_kch_19_kch_20_kch_21_partitions_are_chosen_by_header_then_static() {
    let events: Vec<Batch> =
        (0..50).map(|n| batch(&[(if n % 5 == 0 { &[("p", "1")][..] } else { &[] }, "x")])).collect();
    for (pairs, by_partition) in [
        (&[("defaultPartitionId", "3"), ("partitionIdHeader", "p")][..], Some([0, 10, 0, 40, 0])),
        (&[("defaultPartitionId", "3")], Some([0, 0, 0, 50, 0])),
        (&[("partitionIdHeader", "none")], None),
        (&[], None),
    ] {
        let mock = Mock::new(&[("t", 5)]);
        let channel = open(&mock, pairs, &channel_context()).await;
        for batch in &events {
            put(&channel, batch.clone()).await.unwrap();
        }
        let mut found = [0; 5];
        mock.records("t", 5).iter().for_each(|record| found[record.partition as usize] += 1);
        assert_eq!(found.iter().sum::<i32>(), 50);
        assert!(by_partition.is_none_or(|expected| expected == found), "{pairs:?}: {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_that_is_not_confirmed_fails_and_one_that_never_fits_is_told_so() {
    let mock = Mock::new(&[("t", 1)]);
    let channel = open(&mock, &[("kafka.producer.max.request.size", "5000")], &channel_context()).await;
    mock.fail(Produce, Error::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
    let told = put(&channel, numbered(0..3)).await.unwrap_err().to_string();
    assert!(told.contains("kafka-acls") && told.contains("channel c"), "{told}");
    // The client believes that for a while.
    let again = async { while put(&channel, numbered(3..6)).await.is_err() {} };
    timeout(LIMIT, again).await.expect("a put that works in time");
    let large = put(&channel, batch(&[(&[], "small"), (&[], &"x".repeat(5000))])).await.unwrap_err();
    assert!(large.is_permanent() && large.to_string().contains("max.request.size"), "{large}");
    assert_eq!(mock.records("t", 1).len(), 3, "of a batch that does not fit nothing is sent");
    assert_eq!(channel.depth().reserved, 0);
    end(&channel).await;
}

#[test]
fn kch_01_settings_reach_their_own_client_and_kch_07_are_gone_when_they_are_not_set_any_more() {
    let pairs = [
        ("kafka.producer.compression.type", "snappy"),
        ("kafka.producer.linger.ms", "7"),
        ("kafka.consumer.fetch.min.bytes", "99"),
    ];
    let with: KafkaChannelConfig = config("a.channels.c", &pairs);
    assert_eq!(
        (with.producer.get("compression.type"), with.producer.get("fetch.min.bytes")),
        (Some("snappy"), None)
    );
    assert_eq!((with.consumer.get("fetch.min.bytes"), with.consumer.get("linger.ms")), (Some("99"), None));
    let without: KafkaChannelConfig = config("a.channels.c", &[]);
    assert_eq!(
        (without.producer.get("compression.type"), without.consumer.get("fetch.min.bytes")),
        (None, None)
    );
    assert_eq!(
        (without.consumer.get("auto.offset.reset"), without.producer.get("acks")),
        (Some("earliest"), Some("-1"))
    );
}

#[test]
fn kch_02_old_names_are_read() {
    let old = [
        ("brokerList", "h:1"),
        ("groupId", "g"),
        ("readSmallestOffset", "true"),
        ("topic", "x"),
        ("timeout", "100"),
    ];
    let (read, problems) = read_config::<KafkaChannelConfig>("a.channels.c", &old);
    let read = read.unwrap_or_else(|| panic!("{problems:?}"));
    assert_eq!((&*read.keys.topic, read.consumer.get("group.id")), ("x", Some("g")));
    assert_eq!(
        (read.consumer.get("bootstrap.servers"), read.producer.get("bootstrap.servers")),
        (Some("h:1"), Some("h:1"))
    );
    assert_eq!(read.consumer.get("auto.offset.reset"), Some("earliest"));
    let late: KafkaChannelConfig =
        config("a.channels.c", &[("readSmallestOffset", "false"), ("pollTimeout", "70")]);
    assert_eq!((late.consumer.get("auto.offset.reset"), late.keys.poll_timeout.0), (Some("latest"), 70));
    let (none, problems) = read_config::<KafkaChannelConfig>("a.channels.c", &[("kafka.topic", "a b")]);
    assert!(none.is_none() && told(&problems)[0].contains("is no name of a topic"), "{problems:?}");
}
