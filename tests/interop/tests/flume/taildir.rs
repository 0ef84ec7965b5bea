//! Java's taildir source and ours with one position file: each goes on where the other has stopped or was killed.

use crate::{agents::Maker, tool::script, wait::until};
use interop::{missing, program};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// One agent after the other in one folder, each with files of its own to write to.
struct Tail {
    folder: tempfile::TempDir,
    /// How often each agent was started.
    starts: usize,
    next: usize,
}

/// A running agent. It is killed when it is dropped.
struct Running {
    child: Child,
    log: PathBuf,
    out: PathBuf,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn lines(&self) -> BTreeMap<String, usize> {
        lines_in(&self.out)
    }

    async fn has(&mut self, what: &str, lines: &[String]) {
        let mut ended = false;
        until(what, || {
            ended = self.child.try_wait().unwrap().is_some();
            let there = self.lines();
            ended || lines.iter().all(|line| there.contains_key(line))
        })
        .await;
        assert!(!ended, "{what}: it has ended: {}", fs::read_to_string(&self.log).unwrap_or_default());
    }

    /// Stops it as a service manager does.
    async fn stop(mut self) -> BTreeMap<String, usize> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        until("its end", || self.child.try_wait().unwrap().is_some()).await;
        self.lines()
    }
}

/// How often each line stands in the files of a folder.
fn lines_in(folder: &Path) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = String::from_utf8_lossy(&fs::read(entry.unwrap().path()).unwrap()).into_owned();
        // A killed agent leaves half a line.
        for line in text.lines().filter_map(|line| line.strip_suffix('.')) {
            *lines.entry(line.to_owned()).or_default() += 1;
        }
    }
    lines
}

impl Tail {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("web")).unwrap();
        Self { folder, starts: 0, next: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds so many lines to a file; the lines.
    fn write(&mut self, name: &str, n: usize) -> Vec<String> {
        let lines: Vec<String> =
            (self.next..self.next + n).map(|n| format!("{name} line {n} \u{20AC}")).collect();
        self.next += n;
        let mut file = File::options().append(true).create(true).open(self.path("web").join(name)).unwrap();
        lines.iter().for_each(|line| writeln!(file, "{line}.").unwrap());
        lines
    }

    fn start(&mut self, maker: Maker) -> Running {
        self.start_over(maker, "memory")
    }

    fn start_over(&mut self, maker: Maker, channel: &str) -> Running {
        self.starts += 1;
        let root = self.folder.path().display();
        let out = self.path(&format!("out-{}", self.starts));
        fs::create_dir(&out).unwrap();
        let directories = match channel {
            "file" => format!(
                "a.channels.c.checkpointDir = {root}/channel/c\na.channels.c.dataDirs = {root}/channel/d\n"
            ),
            _ => String::new(),
        };
        let conf = format!(
            "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = TAILDIR\na.sources.r.channels = c\n\
             a.sources.r.filegroups = g h\na.sources.r.filegroups.g = {root}/web/.*\\\\.log\n\
             a.sources.r.filegroups.h = {root}/web/.*\\\\.txt\na.sources.r.positionFile = {root}/positions/p.json\n\
             a.sources.r.writePosInterval = 100\na.sources.r.batchSize = 50\na.channels.c.type = {channel}\n\
             {directories}a.channels.c.capacity = 10000\na.channels.c.transactionCapacity = 100\na.sinks.k.type = file_roll\n\
             a.sinks.k.channel = c\na.sinks.k.sink.directory = {}\na.sinks.k.sink.rollInterval = 0\n",
            out.display()
        );
        fs::write(self.path("a.conf"), conf).unwrap();
        let mut command = match maker {
            Maker::Java => Command::new("bash"),
            Maker::Flumen => Command::new(program()),
        };
        if maker == Maker::Java {
            command.arg(script());
        }
        let log = self.path(&format!("log-{}", self.starts));
        let file = File::create(&log).unwrap();
        command.args(["agent", "--no-reload-conf", "-n", "a", "-f", "a.conf"]).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        Running { child: command.spawn().unwrap(), log, out }
    }

    /// Waits until the position file has these files at their ends.
    async fn positions_are_written(&self, names: &[&str]) {
        let place = |name: &&str| {
            let path = self.path("web").join(name);
            let meta = fs::metadata(&path).unwrap();
            (meta.ino(), meta.len(), path.display().to_string())
        };
        until("the position file", || {
            let text = fs::read_to_string(self.path("positions/p.json")).unwrap_or_default();
            let Ok(entries) = serde_json::from_str::<Vec<serde_json::Value>>(&text) else { return false };
            names.iter().map(place).all(|(inode, pos, file)| {
                let wanted = serde_json::json!({"inode": inode, "pos": pos, "file": file});
                entries.contains(&wanted)
            })
        })
        .await;
    }
}

fn once(lines: &[String]) -> BTreeMap<String, usize> {
    lines.iter().map(|line| (line.clone(), 1)).collect()
}

/// Files that stay, that come, and that get more while nobody looks.
#[tokio::test(flavor = "multi_thread")]
async fn each_goes_on_where_the_other_has_stopped() {
    if missing() {
        return;
    }
    let mut tail = Tail::new();
    let mut written = tail.write("a.log", 500);
    written.extend(tail.write("b=c.txt", 300));
    for maker in [Maker::Java, Maker::Flumen, Maker::Java, Maker::Flumen] {
        let mut agent = tail.start(maker);
        agent.has(&format!("{maker:?}: what is there"), &written).await;
        let more = tail.write("a.log", 200);
        let fresh = tail.write(&format!("new-{}.log", tail.starts), 50);
        written.extend(more.into_iter().chain(fresh));
        agent.has(&format!("{maker:?}: what comes"), &written).await;
        let name = format!("new-{}.log", tail.starts);
        tail.positions_are_written(&["a.log", "b=c.txt", &name]).await;
        assert_eq!(agent.stop().await, once(&written), "{maker:?}: each line once, and none of those before");
        // For the next one.
        written = tail.write("a.log", 100);
        written.extend(tail.write("b=c.txt", 10));
    }
}

/// Killed in the middle, over a file channel that the other takes over too: lines may come again, and none is lost.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_the_other_loses_nothing() {
    if missing() {
        return;
    }
    let mut tail = Tail::new();
    let mut written = Vec::new();
    for maker in [Maker::Java, Maker::Flumen, Maker::Java, Maker::Flumen] {
        let first = tail.write("a.log", 1_000);
        let mut agent = tail.start_over(maker, "file");
        agent.has(&format!("{maker:?}: what is there"), &first).await;
        written.extend(first);
        // It dies with these in its hands, or before it has seen them.
        written.extend(tail.write("a.log", 3_000));
        agent.child.kill().unwrap();
        agent.child.wait().unwrap();
        written.extend(tail.write("b.log", 100));
    }
    let mut agent = tail.start_over(Maker::Java, "file");
    let last = tail.write("b.log", 100);
    agent.has("the last ones", &last).await;
    written.extend(last);
    let lost = || {
        let there: Vec<_> = (1..=tail.starts).map(|n| lines_in(&tail.path(&format!("out-{n}")))).collect();
        written.iter().filter(|line| !there.iter().any(|lines| lines.contains_key(*line))).count()
    };
    until("all lines", || lost() == 0).await;
    agent.stop().await;
}
