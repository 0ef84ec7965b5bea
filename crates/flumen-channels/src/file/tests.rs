//! The file channel against the contract of channels, on a real disk.

use super::*;
use flumen_core::{
    config::{Settings as Properties, read},
    event::{Batch, Headers},
    registry::{Environment, ExtraMetrics, Registry},
    testing::ChannelSuite,
    world::SetClock,
};
use std::path::Path;

fn context() -> ChannelContext {
    ChannelContext {
        common: BuildContext {
            agent: "a".into(),
            name: "c".into(),
            clock: Arc::new(SetClock::default()),
            seed: 1,
            environment: Arc::new(Environment::default()),
            registry: Arc::new(Registry::new()),
            extra: ExtraMetrics::default(),
        },
        metrics: Arc::default(),
    }
}

/// A channel in these directories.
fn channel(base: &Path, pairs: &[(&str, &str)]) -> FileChannel {
    let (checkpoint, data) = (base.join("checkpoint"), base.join("data"));
    let mut all = vec![
        ("checkpointDir", checkpoint.to_str().unwrap()),
        ("dataDirs", data.to_str().unwrap()),
        ("minimumRequiredSpace", "1"),
    ];
    all.extend_from_slice(pairs);
    let (config, problems) = read::<FileConfig>(&Properties::from_pairs("a.channels.c", &all), &[]);
    FileChannel::new(Arc::new(OsDisk), &config.unwrap_or_else(|| panic!("{problems:?}")), &context()).unwrap()
}

/// The answer, also within a runtime that must not block.
fn wait(mut commit: Commit) -> Result<(), ChannelError> {
    let start = Instant::now();
    loop {
        if let Some(answer) = commit.try_answer() {
            return answer;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "an answer within 20 s");
        std::thread::yield_now();
    }
}

fn opened(base: &Path, pairs: &[(&str, &str)]) -> FileChannel {
    let channel = channel(base, pairs);
    wait(channel.open()).unwrap();
    channel
}

fn ended(channel: &FileChannel) {
    channel.close();
    wait(channel.end()).unwrap();
}

fn store(channel: &FileChannel, batch: Batch) {
    wait(channel.try_put(batch.size()).unwrap().unwrap().commit(batch)).unwrap();
}

fn batch(bodies: &[&str]) -> Batch {
    let mut batch = Batch::new();
    for body in bodies {
        let headers: Headers = [("k", *body), ("same", "value")].into_iter().collect();
        batch.push(headers, body.as_bytes().to_vec());
    }
    batch
}

/// All that waits, by waiting for it.
fn drain(channel: &FileChannel) -> Batch {
    let mut all = Batch::new();
    while channel.depth().queued > 0 {
        if let Some(taken) = channel.try_take(10).unwrap() {
            all.append(taken.batch().clone());
            wait(taken.commit()).unwrap();
        }
        std::thread::yield_now();
    }
    all
}

#[test]
fn the_contract_of_channels_holds() {
    for pairs in [&[][..], &[("maxFileSize", "400")], &[("memoryBytes", "1")]] {
        let dirs = Mutex::new(Vec::new());
        let open = |limits: &ChannelLimits| -> Arc<dyn Channel> {
            let base = tempfile::tempdir().unwrap();
            let channel = opened(base.path(), pairs);
            channel.reconfigure(limits).unwrap();
            dirs.lock().unwrap().push(base);
            Arc::new(channel)
        };
        let reopen = |old: Arc<dyn Channel>| -> Arc<dyn Channel> {
            old.close();
            wait(old.end()).unwrap();
            let base = dirs.lock().unwrap().last().unwrap().path().to_owned();
            let channel = opened(&base, pairs);
            channel.reconfigure(&old.limits()).unwrap();
            Arc::new(channel)
        };
        ChannelSuite::new(open).without_byte_slots().reopened_by(reopen).random_runs(3, 1).run();
    }
}

#[test]
fn headers_and_bodies_come_back_after_a_restart() {
    let base = tempfile::tempdir().unwrap();
    let first = opened(base.path(), &[]);
    store(&first, batch(&["one", "", "three"]));
    let mut plain = Batch::new();
    plain.push(Headers::new(), "no headers");
    store(&first, plain.clone());
    ended(&first);
    assert_eq!(first.depth().queued, 4);
    let second = opened(base.path(), &[]);
    let mut expected = batch(&["one", "", "three"]);
    expected.append(plain);
    assert_eq!(drain(&second), expected);
}

#[test]
fn what_came_and_went_is_counted_over_all_openings() {
    let base = tempfile::tempdir().unwrap();
    let channel = opened(base.path(), &[]);
    store(&channel, batch(&["one", "two", "three"]));
    wait(taken(&channel, 1).commit()).unwrap();
    wait(channel.open()).unwrap();
    let depth = channel.depth();
    assert_eq!((depth.stored_total, depth.removed_total, depth.queued), (3, 1, 2));
    wait(taken(&channel, 1).commit()).unwrap();
    ended(&channel);
    let depth = channel.depth();
    assert_eq!((depth.stored_total, depth.removed_total, depth.queued), (3, 2, 1));
}

/// The next events, by waiting for them.
fn taken(channel: &FileChannel, most: u32) -> flumen_core::channel::TakeTransaction {
    loop {
        if let Some(taken) = channel.try_take(most).unwrap() {
            return taken;
        }
        std::thread::yield_now();
    }
}
