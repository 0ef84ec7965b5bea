//! Events by HTTP: `client → loopback → http source → memory → null`, JSON arrays of a hundred events.
//!
//! The client is in this process, on a thread of its own whose CPU time is not counted.

use crate::{
    Effort,
    flow::{context, memory, registry, sink_runner},
    report::Table,
};
use flumen_components::sources::http::{HttpConfig, HttpSource};
use flumen_core::{
    config::{Settings, read},
    metrics::{SinkMetrics, SourceMetrics},
    processor::ChannelProcessor,
    registry::{SourceContext, SourceType},
    source::{Shutdown, Source},
};
use rustix::time::{ClockId, clock_gettime};
use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};
use tokio::task::JoinSet;

const EVENTS: usize = 100;
const BODY_BYTES: usize = 500;
/// Connections, each with a request under way.
const CONNECTIONS: usize = 4;

/// Measures requests of several kinds; the median of the rounds counts.
pub(crate) fn measure(effort: Effort, table: &mut Table) {
    let requests = (effort.events.min(2_000_000) / EVENTS).next_multiple_of(CONNECTIONS);
    let plain = "x".repeat(BODY_BYTES);
    let escaped = "a line with \\\"quotes\\\"\\n".repeat(BODY_BYTES / 24);
    let headers = r#""headers":{"host":"a.example.org","timestamp":"1700000000000"},"#;
    for (name, headers, body) in [
        ("no headers", "", &plain),
        ("two headers", headers, &plain),
        ("two headers, escapes in the body", headers, &escaped),
    ] {
        let request = request(headers, body);
        let mut times: Vec<Duration> = (0..effort.rounds).map(|_| flow(&request, requests)).collect();
        times.sort_unstable();
        let seconds = times[times.len() / 2].as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a figure of three digits")]
        let events = (requests * EVENTS) as f64;
        let figures =
            vec![format!("{:.0}", seconds * 1e9 / events), format!("{:.2}", events / seconds / 1e6)];
        table.row(format!("100 × 500 bytes, {name}"), figures);
    }
}

fn request(headers: &str, body: &str) -> Vec<u8> {
    let event = format!("{{{headers}\"body\":\"{body}\"}}");
    let array = format!("[{}]", vec![event; EVENTS].join(","));
    let length = array.len();
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json; charset=utf-8";
    format!("{head}\r\nContent-Length: {length}\r\n\r\n{array}").into_bytes()
}

/// The CPU time that the requests cost the agent.
fn flow(request: &[u8], requests: usize) -> Duration {
    let registry = registry();
    let channel = memory(EVENTS, &registry);
    let metrics = Arc::new(SourceMetrics::default());
    let source_context = SourceContext { common: context("r", &registry), metrics: metrics.clone() };
    let settings = Settings::from_pairs("r", &[("bind", "127.0.0.1"), ("port", "0")]);
    let config = read::<HttpConfig>(&settings, &[]).0.expect("these settings are right");
    let mut source = HttpSource::build(config, &source_context).expect("these settings are right");
    let mut address = source.address();
    let selector = registry.find_selector("replicating").expect("it is registered");
    let selector =
        (selector.build)(&Settings::new("s"), &["c".into()], &source_context.common).expect("one channel");
    let out = ChannelProcessor::new(Vec::new(), selector, vec![channel.clone()], &[0], metrics);
    let drained = Arc::new(SinkMetrics::default());
    let mut sink = sink_runner(&registry, channel, EVENTS, drained.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let begun = cpu_time(ClockId::ProcessCPUTime);
    let of_client = runtime.block_on(async {
        let (stop, shutdown) = Shutdown::new();
        let of_sink = shutdown.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { _ = Source::run(&mut source, out, shutdown).await });
        tasks.spawn(async move { _ = sink.run(of_sink).await });
        let address = (*address.wait_for(Option::is_some).await.expect("it listens")).expect("it listens");
        let request = request.to_vec();
        let client = tokio::task::spawn_blocking(move || client(address, &request, requests));
        let of_client = client.await.expect("the client works").expect("each request is answered with 200");
        stop.request();
        while tasks.join_next().await.is_some() {}
        of_client
    });
    drop(runtime);
    assert!(drained.drained.get() <= (requests * EVENTS) as u64, "an event was doubled");
    cpu_time(ClockId::ProcessCPUTime).saturating_sub(begun + of_client)
}

/// Sends the requests; the CPU time that it takes.
fn client(address: SocketAddr, request: &[u8], requests: usize) -> io::Result<Duration> {
    let begun = cpu_time(ClockId::ThreadCPUTime);
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        connections.push(stream);
    }
    for n in 0..requests + CONNECTIONS {
        let stream = &mut connections[n % CONNECTIONS];
        if n >= CONNECTIONS {
            read_answer(stream)?;
        }
        if n < requests {
            stream.write_all(request)?;
        }
    }
    Ok(cpu_time(ClockId::ThreadCPUTime).saturating_sub(begun))
}

fn read_answer(stream: &mut TcpStream) -> io::Result<()> {
    let mut answer = [0; 1_024];
    let mut end = 0;
    while !answer[..end].ends_with(b"\r\n\r\n") {
        match stream.read(&mut answer[end..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => end += n,
        }
    }
    if !answer.starts_with(b"HTTP/1.1 200 ") {
        let text = String::from_utf8_lossy(&answer[..end]).into_owned();
        return Err(io::Error::other(text));
    }
    Ok(())
}

fn cpu_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let part = |n: i64| u64::try_from(n).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}
