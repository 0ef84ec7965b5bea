//! Numbers in order, none lost and none twice, whatever the channels do.

use super::*;
use crate::testing::{LIMIT, bodies, channel, context, processor, source_context, until};
use flumen_core::{
    channel::Channel,
    config::{Settings, read},
    registry::Registry,
    source::Shutdown,
    testing::{Once, ScriptedChannel, numbers},
};
use tokio::time::timeout;

fn source(pairs: &[(&str, &str)]) -> SeqSource {
    let (config, problems) = read::<SeqConfig>(&Settings::from_pairs("a.sources.r", pairs), &[]);
    SeqSource::build(config.unwrap_or_else(|| panic!("{problems:?}")), &source_context()).unwrap()
}

#[tokio::test]
async fn bodies_are_the_numbers_from_zero_in_batches() {
    let (channel, mut seq) = (channel(1_000, 100), source(&[("batchSize", "7")]));
    let out = processor(&[&channel]);
    for n in 1..=15 {
        assert_eq!(seq.poll(&out).await.unwrap(), Polled::Ready);
        assert_eq!(channel.depth().queued, n * 7);
    }
    let expected: Vec<String> = (0..105).map(|n| n.to_string()).collect();
    assert_eq!(bodies(&channel.contents()), expected);
    assert!(channel.contents().iter().all(|event| event.headers.is_empty()));
    assert_eq!((out.metrics().accepted.get(), out.metrics().batch_accepted.get()), (105, 15));
}

#[tokio::test]
async fn after_total_events_it_falls_silent() {
    let (channel, mut seq) = (channel(1_000, 100), source(&[("batchSize", "3"), ("totalEvents", "5")]));
    let out = processor(&[&channel]);
    let mut polled = Vec::new();
    for _ in 0..4 {
        polled.push(seq.poll(&out).await.unwrap());
    }
    assert_eq!(polled, [Polled::Ready, Polled::Ready, Polled::Backoff, Polled::Backoff]);
    assert_eq!(channel.numbers(), [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn a_refused_batch_comes_again_and_the_count_goes_on_behind_it() {
    let channel = channel(1_000, 100);
    let (mut seq, out) = (source(&[("batchSize", "2")]), processor(&[&channel]));
    let mut refusals = 0;
    for once in [Once::PutFails, Once::PutCommitFails, Once::PutFails, Once::PutCommitFails] {
        channel.once(once);
        for _ in 0..3 {
            refusals += u32::from(seq.poll(&out).await.unwrap() == Polled::Backoff);
        }
    }
    assert_eq!(refusals, 4, "each refusal asks for a pause");
    assert_eq!(channel.numbers(), (0..16).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_full_channel_gets_the_same_numbers_when_it_has_room() {
    let channel = channel(4, 4);
    let (mut seq, out) = (source(&[("batchSize", "3")]), processor(&[&channel]));
    assert_eq!(seq.poll(&out).await.unwrap(), Polled::Ready);
    assert_eq!(seq.poll(&out).await.unwrap(), Polled::Backoff);
    assert_eq!(seq.poll(&out).await.unwrap(), Polled::Backoff);
    channel.reconfigure(&flumen_core::channel::ChannelLimits { capacity: 9, ..channel.limits() }).unwrap();
    assert_eq!(seq.poll(&out).await.unwrap(), Polled::Ready);
    assert_eq!(seq.poll(&out).await.unwrap(), Polled::Ready);
    assert_eq!(channel.numbers(), (0..9).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_channel_that_has_a_batch_does_not_get_it_again_when_another_refused() {
    let (first, second) = (channel(100, 100), channel(100, 100));
    let (mut seq, out) = (source(&[("batchSize", "5")]), processor(&[&first, &second]));
    second.once(Once::PutCommitFails);
    assert_eq!(seq.poll(&out).await.unwrap(), Polled::Backoff);
    assert_eq!(seq.poll(&out).await.unwrap(), Polled::Ready);
    assert_eq!((first.numbers(), second.numbers()), ((0..5).collect(), (0..5).collect::<Vec<_>>()));
}

#[tokio::test]
async fn a_batch_is_never_larger_than_the_channel_takes() {
    let channel = Arc::new(ScriptedChannel::new("c", 100, 4));
    let (mut seq, out) = (source(&[("batchSize", "1000000")]), processor(&[&channel]));
    assert_eq!(seq.poll(&out).await.unwrap(), Polled::Ready);
    assert_eq!(numbers(&channel.contents()), [0, 1, 2, 3]);
}

#[test]
fn the_bodies_of_a_batch_share_one_buffer_and_one_header_set() {
    let mut seq = source(&[("batchSize", "1000")]);
    let batch = seq.next_batch(1_000);
    assert_eq!(batch.pinned_bytes(), batch.size().bytes);
    let mut edits = 0;
    let mut edited = batch.clone();
    edited.edit_headers(|_| edits += 1);
    assert_eq!((edits, batch.len()), (1, 1_000));
    let (zero, one) = (batch.body_bytes(0), batch.body_bytes(1));
    assert_eq!(zero.as_ptr().wrapping_add(1), one.as_ptr(), "they lie behind each other");
}

#[test]
fn the_largest_batch_has_room_for_numbers_that_grow() {
    let mut seq = source(&[("batchSize", "1000000")]);
    for start in [0, 1_000_000] {
        let batch = seq.next_batch(1_000_000);
        let last = batch.get(999_999).unwrap().body;
        assert_eq!((batch.len(), last), (1_000_000, (start + 999_999).to_string().as_bytes()));
    }
}

#[test]
fn defaults_are_javas_and_a_batch_size_below_one_is_refused() {
    let (config, _) = read::<SeqConfig>(&Settings::from_pairs("a.sources.r", &[]), &[]);
    let config = config.unwrap();
    assert_eq!((config.batch_size, config.total_events), (1, 9_223_372_036_854_775_807));
    assert_eq!(SeqSource::facts(&config).batch_size, Some(1));
    assert!(read::<SeqConfig>(&Settings::from_pairs("a.sources.r", &[("batchSize", "0")]), &[]).0.is_none());
}

/// As a configuration names it, run by the loop of polled sources.
#[tokio::test]
async fn it_runs_until_it_is_told_to_stop() {
    let registry = crate::register(Registry::new());
    let entry = registry.find_source("org.apache.flume.source.SequenceGeneratorSource").unwrap();
    let settings = Settings::from_pairs("a.sources.r", &[("batchSize", "10"), ("totalEvents", "200")]);
    let mut source = (entry.build)(&settings, &source_context()).unwrap();
    let channel = channel(10_000, 100);
    let (stop, shutdown) = Shutdown::new();
    let watch = async {
        until("all numbers", || channel.depth().queued == 200).await;
        stop.request();
    };
    let (end, ()) = tokio::join!(timeout(LIMIT, source.run(processor(&[&channel]), shutdown)), watch);
    end.expect("it stops").unwrap();
    assert_eq!(channel.numbers(), (0..200).collect::<Vec<_>>());
    assert_eq!(&*context("r", 0).name, "r");
}
