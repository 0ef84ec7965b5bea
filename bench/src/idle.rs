//! What an agent that has nothing to do costs: memory, and the time until it is ready.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};
use tokio::time::Instant;

/// An agent that waits for lines.
const CONFIGURATION: &str = "\
a.sources = r
a.channels = c
a.sinks = k
a.sources.r.type = netcat
a.sources.r.bind = 127.0.0.1
a.sources.r.port = 44451
a.sources.r.channels = c
a.channels.c.type = memory
a.sinks.k.type = null
a.sinks.k.channel = c
";
const PORT: u16 = 44451;
const LIMIT: Duration = Duration::from_secs(10);

/// Starts the program that was built beside this one, and prints what it takes.
pub(crate) fn measure() {
    match started() {
        Ok((ready, rss_kib)) => {
            println!(
                "idle agent (netcat → memory → null): ready after {:.1} ms, RSS {:.1} MiB",
                ready,
                rss_kib / 1024.0
            );
        }
        Err(error) => println!("idle agent: not measured: {error}"),
    }
}

fn started() -> Result<(f64, f64), String> {
    let program = program()?;
    let file = std::env::temp_dir().join(format!("flumen-bench-{}.conf", std::process::id()));
    std::fs::File::create(&file)
        .and_then(|mut file| file.write_all(CONFIGURATION.as_bytes()))
        .map_err(|e| e.to_string())?;
    let mut times = Vec::new();
    let mut rss = 0.0;
    for _ in 0..7 {
        let before = Instant::now();
        let mut child = Command::new(&program)
            .args(["agent", "-n", "a", "--no-reload-conf", "-f"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let ready = wait_until_ready(before);
        if let Ok(ready) = ready {
            times.push(ready);
            // It is idle when it has let go of what only the start needed.
            wait(SETTLED);
            rss = resident_kib(&child).unwrap_or(rss);
        }
        stop(&mut child);
        ready?;
    }
    let _ = std::fs::remove_file(&file);
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], rss))
}

/// Starts an agent that tails so many files of one line, and prints what it takes when nothing happens.
pub(crate) fn measure_tailed(folder: &Path, n_files: usize) {
    match tailed(folder, n_files) {
        Ok((percent, rss_kib)) => println!(
            "{n_files} idle files: {percent:.2} % of a core, RSS {:.1} MiB (goals: 1 %, 40 MiB)",
            rss_kib / 1024.0
        ),
        Err(error) => println!("{n_files} idle files: not measured: {error}"),
    }
}

fn tailed(folder: &Path, n_files: usize) -> Result<(f64, f64), String> {
    let program = program()?;
    let text = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(folder.join("in")).map_err(text)?;
    for n in 0..n_files {
        std::fs::write(folder.join(format!("in/{n}.log")), format!("the line of file {n}\n"))
            .map_err(text)?;
    }
    let root = folder.display();
    let configuration = format!(
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = taildir\na.sources.r.channels = c\n\
         a.sources.r.filegroups = g\na.sources.r.filegroups.g = {root}/in/.*\n\
         a.sources.r.positionFile = {root}/positions.json\na.channels.c.type = memory\n\
         a.channels.c.capacity = 20000\na.sinks.k.type = null\na.sinks.k.channel = c\n"
    );
    let file = folder.join("a.conf");
    std::fs::write(&file, configuration).map_err(text)?;
    let mut child = Command::new(&program)
        .args(["agent", "-n", "a", "--no-reload-conf", "-f"])
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let positions = folder.join("positions.json");
    // All were read when all have a position; the rest of the time it only looks.
    let before = Instant::now();
    let all_read = || {
        let text = std::fs::read_to_string(&positions).unwrap_or_default();
        text.matches("\"inode\"").count() == n_files && !text.contains("\"pos\":0,")
    };
    while !all_read() && before.elapsed() < 2 * LIMIT {
        wait(Duration::from_millis(100));
    }
    let ready = all_read();
    wait(Duration::from_secs(10));
    let (cpu, started) = (cpu_ticks(&child), Instant::now());
    wait(Duration::from_secs(20));
    let spent = cpu_ticks(&child).zip(cpu).map(|(now, then)| (now - then) / started.elapsed().as_secs_f64());
    let rss = resident_kib(&child);
    stop(&mut child);
    if !ready {
        return Err("not all files were read in time".to_owned());
    }
    // A tick is a hundredth of a second, and so a percent of a second.
    spent.zip(rss).ok_or_else(|| "there is no /proc".to_owned())
}

/// CPU time of a process, in hundredths of a second.
pub(crate) fn cpu_ticks(child: &Child) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "what another process does while nothing happens is measured over time"
)]
pub(crate) fn wait(time: Duration) {
    std::thread::sleep(time);
}

fn wait_until_ready(before: Instant) -> Result<f64, String> {
    loop {
        if TcpStream::connect(("127.0.0.1", PORT)).is_ok() {
            return Ok(before.elapsed().as_secs_f64() * 1000.0);
        }
        if before.elapsed() > LIMIT {
            return Err(format!("not ready within {LIMIT:?}"));
        }
        std::thread::yield_now();
    }
}

/// Longer than an agent needs until it has settled.
const SETTLED: Duration = Duration::from_millis(1_000);

fn resident_kib(child: &Child) -> Option<f64> {
    let mut status = String::new();
    std::fs::File::open(format!("/proc/{}/status", child.id())).ok()?.read_to_string(&mut status).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

pub(crate) fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The `flumen` program in the folder of this one.
pub(crate) fn program() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = own.with_file_name("flumen");
    if program.is_file() {
        return Ok(program);
    }
    Err(format!("there is no {}: build it first (cargo build --release -p flumen-agent)", program.display()))
}
