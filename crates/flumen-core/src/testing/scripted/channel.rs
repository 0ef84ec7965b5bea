//! A channel that keeps event by event, fails when told to, and can answer its commits late.

use super::lock;
use crate::{
    channel::{
        Channel, ChannelDepth, ChannelError, ChannelLimits, Commit, NeedsRebuild, PutSlot, PutTransaction,
        Signals, TakeLease, TakeTransaction,
    },
    event::{Batch, BatchSize},
};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// Something that a [`ScriptedChannel`] does once, at the next such call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Once {
    /// A try to put finds no room.
    PutFull,
    /// A try to put meets a failed disk.
    PutFails,
    /// The commit of a put fails; nothing is stored.
    PutCommitFails,
    /// A try to take meets a failed disk.
    TakeFails,
    /// The commit of a take fails; the events stay.
    TakeCommitFails,
}

/// A channel for tests. It counts as durable, and so may fail commits, when made so.
#[derive(Debug)]
pub struct ScriptedChannel {
    name: Arc<str>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    signals: Signals,
}

#[derive(Debug, Default)]
struct State {
    limits: Option<ChannelLimits>,
    durable: bool,
    closed: bool,
    late: bool,
    script: Vec<Once>,
    unanswered: VecDeque<Unanswered>,
    /// One event each.
    queue: BTreeMap<u64, Stored>,
    lent: BTreeMap<u64, Stored>,
    reserved: BatchSize,
    next: u64,
    removed: u64,
    missed: u64,
}

#[derive(Debug, Clone)]
struct Stored {
    batch: Batch,
    at: Instant,
}

#[derive(Debug)]
struct Unanswered {
    to: oneshot::Sender<Result<(), ChannelError>>,
    put: BTreeMap<u64, Stored>,
    taken: BTreeMap<u64, Stored>,
}

impl ScriptedChannel {
    /// A channel with these limits and a keep-alive of 3 s, as Flume's.
    pub fn new(name: &str, capacity: u64, transaction_capacity: u32) -> Self {
        let keep_alive = Duration::from_secs(3);
        Self::with_limits(
            name,
            ChannelLimits { capacity, transaction_capacity, byte_slots: None, keep_alive },
        )
    }

    /// A channel with these limits.
    pub fn with_limits(name: &str, limits: ChannelLimits) -> Self {
        let state = State { limits: Some(limits), ..State::default() };
        Self { name: name.into(), shared: Arc::new(Shared { state: Mutex::new(state), ..Shared::default() }) }
    }

    /// The same channel, which promises durability.
    #[must_use]
    pub fn durable(self) -> Self {
        lock(&self.shared.state).durable = true;
        self
    }

    /// Does this once, at the next such call.
    pub fn once(&self, what: Once) {
        lock(&self.shared.state).script.push(what);
    }

    /// From now on commits wait for [`Self::answer`], or no longer.
    pub fn answer_late(&self, late: bool) {
        lock(&self.shared.state).late = late;
    }

    /// Answers the oldest commit that waits: it worked, or it failed and changed nothing. False: none waits.
    pub fn answer(&self, works: bool) -> bool {
        let mut state = lock(&self.shared.state);
        let Some(Unanswered { to, put, taken }) = state.unanswered.pop_front() else { return false };
        let result = if works {
            state.queue.extend(put);
            state.removed += taken.len() as u64;
            Ok(())
        } else {
            state.queue.extend(taken);
            Err(failed(&self.name))
        };
        drop(state);
        // The commit may have been dropped.
        let _ = to.send(result);
        self.shared.raise();
        true
    }

    /// The numbers of the events that can be taken, in order.
    pub fn numbers(&self) -> Vec<u64> {
        let state = lock(&self.shared.state);
        state.queue.values().flat_map(|stored| crate::testing::numbers(&stored.batch)).collect()
    }

    /// The events that can be taken, in order.
    pub fn contents(&self) -> Batch {
        let mut all = Batch::new();
        lock(&self.shared.state).queue.values().for_each(|stored| all.append(stored.batch.clone()));
        all
    }

    /// Stores events at once, without regard to limits.
    pub fn fill(&self, batch: &Batch) {
        let mut state = lock(&self.shared.state);
        let stored = state.number(batch);
        state.queue.extend(stored);
        drop(state);
        self.shared.raise();
    }

    /// How many events were to be put and were given up.
    pub fn missed(&self) -> u64 {
        lock(&self.shared.state).missed
    }

    /// The same contents in a fresh channel, as after a restart. What is on loan is not seen.
    #[must_use]
    pub fn reopened(&self) -> Self {
        self.close();
        let state = lock(&self.shared.state);
        let fresh = State {
            limits: state.limits.clone(),
            durable: state.durable,
            queue: state.queue.clone(),
            next: state.next,
            ..State::default()
        };
        Self {
            name: self.name.clone(),
            shared: Arc::new(Shared { state: Mutex::new(fresh), ..Shared::default() }),
        }
    }
}

fn failed(channel: &str) -> ChannelError {
    ChannelError::storage(channel, io::Error::other("the script says so"))
}

impl Shared {
    fn raise(&self) {
        self.signals.stored.raise();
        self.signals.freed.raise();
    }
}

impl State {
    fn limits(&self) -> ChannelLimits {
        self.limits.clone().expect("a scripted channel is made with limits")
    }

    fn due(&mut self, what: Once) -> bool {
        self.script.iter().position(|once| *once == what).map(|at| self.script.remove(at)).is_some()
    }

    fn number(&mut self, batch: &Batch) -> BTreeMap<u64, Stored> {
        let first = self.next;
        self.next += batch.len() as u64;
        let stored = |at: usize| Stored { batch: batch.slice(at..at + 1), at: Instant::now() };
        (first..).zip((0..batch.len()).map(stored)).collect()
    }

    /// What has room besides what is reserved.
    fn held(&self) -> BatchSize {
        let mut size = BatchSize::default();
        let waiting =
            self.unanswered.iter().flat_map(|commit| commit.put.values().chain(commit.taken.values()));
        for stored in self.queue.values().chain(self.lent.values()).chain(waiting) {
            size += stored.batch.size();
        }
        size
    }

    fn give_back(&mut self, room: BatchSize) {
        self.reserved.events -= room.events;
        self.reserved.slots -= room.slots;
        self.reserved.bytes -= room.bytes;
    }

    /// Ends a put or a take, now or when the test says so.
    fn commit(
        &mut self,
        name: &str,
        fails: Once,
        put: BTreeMap<u64, Stored>,
        taken: BTreeMap<u64, Stored>,
    ) -> Commit {
        if self.late {
            let (to, answer) = oneshot::channel();
            self.unanswered.push_back(Unanswered { to, put, taken });
            return Commit::pending(name, answer);
        }
        if self.due(fails) {
            self.queue.extend(taken);
            return Commit::done(Err(failed(name)));
        }
        self.queue.extend(put);
        self.removed += taken.len() as u64;
        Commit::done(Ok(()))
    }
}

impl Channel for ScriptedChannel {
    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> ChannelLimits {
        lock(&self.shared.state).limits()
    }

    fn signals(&self) -> &Signals {
        &self.shared.signals
    }

    fn try_put(&self, size: BatchSize) -> Result<Option<PutTransaction>, ChannelError> {
        let mut state = lock(&self.shared.state);
        let limits = state.limits();
        if state.closed {
            return Err(ChannelError::closed(&self.name));
        }
        if state.due(Once::PutFails) {
            return Err(failed(&self.name));
        }
        let large = |asked, unit, limit_name, limit| ChannelError::TooLarge {
            channel: self.name.clone(),
            asked,
            unit,
            limit_name,
            limit,
        };
        let most_slots = limits.byte_slots.unwrap_or(u64::MAX);
        if size.events > limits.transaction_capacity {
            let limit = u64::from(limits.transaction_capacity);
            return Err(large(u64::from(size.events), "events", "transactionCapacity", limit));
        }
        if size.slots > most_slots {
            return Err(large(size.slots, "slots", "byteCapacity", most_slots));
        }
        let mut used = state.held();
        used += state.reserved;
        used += size;
        if u64::from(used.events) > limits.capacity || used.slots > most_slots || state.due(Once::PutFull) {
            return Ok(None);
        }
        state.reserved += size;
        let (name, shared) = (self.name.clone(), self.shared.clone());
        Ok(Some(PutTransaction::new(Box::new(Room { name, shared, size }), size)))
    }

    fn put_missed(&self, size: BatchSize) {
        lock(&self.shared.state).missed += u64::from(size.events);
    }

    fn try_take(&self, max_events: u32) -> Result<Option<TakeTransaction>, ChannelError> {
        let mut state = lock(&self.shared.state);
        if state.closed {
            return Err(ChannelError::closed(&self.name));
        }
        if state.due(Once::TakeFails) {
            return Err(failed(&self.name));
        }
        let most = state.limits().transaction_capacity;
        if max_events > most {
            let (asked, limit) = (u64::from(max_events), u64::from(most));
            let (channel, unit, limit_name) = (self.name.clone(), "events", "transactionCapacity");
            return Err(ChannelError::TooLarge { channel, asked, unit, limit_name, limit });
        }
        let (mut batch, mut events) = (Batch::new(), Vec::new());
        for _ in 0..max_events {
            let Some((number, stored)) = state.queue.pop_first() else { break };
            batch.append(stored.batch.clone());
            state.lent.insert(number, stored);
            events.push(number);
        }
        if events.is_empty() {
            return Ok(None);
        }
        let (name, shared) = (self.name.clone(), self.shared.clone());
        Ok(Some(TakeTransaction::new(Box::new(Lease { name, shared, events }), batch)))
    }

    fn reconfigure(&self, limits: &ChannelLimits) -> Result<(), NeedsRebuild> {
        lock(&self.shared.state).limits = Some(limits.clone());
        self.shared.raise();
        Ok(())
    }

    fn depth(&self) -> ChannelDepth {
        let state = lock(&self.shared.state);
        let times = state.queue.values().chain(state.lent.values()).map(|stored| stored.at);
        let queued = state.queue.len() as u64;
        let unanswered: usize = state.unanswered.iter().map(|commit| commit.taken.len()).sum();
        let on_loan = (state.lent.len() + unanswered) as u64;
        ChannelDepth {
            queued,
            on_loan,
            reserved: u64::from(state.reserved.events),
            bytes: state.held().bytes,
            oldest: times.min(),
            stored_total: state.removed + queued + on_loan,
            removed_total: state.removed,
        }
    }

    fn durable(&self) -> bool {
        lock(&self.shared.state).durable
    }

    fn close(&self) {
        lock(&self.shared.state).closed = true;
        self.shared.raise();
    }
}

struct Room {
    name: Arc<str>,
    shared: Arc<Shared>,
    size: BatchSize,
}

impl PutSlot for Room {
    fn commit(self: Box<Self>, batch: Batch, _size: BatchSize) -> Commit {
        let mut state = lock(&self.shared.state);
        state.give_back(self.size);
        let put = state.number(&batch);
        let commit = state.commit(&self.name, Once::PutCommitFails, put, BTreeMap::new());
        drop(state);
        self.shared.raise();
        commit
    }

    fn rollback(self: Box<Self>) {
        lock(&self.shared.state).give_back(self.size);
        self.shared.raise();
    }
}

struct Lease {
    name: Arc<str>,
    shared: Arc<Shared>,
    events: Vec<u64>,
}

impl TakeLease for Lease {
    fn commit(self: Box<Self>, n_events: u32, _rest: Batch) -> Commit {
        let mut state = lock(&self.shared.state);
        let mut lent: BTreeMap<_, _> =
            self.events.iter().filter_map(|number| state.lent.remove_entry(number)).collect();
        if let Some(first_back) = self.events.get(n_events as usize) {
            let back = lent.split_off(first_back);
            state.queue.extend(back);
        }
        let commit = state.commit(&self.name, Once::TakeCommitFails, BTreeMap::new(), lent);
        drop(state);
        self.shared.raise();
        commit
    }

    fn rollback(self: Box<Self>, _batch: Batch) {
        let mut state = lock(&self.shared.state);
        for number in &self.events {
            if let Some(stored) = state.lent.remove(number) {
                state.queue.insert(*number, stored);
            }
        }
        drop(state);
        self.shared.raise();
    }
}
