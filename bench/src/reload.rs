//! A reload of one component among a hundred, in the real program and under load: from the signal to the line that says it is
//! done, and whether the others went on counting.

use crate::idle::{program, stop};
use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};
use tokio::time::Instant;

/// Flows that wait for connections; with the one that counts they have a hundred components and two.
const IDLE_FLOWS: usize = 33;
/// The component that changes, by the number of its flow.
const CHANGED: usize = 17;
const MONITOR: u16 = 44_453;
const GOAL_MS: f64 = 100.0;

/// Prints the median of so many reloads, and the longest.
pub(crate) fn measure(rounds: usize) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("flumen-bench-reload-{}", std::process::id()));
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(&folder).map_err(text)?;
    let result = measured(&folder.join("a.conf"), rounds.max(5));
    let _ = fs::remove_dir_all(&folder);
    let (mut times, counted) = result?;
    times.sort_by(f64::total_cmp);
    println!(
        "reload of 1 of {} components under load: {:.1} ms in the median, {:.1} ms at most (goal: {GOAL_MS:.0} ms); meanwhile \
         another flow has delivered {counted} events",
        3 * IDLE_FLOWS + 3,
        times[times.len() / 2],
        times[times.len() - 1]
    );
    Ok(())
}

/// The times of the reloads in milliseconds, and what the counting flow has delivered from the first to the last.
fn measured(file: &Path, rounds: usize) -> Result<(Vec<f64>, u64), String> {
    let program = program()?;
    let write = |batch_size| fs::write(file, configuration(batch_size)).map_err(|error| error.to_string());
    write(100)?;
    let mut child = Command::new(&program)
        .args(["agent", "-n", "a", "--no-reload-conf", "-Dflume.monitoring.type=http"])
        .arg(format!("-Dflume.monitoring.port={MONITOR}"))
        .arg("-f")
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let result = reloads(&mut child, rounds, write);
    stop(&mut child);
    result
}

fn reloads(
    child: &mut Child,
    rounds: usize,
    write: impl Fn(usize) -> Result<(), String>,
) -> Result<(Vec<f64>, u64), String> {
    let log = child.stderr.take().ok_or("there is no log")?;
    let mut lines = BufReader::new(log).lines();
    let mut wait_for = |part: &str| loop {
        match lines.next() {
            Some(Ok(line)) if line.contains(part) => return Ok(()),
            Some(Ok(line)) if line.contains("ERROR") => return Err(line),
            Some(Ok(_)) => {}
            _ => return Err(format!("the log ended before `{part}`")),
        }
    };
    wait_for("is running")?;
    let mut times = Vec::new();
    let before = delivered()?;
    let mut last = before;
    for round in 0..rounds {
        write(50 + round)?;
        let started = Instant::now();
        let told = Command::new("kill").args(["-HUP", &child.id().to_string()]).status();
        told.map_err(|error| format!("kill: {error}"))?;
        wait_for(&format!("starting sinks k{CHANGED}"))?;
        times.push(started.elapsed().as_secs_f64() * 1000.0);
        let now = delivered()?;
        if now <= last {
            return Err(format!("the others stand still: {last} events before the reload, {now} after it"));
        }
        last = now;
    }
    Ok((times, last - before))
}

/// What the counting flow has delivered, from the monitor.
fn delivered() -> Result<u64, String> {
    let text = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", MONITOR)).map_err(text)?;
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .map_err(text)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(text)?;
    let sink = answer.split("\"SINK.counting\"").nth(1).and_then(|rest| rest.split('}').next());
    let count = sink.and_then(|sink| sink.split("\"EventDrainSuccessCount\":\"").nth(1));
    let count = count.and_then(|count| count.split('"').next()).and_then(|count| count.parse().ok());
    count.ok_or_else(|| "the monitor does not show what the sink has delivered".to_owned())
}

fn configuration(batch_size: usize) -> String {
    let mut text = "a.sources.r.type = seq\na.sources.r.channels = c\na.channels.c.type = memory\n\
                    a.sinks.counting.type = null\na.sinks.counting.channel = c\n"
        .to_owned();
    let mut lists = ["r".to_owned(), "c".to_owned(), "counting".to_owned()];
    for i in 0..IDLE_FLOWS {
        let batch_size = if i == CHANGED { batch_size } else { 100 };
        let _ = write!(
            text,
            "a.sources.r{i}.type = netcat\na.sources.r{i}.bind = 127.0.0.1\na.sources.r{i}.port = 0\n\
             a.sources.r{i}.channels = c{i}\na.channels.c{i}.type = memory\na.sinks.k{i}.type = null\n\
             a.sinks.k{i}.channel = c{i}\na.sinks.k{i}.batchSize = {batch_size}\n"
        );
        for (list, letter) in lists.iter_mut().zip(["r", "c", "k"]) {
            let _ = write!(list, " {letter}{i}");
        }
    }
    let [sources, channels, sinks] = lists;
    text + &format!("a.sources = {sources}\na.channels = {channels}\na.sinks = {sinks}\n")
}
