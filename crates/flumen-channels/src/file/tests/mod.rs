//! The file channel against the contract of channels, on a real disk; and what its other tests share.

mod behaviours;
mod faults;
mod files;
mod restarts;
mod wait;

use super::*;
use flumen_core::{
    config::{Settings as Properties, read},
    event::{Batch, Headers},
    metrics::{MetricSet, Value},
    registry::{Environment, ExtraMetrics, Registry},
    testing::{ChannelSuite, numbered, numbers},
    world::SetClock,
};
use flumen_wal::disk::simulated::SimulatedDisk;
use std::{ops::Range, path::Path};

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
    channel_on(Arc::new(OsDisk), &all)
}

fn channel_on(disk: Arc<dyn Disk>, pairs: &[(&str, &str)]) -> FileChannel {
    channel_at(disk, pairs, 0)
}

/// A channel that is made when the clock shows this.
fn channel_at(disk: Arc<dyn Disk>, pairs: &[(&str, &str)], clock_ms: i64) -> FileChannel {
    let (config, problems) = read::<FileConfig>(&Properties::from_pairs("a.channels.c", pairs), &[]);
    let mut context = context();
    context.common.clock = Arc::new(SetClock::at(clock_ms));
    FileChannel::new(disk, &config.unwrap_or_else(|| panic!("{problems:?}")), &context).unwrap()
}

/// A simulated disk, and the settings of a channel on it.
struct Place {
    disk: SimulatedDisk,
    pairs: Vec<(&'static str, &'static str)>,
}

/// How a channel ends before it is opened again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Clean,
    ProcessEnds,
    PowerLoss,
}

const STOPS: [Stop; 3] = [Stop::Clean, Stop::ProcessEnds, Stop::PowerLoss];

impl Place {
    fn new(pairs: &[(&'static str, &'static str)]) -> Self {
        Self { disk: SimulatedDisk::new(7), pairs: pairs.to_vec() }
    }

    fn channel(&self) -> FileChannel {
        let mut all = vec![("checkpointDir", "/c"), ("dataDirs", "/d"), ("minimumRequiredSpace", "1")];
        all.retain(|(key, _)| !self.pairs.iter().any(|(other, _)| other == key));
        all.extend_from_slice(&self.pairs);
        channel_on(Arc::new(self.disk.clone()), &all)
    }

    fn opened(&self) -> FileChannel {
        let channel = self.channel();
        wait(channel.open()).unwrap();
        channel
    }

    fn stop(&self, channel: &FileChannel, stop: Stop) {
        match stop {
            Stop::Clean => {}
            Stop::ProcessEnds => self.disk.end_process(),
            Stop::PowerLoss => self.disk.lose_power(),
        }
        // After a crash this fails in every call, and only ends its threads.
        ended(channel);
    }

    fn reopened(&self, channel: &FileChannel, stop: Stop) -> FileChannel {
        self.stop(channel, stop);
        self.opened()
    }

    /// Names of the data files of a directory.
    fn logs(&self, dir: &str) -> Vec<String> {
        let names = self.disk.list(Path::new(dir)).unwrap().into_iter().map(|entry| entry.name);
        names.filter(|name| name.starts_with("log-") && !name.contains('.')).collect()
    }
}

fn checkpoint(channel: &FileChannel) -> io::Result<()> {
    channel.0.open_log().unwrap().checkpoint()
}

fn put(channel: &FileChannel, range: Range<u64>) {
    store(channel, numbered(range));
}

/// Events on loan, once they are there.
fn taken(channel: &FileChannel, n: u32) -> TakeTransaction {
    let mut found = None;
    assert!(wait::until(|| {
        found = channel.try_take(n).unwrap();
        found.is_some()
    }));
    found.unwrap()
}

fn drained(channel: &FileChannel) -> Vec<u64> {
    numbers(&drain(channel))
}

/// What a metric of the channel says.
fn metric(channel: &FileChannel, name: &str) -> String {
    let readings = channel.0.file_metrics.readings();
    match &readings.iter().find(|reading| reading.name == name).unwrap().value {
        Value::Text(text) => text.clone(),
        Value::Gauge(n) => n.to_string(),
        Value::Counter(n) => n.to_string(),
        other => panic!("{name}: {other:?}"),
    }
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
        if let Some(taken) = channel.try_take(channel.limits().transaction_capacity.min(10)).unwrap() {
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
