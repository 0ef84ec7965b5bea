//! From agent to agent: `memory → avro sink → loopback → avro source → memory → null`, beside a plain framed copy over TCP.
//!
//! Both ends are in this process and on one thread: its CPU time is that of both.

use crate::{
    Effort,
    clock::{alternate, median_cpu, ns_each},
    file_channel::{self, file},
    flow::{context, memory, registry, sink_runner},
    report::Table,
};
use flumen_components::sources::avro::{AvroSource, AvroSourceConfig};
use flumen_core::{
    channel::{Channel, Commit, Signal, begin_put},
    config::{Settings, read},
    event::{Batch, Headers},
    group::{Member, MemberOptions, SinkRunner},
    metrics::{SinkMetrics, SourceMetrics},
    processor::ChannelProcessor,
    registry::{Registry, SinkContext, SourceContext, SourceType},
    source::{Shutdown, Source},
};
use std::{collections::VecDeque, path::Path, sync::Arc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

const BATCH_SIZE: usize = 1_000;
const BODY_BYTES: usize = 500;
/// Frames that the copy has under way, and the bytes of an answer.
const UNDER_WAY: usize = 8;
const ANSWER_BYTES: usize = 15;

/// Two durable hops: `file channel → avro sink → avro source → file channel → null`, on two workers and the threads of both
/// channels, with every put synced before it is answered.
pub(crate) fn durable(effort: Effort, folder: &Path, table: &mut Table) {
    let events = (effort.events / 10).next_multiple_of(BATCH_SIZE);
    let batch = batch(&Headers::new());
    let spent = alternate(
        effort.rounds,
        &mut [&mut || {
            let _ = std::fs::remove_dir_all(folder);
            let (batch, registry) = (batch.clone(), registry());
            let channels = ["near", "far"].map(|name| file(&folder.join(name), 100_000, &registry));
            file_channel::block_on(async move { flow(&batch, events, &[], channels, &registry).await });
        }],
    )[0];
    let _ = std::fs::remove_dir_all(folder);
    let (cpu, wall) = (ns_each(spent.cpu, events), ns_each(spent.wall, events));
    table.row(
        "file channel on both ends",
        vec![format!("{cpu:.0}"), format!("{:.2}", 1_000.0 / cpu), format!("({wall:.0} ns of time)")],
    );
}

/// Measures both.
pub(crate) fn measure(effort: Effort, table: &mut Table) {
    let events = effort.events.min(2_000_000).next_multiple_of(BATCH_SIZE);
    let copy = ns_each(median_cpu(effort.rounds, || block_on(copy(events / BATCH_SIZE))), events);
    for (name, headers, sink) in [
        ("no headers", Headers::new(), &[][..]),
        (
            "two headers",
            [("host", "a.example.org"), ("timestamp", "1700000000000")].into_iter().collect(),
            &[],
        ),
        ("one call at a time", Headers::new(), &[("max-in-flight", "1")]),
        ("two calls at a time", Headers::new(), &[("max-in-flight", "2")]),
        ("eight calls at a time", Headers::new(), &[("max-in-flight", "8")]),
    ] {
        let batch = batch(&headers);
        let work = || {
            let registry = registry();
            let channels = [memory(BATCH_SIZE, &registry), memory(BATCH_SIZE, &registry)];
            block_on(flow(&batch, events, sink, channels, &registry));
        };
        let flow = ns_each(median_cpu(effort.rounds, work), events);
        table.row(
            format!("1,000 × 500 bytes, {name}"),
            vec![
                format!("{flow:.0}"),
                format!("{:.2}", 1_000.0 / flow),
                format!("{:.0} %", 100.0 * copy / flow),
            ],
        );
    }
    table.row(
        "the same bytes, framed copy",
        vec![format!("{copy:.0}"), format!("{:.2}", 1_000.0 / copy), "100 %".to_owned()],
    );
}

fn block_on(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(work);
}

fn batch(headers: &Headers) -> Batch {
    let mut batch = Batch::with_capacity(BATCH_SIZE);
    let bytes: Vec<u8> = (0..BATCH_SIZE * BODY_BYTES).map(|n| (n * 31 % 251) as u8).collect();
    let segment = batch.add_segment(bytes.into());
    let set = batch.add_headers(headers.clone());
    let body = u32::try_from(BODY_BYTES).expect("it is small");
    batch.push_slices(set, segment, 0, [body; BATCH_SIZE]);
    batch
}

/// Moves `events` from one memory channel to the other, and checks that all arrived.
async fn flow(
    batch: &Batch,
    events: usize,
    sink: &[(&str, &str)],
    channels: [Arc<dyn Channel>; 2],
    registry: &Arc<Registry>,
) {
    let [near, far] = channels;
    for channel in [&near, &far] {
        channel.open().await.expect("a fresh folder opens");
    }
    let (stop, shutdown) = Shutdown::new();
    let mut tasks = JoinSet::new();

    let metrics = Arc::new(SourceMetrics::default());
    let source_context = SourceContext { common: context("r", registry), metrics: metrics.clone() };
    let settings = Settings::from_pairs("r", &[("bind", "127.0.0.1"), ("port", "0")]);
    let config = read::<AvroSourceConfig>(&settings, &[]).0.expect("these settings are right");
    let mut source = AvroSource::build(config, &source_context).expect("these settings are right");
    let mut address = source.address();
    let selector = registry.find_selector("replicating").expect("it is registered");
    let selector =
        (selector.build)(&Settings::new("s"), &["c".into()], &source_context.common).expect("one channel");
    let out = ChannelProcessor::new(Vec::new(), selector, vec![far.clone()], &[0], metrics);
    let drained = Arc::new(SinkMetrics::default());
    let mut last = sink_runner(registry, far.clone(), BATCH_SIZE, drained.clone());
    let (of_source, of_last, of_sink) = (shutdown.clone(), shutdown.clone(), shutdown);
    tasks.spawn(async move { _ = Source::run(&mut source, out, of_source).await });
    tasks.spawn(async move { _ = last.run(of_last).await });
    let address = (*address.wait_for(Option::is_some).await.expect("it listens")).expect("it listens");

    let mut runner = avro_runner(registry, near.clone(), address.port(), sink);
    tasks.spawn(async move { _ = runner.run(of_sink).await });
    let size = batch.size();
    let mut open = VecDeque::new();
    for _ in 0..events / BATCH_SIZE {
        if open.len() >= UNDER_WAY {
            let first: Commit = open.pop_front().expect("it is full");
            first.await.expect("it is stored");
        }
        let room = begin_put(&*near, size).await.expect("there is room soon");
        open.push_back(room.commit(batch.clone()));
    }
    for commit in open {
        commit.await.expect("it is stored");
    }
    file_channel::wait_for(&*far, &drained, events).await;
    stop.request();
    while tasks.join_next().await.is_some() {}
    for channel in [near, far] {
        channel.close();
        channel.end().await.expect("it ends well");
    }
    assert_eq!(drained.drained.get(), events as u64, "an event was lost or doubled");
}

fn avro_runner(
    registry: &Arc<Registry>,
    channel: Arc<dyn Channel>,
    port: u16,
    more: &[(&str, &str)],
) -> SinkRunner {
    let (wake, metrics) = (Arc::new(Signal::default()), Arc::new(SinkMetrics::default()));
    let common = context("k", registry);
    let processor = registry.find_processor("default").expect("it is registered");
    let policy = (processor.build)(&Settings::new("p"), &["k".into()], &common).expect("one sink");
    let sink_context =
        SinkContext { common, metrics: metrics.clone(), wake: wake.clone(), durable_channel: false };
    let (port, size) = (port.to_string(), BATCH_SIZE.to_string());
    let mut pairs = vec![("hostname", "127.0.0.1"), ("port", port.as_str()), ("batch-size", size.as_str())];
    pairs.extend_from_slice(more);
    let settings = Settings::from_pairs("k", &pairs);
    let entry = *registry.find_sink("avro").expect("it is registered");
    let factory = Box::new(move || (entry.build)(&settings, &sink_context).map_err(Into::into));
    let batch_size = u32::try_from(BATCH_SIZE).expect("a small batch");
    let member =
        Member::new("k".into(), factory, channel, batch_size, MemberOptions::default(), metrics, wake);
    SinkRunner::new(vec![member.expect("these settings are right")], policy)
}

/// As many bytes as the events are on the wire, in frames with a length, each answered; nothing else is done with them.
async fn copy(frames: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("a port");
    let frame = vec![7; BATCH_SIZE * (BODY_BYTES + 3)];
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        while let Ok(length) = stream.read_u32().await {
            let mut frame = Vec::with_capacity(length as usize);
            let mut rest = (&mut stream).take(length.into());
            while rest.read_buf(&mut frame).await.expect("the frame") > 0 {}
            assert_eq!(frame.len(), length as usize);
            stream.write_all(&[1; ANSWER_BYTES]).await.expect("the answer is sent");
        }
    });
    let stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("it is open");
    let (mut reader, mut writer) = stream.into_split();
    let length = u32::try_from(frame.len()).expect("a frame is small");
    let mut answer = [0; ANSWER_BYTES];
    for n in 0..frames {
        if n >= UNDER_WAY {
            reader.read_exact(&mut answer).await.expect("an answer");
        }
        writer.write_u32(length).await.expect("it is sent");
        writer.write_all(&frame).await.expect("it is sent");
    }
    for _ in 0..frames.min(UNDER_WAY) {
        reader.read_exact(&mut answer).await.expect("an answer");
    }
    drop((reader, writer));
    while tasks.join_next().await.is_some() {}
}
