//! Java Flume's own clients and sources with our sources and sinks: Avro and Thrift, plain, compressed and with TLS, both ways.

#[path = "flume/spooldir.rs"]
mod spooldir;

use base64ct::{Base64, Encoding};
use flumen_core::{
    channel::{Channel, ChannelLimits, Signal},
    config::Settings,
    event::{Batch, Headers},
    group::{Member, MemberOptions, SinkRunner},
    metrics::{SinkMetrics, SourceMetrics},
    processor::ChannelProcessor,
    registry::{BuildContext, Environment, ExtraMetrics, Registry, SinkContext, SourceContext},
    source::Shutdown,
    testing::{Alone, Everywhere, ScriptedChannel},
    world::SetClock,
};
use interop::missing;
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::{
    task::spawn_blocking,
    time::{Instant, timeout},
};

/// Generous: a JVM starts, on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);
const N_EVENTS: usize = 5_000;

fn store(name: &str) -> String {
    format!("{}/../parity/golden/keystores/stores/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// One way of speaking: what the tool gets to send, what it gets to receive, and the keys of our source and sink.
struct Way {
    name: &'static str,
    protocol: &'static str,
    send: Vec<String>,
    receive: Vec<String>,
    source: Vec<(&'static str, String)>,
    sink: Vec<(&'static str, String)>,
}

fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for protocol in ["avro", "thrift"] {
        for (name, deflate, tls) in [
            ("plain", false, false),
            ("deflate", true, false),
            ("tls", false, true),
            ("deflate and tls", true, true),
        ] {
            if protocol == "thrift" && deflate {
                continue;
            }
            let mut way = Way {
                name,
                protocol,
                send: Vec::new(),
                receive: Vec::new(),
                source: Vec::new(),
                sink: Vec::new(),
            };
            if deflate {
                let both = ["--compression".to_owned(), "deflate".to_owned()];
                way.send.extend(both.clone());
                way.receive.extend(both);
                way.source.push(("compression-type", "deflate".to_owned()));
                way.sink.push(("compression-type", "deflate".to_owned()));
            }
            if tls {
                let (keys, trust) = (store("server.p12"), store("truststore.jks"));
                let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
                let password = "changeit".to_owned();
                way.send.extend(own(&["--ssl", "--truststore", &trust, "--truststore-password", "changeit"]));
                way.receive.extend(own(&["--ssl", "--keystore", &keys, "--keystore-password", "changeit"]));
                way.receive.extend(own(&["--keystore-type", "PKCS12"]));
                way.source.extend([("ssl", "true".to_owned()), ("keystore", keys)]);
                way.source.push(("keystore-password", password.clone()));
                way.sink.extend([("ssl", "true".to_owned()), ("truststore", trust)]);
                way.sink.push(("truststore-password", password));
            }
            ways.push(way);
        }
    }
    ways
}

/// Flume's tool for its protocols, with its output.
fn tool(words: &[String]) -> Child {
    tool_of(&[&["RpcTool".to_owned()], words].concat())
}

/// A tool of Flume's by its name, which is the first word.
fn tool_of(words: &[String]) -> Child {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "flume", "run"].iter().collect();
    let mut command = Command::new("bash");
    command.arg(script).args(words).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The events that the tool has printed, by now or until it ends.
async fn printed(mut child: Child, what: &str) -> Batch {
    let what = what.to_owned();
    let read = spawn_blocking(move || {
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        let status = child.wait().unwrap();
        let mut said = String::new();
        if let Some(mut error) = child.stderr.take() {
            error.read_to_string(&mut said).unwrap();
        }
        assert!(status.success(), "{what}: {status}\n{said}");
        out
    });
    let text = timeout(LIMIT, read).await.expect("the tool ends").unwrap();
    let mut batch = Batch::new();
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let headers: BTreeMap<String, String> = serde_json::from_value(event["headers"].clone()).unwrap();
        let headers: Headers = headers.into_iter().collect();
        batch.push(headers, Base64::decode_vec(event["body"].as_str().unwrap()).unwrap());
    }
    batch
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn context(name: &str, registry: &Arc<Registry>) -> BuildContext {
    BuildContext {
        agent: "a".into(),
        name: name.into(),
        clock: Arc::new(SetClock::default()),
        seed: 1,
        environment: Arc::new(Environment::default()),
        registry: registry.clone(),
        extra: ExtraMetrics::default(),
    }
}

fn channel() -> Arc<ScriptedChannel> {
    let keep_alive = Duration::from_secs(1);
    let limits =
        ChannelLimits { capacity: 1_000_000, transaction_capacity: 10_000, byte_slots: None, keep_alive };
    Arc::new(ScriptedChannel::with_limits("c", limits))
}

fn settings(port: u16, first: (&str, &str), more: &[(&str, String)]) -> Settings {
    let port = port.to_string();
    let mut pairs = vec![first, ("port", port.as_str())];
    pairs.extend(more.iter().map(|(key, value)| (*key, value.as_str())));
    Settings::from_pairs("a.x.y.", &pairs)
}

/// Waits for a port, or for what else takes its time.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    let mut pause = tokio::time::interval(Duration::from_millis(20));
    while !holds() {
        assert!(start.elapsed() < LIMIT, "stuck: {what}");
        pause.tick().await;
    }
}

/// What Java's client sends arrives in the channel of our source, in order; then what our sink sends arrives at Java's source.
async fn both_ways(way: &Way, batch: &str) {
    let registry = Arc::new(flumen_agent::registry());
    let what = format!("{} {}, batch {batch}", way.protocol, way.name);

    let port = free_port();
    let entry = registry.find_source(way.protocol).unwrap();
    let metrics = Arc::new(SourceMetrics::default());
    let source_context = SourceContext { common: context("r", &registry), metrics: metrics.clone() };
    let mut source =
        (entry.build)(&settings(port, ("bind", "127.0.0.1"), &way.source), &source_context).unwrap();
    let stored = channel();
    let out = ChannelProcessor::new(
        Vec::new(),
        Arc::new(Everywhere(1)),
        vec![stored.clone()],
        &[0],
        metrics.clone(),
    );
    let (stop, shutdown) = Shutdown::new();
    let words =
        ["send", way.protocol, "127.0.0.1", &port.to_string(), &N_EVENTS.to_string(), "7", "--batch", batch]
            .map(str::to_owned);
    let work = async {
        until("a source that listens", || TcpStream::connect(("127.0.0.1", port)).is_ok()).await;
        let sent = printed(tool(&[&words[..], &way.send].concat()), &what).await;
        stop.request();
        sent
    };
    let (end, sent) = tokio::join!(source.run(out, shutdown), work);
    end.unwrap();
    assert_eq!(sent.len(), N_EVENTS, "{what}");
    assert!(stored.contents() == sent, "{what}: other events are stored than were sent");
    assert_eq!(metrics.accepted.get(), N_EVENTS as u64);

    let port = free_port();
    let words = ["receive", way.protocol, &port.to_string(), &N_EVENTS.to_string(), "--timeout", "120"];
    let words = words.map(str::to_owned);
    let mut receiver = tool(&[&words[..], &way.receive].concat());
    let mut said = BufReader::new(receiver.stderr.take().unwrap());
    let ready = spawn_blocking(move || {
        let mut line = String::new();
        while said.read_line(&mut line).unwrap() > 0 && !line.contains("READY") {}
        // Read on, or the tool would wait for somebody who does.
        std::io::copy(&mut said, &mut std::io::sink()).unwrap();
        line
    });
    let entry = *registry.find_sink(way.protocol).unwrap();
    let (metrics, wake) = (Arc::new(SinkMetrics::default()), Arc::new(Signal::default()));
    let sink_context = SinkContext {
        common: context("k", &registry),
        metrics: metrics.clone(),
        wake: wake.clone(),
        durable_channel: false,
    };
    let sink_settings = settings(port, ("hostname", "127.0.0.1"), &way.sink);
    let from = channel();
    from.fill(&sent);
    let factory = Box::new(move || (entry.build)(&sink_settings, &sink_context).map_err(Into::into));
    let batch_size = batch.parse::<u32>().unwrap().max(1);
    let member = Member::new(
        "k".into(),
        factory,
        from.clone(),
        batch_size,
        MemberOptions::default(),
        metrics.clone(),
        wake,
    );
    let mut runner = SinkRunner::new(vec![member.unwrap()], Box::new(Alone::default()));
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        let received = printed(receiver, &what).await;
        until("commits", || metrics.drained.get() == N_EVENTS as u64).await;
        stop.request();
        received
    };
    let (_, received) = tokio::join!(runner.run(shutdown), work);
    assert!(received == sent, "{what}: Java has other events than were sent");
    assert_eq!(from.depth().queued, 0);
    ready.await.unwrap();
}

async fn every_way(protocol: &str) {
    if missing() {
        return;
    }
    for way in ways().iter().filter(|way| way.protocol == protocol) {
        both_ways(way, "100").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn avro_events_of_java_arrive_here_and_ours_there_plain_compressed_and_with_tls() {
    every_way("avro").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thrift_events_of_java_arrive_here_and_ours_there_plain_and_with_tls() {
    every_way("thrift").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn single_events_are_calls_of_their_own() {
    if missing() {
        return;
    }
    for way in ways().iter().filter(|way| way.name == "plain") {
        both_ways(way, "0").await;
    }
}
