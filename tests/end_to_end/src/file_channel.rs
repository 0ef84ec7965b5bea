//! The program with a file channel: flows that end well, and one that is killed again and again under load.

use crate::{
    agent::{Agent, Work, free_port, http},
    wait,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpStream},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Rounds of the killing in CI. `FLUMEN_KILLS=2000 cargo test -p end_to_end killed_under_load` does more.
const KILLS: usize = 110;
const CLIENTS: usize = 4;
const BATCH: usize = 50;
/// Batches that this sink may have taken before the first of them is committed: eight whose commits are open, eight that wait for
/// one sync of the file, and the one that is being delivered.
const OPEN_TAKES: usize = 17;

const CHANNEL: &str = "a.channels.c.type = file\na.channels.c.checkpointDir = @DIR@/checkpoint\n\
                       a.channels.c.minimumRequiredSpace = 1048576\n";

/// What a metric of a component says, by the monitoring port.
fn metric(monitor: u16, component: &str, name: &str) -> String {
    let report: Value = serde_json::from_str(&http(monitor, "GET", "/metrics", "").1).unwrap();
    report[component][name].as_str().unwrap_or_default().to_owned()
}

fn monitored(work: &Work) -> (Agent, u16) {
    let monitor = free_port();
    let port = format!("-Dflume.monitoring.port={monitor}");
    (work.agent(&["-Dflume.monitoring.type=http", &port]), monitor)
}

#[test]
fn fch_89_what_goes_through_a_file_channel_is_in_one_file_in_order() {
    let work = Work::new();
    work.make_folder("out");
    work.write(
        "a.conf",
        &format!(
            "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.totalEvents = 100\n\
             a.sources.r.channels = c\n{CHANNEL}a.channels.c.dataDirs = @DIR@/data\na.sinks.k.type = file_roll\n\
             a.sinks.k.channel = c\na.sinks.k.sink.directory = @DIR@/out\na.sinks.k.sink.rollInterval = 0\n"
        ),
    );
    let mut agent = work.agent(&[]);
    let all: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    agent.wait("a hundred lines", || work.lines_below("out") == all);
    assert_eq!(agent.stop(), 0);
    assert_eq!(fs::read_dir(work.path("out")).unwrap().count(), 1);
}

#[test]
fn fch_60_three_directories_carry_a_flow_and_are_empty_at_the_end() {
    const EVENTS: &str = "60000";
    let work = Work::new();
    work.write(
        "a.conf",
        &format!(
            "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.totalEvents = {EVENTS}\n\
             a.sources.r.batchSize = 100\na.sources.r.channels = c\n{CHANNEL}\
             a.channels.c.dataDirs = @DIR@/d1, @DIR@/d2, @DIR@/d3\na.channels.c.capacity = 10000\n\
             a.channels.c.transactionCapacity = 1000\na.channels.c.maxFileSize = 500000\n\
             a.channels.c.checkpointInterval = 1000\na.sinks.k.type = null\na.sinks.k.channel = c\n"
        ),
    );
    let (mut agent, monitor) = monitored(&work);
    agent.wait("all events at the sink", || metric(monitor, "SINK.k", "EventDrainSuccessCount") == EVENTS);
    for (name, value) in [
        ("ChannelSize", "0"),
        ("EventPutErrorCount", "0"),
        ("EventTakeErrorCount", "0"),
        ("CheckpointWriteErrorCount", "0"),
        ("EventLostCount", "0"),
    ] {
        assert_eq!(metric(monitor, "CHANNEL.c", name), value, "{name}");
    }
    assert_eq!(agent.stop(), 0);
    // What was drained is no longer on disk, but for the last files of each directory.
    let n_files: usize =
        ["d1", "d2", "d3"].map(|dir| fs::read_dir(work.path(dir)).unwrap().count()).iter().sum();
    assert!(n_files < 60, "{n_files} files are left");
}

/// The lines of one client: which were sent, and which were answered.
#[derive(Debug, Default)]
struct Sent {
    n_sent: u64,
    acknowledged: BTreeSet<u64>,
}

fn line(client: usize, n: u64) -> String {
    let filler = "x".repeat((n * 37 % 400) as usize);
    format!("{client} {n} {filler}")
}

/// Sends lines in bursts to whoever listens, until it is told to stop. A line that was not answered is not sent again.
fn client(client: usize, port: u16, stop: &AtomicBool) -> Sent {
    let mut sent = Sent::default();
    let mut random = fastrand::Rng::with_seed(client as u64);
    while !stop.load(Ordering::Relaxed) {
        let mut stream = None;
        wait::until(|| {
            stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok();
            stream.is_some() || stop.load(Ordering::Relaxed)
        });
        let Some(stream) = stream else { continue };
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut reader = BufReader::new(stream);
        while !stop.load(Ordering::Relaxed) {
            // Some are so large that their runs are written past the cache.
            let n = if random.u8(0..8) == 0 { random.u64(200..400) } else { random.u64(1..40) };
            let burst: String = (0..n).map(|i| line(client, sent.n_sent + i) + "\n").collect();
            let first = sent.n_sent;
            sent.n_sent += n;
            if reader.get_mut().write_all(burst.as_bytes()).is_err() {
                break;
            }
            let mut answer = String::new();
            for i in first..first + n {
                answer.clear();
                match reader.read_line(&mut answer) {
                    Ok(len) if len > 0 && answer.ends_with('\n') => {}
                    _ => break,
                }
                if answer == "OK\n" {
                    sent.acknowledged.insert(i);
                }
            }
            if !answer.ends_with('\n') {
                break;
            }
        }
    }
    sent
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a test that is run by hand goes on is told by whoever runs it"
)]
fn rounds() -> usize {
    std::env::var("FLUMEN_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS)
}

#[test]
fn killed_under_load_it_delivers_all_that_it_acknowledged_and_doubles_only_what_was_being_taken() {
    let work = Work::new();
    work.make_folder("out");
    let port = free_port();
    work.write(
        "a.conf",
        &format!(
            "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = netcat\na.sources.r.bind = 127.0.0.1\n\
             a.sources.r.port = {port}\na.sources.r.channels = c\n{CHANNEL}a.channels.c.dataDirs = @DIR@/d1,@DIR@/d2\n\
             a.channels.c.maxFileSize = 200000\na.channels.c.checkpointInterval = 1000\na.channels.c.memoryBytes = 20000\n\
             a.sinks.k.type = file_roll\na.sinks.k.channel = c\na.sinks.k.sink.directory = @DIR@/out\n\
             a.sinks.k.sink.rollInterval = 0\na.sinks.k.sink.batchSize = {BATCH}\n"
        ),
    );
    let stop = AtomicBool::new(false);
    let all = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for id in 0..CLIENTS {
            let (stop, all) = (&stop, &all);
            scope.spawn(move || {
                let sent = client(id, port, stop);
                all.lock().unwrap().insert(id, sent);
            });
        }
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kill_again_and_again(&work)));
        stop.store(true, Ordering::Relaxed);
        killed.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    let all = all.into_inner().unwrap();
    let (mut agent, monitor) = monitored(&work);
    agent.wait("an open and empty channel", || {
        metric(monitor, "CHANNEL.c", "Open") == "true" && metric(monitor, "CHANNEL.c", "ChannelSize") == "0"
    });
    assert_eq!(metric(monitor, "CHANNEL.c", "EventLostCount"), "0");
    assert_eq!(agent.stop(), 0);
    let n_acknowledged: usize = all.values().map(|sent| sent.acknowledged.len()).sum();
    let n_doubled = compare(&work, &all);
    println!("{} rounds: {n_acknowledged} lines acknowledged, {n_doubled} doubled", rounds());
    assert!(n_acknowledged > rounds() * 10, "{n_acknowledged} lines are no load");
}

/// Most rounds end by a kill, some a moment after the start, some by a clean stop.
fn kill_again_and_again(work: &Work) {
    let mut random = fastrand::Rng::with_seed(1);
    for round in 0..rounds() {
        let mut agent = work.start(&[]);
        match round % 10 {
            // While it opens.
            0 | 5 => wait::pause_ms(random.u64(0..40)),
            _ => {
                agent.wait_for_log("agent a is running");
                wait::pause_ms(random.u64(0..200));
            }
        }
        if round % 10 == 9 {
            assert_eq!(agent.stop(), 0, "round {round}");
        } else {
            agent.signal("KILL");
            assert_eq!(agent.end(), -9, "round {round}");
        }
        let log = agent.log();
        let complaint =
            log.lines().find(|line| line.contains("ERROR") || line.contains("not as it was left"));
        assert_eq!(complaint, None, "round {round}");
    }
}

/// Compares what was delivered, run by run, with what was sent. Gives how many lines came twice.
fn compare(work: &Work, all: &BTreeMap<usize, Sent>) -> usize {
    let mut paths: Vec<_> =
        fs::read_dir(work.path("out")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let runs: Vec<Vec<(usize, u64)>> =
        paths.iter().map(|path| whole_lines(&fs::read(path).unwrap(), all)).collect();
    let mut delivered: BTreeMap<(usize, u64), (usize, usize)> = BTreeMap::new();
    let mut doubled: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (run, lines) in runs.iter().enumerate() {
        let mut last = [None; CLIENTS];
        for (at, line) in lines.iter().enumerate() {
            assert!(
                last[line.0] < Some(line.1),
                "out of order in run {run}: {line:?} after {:?}",
                last[line.0]
            );
            last[line.0] = Some(line.1);
            if let Some((earlier, place)) = delivered.insert(*line, (run, at)) {
                doubled.entry(earlier).or_default().insert(place);
            }
        }
    }
    for (client, sent) in all {
        let missing = sent.acknowledged.iter().find(|n| !delivered.contains_key(&(*client, **n)));
        assert_eq!(missing, None, "client {client} was told that this line is stored, and it never came");
    }
    // What comes again is of what a run had delivered last and not committed. It need not be all of it: a take that was durable
    // in one directory, while an earlier one in the other was not, is done.
    for (run, places) in &doubled {
        let earliest = runs[*run].len().saturating_sub(BATCH * OPEN_TAKES);
        let wrong = places.first().filter(|first| **first < earliest);
        assert_eq!(
            wrong,
            None,
            "run {run}: of {} lines one that was delivered long before came again",
            runs[*run].len()
        );
    }
    doubled.values().map(BTreeSet::len).sum()
}

/// The lines of a file that were sent; the last one may be cut.
fn whole_lines(bytes: &[u8], all: &BTreeMap<usize, Sent>) -> Vec<(usize, u64)> {
    let text = String::from_utf8_lossy(bytes);
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().map(|text| {
        let mut words = text.split(' ');
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let (client, n) = number().zip(number()).unwrap_or_else(|| panic!("nobody sent {text:?}"));
        let client = usize::try_from(client).unwrap();
        assert!(text == line(client, n) && n < all[&client].n_sent, "nobody sent {text:?}");
        (client, n)
    });
    lines.collect()
}
