//! The sink against a scripted source.

use super::*;
use crate::testing::{LIMIT, fixture, sink_context};
use flumen_core::{
    config::{Problem, Settings, read},
    registry::Environment,
    source::{Shutdown, ShutdownHandle},
    testing::{SinkPeer, SinkSuite, numbered, numbers},
};
use flumen_rpc::{
    net::{Accepted, Listener, ServerLimits, acceptor, bind},
    thrift::{Answer, Call, Memory, Method, Service, Status, serve},
};
use flumen_tls::{Password, tls::StoreFile};
use std::{collections::BTreeMap, future::Future, sync::Mutex};
use tokio::task::JoinSet;

/// What a scripted source got, and what it is to do.
#[derive(Debug, Default)]
struct Script {
    stored: Mutex<Vec<u64>>,
    calls: Mutex<Vec<Method>>,
    failing: Mutex<bool>,
    silent: Mutex<bool>,
}

#[derive(Debug, Clone)]
struct Behind(Arc<Script>);

impl Service for Behind {
    async fn begin(&self, call: Call) -> impl Future<Output = Answer> + Send + 'static {
        let script = &self.0;
        script.calls.lock().unwrap().push(call.method);
        let failing = *script.failing.lock().unwrap();
        let silent = *script.silent.lock().unwrap();
        if !failing && !silent {
            script.stored.lock().unwrap().extend(numbers(&call.batch));
        }
        async move {
            if silent {
                std::future::pending::<()>().await;
            }
            Answer::Status(if failing { Status::Failed } else { Status::Ok })
        }
    }
}

/// A source that can go away and come back on its port.
struct Peer {
    port: u16,
    script: Arc<Script>,
    stop: ShutdownHandle,
    tasks: JoinSet<()>,
}

impl Peer {
    async fn start(port: u16, script: Arc<Script>, tls: Option<TlsSettings>) -> Self {
        let socket = bind("127.0.0.1", port, 16).await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let tls = match tls {
            Some(settings) => Some(acceptor(&settings).await.unwrap()),
            None => None,
        };
        let limits = ServerLimits { stop: Duration::ZERO, ..ServerLimits::default() };
        let listener = Listener { name: "r".into(), socket, tls, limits, metrics: Arc::default() };
        let service = Arc::new(Behind(script.clone()));
        let connection = move |accepted: Accepted| {
            serve(accepted, service.clone(), Protocol::Compact, 1 << 20, Memory::new(1 << 20))
        };
        let (stop, shutdown) = Shutdown::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { listener.serve(shutdown, |_| true, connection).await });
        Self { port, script, stop, tasks }
    }

    async fn plain() -> Self {
        Self::start(0, Arc::default(), None).await
    }

    async fn stop(mut self) -> (u16, Arc<Script>) {
        self.stop.request();
        timeout(LIMIT, self.tasks.join_next()).await.expect("the peer stops");
        (self.port, self.script)
    }
}

fn config(port: u16, pairs: &[(&str, &str)]) -> (Option<ThriftSinkConfig>, Vec<Problem>) {
    let port = port.to_string();
    let mut all = vec![("hostname", "127.0.0.1"), ("port", port.as_str())];
    all.extend_from_slice(pairs);
    read(&Settings::from_pairs("a.sinks.k", &all), &[])
}

fn sink(port: u16, pairs: &[(&str, &str)]) -> ThriftSink {
    ThriftSink::build(config(port, pairs).0.unwrap(), &sink_context(0, false)).unwrap()
}

/// Sends this many events in batches of two.
async fn send(sink: &mut ThriftSink, n: u64) -> Result<(), DeliverError> {
    let mut at = 0;
    while at < n {
        let end = (at + 2).min(n);
        sink.deliver(&numbered(at..end)).await?;
        at = end;
    }
    Ok(())
}

#[tokio::test]
async fn rpc_11_every_batch_is_one_batch_call_also_one_of_a_single_event() {
    let peer = Peer::plain().await;
    let mut sink = sink(peer.port, &[("batch-size", "2")]);
    send(&mut sink, 11).await.unwrap();
    assert_eq!(*peer.script.stored.lock().unwrap(), (0..11).collect::<Vec<_>>());
    assert_eq!(*peer.script.calls.lock().unwrap(), [Method::AppendBatch; 6]);
    assert_eq!(sink.metrics.connections_created.get(), 1);
    Sink::close(&mut sink).await.unwrap();
    assert_eq!(sink.metrics.connections_closed.get(), 1);
    peer.stop().await;
}

#[tokio::test]
async fn rpc_13_a_source_that_is_not_there_yet_is_tried_again() {
    let (port, script) = Peer::plain().await.stop().await;
    let mut sink = sink(port, &[]);
    for _ in 0..5 {
        let error = sink.deliver(&numbered(0..2)).await.unwrap_err().to_string();
        assert!(error.contains(&format!("cannot connect to 127.0.0.1:{port}")), "{error}");
    }
    assert_eq!(sink.metrics.connections_failed.get(), 5);
    let peer = Peer::start(port, script, None).await;
    send(&mut sink, 10).await.unwrap();
    assert_eq!(peer.script.stored.lock().unwrap().len(), 10);
    peer.stop().await;
}

#[tokio::test]
async fn a_source_that_goes_costs_one_call_and_is_found_again() {
    let peer = Peer::plain().await;
    let mut sink = sink(peer.port, &[]);
    sink.deliver(&numbered(0..2)).await.unwrap();
    let (port, script) = peer.stop().await;
    for _ in 0..5 {
        assert!(sink.deliver(&numbered(2..4)).await.is_err());
    }
    let peer = Peer::start(port, script, None).await;
    sink.deliver(&numbered(2..4)).await.unwrap();
    assert_eq!(*peer.script.stored.lock().unwrap(), [0, 1, 2, 3]);
    let metrics = &sink.metrics;
    // The first failure hits the connection that was open.
    let counts = [
        metrics.connections_failed.get(),
        metrics.connections_closed.get(),
        metrics.connections_created.get(),
    ];
    assert_eq!(counts, [4, 1, 2]);
    peer.stop().await;
}

#[tokio::test]
async fn a_refusal_is_an_error_and_the_next_call_has_a_fresh_connection() {
    let peer = Peer::plain().await;
    let mut sink = sink(peer.port, &[]);
    *peer.script.failing.lock().unwrap() = true;
    let error = sink.deliver(&numbered(0..2)).await.unwrap_err().to_string();
    assert!(error.contains("the peer answered Failed"), "{error}");
    *peer.script.failing.lock().unwrap() = false;
    sink.deliver(&numbered(0..2)).await.unwrap();
    assert_eq!((sink.metrics.connections_created.get(), sink.metrics.connections_closed.get()), (2, 1));
    peer.stop().await;
}

#[tokio::test]
async fn fix_72_a_silent_source_ends_the_call_in_time() {
    let peer = Peer::plain().await;
    let mut sink = sink(peer.port, &[("request-timeout", "1000")]);
    sink.request_timeout = Duration::from_millis(50);
    *peer.script.silent.lock().unwrap() = true;
    let batch = numbered(0..2);
    let call = timeout(LIMIT, sink.deliver(&batch));
    let error = call.await.expect("the call ends").unwrap_err().to_string();
    assert!(error.contains("no answer within 50 ms"), "{error}");
    *peer.script.silent.lock().unwrap() = false;
    sink.deliver(&numbered(0..2)).await.unwrap();
    peer.stop().await;
}

#[tokio::test]
async fn fix_77_a_connection_is_renewed_between_calls_and_only_where_that_is_set() {
    let peer = Peer::plain().await;
    let mut kept = sink(peer.port, &[]);
    let mut renewed = sink(peer.port, &[("reset-connection-interval", "5")]);
    for sink in [&mut kept, &mut renewed] {
        sink.deliver(&numbered(0..1)).await.unwrap();
        sink.deliver(&numbered(1..2)).await.unwrap();
        assert_eq!(sink.metrics.connections_created.get(), 1);
    }
    let open = renewed.open.as_mut().unwrap();
    assert!(open.reset_at.unwrap() > Instant::now() + Duration::from_secs(4));
    open.reset_at = Some(Instant::now());
    for sink in [&mut kept, &mut renewed] {
        sink.deliver(&numbered(2..3)).await.unwrap();
    }
    assert_eq!((kept.metrics.connections_created.get(), renewed.metrics.connections_created.get()), (1, 2));
    assert_eq!(renewed.metrics.connections_closed.get(), 1);
    peer.stop().await;
}

fn store(name: &str) -> String {
    fixture("../golden/keystores/stores").join(name).to_str().unwrap().to_owned()
}

fn server_tls(name: &str) -> Option<TlsSettings> {
    let key_store =
        StoreFile { path: store(name).into(), password: Some(Password::new("changeit")), type_name: None };
    Some(TlsSettings { key_store: Some(key_store), ..TlsSettings::default() })
}

#[tokio::test]
async fn rpc_14_events_arrive_over_tls_with_own_or_process_wide_trust_stores() {
    let peer = Peer::start(0, Arc::default(), server_tls("server.p12")).await;
    let path = store("truststore.jks");
    for own in [true, false] {
        for password in [Some("changeit"), None] {
            let mut context = sink_context(0, false);
            let mut pairs = vec![("ssl", "true"), ("batch-size", "2")];
            let mut properties = BTreeMap::new();
            if own {
                pairs.push(("truststore", &path));
                pairs.extend(password.map(|password| ("truststore-password", password)));
            } else {
                properties.insert("javax.net.ssl.trustStore".to_owned(), path.clone());
                let name = "javax.net.ssl.trustStorePassword".to_owned();
                properties.extend(password.map(|password| (name, password.to_owned())));
            }
            context.common.environment = Arc::new(Environment { properties, ..Environment::default() });
            let mut sink = ThriftSink::build(config(peer.port, &pairs).0.unwrap(), &context).unwrap();
            send(&mut sink, 11).await.unwrap();
        }
    }
    assert_eq!(peer.script.stored.lock().unwrap().len(), 44);
    assert_eq!(peer.script.calls.lock().unwrap().len(), 24);
    peer.stop().await;
}

#[tokio::test]
async fn rpc_14_plain_sources_and_untrusted_certificates_are_refused() {
    let path = store("truststore.jks");
    let pairs = [("ssl", "true"), ("truststore", path.as_str()), ("truststore-password", "changeit")];
    for (server, trusts_all) in [(None, "false"), (server_tls("selfsigned.jks"), "true")] {
        let peer = Peer::start(0, Arc::default(), server).await;
        let pairs = [&pairs[..], &[("trust-all-certs", trusts_all), ("connect-timeout", "2000")]].concat();
        let mut sink = sink(peer.port, &pairs);
        let error = sink.deliver(&numbered(0..1)).await.unwrap_err().to_string();
        assert!(error.contains("127.0.0.1"), "{error}");
        assert_eq!(sink.metrics.connections_failed.get(), 1);
        assert!(peer.script.calls.lock().unwrap().is_empty());
        peer.stop().await;
    }
}

#[test]
fn every_setting_is_read_as_by_java() {
    let (read, problems) = config(1, &[]);
    let read = read.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!((read.batch_size, read.connect_timeout.0, read.request_timeout.0), (100, 20_000, 20_000));
    let small =
        [("batch-size", "0"), ("connect-timeout", "999"), ("request-timeout", "soon"), ("protocol", "json")];
    let (read, problems) = config(1, &small);
    let read = read.unwrap();
    assert_eq!((read.batch_size, read.connect_timeout.0, read.request_timeout.0), (100, 20_000, 20_000));
    assert_eq!((read.protocol, problems.len()), (Protocol::Compact, 4));
    let without = [
        "maxConnections",
        "trust-all-certs",
        "connection-reset-interval",
        "client-principal",
        "client-keytab",
    ];
    for key in without {
        let (read, problems) = config(1, &[(key, "1")]);
        assert!(read.is_some() && problems.len() == 1, "{key}: {problems:?}");
    }
    let (read, problems) = config(1, &[("kerberos", "true")]);
    assert!(read.is_none() && problems[0].to_string().contains("is not supported"), "{problems:?}");
    let facts = ThriftSink::facts(&config(1, &[("batch-size", "7")]).0.unwrap());
    assert_eq!(facts.batch_size, Some(7));
}

impl SinkPeer for Peer {
    fn sink(&self) -> Box<dyn flumen_core::sink::DynSink> {
        Box::new(sink(self.port, &[]))
    }

    fn arrived(&self) -> Vec<u64> {
        self.script.stored.lock().unwrap().clone()
    }

    fn set_failing(&self, failing: bool) {
        *self.script.failing.lock().unwrap() = failing;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_contract_of_sinks_is_kept() {
    SinkSuite::new(Peer::plain().await).run().await;
}
