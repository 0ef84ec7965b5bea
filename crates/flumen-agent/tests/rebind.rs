//! Reloads of real components under load: a netcat source that takes its port again and again, and a file_roll sink that
//! gives way to another one, lose no line that was answered.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

#[path = "storm/wait.rs"]
mod wait;

use flumen_agent::{
    agent::{Agent, World},
    conf::{ConfigText, load},
    plan::{self, Plan, PlanContext},
};
use flumen_core::{registry::Registry, world::SetClock};
use flumen_java::properties::Encoding;
use std::{
    collections::HashSet,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    sync::watch,
    time::{Instant, timeout},
};
use wait::pause;

/// Reloads of each test run.
const RELOADS: u32 = 150;
/// Nothing here takes this long.
const LIMIT: Duration = Duration::from_secs(60);

fn plan(registry: &Arc<Registry>, text: &str) -> Plan {
    let context = PlanContext {
        registry: registry.clone(),
        environment: Arc::default(),
        clock: Arc::new(SetClock::default()),
    };
    let text = ConfigText { name: "flume.conf".into(), bytes: text.into(), encoding: Encoding::Latin1 };
    let (plan, problems) = plan::read(&load(&[text]).0, "a", &context);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(told.is_empty(), "{told:?}");
    plan
}

/// Each reload changes the source, the sink, or the limits of the channel.
fn text(port: u16, folder: &Path, reload: u32) -> String {
    let folder = folder.display();
    let (longest, batch, capacity) = (200 + reload.div_ceil(3), 10 + (reload + 1) / 3, 500 + reload / 3);
    format!(
        "a.sources = n\na.channels = c\na.sinks = f\na.sources.n.type = netcat\na.sources.n.channels = c\n\
         a.sources.n.bind = 127.0.0.1\na.sources.n.port = {port}\na.sources.n.max-line-length = {longest}\n\
         a.channels.c.type = memory\na.channels.c.capacity = {capacity}\na.sinks.f.type = file_roll\n\
         a.sinks.f.channel = c\na.sinks.f.sink.directory = {folder}\na.sinks.f.sink.batchSize = {batch}\n\
         a.sinks.f.sink.rollInterval = 0\n"
    )
}

/// Sends numbered lines until told to stop, each again until it is answered. Gives the number of answered ones.
async fn send_lines(port: u16, answered: Arc<AtomicU32>, stop: watch::Receiver<bool>) -> u32 {
    let mut number = 0;
    'connect: while !*stop.borrow() {
        let Ok(stream) = TcpStream::connect(("127.0.0.1", port)).await else {
            pause(Duration::from_millis(2)).await;
            continue;
        };
        let (read, mut write) = stream.into_split();
        let mut answers = BufReader::new(read).lines();
        while !*stop.borrow() {
            if write.write_all(format!("line {number}\n").as_bytes()).await.is_err() {
                continue 'connect;
            }
            match timeout(LIMIT, answers.next_line()).await.expect("an answer or an end within the limit") {
                Ok(Some(answer)) if answer == "OK" => number += 1,
                _ => continue 'connect,
            }
            answered.store(number, Ordering::Relaxed);
        }
    }
    number
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_that_is_bound_anew_by_reloads_loses_no_line_that_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let registry = Arc::new(flumen_agent::registry());
    let world = World { clock: Arc::new(SetClock::at(1_000)), seed: 1, environment: Arc::default() };
    let mut agent = Agent::new(registry.clone(), world);
    agent.apply(plan(&registry, &text(port, folder.path(), 0))).await;

    let (answered, (stop, stopped)) = (Arc::new(AtomicU32::new(0)), watch::channel(false));
    let mut clients = tokio::task::JoinSet::new();
    clients.spawn(send_lines(port, answered.clone(), stopped));
    for reload in 1..=RELOADS {
        let (before, deadline) = (answered.load(Ordering::Relaxed), Instant::now() + LIMIT);
        while answered.load(Ordering::Relaxed) < before + 3 {
            assert!(Instant::now() < deadline, "no line is answered any more before reload {reload}");
            pause(Duration::from_millis(1)).await;
        }
        let applied = agent.apply(plan(&registry, &text(port, folder.path(), reload))).await;
        assert!(applied.problems.is_empty() && !applied.changes.is_empty(), "{applied:?}");
    }
    stop.send_replace(true);
    let n_answered = timeout(LIMIT, clients.join_next()).await.unwrap().unwrap().unwrap();
    let report = agent.stop(Duration::from_secs(30)).await;
    assert!(report.left.is_empty() && report.cut_off == 0, "{report:?}");

    let mut lines = HashSet::new();
    for file in fs::read_dir(folder.path()).unwrap() {
        let file = fs::read_to_string(file.unwrap().path()).unwrap();
        lines.extend(file.lines().map(str::to_owned));
    }
    let lost: Vec<u32> =
        (0..n_answered).filter(|number| !lines.contains(&format!("line {number}"))).collect();
    assert!(lost.is_empty(), "{} of {n_answered} lines are lost: {lost:?}", lost.len());
    assert!(n_answered > 3 * RELOADS, "{n_answered} lines");
}
