//! Sources and sinks on threads of their own: nothing is lost, doubled or reordered, and nobody sleeps through a signal.

use super::{ChannelSuite, LIMIT, block_on, committed, soon};
use crate::{
    channel::{Channel, ChannelError, ChannelLimits, begin_put, begin_take},
    testing::{numbered, numbers},
};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};
use tokio::time::Instant;

/// Numbers of one producer lie together.
const STRIDE: u64 = 1_000_000;

impl ChannelSuite<'_> {
    pub(super) fn threads(&self) {
        self.many_producers_and_consumers(20, 20);
        self.many_producers_and_consumers(8, 1);
        self.no_signal_is_missed();
    }

    /// Each producer makes 10 puts of 1 to 5 events, each committed or rolled back; consumers commit, roll back or commit in
    /// part.
    fn many_producers_and_consumers(&self, producers: u64, consumers: u64) {
        let channel = &*self.open(100, 50);
        let (stored, taken) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let (stored, taken) = (&stored, &taken);
        let running = &AtomicUsize::new(usize::try_from(producers).expect("few"));
        let watched = &AtomicBool::new(true);
        thread::scope(|scope| {
            scope.spawn(move || watch(channel, watched));
            let workers: Vec<_> = (0..producers)
                .map(|n| scope.spawn(move || block_on(produce(channel, n, stored, running))))
                .chain(
                    (0..consumers)
                        .map(|n| scope.spawn(move || block_on(consume(channel, n, taken, running)))),
                )
                .collect();
            let results: Vec<_> = workers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            watched.store(false, Ordering::Release);
            results
                .into_iter()
                .for_each(|result| result.expect("the thread of a producer or consumer ended well"));
        });
        let (mut stored, mut taken) = (all_of(stored), all_of(taken));
        if consumers == 1 {
            in_order(&taken);
        }
        stored.sort_unstable();
        taken.sort_unstable();
        assert_eq!(taken, stored, "what was committed into the channel came out once");
        let depth = channel.depth();
        assert_eq!((depth.queued, depth.on_loan, depth.reserved), (0, 0, 0));
    }

    /// Two threads hand one event to and fro through a channel with room for one. A missed signal would cost an hour.
    fn no_signal_is_missed(&self) {
        let hour = Duration::from_secs(3600);
        let channel = &*(self.open)(&ChannelLimits { keep_alive: hour, ..super::limits(1, 1) });
        const ROUNDS: u64 = 500;
        thread::scope(|scope| {
            scope.spawn(move || {
                block_on(async {
                    for n in 0..ROUNDS {
                        let batch = numbered(n..n + 1);
                        let room = soon("a put that waits for room", begin_put(channel, batch.size())).await;
                        committed(room.expect("it is open").commit(batch)).await;
                    }
                });
            });
            block_on(async {
                for n in 0..ROUNDS {
                    let taken = soon("a take that waits for an event", begin_take(channel, 1)).await;
                    let taken = taken.expect("it is open").expect("an hour is long");
                    assert_eq!(numbers(taken.batch()), [n]);
                    committed(taken.commit()).await;
                }
            });
        });
    }
}

async fn produce(channel: &dyn Channel, producer: u64, stored: &Mutex<Vec<u64>>, running: &AtomicUsize) {
    let mut rng = fastrand::Rng::with_seed(producer);
    let mut next = producer * STRIDE;
    for _ in 0..10 {
        let batch = numbered(next..next + rng.u64(1..=5));
        let room = match begin_put(channel, batch.size()).await {
            Ok(room) => room,
            Err(ChannelError::Full { .. }) => continue,
            Err(error) => panic!("a put failed: {error}"),
        };
        if rng.bool() {
            continue; // rolled back
        }
        next += batch.len() as u64;
        let put = numbers(&batch);
        committed(room.commit(batch)).await;
        stored.lock().unwrap_or_else(PoisonError::into_inner).extend(put);
    }
    running.fetch_sub(1, Ordering::Release);
}

async fn consume(channel: &dyn Channel, consumer: u64, into: &Mutex<Vec<u64>>, running: &AtomicUsize) {
    let mut rng = fastrand::Rng::with_seed(!consumer);
    let start = Instant::now();
    loop {
        let over = running.load(Ordering::Acquire) == 0;
        let Some(taken) = begin_take(channel, rng.u32(1..=50)).await.expect("it is open") else {
            let depth = channel.depth();
            if over && depth.queued == 0 && depth.on_loan == 0 {
                return;
            }
            assert!(start.elapsed() < LIMIT, "producers and consumers are stuck: {depth:?}");
            continue;
        };
        let events = numbers(taken.batch());
        in_order(&events);
        let n_done = match rng.u8(..4) {
            0 => 0,
            1 => rng.usize(..=events.len()),
            _ => events.len(),
        };
        committed(taken.commit_first(u32::try_from(n_done).expect("at most 50"))).await;
        into.lock().unwrap_or_else(PoisonError::into_inner).extend(&events[..n_done]);
    }
}

/// The events of each producer are in the order in which it put them.
fn in_order(events: &[u64]) {
    let mut last = BTreeMap::new();
    for event in events {
        let before = last.insert(event / STRIDE, *event);
        assert!(before.is_none_or(|before| before < *event), "{event} came after {before:?}");
    }
}

fn watch(channel: &dyn Channel, watched: &AtomicBool) {
    while watched.load(Ordering::Acquire) {
        let depth = channel.depth();
        assert!(
            depth.queued + depth.on_loan + depth.reserved <= 100,
            "beyond the capacity of 100: {depth:?}"
        );
        thread::yield_now();
    }
}

fn all_of(events: &Mutex<Vec<u64>>) -> Vec<u64> {
    std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner))
}
