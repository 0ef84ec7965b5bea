//! Random transactions, one at a time, beside a model that is too simple to be wrong.

use super::{ChannelSuite, committed, limits, taken};
use crate::{
    channel::{Channel, ChannelLimits, PutTransaction, TakeTransaction},
    event::{Batch, BatchSize},
    testing::events::varied,
};
use std::{collections::BTreeMap, sync::Arc};

/// Steps of one run.
const STEPS: usize = 250;

/// A channel and what must be in it.
struct Run {
    channel: Arc<dyn Channel>,
    limits: ChannelLimits,
    rng: fastrand::Rng,
    next: u64,
    /// Events by number, which is also their order. Each is a batch of one.
    queued: BTreeMap<u64, Batch>,
    loans: Vec<(TakeTransaction, Vec<(u64, Batch)>)>,
    rooms: Vec<PutTransaction>,
}

impl ChannelSuite<'_> {
    pub(super) fn random_transactions(&self, seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let capacity = rng.u64(1..60);
        let mut limits = limits(capacity, u32::try_from(rng.u64(1..=capacity)).expect("it is below 60"));
        limits.byte_slots = (rng.bool() && self.byte_slots).then(|| rng.u64(4..120));
        let channel = (self.open)(&limits);
        let mut run = Run {
            channel,
            limits,
            rng,
            next: 0,
            queued: BTreeMap::new(),
            loans: Vec::new(),
            rooms: Vec::new(),
        };
        let _announce = Announce(seed);
        super::block_on(async {
            for step in 0..STEPS {
                run.step().await;
                run.compare(step);
                if let Some(reopen) = self.reopen.as_ref().filter(|_| step % 50 == 49) {
                    run.roll_back_all();
                    run.channel = reopen(run.channel.clone());
                    run.compare(step);
                }
            }
            run.roll_back_all();
            run.compare(STEPS);
            while !run.queued.is_empty() {
                run.take().await;
                run.settle().await;
            }
            assert!(run.channel.try_take(1).expect("it is open").is_none(), "an event came from nowhere");
        });
    }
}

/// Says which seed shows a failure again.
struct Announce(u64);

impl Drop for Announce {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("random_runs(1, {}) shows this failure again", self.0);
        }
    }
}

impl Run {
    async fn step(&mut self) {
        match self.rng.u8(..10) {
            0..4 => self.put().await,
            4..7 => self.take().await,
            7..9 => self.settle().await,
            _ => {
                if !self.rooms.is_empty() {
                    let room = self.rng.usize(..self.rooms.len());
                    drop(self.rooms.swap_remove(room));
                }
            }
        }
    }

    async fn put(&mut self) {
        let len = self.rng.u64(1..=u64::from(self.limits.transaction_capacity));
        let mut batch = varied(&mut self.rng, self.next..self.next + len);
        let size = batch.size();
        let fits = self.fits(size);
        let room = match self.channel.try_put(size) {
            Ok(Some(room)) => room,
            Ok(None) => {
                return assert!(
                    !fits,
                    "refused {size:?}, although there is room: {:?}",
                    self.channel.depth()
                );
            }
            Err(error) => {
                let never = self.limits.byte_slots.is_some_and(|slots| size.slots > slots);
                return assert!(never && error.is_permanent(), "refused {size:?}: {error}");
            }
        };
        assert!(fits, "{size:?} beyond the limits {:?}: {:?}", self.limits, self.channel.depth());
        match self.rng.u8(..10) {
            0 => return, // rolled back
            1 => return self.rooms.push(room),
            2 => drop(batch.split_front(self.rng.usize(..batch.len()))),
            _ => {}
        }
        committed(room.commit(batch.clone())).await;
        for at in 0..batch.len() {
            self.queued.insert(self.next, batch.slice(at..at + 1));
            self.next += 1;
        }
    }

    fn fits(&self, size: BatchSize) -> bool {
        let mut used = size;
        let loans = self.loans.iter().flat_map(|(_, events)| events.iter().map(|(_, event)| event.size()));
        let queued = self.queued.values().map(Batch::size);
        for one in loans.chain(queued).chain(self.rooms.iter().map(PutTransaction::size)) {
            used += one;
        }
        u64::from(used.events) <= self.limits.capacity
            && self.limits.byte_slots.is_none_or(|slots| used.slots <= slots)
    }

    async fn take(&mut self) {
        let most = self.rng.u32(1..=self.limits.transaction_capacity);
        if self.queued.is_empty() {
            let taken = self.channel.try_take(most).expect("the channel is open");
            return assert!(taken.is_none(), "taken from an empty channel: {taken:?}");
        }
        let taken = taken(&*self.channel, most).await;
        let len = taken.batch().len();
        assert!(len <= most as usize && len <= self.queued.len(), "{len} events taken, {most} asked for");
        let numbers: Vec<u64> = self.queued.keys().copied().take(len).collect();
        let events: Vec<_> = numbers
            .into_iter()
            .map(|n| (n, self.queued.remove(&n).expect("the number is one of these")))
            .collect();
        let mut expected = Batch::new();
        events.iter().for_each(|(_, event)| expected.append(event.clone()));
        assert!(*taken.batch() == expected, "taken {:?}\nexpected {expected:?}", taken.batch());
        self.loans.push((taken, events));
    }

    async fn settle(&mut self) {
        if self.loans.is_empty() {
            return;
        }
        let (taken, mut events) = self.loans.swap_remove(self.rng.usize(..self.loans.len()));
        match self.rng.u8(..3) {
            0 => {
                drop(taken);
                self.queued.extend(events);
            }
            1 => {
                let done = self.rng.usize(..=events.len());
                committed(taken.commit_first(u32::try_from(done).expect("it is below 60"))).await;
                self.queued.extend(events.split_off(done));
            }
            _ => committed(taken.commit()).await,
        }
    }

    fn roll_back_all(&mut self) {
        self.rooms.clear();
        for (taken, events) in self.loans.drain(..) {
            drop(taken);
            self.queued.extend(events);
        }
    }

    fn compare(&self, step: usize) {
        let depth = self.channel.depth();
        let on_loan: usize = self.loans.iter().map(|(_, events)| events.len()).sum();
        let reserved: u64 = self.rooms.iter().map(|room| u64::from(room.size().events)).sum();
        let lent =
            self.loans.iter().flat_map(|(_, events)| events.iter().map(|(_, event)| event.size().bytes));
        let bytes: u64 = self.queued.values().map(|event| event.size().bytes).chain(lent).sum();
        let seen = (depth.queued, depth.on_loan, depth.reserved, depth.bytes);
        assert_eq!(
            seen,
            (self.queued.len() as u64, on_loan as u64, reserved, bytes),
            "after step {step}: {depth:?}"
        );
        let balance = depth.removed_total + depth.queued + depth.on_loan;
        assert_eq!(depth.stored_total, balance, "after step {step}: {depth:?}");
        let empty = self.queued.is_empty() && on_loan == 0;
        assert_eq!(depth.oldest.is_none(), empty, "after step {step}: {depth:?}");
    }
}
