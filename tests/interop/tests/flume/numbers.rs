//! Senders of numbered events that go on whatever happens to their peer, and know what was acknowledged.

use crate::{collector::Collector, wait::LIMIT};
use flumen_core::{
    config::Settings,
    event::{Batch, Headers},
    registry::Environment,
};
use flumen_rpc::client::RpcClient;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{task::JoinSet, time::Instant};

/// Events a call.
const BATCH: u64 = 10;
/// The pause between calls, and before a client is made anew.
const PAUSE: Duration = Duration::from_millis(20);

/// A client that sends events from 0 on, each call again until it is acknowledged.
pub(crate) struct Sender {
    name: &'static str,
    acknowledged: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
    _tasks: JoinSet<()>,
}

fn event(name: &str, number: u64) -> (Headers, String) {
    let text = number.to_string();
    (
        [("sender", name), ("number", text.as_str()), ("имя", "日本")].into_iter().collect(),
        format!("{name} {number}"),
    )
}

impl Sender {
    /// Sends by the client of these settings.
    pub(crate) fn start(name: &'static str, settings: &[(&str, String)]) -> Self {
        let pairs: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let settings = Settings::from_pairs("", &pairs);
        let (acknowledged, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let ended = Arc::new(AtomicBool::new(false));
        let (stored, end, done) = (acknowledged.clone(), stop.clone(), ended.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut client: Option<RpcClient> = None;
            let mut pause = tokio::time::interval(PAUSE);
            while !end.load(Ordering::Relaxed) {
                pause.tick().await;
                let Some(open) = client.take() else {
                    client = RpcClient::from_settings(&settings, &Environment::default()).await.ok();
                    continue;
                };
                let first = stored.load(Ordering::Relaxed);
                let mut batch = Batch::new();
                for number in first..first + BATCH {
                    let (headers, body) = event(name, number);
                    batch.push(headers, body);
                }
                if open.append_batch(&batch).await.is_ok() {
                    stored.store(first + BATCH, Ordering::Relaxed);
                }
                client = open.is_active().then_some(open);
            }
            done.store(true, Ordering::Relaxed);
        });
        Self { name, acknowledged, stop, ended, _tasks: tasks }
    }

    /// How many events were acknowledged: all before this number.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// Ends the sending; what was acknowledged.
    pub(crate) async fn end(&self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        crate::wait::until("the end of a sender", || self.ended.load(Ordering::Relaxed)).await;
        self.acknowledged()
    }
}

/// What has arrived, by sender.
pub(crate) struct Arrived {
    pub(crate) numbers: BTreeMap<String, BTreeSet<u64>>,
    /// The values of the header `via`, by sender, with their counts.
    pub(crate) via: BTreeMap<(String, String), usize>,
    pub(crate) doubles: usize,
}

impl Arrived {
    /// Reads what the collectors have, and sees that every event is as it was sent.
    pub(crate) fn at(collectors: &[&Collector]) -> Self {
        let mut arrived = Self { numbers: BTreeMap::new(), via: BTreeMap::new(), doubles: 0 };
        for batch in collectors.iter().map(|collector| collector.stored.contents()) {
            for got in batch.iter() {
                let header = |name: &str| got.headers.get(name).map(|value| value.to_string());
                let (sender, number) =
                    (header("sender").unwrap(), header("number").unwrap().parse().unwrap());
                let (headers, body) = event(&sender, number);
                let same = headers.iter().all(|(name, value)| got.headers.get(name.as_str()) == Some(value));
                let via = header("via");
                let n_headers = headers.iter().count() + usize::from(via.is_some());
                assert!(same && got.headers.iter().count() == n_headers, "altered: {got:?}");
                assert_eq!(got.body, body.as_bytes());
                let is_new = arrived.numbers.entry(sender.clone()).or_default().insert(number);
                arrived.doubles += usize::from(!is_new);
                if let Some(via) = via {
                    *arrived.via.entry((sender, via)).or_default() += 1;
                }
            }
        }
        arrived
    }
}

/// Ends the senders, waits until all that was acknowledged has arrived, and gives what has.
pub(crate) async fn all_arrive(senders: &[&Sender], collectors: &[&Collector]) -> Arrived {
    let mut acknowledged = Vec::new();
    for sender in senders {
        acknowledged.push((sender.name, sender.end().await));
    }
    let count = || collectors.iter().map(|collector| collector.metrics.accepted.get()).sum::<u64>();
    let mut seen = 0;
    let mut arrived = Arrived::at(collectors);
    let missing = |arrived: &Arrived| -> Vec<(&'static str, Vec<u64>)> {
        let of = |(name, n): &(&'static str, u64)| {
            let numbers = arrived.numbers.get(*name).cloned().unwrap_or_default();
            (*name, (0..*n).filter(|number| !numbers.contains(number)).collect::<Vec<_>>())
        };
        acknowledged.iter().map(of).filter(|(_, missing)| !missing.is_empty()).collect()
    };
    // Looked at again only when nothing comes any more, or every second.
    let start = Instant::now();
    let mut pause = tokio::time::interval(Duration::from_secs(1));
    let mut quiet = 0;
    while !missing(&arrived).is_empty() {
        pause.tick().await;
        let now = count();
        quiet = if now == seen { quiet + 1 } else { 0 };
        if now != seen {
            seen = now;
            arrived = Arrived::at(collectors);
        }
        if quiet > 60 || start.elapsed() > LIMIT {
            for (name, missing) in missing(&arrived) {
                let (n, first) = (missing.len(), &missing[..missing.len().min(40)]);
                println!("{name}: {n} are missing, the first are {first:?}");
            }
            panic!(
                "of {acknowledged:?} some are missing, {quiet} s after the last arrival; {seen} are there"
            );
        }
    }
    println!("acknowledged {acknowledged:?}, twice there {}", arrived.doubles);
    arrived
}
