//! The file channel under its real source and sink sides.

use super::BODY_BYTES;
use crate::flow::{context, registry, sink_runner};
use flumen_core::{
    channel::Channel,
    config::Settings,
    event::{Batch, Headers},
    metrics::{ChannelMetrics, SinkMetrics, SourceMetrics},
    processor::{ChannelProcessor, PendingPut},
    registry::{ChannelContext, Registry},
    source::Shutdown,
};
use std::{collections::VecDeque, path::Path, sync::Arc, time::Duration};
use tokio::task::JoinSet;

/// Puts that a source keeps open, as the sources do.
const OPEN_PUTS: usize = 8;

/// A file channel in this folder, not open yet.
pub(crate) fn file(folder: &Path, capacity: usize, registry: &Arc<Registry>) -> Arc<dyn Channel> {
    let text = |name: &str| folder.join(name).display().to_string();
    let (checkpoint, data, capacity) = (text("checkpoint"), text("data"), capacity.to_string());
    let pairs = [
        ("checkpointDir", checkpoint.as_str()),
        ("dataDirs", data.as_str()),
        ("capacity", &capacity),
        ("transactionCapacity", "10000"),
        ("minimumRequiredSpace", "1048576"),
    ];
    let settings = Settings::from_pairs("c", &pairs);
    let context =
        ChannelContext { common: context("c", registry), metrics: Arc::new(ChannelMetrics::default()) };
    let entry = registry.find_channel("file").expect("it is registered");
    (entry.build)(&settings, &context).expect("these settings are right")
}

pub(super) fn batch(n_events: usize) -> Batch {
    let mut batch = Batch::with_capacity(n_events);
    let bytes: Vec<u8> = (0..n_events * BODY_BYTES).map(|n| (n * 31 % 251) as u8).collect();
    let segment = batch.add_segment(bytes.into());
    let set = batch.add_headers(Headers::new());
    let body = u32::try_from(BODY_BYTES).expect("it is small");
    batch.push_slices(set, segment, 0, std::iter::repeat_n(body, n_events));
    batch
}

pub(super) fn processor(channel: &Arc<dyn Channel>, registry: &Arc<Registry>) -> ChannelProcessor {
    let common = context("r", registry);
    let selector = registry.find_selector("replicating").expect("it is registered");
    let selector = (selector.build)(&Settings::new("s"), &["c".into()], &common).expect("one channel");
    ChannelProcessor::new(
        Vec::new(),
        selector,
        vec![channel.clone()],
        &[0],
        Arc::new(SourceMetrics::default()),
    )
}

/// Runs this on two workers, as an agent on this machine has them.
pub(crate) fn block_on<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async move {
        let mut tasks = JoinSet::new();
        tasks.spawn(work);
        tasks.join_next().await.expect("it was spawned").expect("no fault of the program")
    })
}

/// Bytes in the data files after one batch was put and taken, without what a file has once.
pub(super) fn bytes_of_a_batch(folder: &Path, batch_size: usize) -> usize {
    let once = bytes_of_batches(&folder.join("1"), batch_size, 1);
    bytes_of_batches(&folder.join("2"), batch_size, 2) - once
}

fn bytes_of_batches(folder: &Path, batch_size: usize, n_batches: usize) -> usize {
    put_take(folder, batch_size * n_batches, batch_size);
    let logs = std::fs::read_dir(folder.join("data")).expect("it was made").flatten();
    let of = logs.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        (name.starts_with("log-") && !name.contains('.')).then(|| entry.metadata().ok())?
    });
    of.map(|of| usize::try_from(of.len()).expect("it is small")).sum()
}

/// One source that keeps several puts open, and a null sink. All must arrive.
pub(super) fn put_take(folder: &Path, events: usize, batch_size: usize) {
    let registry = registry();
    let channel = file(folder, 1_000_000, &registry);
    block_on(async move {
        channel.open().await.expect("a fresh folder opens");
        let (stop, shutdown) = Shutdown::new();
        let drained = Arc::new(SinkMetrics::default());
        let mut sink = sink_runner(&registry, channel.clone(), batch_size, drained.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { _ = sink.run(shutdown).await });
        let (out, batch) = (processor(&channel, &registry), batch(batch_size));
        tasks.spawn(async move {
            let mut open = VecDeque::new();
            for _ in 0..events / batch_size {
                if open.len() >= OPEN_PUTS {
                    let first: PendingPut = open.pop_front().expect("it is full");
                    first.await.expect("it is stored");
                }
                open.push_back(out.begin(batch.clone()).await.expect("there is room"));
            }
            for put in open {
                put.await.expect("it is stored");
            }
        });
        wait_for(&*channel, &drained, events).await;
        stop.request();
        while tasks.join_next().await.is_some() {}
        assert_eq!(drained.drained.get(), events as u64, "an event was lost or doubled");
        channel.close();
        channel.end().await.expect("it ends well");
    });
}

/// So many sources that put one event and wait for its commit, and a null sink.
pub(super) fn one_event_commits(folder: &Path, n_sources: usize, events: usize) {
    let registry = registry();
    let channel = file(folder, 1_000_000, &registry);
    block_on(async move {
        channel.open().await.expect("a fresh folder opens");
        let (stop, shutdown) = Shutdown::new();
        let drained = Arc::new(SinkMetrics::default());
        let mut sink = sink_runner(&registry, channel.clone(), 1_000, drained.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { _ = sink.run(shutdown).await });
        put_one_by_one(&channel, &registry, n_sources, events).await;
        wait_for(&*channel, &drained, events).await;
        stop.request();
        while tasks.join_next().await.is_some() {}
        assert_eq!(drained.drained.get(), events as u64, "an event was lost or doubled");
        channel.close();
        channel.end().await.expect("it ends well");
    });
}

/// Returns when all are stored.
pub(super) async fn put_one_by_one(
    channel: &Arc<dyn Channel>,
    registry: &Arc<Registry>,
    n_sources: usize,
    events: usize,
) {
    let (out, batch) = (processor(channel, registry), batch(1));
    let mut sources = JoinSet::new();
    for i in 0..n_sources {
        let (out, batch) = (out.clone(), batch.clone());
        // The first ones take what does not divide evenly.
        let share = events / n_sources + usize::from(i < events % n_sources);
        sources.spawn(async move {
            for _ in 0..share {
                out.put(batch.clone()).await.expect("it is stored");
            }
        });
    }
    while let Some(ended) = sources.join_next().await {
        ended.expect("no fault of the program");
    }
}

/// Returns when so many events were drained.
pub(crate) async fn wait_for(channel: &dyn Channel, drained: &SinkMetrics, events: usize) {
    loop {
        let freed = channel.signals().freed.listen();
        if drained.drained.get() >= events as u64 {
            return;
        }
        // The sink counts after the channel has told it.
        let _ = tokio::time::timeout(Duration::from_millis(5), freed).await;
    }
}

/// Takes everything, and says how much that was.
pub(super) async fn drain(channel: &Arc<dyn Channel>, registry: &Arc<Registry>, events: usize) -> u64 {
    let (stop, shutdown) = Shutdown::new();
    let drained = Arc::new(SinkMetrics::default());
    let mut sink = sink_runner(registry, channel.clone(), 1_000, drained.clone());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { _ = sink.run(shutdown).await });
    wait_for(&**channel, &drained, events).await;
    stop.request();
    while tasks.join_next().await.is_some() {}
    drained.drained.get()
}
