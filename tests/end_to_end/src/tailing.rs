//! The taildir source of the real program: files rotated at random moments, and the program killed among them.

use crate::{
    agent::{Agent, Work},
    wait,
};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    os::unix::fs::MetadataExt,
};

const CONFIGURATION: &str = "\
a.sources = r
a.channels = c
a.sinks = k
a.sources.r.type = TAILDIR
a.sources.r.channels = c
a.sources.r.filegroups = g
a.sources.r.filegroups.g = @DIR@/in/@PATTERN@
a.sources.r.positionFile = @DIR@/positions.json
a.sources.r.writePosInterval = 50
a.sources.r.backoffSleepIncrement = 20
a.sources.r.maxBackoffSleep = 40
a.sources.r.batchSize = 7
a.channels.c.type = @CHANNEL@
a.channels.c.checkpointDir = @DIR@/channel/checkpoint
a.channels.c.dataDirs = @DIR@/channel/data
a.channels.c.minimumRequiredSpace = 1048576
a.channels.c.capacity = 10
a.channels.c.transactionCapacity = 10
a.sinks.k.type = file_roll
a.sinks.k.channel = c
a.sinks.k.sink.directory = @DIR@/out
a.sinks.k.sink.rollInterval = 0
";

/// How a log is rotated.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rotation {
    Rename,
    CopyTruncate,
    Delete,
    Recreate,
}

/// A program that writes a log and rotates it.
struct Writer<'a> {
    work: &'a Work,
    random: fastrand::Rng,
    log: File,
    next: usize,
    rotations: usize,
}

impl<'a> Writer<'a> {
    fn new(work: &'a Work, seed: u64) -> Self {
        let log = open(work);
        Self { work, random: fastrand::Rng::with_seed(seed), log, next: 0, rotations: 0 }
    }

    /// Some lines, in pieces that end anywhere.
    fn write(&mut self) {
        let n = self.random.usize(1..40);
        let text: String = (self.next..self.next + n)
            .map(|n| format!("line {n} {}.\n", "x".repeat(self.random.usize(20..200))))
            .collect();
        self.next += n;
        let cut = self.random.usize(0..text.len());
        self.log.write_all(&text.as_bytes()[..cut]).unwrap();
        if self.random.bool() {
            std::thread::yield_now();
        }
        self.log.write_all(&text.as_bytes()[cut..]).unwrap();
    }

    fn rotate(&mut self, how: Rotation) {
        self.rotations += 1;
        let log = self.work.path("in/app.log");
        let rotated = self.work.path(&format!("in/app.log.{}", self.rotations));
        match how {
            Rotation::Rename => {
                fs::rename(&log, &rotated).unwrap();
                // The old file gets a little more before its writer notices.
                self.write();
                self.log = open(self.work);
            }
            Rotation::CopyTruncate => {
                fs::copy(&log, &rotated).unwrap();
                self.log.set_len(0).unwrap();
            }
            Rotation::Delete | Rotation::Recreate => {
                fs::remove_file(&log).unwrap();
                self.log = open(self.work);
                // Often the inode of the file that was deleted.
                if how == Rotation::Recreate {
                    self.write();
                }
            }
        }
    }
}

fn open(work: &Work) -> File {
    File::options().append(true).create(true).open(work.path("in/app.log")).unwrap()
}

/// How often each number came.
fn numbers(work: &Work) -> BTreeMap<usize, usize> {
    let mut numbers = BTreeMap::new();
    for line in work.lines_below("out") {
        // A killed program leaves half a line at the end of its file.
        let whole = line.strip_suffix('.').and_then(|line| line.strip_prefix("line ")?.split_once(' '));
        if let Some(number) = whole.and_then(|(number, _)| number.parse().ok()) {
            *numbers.entry(number).or_default() += 1;
        }
    }
    numbers
}

fn prepare(pattern: &str, channel: &str) -> Work {
    let work = Work::new();
    work.make_folder("in");
    work.make_folder("out");
    let text = CONFIGURATION.replace("@PATTERN@", pattern).replace("@CHANNEL@", channel);
    let of_files =
        |line: &&str| channel == "file" || !line.contains("@DIR@/channel") && !line.contains("minimum");
    work.write("a.conf", &text.lines().filter(of_files).map(|line| format!("{line}\n")).collect::<String>());
    work
}

/// Waits until the files that are written hold every line.
fn settle(work: &Work, agent: &mut Agent, writer: &Writer<'_>) {
    let missing = || {
        let there = numbers(work);
        (0..writer.next).filter(|n| !there.contains_key(n)).take(10).collect::<Vec<_>>()
    };
    let whole = wait::until(|| missing().is_empty());
    assert!(whole, "of {} lines lost: {:?}\n{}", writer.next, missing(), agent.log());
}

/// Rotates again and again. `settled`: what was written is read before.
fn torture(pattern: &str, ways: &[Rotation], settled: bool, seed: u64) {
    torture_over("memory", pattern, ways, settled, seed);
}

fn torture_over(channel: &str, pattern: &str, ways: &[Rotation], settled: bool, seed: u64) {
    let work = prepare(pattern, channel);
    let mut writer = Writer::new(&work, seed);
    let mut agent = work.agent(&[]);
    for _ in 0..40 {
        for _ in 0..writer.random.usize(1..4) {
            writer.write();
        }
        let how = ways[writer.random.usize(0..ways.len())];
        // What is deleted while nobody has read it is gone.
        if settled || matches!(how, Rotation::Delete | Rotation::Recreate) {
            settle(&work, &mut agent, &writer);
        }
        writer.rotate(how);
    }
    writer.write();
    settle(&work, &mut agent, &writer);
    assert_eq!(agent.stop(), 0, "{}", agent.log());
    let twice: Vec<_> = numbers(&work).into_iter().filter(|(_, times)| *times > 1).take(10).collect();
    assert!(twice.is_empty(), "seed {seed}: twice: {twice:?}\n{}", agent.log());
    let ino = fs::metadata(work.path("in/app.log")).unwrap().ino();
    let text = fs::read_to_string(work.path("positions.json")).unwrap();
    assert!(text.contains(&format!("{{\"inode\":{ino},")), "{text}");
}

#[test]
fn renamed_at_random_moments_each_line_comes_once() {
    torture(r"app\\.log.*", &[Rotation::Rename], false, 1);
}

#[test]
fn renamed_out_of_the_pattern_each_line_comes_once() {
    torture(r"app\\.log", &[Rotation::Rename], true, 2);
}

#[test]
fn deleted_and_made_anew_each_line_comes_once() {
    torture(r"app\\.log.*", &[Rotation::Rename, Rotation::Delete, Rotation::Recreate], false, 3);
}

#[test]
fn copied_and_truncated_at_random_moments_each_line_comes_once() {
    torture(r"app\\.log.*", &[Rotation::CopyTruncate, Rotation::Rename], false, 4);
}

#[test]
fn killed_again_and_again_while_files_are_rotated_no_line_is_lost() {
    let work = prepare(r"app\\.log.*", "memory");
    let mut writer = Writer::new(&work, 5);
    for _ in 0..12 {
        let mut agent = work.agent(&[]);
        for _ in 0..writer.random.usize(1..6) {
            writer.write();
            let how = if writer.random.bool() { Rotation::Rename } else { Rotation::CopyTruncate };
            if writer.random.bool() {
                writer.rotate(how);
            }
        }
        // A memory channel loses what it holds: it holds nothing now. Positions may be behind what it had.
        settle(&work, &mut agent, &writer);
        agent.signal("KILL");
        assert_eq!(agent.end(), -9);
        // And while it is down.
        writer.write();
        let how = if writer.random.bool() { Rotation::Rename } else { Rotation::CopyTruncate };
        writer.rotate(how);
        writer.write();
    }
    let mut agent = work.agent(&[]);
    settle(&work, &mut agent, &writer);
    assert_eq!(agent.stop(), 0, "{}", agent.log());
}

const ALL_WAYS: [Rotation; 4] =
    [Rotation::Rename, Rotation::CopyTruncate, Rotation::Delete, Rotation::Recreate];

#[test]
fn rotated_in_all_ways_over_the_file_channel_each_line_comes_once() {
    torture_over("file", r"app\\.log.*", &ALL_WAYS, false, 6);
}

/// Lines are in the source's hands, in the channel's and in the sink's when the program is killed.
#[test]
fn killed_at_random_moments_over_the_file_channel_no_line_is_lost() {
    for seed in [7, 8] {
        let work = prepare(r"app\\.log.*", "file");
        let mut writer = Writer::new(&work, seed);
        let mut agent = work.start(&[]);
        let mut n_kills = 0;
        for _ in 0..40 {
            for _ in 0..writer.random.usize(1..4) {
                writer.write();
            }
            if writer.random.usize(0..3) == 0 {
                agent.signal("KILL");
                assert_eq!(agent.end(), -9);
                n_kills += 1;
                // Some of it while nobody looks.
                if writer.random.bool() {
                    writer.write();
                    let unread = [Rotation::Rename, Rotation::CopyTruncate];
                    let how = unread[writer.random.usize(0..2)];
                    writer.rotate(how);
                }
                agent = work.start(&[]);
            }
            let how = ALL_WAYS[writer.random.usize(0..ALL_WAYS.len())];
            // What is deleted while nobody has read it is gone.
            if matches!(how, Rotation::Delete | Rotation::Recreate) {
                settle(&work, &mut agent, &writer);
            }
            writer.rotate(how);
        }
        writer.write();
        settle(&work, &mut agent, &writer);
        assert_eq!(agent.stop(), 0, "{}", agent.log());
        assert!(n_kills > 5, "seed {seed}: {n_kills}");
    }
}
