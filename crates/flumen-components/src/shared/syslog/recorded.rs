//! For tests: what was sent to real Flume's syslog sources, and the events that it made of it.

use crate::testing::{LIMIT, RecordedEvent, channel, context, json_lines, processor, until};
use base64ct::{Base64, Encoding};
use flumen_core::{
    event::{Batch, Headers},
    metrics::SourceMetrics,
    registry::SourceContext,
    source::{Shutdown, Source},
    testing::ScriptedChannel,
    world::SetClock,
};
use serde::Deserialize;
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};
use tokio::{io::AsyncWriteExt, net::TcpStream, sync::watch, time::timeout};

#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) case: String,
    r#in: Option<String>,
    chunks: Option<Vec<String>>,
    pub(crate) now: i64,
    events: Vec<RecordedEvent>,
}

/// Headers and body of an event, in a form that prints well.
pub(crate) type Shown = (BTreeMap<String, String>, String);

impl Case {
    pub(crate) fn chunks(&self) -> Vec<Vec<u8>> {
        let decode = |text: &String| Base64::decode_vec(text).unwrap();
        self.r#in.iter().chain(self.chunks.iter().flatten()).map(decode).collect()
    }

    /// What Java made of it, with the time of sending in its place.
    pub(crate) fn events(&self) -> Vec<Shown> {
        let mut batch = Batch::new();
        self.events.iter().for_each(|event| event.push(&mut batch));
        let mut events = shown(&batch);
        for (headers, _) in &mut events {
            for value in headers.values_mut().filter(|value| *value == "@NOW@") {
                *value = self.now.to_string();
            }
        }
        events
    }
}

/// The events of a batch.
pub(crate) fn shown(batch: &Batch) -> Vec<Shown> {
    let show = |headers: Headers| {
        headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    let body = |body: &[u8]| body.escape_ascii().to_string();
    batch.iter().map(|event| (show(event.headers.to_headers()), body(event.body))).collect()
}

pub(crate) fn cases(name: &str) -> Vec<Case> {
    let cases: Vec<Case> = json_lines(&format!("sources/{name}.jsonl"));
    assert!(cases.len() > 100, "{name}");
    cases
}

/// What a source is built with, and its clock.
pub(crate) fn source_context() -> (SourceContext, Arc<SetClock>) {
    let clock = Arc::new(SetClock::at(0));
    let mut common = context("r", 0);
    common.clock = clock.clone();
    (SourceContext { common, metrics: Arc::new(SourceMetrics::default()) }, clock)
}

/// Runs a source while `work` talks to it, and stops it then.
pub(crate) async fn running<S: Source, A: IntoIterator<Item = SocketAddr> + Clone, T>(
    mut source: S,
    mut addresses: watch::Receiver<A>,
    channel: &Arc<ScriptedChannel>,
    work: impl AsyncFnOnce(Vec<SocketAddr>) -> T,
) -> T {
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        let listens = |addresses: &A| addresses.clone().into_iter().next().is_some();
        let addresses = addresses.wait_for(listens).await.unwrap().clone().into_iter().collect();
        let result = work(addresses).await;
        stop.request();
        result
    };
    let (end, result) = tokio::join!(timeout(LIMIT * 4, source.run(processor(&[channel]), shutdown)), work);
    end.expect("it stops").unwrap();
    result
}

/// Sends the chunks and ends our side; gives the events once the source has ended its side too.
pub(crate) async fn talk(address: SocketAddr, chunks: &[Vec<u8>], channel: &ScriptedChannel) -> Vec<Shown> {
    use tokio::io::AsyncReadExt;
    let before = channel.contents().len();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for chunk in chunks {
        stream.write_all(chunk).await.unwrap();
        tokio::task::yield_now().await;
    }
    stream.shutdown().await.unwrap();
    let mut reply = Vec::new();
    timeout(LIMIT, stream.read_to_end(&mut reply)).await.expect("the source ends its side").unwrap();
    assert!(reply.is_empty(), "syslog has no answers");
    let mut stored = channel.contents();
    stored.split_front(before);
    shown(&stored)
}

/// Room for all cases.
pub(crate) fn large_channel() -> Arc<ScriptedChannel> {
    channel(1_000_000, 100_000)
}

/// Sends the chunks as datagrams; gives the events, of which there are to be `n_events`.
pub(crate) async fn send(
    socket: &tokio::net::UdpSocket,
    address: SocketAddr,
    chunks: &[Vec<u8>],
    n_events: usize,
    channel: &ScriptedChannel,
) -> Vec<Shown> {
    let before = channel.contents().len();
    for chunk in chunks {
        socket.send_to(chunk, address).await.unwrap();
    }
    until("the events", || channel.contents().len() >= before + n_events).await;
    let mut stored = channel.contents();
    stored.split_front(before);
    shown(&stored)
}

/// Sends the recorded cases, all but `own` (which real Flume gets wrong; other tests say what they give here), and compares what they give with what Java gave, after `correct` has put its
/// mistakes right.
pub(crate) async fn compare(
    name: &str,
    address: SocketAddr,
    clock: &SetClock,
    channel: &ScriptedChannel,
    own: &[&str],
    correct: impl Fn(&str, &mut Shown),
) {
    let cases = cases(name);
    for name in own {
        assert!(cases.iter().any(|case| case.case == *name), "{name} is no case");
    }
    for case in cases.iter().filter(|case| !own.contains(&case.case.as_str())) {
        clock.set(case.now);
        let mut expected = case.events();
        expected.iter_mut().for_each(|event| correct(&case.case, event));
        let found = talk(address, &case.chunks(), channel).await;
        assert_eq!(found, expected, "{name} {}", case.case);
    }
}

/// The bodies and states of events, in short.
pub(crate) fn brief(events: &[Shown]) -> Vec<(&str, &str)> {
    events
        .iter()
        .map(|(headers, body)| (body.as_str(), headers.get("flume.syslog.status").map_or("", String::as_str)))
        .collect()
}
