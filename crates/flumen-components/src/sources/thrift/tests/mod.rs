//! The source over loopback: what is called, what is answered, what is stored.

mod contract;
mod recorded;
mod tls;

use super::*;
use crate::testing::{LIMIT, source_context};
use flumen_core::{
    config::{Problem, Settings, read},
    event::{Batch, Headers},
    metrics::SourceMetrics,
    source::ShutdownHandle,
    testing::{Everywhere, Once, ScriptedChannel},
};
use flumen_rpc::{
    net::{Target, dial},
    thrift::{CallError, Connection, Protocol},
};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};

/// The settings of a source on a free port of the loopback, and what is wrong with them.
fn config(pairs: &[(&str, &str)]) -> (Option<ThriftSourceConfig>, Vec<Problem>) {
    let mut all = vec![("bind", "127.0.0.1"), ("port", "0")];
    all.retain(|(key, _)| pairs.iter().all(|(other, _)| key != other));
    all.extend_from_slice(pairs);
    read(&Settings::from_pairs("a.sources.r", &all), &[])
}

/// A source at work, and the channel behind it.
struct Running {
    target: Target,
    channel: Arc<ScriptedChannel>,
    metrics: Arc<SourceMetrics>,
    stop: ShutdownHandle,
    tasks: JoinSet<Result<(), SourceError>>,
}

impl Running {
    async fn start(pairs: &[(&str, &str)]) -> Self {
        Self::with_channel(pairs, ScriptedChannel::new("c", 10_000, 1_000)).await
    }

    async fn with_channel(pairs: &[(&str, &str)], channel: ScriptedChannel) -> Self {
        let context = source_context();
        let metrics = context.metrics.clone();
        let mut source = ThriftSource::build(config(pairs).0.unwrap(), &context).unwrap();
        let channel = Arc::new(channel);
        let selector = Arc::new(Everywhere(1));
        let out = ChannelProcessor::new(Vec::new(), selector, vec![channel.clone()], &[0], metrics.clone());
        let (stop, shutdown) = Shutdown::new();
        let mut address = source.address();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { source.run(out, shutdown).await });
        let bound =
            timeout(LIMIT, address.wait_for(Option::is_some)).await.expect("the source listens").unwrap();
        let target = Target { host: "127.0.0.1".into(), port: bound.unwrap().port() };
        Self { target, channel, metrics, stop, tasks }
    }

    async fn client(&self, protocol: Protocol) -> Connection {
        Connection::new(dial(&self.target, None, LIMIT).await.unwrap(), protocol)
    }

    fn bodies(&self) -> Vec<String> {
        crate::testing::bodies(&self.channel.contents())
    }

    /// Stops it; it must end by itself.
    async fn stop(mut self) {
        self.stop.request();
        let ended = timeout(LIMIT, self.tasks.join_next()).await.expect("the source stops");
        ended.unwrap().unwrap().unwrap();
    }
}

fn numbers(range: std::ops::Range<u32>) -> Batch {
    let mut batch = Batch::new();
    for n in range {
        batch.push(Headers::from_iter([("n".to_owned(), n.to_string())]), n.to_string());
    }
    batch
}

fn texts(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|n| n.to_string()).collect()
}

#[tokio::test]
async fn rpc_25_single_calls_are_stored_in_their_order_and_counted() {
    for (name, protocol) in [("compact", Protocol::Compact), ("binary", Protocol::Binary)] {
        let source = Running::start(&[("protocol", name)]).await;
        let mut client = source.client(protocol).await;
        for n in 0..30 {
            client.append(&numbers(0..30), n).await.unwrap();
        }
        assert_eq!(source.bodies(), texts(0..30));
        let metrics = &source.metrics;
        let counts = [
            metrics.append_received.get(),
            metrics.append_accepted.get(),
            metrics.received.get(),
            metrics.accepted.get(),
            metrics.batch_received.get(),
        ];
        assert_eq!(counts, [30, 30, 30, 30, 0]);
        source.stop().await;
    }
}

#[tokio::test]
async fn rpc_26_batches_are_stored_with_their_headers_and_counted() {
    let source = Running::start(&[]).await;
    let mut client = source.client(Protocol::Compact).await;
    for n in 0..30 {
        client.append_batch(&numbers(n * 10..n * 10 + 10), 0..10).await.unwrap();
    }
    client.append_batch(&numbers(300..800), 0..500).await.unwrap();
    assert_eq!(source.channel.contents(), numbers(0..800));
    let metrics = &source.metrics;
    let counts = [metrics.batch_received.get(), metrics.batch_accepted.get(), metrics.accepted.get()];
    assert_eq!(counts, [31, 31, 800]);
    assert_eq!(metrics.append_received.get(), 0);
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rpc_27_many_clients_send_at_once() {
    for threads in ["0", "1"] {
        let source = Running::start(&[("threads", threads)]).await;
        let mut clients = JoinSet::new();
        for n in 0..30 {
            let mut client = source.client(Protocol::Compact).await;
            clients.spawn(
                async move { client.append_batch(&numbers(n * 10..n * 10 + 10), 0..10).await.unwrap() },
            );
        }
        timeout(LIMIT, async { while clients.join_next().await.is_some() {} })
            .await
            .expect("all are answered");
        let mut stored: Vec<u32> = source.bodies().iter().map(|body| body.parse().unwrap()).collect();
        stored.sort_unstable();
        assert_eq!(stored, (0..300).collect::<Vec<_>>());
        source.stop().await;
    }
}

#[tokio::test]
async fn rpc_29_a_channel_that_refuses_is_told_as_a_failure_and_counted() {
    let source = Running::with_channel(&[], ScriptedChannel::new("c", 10, 10).durable()).await;
    let mut client = source.client(Protocol::Compact).await;
    source.channel.once(Once::PutFails);
    source.channel.once(Once::PutCommitFails);
    let failed = client.append(&numbers(0..1), 0).await.unwrap_err();
    assert!(matches!(failed, CallError::Status(Status::Failed)), "{failed}");
    let failed = client.append_batch(&numbers(0..2), 0..2).await.unwrap_err();
    assert!(matches!(failed, CallError::Status(Status::Failed)), "{failed}");
    assert_eq!(source.metrics.channel_write_fail.get(), 2);
    assert_eq!((source.metrics.append_accepted.get(), source.metrics.batch_accepted.get()), (0, 0));
    client.append(&numbers(0..1), 0).await.unwrap();
    assert_eq!(source.bodies(), ["0"]);
    source.stop().await;
}

#[tokio::test]
async fn nothing_to_store_is_stored_and_ok() {
    let source = Running::start(&[]).await;
    let mut client = source.client(Protocol::Compact).await;
    client.append_batch(&Batch::new(), 0..0).await.unwrap();
    assert_eq!(source.metrics.batch_accepted.get(), 1);
    source.stop().await;
}

#[tokio::test]
async fn open_connections_are_counted_and_limited() {
    let source = Running::start(&[("maxConnections", "1")]).await;
    let mut first = source.client(Protocol::Compact).await;
    first.append(&numbers(0..1), 0).await.unwrap();
    assert_eq!(source.metrics.open_connections.get(), 1);
    let mut second = source.client(Protocol::Compact).await;
    let batch = numbers(1..2);
    let waiting = second.append(&batch, 0);
    let mut waiting = std::pin::pin!(waiting);
    assert!(timeout(Duration::from_millis(50), waiting.as_mut()).await.is_err(), "it has to wait");
    drop(first);
    timeout(LIMIT, waiting).await.expect("its turn comes").unwrap();
    source.stop().await;
}

#[tokio::test]
async fn a_message_longer_than_allowed_ends_its_connection_only() {
    let source = Running::start(&[("maxFrameBytes", "1000")]).await;
    let mut good = source.client(Protocol::Compact).await;
    let mut long = Batch::new();
    long.push(Headers::new(), vec![b'x'; 1_000]);
    let mut bad = source.client(Protocol::Compact).await;
    assert!(!bad.append(&long, 0).await.unwrap_err().keeps_connection());
    good.append(&numbers(0..1), 0).await.unwrap();
    assert_eq!(source.bodies(), ["0"]);
    source.stop().await;
}

#[tokio::test]
async fn a_port_in_use_is_told_with_the_key_and_leaves_nothing_behind() {
    let source = Running::start(&[]).await;
    let port = source.target.port.to_string();
    for (pairs, says) in [
        ([("bind", "127.0.0.1"), ("port", &*port)], "choose another with a.sources.r.port"),
        ([("bind", "no.such.host.invalid"), ("port", "0")], "cannot listen on no.such.host.invalid"),
    ] {
        let mut other = ThriftSource::build(config(&pairs).0.unwrap(), &source_context()).unwrap();
        let out = ChannelProcessor::new(
            Vec::new(),
            Arc::new(Everywhere(1)),
            vec![source.channel.clone()],
            &[0],
            Arc::default(),
        );
        let (_stop, shutdown) = Shutdown::new();
        let error = other.run(out, shutdown).await.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    source.stop().await;
}

#[test]
fn every_setting_is_read_as_by_java() {
    let (read, problems) = config(&[]);
    let read = read.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!((read.protocol, read.threads, read.tls.ssl), (Protocol::Compact, 0, false));
    // Java checks the word in any case, and then compares it in lower case.
    for (text, protocol, n_problems) in [
        ("binary", Protocol::Binary, 0),
        ("compact", Protocol::Compact, 0),
        ("Binary", Protocol::Compact, 1),
        ("COMPACT", Protocol::Compact, 1),
    ] {
        let (read, problems) = config(&[("protocol", text)]);
        assert_eq!((read.unwrap().protocol, problems.len()), (protocol, n_problems), "{text}");
    }
    assert!(config(&[("protocol", "json")]).0.is_none());
    let (read, problems) = config(&[("threads", "many")]);
    assert_eq!((read.unwrap().threads, problems.len()), (0, 1));
    let (read, problems) = config(&[("kerberos", "false"), ("agent-principal", "p")]);
    assert!(read.is_some() && problems.len() == 1, "{problems:?}");
    let (read, problems) = config(&[("kerberos", "true")]);
    let told = problems[0].to_string();
    assert!(read.is_none() && told.contains("a.sources.r.kerberos: is not supported"), "{told}");
    for missing in ["bind", "port"] {
        let settings: Vec<_> =
            [("bind", "h"), ("port", "1")].into_iter().filter(|(key, _)| *key != missing).collect();
        let (read, _) = read_settings(&settings);
        assert!(read.is_none(), "{missing} is required");
    }
}

fn read_settings(pairs: &[(&str, &str)]) -> (Option<ThriftSourceConfig>, Vec<Problem>) {
    read(&Settings::from_pairs("a.sources.r", pairs), &[])
}

#[test]
fn it_says_where_it_listens() {
    let facts = ThriftSource::facts(&config(&[("port", "4141")]).0.unwrap());
    assert_eq!((facts.listens[0].port, facts.listens[0].host.as_str()), (4141, "127.0.0.1"));
}
