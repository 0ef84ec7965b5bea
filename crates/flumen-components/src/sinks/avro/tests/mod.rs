//! The sink against sources that answer, refuse, are late, or are not there.

mod several;
mod suite;
mod tls;
mod wait;

use super::*;
use crate::testing::{LIMIT, channel, sink_context, until};
use flumen_core::{
    config::{Settings, read},
    group::{Member, MemberOptions, RunnerEnd, SinkRunner},
    sink::DynSink,
    source::Shutdown,
    testing::{Alone, Once, ScriptedChannel, numbered, numbers},
};
use flumen_rpc::{
    avro::{Begun, Call, Method, Outcome, Service, Shared, Status, serve},
    net::{Accepted, BoxIo},
};
use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
use tokio::{net::TcpListener, task::JoinSet, time::timeout};
use wait::pass;

/// What a scripted source has stored, and how it behaves.
#[derive(Default)]
struct Store {
    numbers: Mutex<Vec<u64>>,
    calls: Mutex<Vec<Method>>,
    refuses: AtomicBool,
    delay_ms: AtomicU64,
    at_work: AtomicUsize,
    most_at_work: AtomicUsize,
}

impl Store {
    fn numbers(&self) -> Vec<u64> {
        self.numbers.lock().unwrap().clone()
    }
}

struct StoreService(Arc<Store>);

impl Service for StoreService {
    async fn begin(&self, call: Call) -> Begun<impl Future<Output = Outcome> + Send + 'static> {
        let store = self.0.clone();
        store.calls.lock().unwrap().push(call.method);
        if store.refuses.load(Ordering::SeqCst) {
            return Begun::Over(Outcome::Status(Status::Failed));
        }
        let at_work = store.at_work.fetch_add(1, Ordering::SeqCst) + 1;
        store.most_at_work.fetch_max(at_work, Ordering::SeqCst);
        let delay = Duration::from_millis(store.delay_ms.load(Ordering::SeqCst));
        if delay.is_zero() {
            store.numbers.lock().unwrap().extend(numbers(&call.batch));
        }
        Begun::AtWork(async move {
            pass(delay).await;
            if !delay.is_zero() {
                store.numbers.lock().unwrap().extend(numbers(&call.batch));
            }
            store.at_work.fetch_sub(1, Ordering::SeqCst);
            Outcome::Status(Status::Ok)
        })
    }
}

/// A source on a port, which ends when it is dropped.
struct Server {
    port: u16,
    connections: Arc<AtomicUsize>,
    tasks: JoinSet<()>,
}

impl Server {
    /// Ends it, and its connections; the port is free then.
    async fn stop(mut self) {
        self.tasks.shutdown().await;
    }

    async fn start(store: &Arc<Store>, port: u16) -> Self {
        Self::with_layers(store, port, |stream| async { Ok(Box::new(stream) as BoxIo) }).await
    }

    async fn with_layers<F>(
        store: &Arc<Store>,
        port: u16,
        layers: impl Fn(tokio::net::TcpStream) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = std::io::Result<BoxIo>> + Send + 'static,
    {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(([127, 0, 0, 1], port).into()).unwrap();
        let listener: TcpListener = socket.listen(100).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let (store, count) = (store.clone(), connections.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (_stop, shutdown) = Shutdown::new();
            let mut open = JoinSet::new();
            while let Ok((stream, peer)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (shutdown, service) = (shutdown.clone(), Arc::new(StoreService(store.clone())));
                let stream = layers(stream);
                open.spawn(async move {
                    if let Ok(stream) = stream.await {
                        let _ = serve(Accepted { stream, peer, shutdown }, service, &Shared::default()).await;
                    }
                });
            }
        });
        Self { port, connections, tasks }
    }
}

fn config(port: u16, pairs: &[(&str, &str)]) -> Result<AvroSinkConfig, String> {
    let port = port.to_string();
    let mut all = vec![("hostname", "127.0.0.1"), ("port", port.as_str())];
    all.extend_from_slice(pairs);
    let (config, problems) = read::<AvroSinkConfig>(&Settings::from_pairs("a.sinks.k", &all), &[]);
    config.ok_or_else(|| format!("{problems:?}"))
}

fn build(port: u16, pairs: &[(&str, &str)], context: &SinkContext) -> AvroSink {
    AvroSink::build(config(port, pairs).unwrap(), context).unwrap()
}

/// Delivers, and waits until the batch is settled; how many events are then safe.
async fn deliver(sink: &mut AvroSink, batch: &Batch) -> Result<u32, DeliverError> {
    let delivery = Sink::deliver(sink, batch).await?;
    if !delivery.held {
        return Ok(delivery.done);
    }
    let settled = async {
        loop {
            match Sink::settled(sink)? {
                0 => pass(Duration::from_millis(1)).await,
                n => return Ok(n),
            }
            if Sink::next_deadline(sink).is_some_and(|deadline| deadline <= Instant::now()) {
                Sink::on_deadline(sink).await?;
            }
        }
    };
    timeout(LIMIT, settled).await.expect("it is settled")?;
    Ok(delivery.done)
}

fn runner(
    sink: AvroSink,
    batch_size: u32,
    channel: &Arc<ScriptedChannel>,
    context: &SinkContext,
) -> SinkRunner {
    let mut sink = Some(sink);
    let member = Member::new(
        "k".into(),
        Box::new(move || Ok(Box::new(sink.take().expect("built once")) as Box<dyn DynSink>)),
        channel.clone(),
        batch_size,
        MemberOptions::default(),
        context.metrics.clone(),
        context.wake.clone(),
    );
    SinkRunner::new(vec![member.unwrap()], Box::new(Alone::default()))
}

/// Runs until `work` is done, and stops then.
async fn running(mut runner: SinkRunner, work: impl Future<Output = ()>) -> RunnerEnd {
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        work.await;
        stop.request();
    };
    let (end, ()) = tokio::join!(timeout(LIMIT, runner.run(shutdown)), work);
    end.expect("it stops")
}

#[tokio::test]
async fn rpc_01_it_connects_when_it_starts_and_ends_the_connection_when_it_stops() {
    let store = Arc::new(Store::default());
    let server = Server::start(&store, 0).await;
    let pairs = [("batch-size", "2"), ("connect-timeout", "2000"), ("request-timeout", "3000")];
    let (context, channel) = (sink_context(0, false), channel(100, 100));
    let runner = runner(build(server.port, &pairs, &context), 2, &channel, &context);
    let connected = until("a connection", || server.connections.load(Ordering::SeqCst) == 1);
    assert!(matches!(running(runner, connected).await, RunnerEnd::Stopped));
    assert_eq!(context.metrics.connections_created.get(), 1);
    assert_eq!(context.metrics.connections_closed.get(), 1);
}

#[tokio::test]
async fn rpc_02_ten_events_in_batches_of_two_are_five_calls() {
    for pairs in [&[][..], &[("compression-type", "deflate"), ("compression-level", "9")]] {
        let store = Arc::new(Store::default());
        let compressed = !pairs.is_empty();
        let server = Server::with_layers(&store, 0, move |stream| async move {
            Ok(match compressed {
                true => Box::new(flumen_rpc::net::Deflate::new(stream, 6)) as BoxIo,
                false => Box::new(stream),
            })
        })
        .await;
        let (context, channel) = (sink_context(0, false), channel(100, 100));
        channel.fill(&numbered(0..10));
        let runner = runner(build(server.port, pairs, &context), 2, &channel, &context);
        let metrics = context.metrics.clone();
        running(runner, until("all that there is", || metrics.drained.get() == 10)).await;
        assert_eq!(store.numbers(), (0..10).collect::<Vec<_>>());
        assert_eq!(*store.calls.lock().unwrap(), [Method::AppendBatch; 5]);
        assert_eq!(metrics.batch_complete.get(), 5);
        assert!(metrics.batch_empty.get() >= 1);
    }
}

#[tokio::test]
async fn rpc_03_a_channel_that_fails_a_take_is_counted() {
    let (context, channel) = (sink_context(0, false), channel(100, 100));
    channel.fill(&numbered(0..1));
    channel.once(Once::TakeFails);
    let mut runner = runner(build(1, &[], &context), 2, &channel, &context);
    let (_stop, shutdown) = Shutdown::new();
    let end = timeout(LIMIT, runner.run(shutdown)).await.unwrap();
    assert!(matches!(end, RunnerEnd::Channel(_)), "{end:?}");
    assert_eq!(context.metrics.channel_read_fail.get(), 1);
}

#[tokio::test]
async fn rpc_04_an_answer_that_is_late_is_a_failure_and_the_next_call_goes_over_a_fresh_connection() {
    let store = Arc::new(Store::default());
    let server = Server::start(&store, 0).await;
    let context = sink_context(0, false);
    let pairs = [("connect-timeout", "1000"), ("request-timeout", "1100")];
    let mut sink = build(server.port, &pairs, &context);
    store.delay_ms.store(5_000, Ordering::SeqCst);
    let error = Sink::deliver(&mut sink, &numbered(0..2)).await.unwrap_err();
    assert!(error.to_string().contains("1s"), "{error}");
    store.delay_ms.store(0, Ordering::SeqCst);
    assert_eq!(deliver(&mut sink, &numbered(0..2)).await.unwrap(), 2);
    store.delay_ms.store(5_000, Ordering::SeqCst);
    // This one is held, and given up when its time is over; the next delivery repeats the failure for the sake of a pause.
    assert!(Sink::deliver(&mut sink, &numbered(2..4)).await.unwrap().held);
    let deadline = Sink::next_deadline(&sink).unwrap();
    pass(deadline - Instant::now()).await;
    let error = Sink::on_deadline(&mut sink).await.unwrap_err();
    assert!(error.to_string().contains("1100 ms"), "{error}");
    let error = Sink::deliver(&mut sink, &numbered(2..4)).await.unwrap_err();
    assert!(error.to_string().contains("1100 ms"), "{error}");
    store.delay_ms.store(0, Ordering::SeqCst);
    assert_eq!(deliver(&mut sink, &numbered(2..4)).await.unwrap(), 2);
    assert_eq!(store.numbers(), [0, 1, 2, 3]);
    assert_eq!(context.metrics.connections_created.get(), 3);
}

#[tokio::test]
async fn rpc_05_a_source_that_goes_and_comes_back_needs_no_restart_of_the_sink() {
    let store = Arc::new(Store::default());
    let server = Server::start(&store, 0).await;
    let (port, context) = (server.port, sink_context(0, false));
    // One call at a time, as to Java's source.
    let mut sink = build(port, &[("batch-size", "2"), ("max-in-flight", "1")], &context);
    Sink::on_deadline(&mut sink).await.unwrap();
    server.stop().await;
    for _ in 0..5 {
        Sink::deliver(&mut sink, &numbered(0..2)).await.unwrap_err();
    }
    assert_eq!(context.metrics.connections_failed.get(), 4, "the first one hits the open connection");
    let _server = Server::start(&store, port).await;
    for first in (0..10).step_by(2) {
        assert_eq!(deliver(&mut sink, &numbered(first..first + 2)).await.unwrap(), 2);
    }
    assert_eq!(store.numbers(), (0..10).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_source_that_goes_while_nothing_is_under_way_is_no_failure() {
    let store = Arc::new(Store::default());
    let server = Server::start(&store, 0).await;
    let (port, context) = (server.port, sink_context(0, false));
    let mut sink = build(port, &[], &context);
    for first in [0, 2] {
        deliver(&mut sink, &numbered(first..first + 2)).await.unwrap();
    }
    server.stop().await;
    let _server = Server::start(&store, port).await;
    let Some(Open { line: Line::Several(pipe), .. }) = &sink.open else { panic!("it has one") };
    until("the end of the connection", || pipe.failure().is_some()).await;
    assert_eq!(deliver(&mut sink, &numbered(4..6)).await.unwrap(), 2);
    assert_eq!(store.numbers(), (0..6).collect::<Vec<_>>());
    assert_eq!(context.metrics.connections_failed.get(), 0);
}

#[tokio::test]
async fn rpc_06_a_connection_is_replaced_after_its_time_and_never_without_one() {
    let store = Arc::new(Store::default());
    let server = Server::start(&store, 0).await;
    for (interval, connections) in [(&[("reset-connection-interval", "1")][..], 2), (&[], 1)] {
        let context = sink_context(0, false);
        let before = server.connections.load(Ordering::SeqCst);
        let mut sink = build(server.port, interval, &context);
        for first in [0, 2] {
            deliver(&mut sink, &numbered(first..first + 2)).await.unwrap();
        }
        pass(Duration::from_millis(1_050)).await;
        for first in [4, 6] {
            deliver(&mut sink, &numbered(first..first + 2)).await.unwrap();
        }
        assert_eq!(server.connections.load(Ordering::SeqCst) - before, connections, "{interval:?}");
        assert_eq!(context.metrics.connections_created.get(), connections as u64);
    }
}

#[tokio::test]
async fn several_batches_are_under_way_and_each_is_committed_when_it_is_answered() {
    for (pairs, most) in [(&[][..], 8), (&[("max-in-flight", "3")], 3), (&[("max-in-flight", "1")], 1)] {
        let store = Arc::new(Store::default());
        let server = Server::start(&store, 0).await;
        store.delay_ms.store(5, Ordering::SeqCst);
        let (context, channel) = (sink_context(0, false), channel(10_000, 100));
        channel.fill(&numbered(0..400));
        let runner = runner(build(server.port, pairs, &context), 10, &channel, &context);
        let metrics = context.metrics.clone();
        running(runner, until("all that there is", || metrics.drained.get() == 400)).await;
        assert_eq!(store.numbers(), (0..400).collect::<Vec<_>>());
        assert_eq!(store.most_at_work.load(Ordering::SeqCst), most);
        assert_eq!(server.connections.load(Ordering::SeqCst), 1);
        assert_eq!(metrics.held.get(), 0);
    }
}

#[tokio::test]
async fn a_refused_batch_puts_all_that_is_behind_it_back_and_pauses() {
    let store = Arc::new(Store::default());
    let server = Server::start(&store, 0).await;
    let (context, channel) = (sink_context(0, false), channel(10_000, 100));
    channel.fill(&numbered(0..200));
    let runner = runner(build(server.port, &[], &context), 10, &channel, &context);
    let metrics = context.metrics.clone();
    running(runner, async {
        until("a first part", || metrics.drained.get() >= 20).await;
        store.refuses.store(true, Ordering::SeqCst);
        channel.fill(&numbered(200..400));
        until("failures", || metrics.write_fail.get() >= 2).await;
        let calls = store.calls.lock().unwrap().len();
        assert!(calls < 200, "{calls} calls: there is no pause");
        store.refuses.store(false, Ordering::SeqCst);
        until("all that there is", || metrics.drained.get() == 400).await;
    })
    .await;
    let mut stored = store.numbers();
    stored.sort_unstable();
    stored.dedup();
    assert_eq!(stored, (0..400).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_is_under_way_at_the_end_is_waited_for_and_committed() {
    let store = Arc::new(Store::default());
    let server = Server::start(&store, 0).await;
    store.delay_ms.store(50, Ordering::SeqCst);
    let (context, channel) = (sink_context(0, false), channel(10_000, 100));
    channel.fill(&numbered(0..50));
    let runner = runner(build(server.port, &[], &context), 10, &channel, &context);
    let metrics = context.metrics.clone();
    running(runner, until("batches under way", || metrics.attempted.get() == 50)).await;
    assert_eq!(store.numbers(), (0..50).collect::<Vec<_>>());
    assert_eq!(metrics.drained.get(), 50);
}

#[test]
fn bad_numbers_are_the_defaults_as_in_java() {
    config(1, &[("client.type", "DEFAULT"), ("maxIoWorkers", "4")]).unwrap();
    let config =
        config(1, &[("connect-timeout", "999"), ("request-timeout", "x"), ("batch-size", "0")]).unwrap();
    assert_eq!(
        (config.connect_timeout.0, config.request_timeout.0, config.batch_size),
        (20_000, 20_000, 100)
    );
}
