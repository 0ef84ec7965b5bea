//! The channel: restarts, concurrency, offsets in ZooKeeper, agents that share it while one of them is killed.

use crate::{
    agent::Agent,
    broker::Broker,
    parts::{config, context},
    wait::{LIMIT, until},
};
use flumen_core::{
    channel::{Channel, begin_put, begin_take},
    registry::{ChannelContext, ChannelType},
    testing::{numbered, numbers},
};
use flumen_kafka::channel::KafkaChannel;
use interop::{Peer, missing};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};
use tokio::{task::JoinSet, time::timeout};
use zookeeper_client::{Acls, Client, CreateMode};

async fn open(broker: &Broker, topic: &str, more: &[(&str, &str)]) -> Arc<KafkaChannel> {
    let servers = broker.address(0);
    let mut pairs = vec![
        ("kafka.bootstrap.servers", &*servers),
        ("kafka.topic", topic),
        ("kafka.consumer.group.id", topic),
    ];
    pairs.extend_from_slice(more);
    let context = ChannelContext { common: context("c"), metrics: Arc::default() };
    let channel = KafkaChannel::build(config("a.channels.c", &pairs), &context).unwrap();
    channel.open().await.unwrap();
    Arc::new(channel)
}

async fn put(channel: &KafkaChannel, numbers: std::ops::Range<u64>) {
    let batch = numbered(numbers);
    begin_put(channel, batch.size()).await.unwrap().commit(batch).await.unwrap();
}

async fn end(channel: &KafkaChannel) {
    channel.close();
    timeout(LIMIT, channel.end()).await.unwrap().unwrap();
}

/// Takes one after the other until `n` distinct numbers are committed; `gives_back` says of each take whether it is given back.
async fn take_all(channel: &KafkaChannel, n: usize, mut gives_back: impl FnMut(usize) -> bool) -> Vec<u64> {
    let (mut all, mut takes) = (Vec::new(), 0);
    let taking = async {
        while all.len() < n {
            let Some(taken) = begin_take(channel, 7).await.unwrap() else { continue };
            takes += 1;
            if gives_back(takes) {
                continue;
            }
            all.extend(numbers(taken.batch()));
            taken.commit().await.unwrap();
        }
    };
    timeout(LIMIT, taking).await.expect("all events in time");
    all.sort_unstable();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn kch_03_kch_09_a_new_channel_has_all_that_was_not_committed() {
    if missing() {
        return;
    }
    let broker = Broker::shared();
    broker.topic("restart", 3, &[]).await;
    let first = open(&broker, "restart", &[]).await;
    let mut puts = JoinSet::new();
    for n in 0..5 {
        let channel = first.clone();
        puts.spawn(async move { put(&channel, n * 10..n * 10 + 10).await });
    }
    while let Some(put) = puts.join_next().await {
        put.unwrap();
    }
    // Taken, and not committed: the stop commits nothing.
    let taken = timeout(LIMIT, async {
        loop {
            if let Some(taken) = begin_take(&*first, 20).await.unwrap() {
                return taken;
            }
        }
    });
    let taken = taken.await.unwrap();
    end(&first).await;
    drop(taken);
    let second = open(&broker, "restart", &[]).await;
    assert_eq!(take_all(&second, 50, |_| false).await, (0..50).collect::<Vec<_>>());
    end(&second).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kch_04_kch_23_many_put_and_take_at_once_and_one_gives_back() {
    if missing() {
        return;
    }
    let broker = Broker::shared();
    broker.topic("many", 3, &[]).await;
    let channel = open(&broker, "many", &[]).await;
    let found = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = JoinSet::new();
    for n in 0..5_u64 {
        let own = channel.clone();
        tasks.spawn(async move { put(&own, n * 10..n * 10 + 10).await });
        let (own, found) = (channel.clone(), found.clone());
        tasks.spawn(async move {
            let mut takes = 0;
            while found.lock().unwrap().len() < 50 {
                let Some(taken) = begin_take(&*own, 4).await.unwrap() else { continue };
                takes += 1;
                if n == 0 && takes == 1 {
                    continue; // given back once
                }
                let numbers = numbers(taken.batch());
                taken.commit().await.unwrap();
                found.lock().unwrap().extend(numbers);
            }
        });
    }
    let all = async { while tasks.join_next().await.is_some_and(|end| end.is_ok()) {} };
    timeout(LIMIT, all).await.expect("all events in time");
    let mut found = found.lock().unwrap().clone();
    found.sort_unstable();
    assert_eq!(found, (0..50).collect::<Vec<_>>());
    end(&channel).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kch_10_to_14_offsets_in_zookeeper_count_where_kafka_has_none() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    let server = Peer::start("zookeeper", dir.path(), 0).unwrap();
    let client = Client::connect(&server.address).await.unwrap();
    let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
    let more = [("zookeeperConnect", &*server.address), ("parseAsFlumeEvent", "false")];
    for (topic, zookeeper, kafka, begins) in [
        ("c-none", None, None, 0),
        ("c-zk", Some(11), None, 11),
        ("c-kafka", None, Some(6), 6),
        ("c-both", Some(11), Some(6), 6),
    ] {
        broker.topic(topic, 1, &[]).await;
        broker.write(topic, 1, 0..20);
        if let Some(offset) = zookeeper {
            let folder = format!("/consumers/{topic}/offsets/{topic}");
            client.mkdir(&folder, &options).await.unwrap();
            client
                .create(&format!("{folder}/0"), i64::from(offset).to_string().as_bytes(), &options)
                .await
                .unwrap();
        }
        if let Some(offset) = kafka {
            broker.commit(topic, topic, 0, offset);
        }
        let channel = open(&broker, topic, &more).await;
        let all = take_all(&channel, 20 - begins, |_| false).await;
        assert_eq!(all, (begins as u64..20).collect::<Vec<_>>(), "{topic}");
        end(&channel).await;
    }
    // A topic that is not there yet.
    let channel = open(&broker, "c-later", &more).await;
    assert!(begin_take(&*channel, 1).await.unwrap().is_none());
    put(&channel, 0..3).await;
    assert_eq!(take_all(&channel, 3, |_| false).await, [0, 1, 2]);
    end(&channel).await;
}

/// An agent without a source, which takes from the shared channel.
fn taker(servers: &str) -> String {
    format!(
        "a.channels = c\na.sinks = k\na.channels.c.type = kafka\na.channels.c.kafka.bootstrap.servers = {servers}\n\
         a.channels.c.kafka.topic = shared\na.channels.c.kafka.consumer.group.id = fleet\n\
         a.channels.c.kafka.consumer.session.timeout.ms = 6000\na.channels.c.parseAsFlumeEvent = false\n\
         a.sinks.k.type = kafka\na.sinks.k.channel = c\na.sinks.k.kafka.bootstrap.servers = {servers}\n\
         a.sinks.k.kafka.topic = shared-out\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn three_agents_share_a_channel_while_one_is_killed_and_comes_back() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    broker.topic("shared", 6, &[]).await;
    broker.topic("shared-out", 1, &[]).await;
    let text = taker(&broker.address(0));
    let mut agents: Vec<Agent> =
        (0..3).map(|n| Agent::start(&dir.path().join(n.to_string()), &text)).collect();
    let mut n = 0;
    for round in 0..4 {
        broker.write("shared", 6, n..n + 3_000);
        n += 3_000;
        if round == 1 || round == 2 {
            let before = broker.count("shared-out", 1);
            until("some that came through", || broker.count("shared-out", 1) > before || before >= n as i64)
                .await;
            agents[round].kill_and_start();
        }
    }
    let mut all = Vec::new();
    until("all numbers", || {
        if broker.count("shared-out", 1) >= n as i64 {
            all = broker
                .records("shared-out", 1)
                .iter()
                .map(|record| record.text().parse::<u64>().unwrap())
                .collect();
        }
        all.iter().collect::<BTreeSet<_>>().len() as u64 == n
    })
    .await;
    println!("{} duplicates of {n} after two kills", all.len() as u64 - n);
}
