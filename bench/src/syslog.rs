//! Syslog over TCP into files: the real program beside the clients, so that its CPU time is its own.

use crate::idle::{cpu_ticks, program, stop, wait};
use std::{
    fs,
    io::Write,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};
use tokio::time::Instant;

/// Bytes of a message, its line end included.
const MESSAGE: usize = 512;
const CONNECTIONS: usize = 4;
const LIMIT: Duration = Duration::from_secs(120);
/// What becomes headers, and is no part of the body.
const HEAD: &str = "<165>1 2026-11-30T12:34:56.789Z web-17.example.com ";
const TAG: &str = "app 4711 ID47 [meta@32473 sequence=\"29\"] ";

/// Prints the median of the rounds.
pub(crate) fn measure(rounds: usize, messages: usize) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("flumen-bench-syslog-{}", std::process::id()));
    let result: Result<Vec<f64>, String> = (0..rounds).map(|_| round(&folder, messages)).collect();
    let _ = fs::remove_dir_all(&folder);
    let mut seconds = result?;
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    #[expect(clippy::cast_precision_loss, reason = "a figure of three digits")]
    let messages = messages as f64;
    println!(
        "syslogtcp → memory → file_roll, RFC 5424, {MESSAGE} bytes, {CONNECTIONS} connections: {:.0} ns a message, {:.2} million \
         messages a CPU-second (goal: 1.1)",
        median * 1e9 / messages,
        messages / median / 1e6
    );
    Ok(())
}

/// The CPU time in seconds that all messages cost.
fn round(folder: &Path, messages: usize) -> Result<f64, String> {
    let program = program()?;
    let text = |error: std::io::Error| error.to_string();
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("out")).map_err(text)?;
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).map_err(text)?.port();
    let file = folder.join("a.conf");
    let configuration = format!(
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = syslogtcp\na.sources.r.host = 127.0.0.1\n\
         a.sources.r.port = {port}\na.sources.r.channels = c\na.channels.c.type = memory\na.channels.c.capacity = 100000\n\
         a.channels.c.transactionCapacity = 1000\na.sinks.k.type = file_roll\na.sinks.k.channel = c\n\
         a.sinks.k.sink.directory = {}\na.sinks.k.sink.rollInterval = 0\na.sinks.k.sink.batchSize = 1000\n",
        folder.join("out").display()
    );
    fs::write(&file, configuration).map_err(text)?;
    let mut child = Command::new(&program)
        .args(["agent", "-n", "a", "--no-reload-conf", "-f"])
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let result = through(&child, port, &folder.join("out"), messages);
    stop(&mut child);
    result
}

fn through(child: &Child, port: u16, out: &Path, messages: usize) -> Result<f64, String> {
    let started = Instant::now();
    let connect = || loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return Ok(stream),
            Err(error) if started.elapsed() > LIMIT => return Err(error.to_string()),
            Err(_) => std::thread::yield_now(),
        }
    };
    let streams: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect()).collect::<Result<_, _>>()?;
    let before = cpu_ticks(child).ok_or("there is no /proc")?;
    let body = format!("{TAG}{}", "x".repeat(MESSAGE - HEAD.len() - TAG.len() - 1));
    let chunk = format!("{HEAD}{body}\n").repeat(128);
    let each = messages / CONNECTIONS;
    std::thread::scope(|scope| {
        for mut stream in streams {
            let chunk = chunk.as_bytes();
            scope.spawn(move || {
                let mut left = each * MESSAGE;
                while left > 0 {
                    let n = left.min(chunk.len());
                    stream.write_all(&chunk[..n]).ok()?;
                    left -= n;
                }
                Some(())
            });
        }
    });
    let expected = (each * CONNECTIONS * (body.len() + 1)) as u64;
    loop {
        let written: u64 = fs::read_dir(out)
            .map_err(|error| error.to_string())?
            .filter_map(|entry| entry.ok()?.metadata().ok())
            .map(|meta| meta.len())
            .sum();
        if written == expected {
            break;
        }
        if started.elapsed() > LIMIT || written > expected {
            return Err(format!("{written} bytes are written, and {expected} were to be"));
        }
        wait(Duration::from_millis(10));
    }
    // A tick is a hundredth of a second.
    Ok((cpu_ticks(child).ok_or("there is no /proc")? - before) / 100.0)
}
