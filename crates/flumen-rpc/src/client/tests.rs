//! Clients against scripted sources of both protocols.

use super::*;
use crate::{
    avro::{Asked, Budget, FrameReader, KnownClients, Session, Status},
    net::{Accepted, Listener, ServerLimits, bind},
    thrift,
};
use flumen_core::source::{Shutdown, ShutdownHandle};
use std::{
    future::Future,
    sync::{Arc, Mutex as StdMutex},
    time::Duration,
};
use tokio::{io::AsyncWriteExt, task::JoinSet, time::timeout};

const LIMIT: Duration = Duration::from_secs(20);

/// What a source does with a call.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Ok,
    Failed,
    Unknown,
    Throws,
    Nothing,
    /// As OK, but it takes its time.
    Slow,
}

/// What a slow call takes: most of the shortest time limit, which is a second.
const SLOW: Duration = Duration::from_millis(600);

/// What a source is to do, and the sizes of the calls that it has taken.
#[derive(Debug)]
struct Script {
    does: StdMutex<Does>,
    calls: StdMutex<Vec<usize>>,
    bodies: StdMutex<Vec<String>>,
}

impl Script {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            does: StdMutex::new(Does::Ok),
            calls: StdMutex::default(),
            bodies: StdMutex::default(),
        })
    }

    fn take(&self, batch: &Batch) -> Does {
        let does = *self.does.lock().unwrap();
        if matches!(does, Does::Ok | Does::Slow) {
            self.calls.lock().unwrap().push(batch.len());
            let bodies = batch.iter().map(|event| String::from_utf8(event.body.to_vec()).unwrap());
            self.bodies.lock().unwrap().extend(bodies);
        }
        does
    }

    fn set(&self, does: Does) {
        *self.does.lock().unwrap() = does;
    }

    fn calls(&self) -> Vec<usize> {
        self.calls.lock().unwrap().clone()
    }

    fn n_calls(&self) -> usize {
        self.calls.lock().unwrap().len()
    }
}

/// A source of Avro over the script.
async fn avro(accepted: Accepted, script: Arc<Script>) -> Result<(), String> {
    let Accepted { mut stream, mut shutdown, .. } = accepted;
    let mut session = Session::new(Arc::new(KnownClients::default()));
    let mut frames = FrameReader::new(1 << 20, Budget::new(1 << 20));
    loop {
        let frame = tokio::select! {
            () = shutdown.requested() => return Ok(()),
            frame = frames.next(&mut stream) => frame.map_err(|error| error.to_string())?,
        };
        let Some(frame) = frame else { return Ok(()) };
        let answer = match session.ask(&frame.payload) {
            Asked::Nothing { answer, .. } => answer,
            Asked::Store { batch, answer, .. } => match script.take(&batch) {
                Does::Ok | Does::Slow => answer.status(Status::Ok),
                Does::Failed => answer.status(Status::Failed),
                Does::Unknown => answer.status(Status::Unknown),
                Does::Throws => answer.error("java.lang.IllegalStateException: no"),
                Does::Nothing => {
                    shutdown.requested().await;
                    return Ok(());
                }
            },
        };
        let mut out = Vec::new();
        answer.put(frame.serial, &mut out);
        stream.write_all(&out).await.map_err(|error| error.to_string())?;
    }
}

impl thrift::Service for Script {
    async fn begin(&self, call: thrift::Call) -> impl Future<Output = thrift::Answer> + Send + 'static {
        let does = self.take(&call.batch);
        async move {
            match does {
                Does::Ok => thrift::Answer::Status(thrift::Status::Ok),
                Does::Slow => {
                    let _ = timeout(SLOW, std::future::pending::<()>()).await;
                    thrift::Answer::Status(thrift::Status::Ok)
                }
                Does::Failed => thrift::Answer::Status(thrift::Status::Failed),
                Does::Unknown => thrift::Answer::Status(thrift::Status::Unknown),
                Does::Throws => thrift::Answer::Internal("Internal error".to_owned()),
                Does::Nothing => std::future::pending().await,
            }
        }
    }
}

struct Peer {
    port: u16,
    script: Arc<Script>,
    stop: ShutdownHandle,
    tasks: JoinSet<()>,
}

impl Peer {
    async fn start(port: u16, is_thrift: bool) -> Self {
        let script = Script::new();
        let socket = bind("127.0.0.1", port, 64).await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let limits = ServerLimits { stop: Duration::ZERO, ..ServerLimits::default() };
        let listener = Listener { name: "r".into(), socket, tls: None, limits, metrics: Arc::default() };
        let (stop, shutdown) = Shutdown::new();
        let behind = script.clone();
        let mut tasks = JoinSet::new();
        if is_thrift {
            let connection = move |accepted: Accepted| {
                let memory = thrift::Memory::new(1 << 20);
                thrift::serve(accepted, behind.clone(), thrift::Protocol::Compact, 1 << 20, memory)
            };
            tasks.spawn(async move { listener.serve(shutdown, |_| true, connection).await });
        } else {
            let connection = move |accepted: Accepted| avro(accepted, behind.clone());
            tasks.spawn(async move { listener.serve(shutdown, |_| true, connection).await });
        }
        Self { port, script, stop, tasks }
    }

    async fn avro() -> Self {
        Self::start(0, false).await
    }

    async fn stop(mut self) -> u16 {
        self.stop.request();
        timeout(LIMIT, self.tasks.join_next()).await.expect("the peer stops");
        self.port
    }
}

/// A port where nobody listens.
async fn closed_port() -> u16 {
    Peer::avro().await.stop().await
}

fn text(kind: &str, ports: &[u16], more: &str) -> String {
    let names: Vec<String> = (0..ports.len()).map(|i| format!("h{i}")).collect();
    let hosts = names.iter().zip(ports).map(|(name, port)| format!("hosts.{name} = 127.0.0.1:{port}\n"));
    format!("client.type = {kind}\nhosts = {}\n{}{more}\n", names.join(" "), hosts.collect::<String>())
}

async fn client(kind: &str, ports: &[u16], more: &str) -> Result<RpcClient, ClientError> {
    timeout(LIMIT, RpcClient::from_properties(&text(kind, ports, more))).await.expect("a client in time")
}

fn numbers(n: usize) -> Batch {
    let mut batch = Batch::new();
    (0..n).for_each(|i| batch.push(Headers::new(), i.to_string()));
    batch
}

async fn one(client: &RpcClient) -> Result<(), RpcError> {
    timeout(LIMIT, client.append(Headers::new(), "x")).await.expect("an answer in time")
}

async fn many(client: &RpcClient, n: usize) -> Result<(), RpcError> {
    timeout(LIMIT, client.append_batch(&numbers(n))).await.expect("an answer in time")
}

#[tokio::test]
async fn rpc_34_rpc_52_a_default_client_delivers_and_is_active() {
    let peer = Peer::avro().await;
    let client = RpcClient::connect("127.0.0.1", peer.port).await.unwrap();
    assert_eq!((client.batch_size(), client.is_active()), (100, true));
    one(&client).await.unwrap();
    many(&client, 100).await.unwrap();
    assert_eq!(peer.script.calls(), [1, 100]);
    let client = self::client("default", &[peer.port], "batch-size = 7").await.unwrap();
    assert_eq!(client.batch_size(), 7);
    one(&client).await.unwrap();
    client.close().await;
    assert!(!client.is_active() && one(&client).await.is_err());
    peer.stop().await;
}

#[tokio::test]
async fn rpc_32_an_event_arrives_with_exactly_its_headers_and_body() {
    let (near, far) = tokio::io::duplex(1 << 16);
    let mut connection = thrift::Connection::new(Box::new(near), thrift::Protocol::Compact);
    let mut batch = Batch::new();
    batch.push([("a", "1"), ("b", "")].into_iter().collect::<Headers>(), "body");
    let sent = batch.clone();
    drop(timeout(Duration::from_millis(20), connection.append(&sent, 0)).await);
    let mut far = far;
    let mut bytes = vec![0; 4];
    tokio::io::AsyncReadExt::read_exact(&mut far, &mut bytes).await.unwrap();
    let mut message = vec![0; u32::from_be_bytes(bytes.try_into().unwrap()) as usize];
    tokio::io::AsyncReadExt::read_exact(&mut far, &mut message).await.unwrap();
    let call = thrift::decode_call(message.into(), thrift::Protocol::Compact).unwrap();
    assert_eq!(call.batch, batch);
}

#[tokio::test]
async fn rpc_36_a_closed_port_is_told_at_once() {
    let port = closed_port().await;
    for kind in ["default", "DEFAULT_FAILOVER"] {
        let error = client(kind, &[port], "").await.unwrap_err();
        assert!(
            matches!(error, ClientError::Delivery(_)) && error.to_string().contains("not connected"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn rpc_37_longer_lists_go_in_several_calls() {
    let peer = Peer::avro().await;
    let client = self::client("default", &[peer.port], "batch-size = 10").await.unwrap();
    many(&client, 11).await.unwrap();
    assert_eq!(peer.script.calls(), [10, 1]);
    let client = self::client("default", &[peer.port], "").await.unwrap();
    many(&client, 101).await.unwrap();
    many(&client, 0).await.unwrap();
    assert_eq!(peer.script.calls(), [10, 1, 100, 1]);
    peer.stop().await;
}

#[tokio::test]
async fn rpc_39_failures_of_a_source_are_errors_and_end_an_avro_client() {
    let peer = Peer::avro().await;
    for does in [Does::Failed, Does::Unknown, Does::Throws] {
        peer.script.set(does);
        for single in [true, false] {
            let client = client("default", &[peer.port], "").await.unwrap();
            let error = if single { one(&client).await } else { many(&client, 3).await }.unwrap_err();
            assert!(error.is_answer(), "{error}");
            assert!(!client.is_active());
            peer.script.set(Does::Ok);
            assert!(one(&client).await.is_err(), "it is of no use any more");
            peer.script.set(does);
        }
    }
    peer.stop().await;
}

#[tokio::test]
async fn rpc_42_failover_tries_every_host_and_then_gives_up() {
    let (first, second, third) = (Peer::avro().await, Peer::avro().await, Peer::avro().await);
    let ports = [first.port, second.port, third.port];
    let client = self::client("default_failover", &ports, "").await.unwrap();
    many(&client, 2).await.unwrap();
    // A host that answers with a failure is left too, and the next one takes the call.
    first.script.set(Does::Failed);
    many(&client, 3).await.unwrap();
    second.stop().await;
    many(&client, 4).await.unwrap();
    assert_eq!((first.script.calls(), third.script.calls()), (vec![2], vec![4]));
    first.stop().await;
    third.stop().await;
    assert!(many(&client, 1).await.is_err());
    // One that comes back is found.
    let third = Peer::start(ports[2], false).await;
    many(&client, 5).await.unwrap();
    assert_eq!(third.script.calls(), [5]);
    client.close().await;
    assert!(one(&client).await.is_err());
    assert_eq!(third.script.n_calls(), 1);
    third.stop().await;
}

#[tokio::test]
async fn failover_delivers_at_most_so_many_times() {
    let (first, second) = (Peer::avro().await, Peer::avro().await);
    let client =
        self::client("default_failover", &[first.port, second.port], "max-attempts = 1").await.unwrap();
    first.script.set(Does::Failed);
    assert!(one(&client).await.is_err());
    one(&client).await.unwrap();
    assert_eq!(second.script.n_calls(), 1);
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn rpc_43_balancing_needs_two_hosts() {
    let error = client("default_loadbalance", &[1], "").await.unwrap_err();
    assert!(matches!(error, ClientError::Settings(_)) && error.to_string().contains("two hosts"), "{error}");
}

#[tokio::test]
async fn rpc_44_a_host_that_fails_for_a_while_costs_the_caller_nothing() {
    for single in [true, false] {
        let (first, second) = (Peer::avro().await, Peer::avro().await);
        let client = self::client("default_loadbalance", &[first.port, second.port], "").await.unwrap();
        for call in 0..100 {
            second.script.set(if (20..40).contains(&call) { Does::Failed } else { Does::Ok });
            if single { one(&client).await } else { many(&client, 3).await }.unwrap();
        }
        assert_eq!((first.script.n_calls(), second.script.n_calls()), (60, 40));
        first.stop().await;
        second.stop().await;
    }
}

#[tokio::test]
async fn rpc_45_fix_75_a_closed_balancing_client_does_not_connect_anew() {
    let (first, second) = (Peer::avro().await, Peer::avro().await);
    let client = self::client("default_loadbalance", &[first.port, second.port], "").await.unwrap();
    one(&client).await.unwrap();
    client.close().await;
    for _ in 0..4 {
        assert!(one(&client).await.unwrap_err().to_string().contains("closed the connection"));
    }
    assert_eq!(first.script.n_calls() + second.script.n_calls(), 1);
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn rpc_46_fix_79_a_host_that_never_was_does_not_fail_the_call() {
    for more in ["host-selector = round_robin", "host-selector = RANDOM", "backoff = true"] {
        let peer = Peer::avro().await;
        let client =
            self::client("default_loadbalance", &[closed_port().await, peer.port], more).await.unwrap();
        for _ in 0..10 {
            one(&client).await.unwrap();
            many(&client, 2).await.unwrap();
        }
        assert_eq!(peer.script.n_calls(), 20);
        peer.stop().await;
    }
}

#[tokio::test]
async fn all_hosts_left_out_is_an_error_with_a_reason() {
    let ports = [closed_port().await, closed_port().await];
    for order in ["random", "round_robin"] {
        let more = format!("backoff = true\nhost-selector = {order}");
        let client = self::client("default_loadbalance", &ports, &more).await.unwrap();
        assert!(one(&client).await.is_err());
        let error = one(&client).await.unwrap_err().to_string();
        assert!(error.contains("left out for a while"), "{error}");
    }
}

#[tokio::test]
async fn rpc_54_the_time_limit_is_for_a_call_and_not_for_a_list() {
    let peer = Peer::start(0, true).await;
    peer.script.set(Does::Slow);
    let more = "batch-size = 12\nrequest-timeout = 1000";
    let client = self::client("thrift", &[peer.port], more).await.unwrap();
    let start = Instant::now();
    many(&client, 24).await.unwrap();
    one(&client).await.unwrap();
    assert_eq!(peer.script.calls(), [12, 12, 1]);
    assert!(start.elapsed() > Duration::from_secs(1), "together they take longer than one may");
    peer.stop().await;
}

#[tokio::test]
async fn rpc_55_failures_of_a_thrift_source_are_errors_and_the_client_goes_on() {
    let peer = Peer::start(0, true).await;
    let client = self::client("THRIFT", &[peer.port], "request-timeout = 1000").await.unwrap();
    for does in [Does::Failed, Does::Throws] {
        peer.script.set(does);
        assert!(one(&client).await.unwrap_err().is_answer());
        assert!(many(&client, 2).await.unwrap_err().is_answer());
    }
    peer.script.set(Does::Nothing);
    let error = one(&client).await.unwrap_err();
    assert!(matches!(error.why, Why::Late(..)), "{error}");
    peer.script.set(Does::Ok);
    assert!(client.is_active());
    one(&client).await.unwrap();
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rpc_56_one_client_serves_many_tasks() {
    for kind in ["thrift", "default"] {
        let peer = Peer::start(0, kind == "thrift").await;
        let client = Arc::new(self::client(kind, &[peer.port], "").await.unwrap());
        let mut tasks = JoinSet::new();
        for task in 0..100 {
            let client = client.clone();
            tasks.spawn(async move {
                let mut batch = Batch::new();
                (0..10).for_each(|i| batch.push(Headers::new(), format!("{}", task * 10 + i)));
                client.append_batch(&batch).await.unwrap();
            });
        }
        timeout(LIMIT, async {
            while let Some(done) = tasks.join_next().await {
                done.unwrap()
            }
        })
        .await
        .unwrap();
        let mut bodies: Vec<u32> =
            peer.script.bodies.lock().unwrap().iter().map(|body| body.parse().unwrap()).collect();
        bodies.sort_unstable();
        assert_eq!(bodies, (0..1_000).collect::<Vec<_>>());
        peer.stop().await;
    }
}

#[tokio::test]
async fn rpc_57_a_source_that_stops_ends_the_call_and_the_client_can_be_closed() {
    let peer = Peer::avro().await;
    let client = self::client("default", &[peer.port], "").await.unwrap();
    for _ in 0..4 {
        one(&client).await.unwrap();
    }
    peer.stop().await;
    assert!(one(&client).await.is_err());
    client.close().await;
}

#[tokio::test]
async fn fix_73_a_silent_host_ends_the_first_call_in_time() {
    // It accepts, and never says a word.
    let socket = bind("127.0.0.1", 0, 16).await.unwrap();
    let port = socket.local_addr().unwrap().port();
    let client = self::client("default", &[port], "connect-timeout = 1000").await.unwrap();
    let error = one(&client).await.unwrap_err();
    assert!(matches!(error.why, Why::Late(..)), "{error}");
}

#[tokio::test]
async fn fix_74_closing_does_not_wait_for_calls_that_never_end() {
    for kind in ["default", "thrift", "default_failover", "default_loadbalance"] {
        let (first, second) =
            (Peer::start(0, kind == "thrift").await, Peer::start(0, kind == "thrift").await);
        let client = Arc::new(self::client(kind, &[first.port, second.port], "").await.unwrap());
        first.script.set(Does::Nothing);
        let calling = client.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { calling.append(Headers::new(), "x").await });
        assert!(timeout(Duration::from_millis(50), tasks.join_next()).await.is_err(), "{kind}: it waits");
        timeout(Duration::from_secs(5), client.close()).await.expect("it closes at once");
        let ended = timeout(Duration::from_secs(5), tasks.join_next()).await.expect("the call ends");
        assert!(ended.unwrap().unwrap().is_err(), "{kind}");
        first.stop().await;
        second.stop().await;
    }
}

#[tokio::test]
async fn settings_are_read_as_by_java_and_faults_told_together() {
    let bad = "client.type = default\nhosts = a b\nhosts.a = nowhere\nclient.kind = x\nssl = maybe\n";
    let error = RpcClient::from_properties(bad).await.unwrap_err().to_string();
    assert!(error.contains("hosts.a: `nowhere` is not an address"), "{error}");
    for (text, says) in [
        ("", "hosts: is required"),
        ("hosts =", "no host is named"),
        ("hosts = a", "hosts.a is required"),
        ("hosts = a\nhosts.a = h:0", "is not an address"),
        ("hosts = a\nhosts.a = h:1:2", "is not an address"),
        ("client.type = soap\nhosts = a\nhosts.a = h:1", "client.type"),
        ("hosts = a\nhosts.a = h:1\nkerberos = true", "kerberos: is not supported"),
        ("bad = \\u00zz", "\\u"),
    ] {
        let error = RpcClient::from_properties(text).await.unwrap_err();
        assert!(
            matches!(error, ClientError::Settings(_)) && error.to_string().contains(says),
            "{text}: {error}"
        );
    }
    let settings = Settings::from_pairs(
        "",
        &[
            ("hosts", "a"),
            ("hosts.a", "[::1]:7"),
            ("batch-size", "0"),
            ("connect-timeout", "999"),
            ("request-timeout", "soon"),
            ("maxConnections", "0"),
            ("client.type", "Thrift"),
        ],
    );
    let (config, problems) = read::<ClientConfig>(&settings, &[]);
    let config = config.unwrap();
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert_eq!(
        (config.batch_size, config.connect_timeout.0, config.request_timeout.0),
        (100, 20_000, 20_000)
    );
    assert_eq!((config.max_connections, config.longest_backoff()), (5, Duration::from_secs(30)));
    assert_eq!(config.targets().unwrap()[0].to_string(), "[::1]:7");
}
