//! Java Flume's own clients and sources with our sources and sinks, event by event as the tool prints them.

use crate::{
    collector::{Collector, channel, context, settings},
    events::events,
    tool::script,
    wait::{LIMIT, free_port, until},
    ways::{Way, ways},
};
use base64ct::{Base64, Encoding};
use flumen_core::{
    channel::{Channel, Signal},
    event::{Batch, Headers},
    group::{Member, MemberOptions, SinkRunner},
    metrics::SinkMetrics,
    registry::SinkContext,
    source::Shutdown,
    testing::Alone,
};
use interop::missing;
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::Arc,
};
use tokio::{task::spawn_blocking, time::timeout};

const N_EVENTS: usize = 5_000;

/// Flume's tool, with its output.
fn tool(words: &[String]) -> Child {
    tool_of(&[&["RpcTool".to_owned()], words].concat())
}

/// A tool of Flume's by its name, which is the first word.
pub(crate) fn tool_of(words: &[String]) -> Child {
    let mut command = Command::new("bash");
    command.arg(script()).args(words).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The events that the tool has printed, by now or until it ends.
pub(crate) async fn printed(mut child: Child, what: &str) -> Batch {
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

/// What Java's client sends arrives in the channel of our source, in order; then what our sink sends arrives at Java's source.
async fn both_ways(way: &Way) {
    let registry = Arc::new(flumen_agent::registry());
    let what = format!("{} {}", way.protocol, way.name);

    let collector = Collector::start(way.protocol, &way.source).await;
    let port = collector.port.to_string();
    let words = ["send", way.protocol, "127.0.0.1", &port, &N_EVENTS.to_string(), "7", "--batch", "0"];
    let words = words.map(str::to_owned);
    let sent = printed(tool(&[&words[..], &Way::options(&way.sink)].concat()), &what).await;
    assert!(sent == events(7, N_EVENTS), "{what}: the tool makes other events than are expected of it");
    assert!(collector.stored.contents() == sent, "{what}: other events are stored than were sent");
    assert_eq!(collector.metrics.accepted.get(), N_EVENTS as u64);
    collector.stop().await;

    let port = free_port();
    let words = ["receive", way.protocol, &port.to_string(), &N_EVENTS.to_string(), "--timeout", "120"];
    let words = words.map(str::to_owned);
    let mut receiver = tool(&[&words[..], &Way::options(&way.source)].concat());
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
    let member =
        Member::new("k".into(), factory, from.clone(), 1, MemberOptions::default(), metrics.clone(), wake);
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

#[tokio::test(flavor = "multi_thread")]
async fn single_events_of_javas_client_arrive_here_and_ours_at_javas_source() {
    if missing() {
        return;
    }
    for way in ways().iter().filter(|way| way.name == "plain") {
        both_ways(way).await;
    }
}
