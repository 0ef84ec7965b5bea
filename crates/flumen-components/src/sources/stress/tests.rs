//! So many events of one size, at no more than the wanted rate.

use super::*;
use crate::testing::{channel, processor, source_context};
use flumen_core::{
    channel::{Channel, begin_take},
    config::{Settings, read},
    registry::Registry,
    source::{PollSource, Polling, Shutdown, Source},
    testing::Once,
};
use std::time::Duration;

fn config(pairs: &[(&str, &str)]) -> Option<StressConfig> {
    read::<StressConfig>(&Settings::from_pairs("a.sources.r", pairs), &[]).0
}

fn source(pairs: &[(&str, &str)]) -> StressSource {
    StressSource::build(config(pairs).unwrap(), &source_context()).unwrap()
}

/// Polls so often; the answers, and how many events were stored.
async fn polls(source: &mut StressSource, out: &ChannelProcessor, n: usize) -> Vec<Polled> {
    let mut answers = Vec::new();
    for _ in 0..n {
        answers.push(source.poll(out).await.unwrap());
    }
    answers
}

use Polled::{Backoff, Ready};

#[tokio::test]
async fn events_have_the_size_and_all_the_same_bytes() {
    let (channel, mut stress) = (channel(1_000, 100), source(&[("batchSize", "10")]));
    assert_eq!(polls(&mut stress, &processor(&[&channel]), 3).await, [Ready; 3]);
    let stored = channel.contents();
    assert_eq!(stored.len(), 30);
    assert!(stored.iter().all(|event| event.headers.is_empty() && event.body == [0x7f; 500]));
    assert_eq!(stress.next_batch(1_000).pinned_bytes(), 500, "a batch has the bytes once");
    let mut empty = source(&[("size", "0")]);
    assert_eq!(empty.next_batch(2).size().bytes, 0);
}

#[tokio::test]
async fn the_last_batch_is_cut_to_the_total() {
    let (channel, out_of) = (channel(1_000, 100), [("batchSize", "10"), ("maxTotalEvents", "35")]);
    let mut stress = source(&out_of);
    assert_eq!(
        polls(&mut stress, &processor(&[&channel]), 6).await,
        [Ready, Ready, Ready, Ready, Backoff, Backoff]
    );
    assert_eq!((channel.depth().queued, stress.total), (35, 35));
    let mut none = source(&[("maxTotalEvents", "0")]);
    assert_eq!(polls(&mut none, &processor(&[&channel]), 1).await, [Backoff]);
}

#[tokio::test]
async fn what_is_refused_counts_for_the_total_and_not_for_the_successful() {
    let of = |key| source(&[("batchSize", "2"), (key, "6")]);
    for (key, stored, answers) in [
        ("maxTotalEvents", 2, [Backoff, Ready, Backoff, Backoff, Backoff, Backoff]),
        ("maxSuccessfulEvents", 6, [Backoff, Ready, Backoff, Ready, Ready, Backoff]),
    ] {
        let (channel, mut stress) = (channel(100, 10), of(key));
        let out = processor(&[&channel]);
        channel.once(Once::PutFails);
        let mut found = polls(&mut stress, &out, 2).await;
        channel.once(Once::PutCommitFails);
        found.extend(polls(&mut stress, &out, 4).await);
        assert_eq!(found, answers, "{key}");
        assert_eq!(channel.depth().queued, stored, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn mon_15_no_more_than_so_many_a_second() {
    let channel = channel(100_000, 100);
    let mut stress = source(&[("batchSize", "10"), ("maxEventsPerSecond", "100")]);
    let (out, begun) = (processor(&[&channel]), Instant::now());
    assert_eq!(polls(&mut stress, &out, 101).await, [Ready; 101]);
    assert_eq!(channel.depth().queued, 1_010);
    // The first batch is free.
    assert_eq!(begun.elapsed().as_millis(), 10_000);
    let mut unlimited = source(&[("maxEventsPerSecond", "-1")]);
    assert_eq!(polls(&mut unlimited, &out, 100).await, [Ready; 100]);
    assert_eq!(begun.elapsed().as_millis(), 10_000);
}

/// A full channel gets more when it has room; the source ends when it is told to, also within a long wait for its rate.
#[tokio::test(start_paused = true)]
async fn it_waits_for_room_and_stops_when_told() {
    let channel = channel(4, 4);
    let stress = source(&[("batchSize", "4"), ("maxEventsPerSecond", "1"), ("maxSuccessfulEvents", "8")]);
    let millis = Duration::from_millis;
    let mut polling = Polling { inner: stress, increment: millis(1_000), max: millis(5_000) };
    let (stop, shutdown) = Shutdown::new();
    let watch = async {
        for _ in 0..2 {
            let taken = loop {
                if let Some(taken) = begin_take(&*channel, 4).await.unwrap() {
                    break taken;
                }
            };
            taken.commit().await.unwrap();
        }
        stop.request();
    };
    let (end, ()) = tokio::join!(polling.run(processor(&[&channel]), shutdown), watch);
    end.unwrap();
    assert_eq!(polling.inner.successful, 8);
    let (stop, shutdown) = Shutdown::new();
    let mut slow = Polling { inner: source(&[("maxEventsPerSecond", "1")]), ..polling };
    slow.inner.limiter = Some(Limiter::new(1, Instant::now()));
    slow.inner.wait_for_permits(1_000_000).await;
    let begun = Instant::now();
    let watch = async {
        // It is in the wait for its rate by then.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        stop.request();
    };
    let (end, ()) = tokio::join!(slow.run(processor(&[&channel]), shutdown), watch);
    end.unwrap();
    assert!(begun.elapsed() < millis(100));
}

#[tokio::test]
async fn a_batch_is_never_larger_than_the_channel_takes() {
    let (channel, mut stress) = (channel(100, 4), source(&[("batchSize", "1000")]));
    assert_eq!(polls(&mut stress, &processor(&[&channel]), 2).await, [Ready; 2]);
    assert_eq!(channel.depth().queued, 8);
}

#[test]
fn defaults_are_javas_and_it_has_javas_name() {
    let found = config(&[]).unwrap();
    let numbers = (found.size, found.max_total_events, found.max_successful_events, found.batch_size);
    assert_eq!((numbers, found.max_events_per_second), ((500, -1, -1, 1), 0));
    assert!(config(&[("batchSize", "0")]).is_none() && config(&[("size", "-1")]).is_none());
    let registry = crate::register(Registry::new());
    assert!(registry.find_source("org.apache.flume.source.StressSource").is_some());
}
