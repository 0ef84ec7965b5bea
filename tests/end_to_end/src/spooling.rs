//! The spooldir source of the real program over a file channel: files that come all the time, and the program killed among them.

use crate::{
    agent::{Agent, Work},
    wait,
};
use std::{collections::BTreeMap, fs};

const CONFIGURATION: &str = "\
a.sources = r
a.channels = c
a.sinks = k
a.sources.r.type = spooldir
a.sources.r.channels = c
a.sources.r.spoolDir = @DIR@/in
a.sources.r.trackingPolicy = @TRACKING@
a.sources.r.deletePolicy = @DELETE@
a.sources.r.recursiveDirectorySearch = true
a.sources.r.pollDelay = 20
a.sources.r.batchSize = 7
a.channels.c.type = file
a.channels.c.checkpointDir = @DIR@/checkpoint
a.channels.c.dataDirs = @DIR@/data
a.channels.c.capacity = 1000
a.channels.c.transactionCapacity = 100
a.sinks.k.type = file_roll
a.sinks.k.channel = c
a.sinks.k.sink.directory = @DIR@/out
a.sinks.k.sink.rollInterval = 0
";

/// A program that puts whole files into a directory.
struct Writer<'a> {
    work: &'a Work,
    random: fastrand::Rng,
    next: usize,
    n_files: usize,
}

impl Writer<'_> {
    fn write(&mut self) {
        let n_lines = if self.random.u8(..4) == 0 { 0 } else { self.random.usize(1..60) };
        let text: String = (self.next..self.next + n_lines)
            .map(|n| format!("line {n} {}\n", "ü".repeat(self.random.usize(1..80))))
            .collect();
        self.next += n_lines;
        self.n_files += 1;
        let folder = if self.random.bool() { "in" } else { "in/below/it" };
        let new = self.work.path("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.work.path(&format!("{folder}/{:05}", self.n_files))).unwrap();
    }
}

/// How often each number came.
fn numbers(work: &Work) -> BTreeMap<usize, usize> {
    let mut numbers = BTreeMap::new();
    for line in work.lines_below("out") {
        // A killed program leaves half a line at the end of its file.
        let whole = line.strip_prefix("line ").and_then(|rest| rest.split_once(' '));
        if let Some(number) = whole.and_then(|(number, _)| number.parse().ok()) {
            *numbers.entry(number).or_default() += 1;
        }
    }
    numbers
}

fn prepare(tracking: &str, delete: &str) -> Work {
    let work = Work::new();
    work.make_folder("in/below/it");
    work.make_folder("out");
    work.write("a.conf", &CONFIGURATION.replace("@TRACKING@", tracking).replace("@DELETE@", delete));
    work
}

fn writer(work: &Work, seed: u64) -> Writer<'_> {
    Writer { work, random: fastrand::Rng::with_seed(seed), next: 0, n_files: 0 }
}

/// Waits until the files that are written hold every line, and until every file is done.
fn settle(work: &Work, agent: &mut Agent, writer: &Writer<'_>, is_done: impl Fn() -> bool) {
    let missing = || {
        let there = numbers(work);
        (0..writer.next).filter(|n| !there.contains_key(n)).take(10).collect::<Vec<_>>()
    };
    let whole = wait::until(|| missing().is_empty());
    assert!(whole, "of {} lines lost: {:?}\n{}", writer.next, missing(), agent.log());
    agent.wait("that every file is done", is_done);
}

fn names_below(work: &Work, folder: &str) -> Vec<String> {
    ["", "below/it/"]
        .iter()
        .flat_map(|below| {
            fs::read_dir(work.path(&format!("{folder}/{below}"))).into_iter().flatten().flatten()
        })
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

/// Files that are neither done nor hidden nor directories.
fn n_to_do(work: &Work) -> usize {
    let digits = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    names_below(work, "in").iter().filter(|name| digits(name)).count()
}

fn n_marked(work: &Work, folder: &str) -> usize {
    names_below(work, folder).iter().filter(|name| name.ends_with(".COMPLETED")).count()
}

fn exactly_once(tracking: &str, delete: &str, is_done: impl Fn(&Work, usize) -> bool) {
    let work = prepare(tracking, delete);
    let mut writer = writer(&work, 5);
    for round in 0..3 {
        let mut agent = work.agent(&[]);
        (0..15).for_each(|_| writer.write());
        if round < 2 {
            // Stopped wherever it is.
            assert_eq!(agent.stop(), 0, "{}", agent.log());
        } else {
            settle(&work, &mut agent, &writer, || is_done(&work, writer.n_files));
        }
    }
    let twice: Vec<_> = numbers(&work).into_iter().filter(|(_, times)| *times > 1).collect();
    assert!(twice.is_empty(), "{tracking}: more than once: {twice:?}");
}

#[test]
fn stopped_and_started_each_line_comes_once_with_every_way_to_mark_files() {
    exactly_once("rename", "never", |work, n| n_to_do(work) == 0 && n_marked(work, "in") == n);
    exactly_once("tracker_dir", "never", |work, n| {
        n_marked(work, "in/.flumespool") == n && n_to_do(work) == n
    });
    exactly_once("rename", "immediate", |work, _| n_to_do(work) == 0 && n_marked(work, "in") == 0);
}

#[test]
fn killed_again_and_again_no_line_is_lost() {
    let work = prepare("rename", "never");
    let mut writer = writer(&work, 77);
    for _ in 0..6 {
        let mut agent = work.agent(&[]);
        let before = numbers(&work).len();
        (0..12).for_each(|_| writer.write());
        // Somewhere in the middle.
        agent.wait("that some lines are stored", || {
            numbers(&work).len() > before + writer.random.usize(0..100)
        });
        agent.signal("KILL");
        assert_eq!(agent.end(), -9);
    }
    let mut agent = work.agent(&[]);
    settle(&work, &mut agent, &writer, || n_to_do(&work) == 0 && n_marked(&work, "in") == writer.n_files);
    assert_eq!(agent.stop(), 0);
}

#[test]
fn dir_43_thirty_sources_fill_one_file() {
    let work = Work::new();
    work.make_folder("out");
    let names: Vec<String> = (0..30).map(|n| format!("r{n}")).collect();
    let mut text = format!("a.sources = {}\na.channels = c\na.sinks = k\n", names.join(" "));
    for name in &names {
        work.make_folder(&format!("in/{name}"));
        let lines = ["type = spooldir", "channels = c", &format!("spoolDir = @DIR@/in/{name}")]
            .map(|line| format!("a.sources.{name}.{line}\n"));
        text.extend(lines);
    }
    text.push_str(
        "a.channels.c.type = memory\na.channels.c.capacity = 100000\na.sinks.k.type = file_roll\na.sinks.k.channel = c\n\
         a.sinks.k.sink.directory = @DIR@/out\na.sinks.k.sink.rollInterval = 0\n",
    );
    work.write("a.conf", &text);
    let mut agent = work.agent(&[]);
    for name in &names {
        for n in 0..10 {
            let new = work.path("new");
            fs::write(&new, format!("{name} file {n}\n")).unwrap();
            fs::rename(new, work.path(&format!("in/{name}/{n}"))).unwrap();
        }
    }
    agent.wait("all lines", || work.lines_below("out").len() >= 300);
    let mut lines = work.lines_below("out");
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 300);
    assert_eq!(fs::read_dir(work.path("out")).unwrap().count(), 1);
}
