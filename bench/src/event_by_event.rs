//! What is to be beaten: events one by one, each with a map and a body of its own, in the shape of Java Flume's memory channel.
//!
//! It does by the event what Java does by the event: the source makes a text and a body; each interceptor is called and writes
//! into the event's map; the event is routed and put on its channel's list; put and take each check the thread's transaction,
//! count, and move the event through lists that lock and allocate a node for each element; a take waits for a permit and holds
//! the lock of the queue. Once a transaction it does what Java does then: permits for room and bytes, counters, signals.
//! It is flattered where Rust has no like: no garbage is collected, counters are found without a map, and the names and fixed
//! values of headers are shared.

use crate::floors::write_decimal;
use std::{
    cell::RefCell,
    collections::{HashMap, LinkedList},
    fmt::Debug,
    hint::black_box,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread::ThreadId,
};

/// Events that fit, as in the flow beside it.
const CAPACITY: usize = 100_000;
/// Slots of 100 bytes that fit.
const SLOTS: usize = 100_000_000;

/// An event: two objects and a body on the heap.
#[derive(Debug)]
#[expect(clippy::box_collection, reason = "in Java an empty map is an object too")]
struct OwnedEvent {
    headers: Box<HashMap<Arc<str>, Arc<str>>>,
    body: Vec<u8>,
}

impl OwnedEvent {
    fn slots(&self) -> usize {
        self.body.len().div_ceil(100).max(1)
    }
}

/// A queue that locks for each call and has a node for each element, as Java's linked deques.
#[derive(Debug)]
struct LockedList<T>(Mutex<LinkedList<T>>);

impl<T> LockedList<T> {
    fn new() -> Self {
        Self(Mutex::new(LinkedList::new()))
    }

    fn list(&self) -> MutexGuard<'_, LinkedList<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Permits that are counted without a lock, as Java's semaphores; who finds too few waits.
#[derive(Debug)]
struct Permits {
    free: AtomicUsize,
    n_waiting: AtomicUsize,
    lock: Mutex<()>,
    freed: Condvar,
}

impl Permits {
    fn new(free: usize) -> Self {
        Self {
            free: AtomicUsize::new(free),
            n_waiting: AtomicUsize::new(0),
            lock: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    fn try_acquire(&self, n: usize) -> bool {
        let less = |free: usize| free.checked_sub(n);
        self.free.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }

    fn acquire(&self, n: usize) {
        if self.try_acquire(n) {
            return;
        }
        self.n_waiting.fetch_add(1, Ordering::SeqCst);
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.freed.wait_while(lock, |()| !self.try_acquire(n)).unwrap_or_else(PoisonError::into_inner));
        self.n_waiting.fetch_sub(1, Ordering::SeqCst);
    }

    fn release(&self, n: usize) {
        self.free.fetch_add(n, Ordering::SeqCst);
        if n > 0 && self.n_waiting.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.freed.notify_all();
        }
    }
}

/// The events of one transaction of one thread.
#[derive(Debug)]
struct Transaction {
    thread: ThreadId,
    puts: LockedList<Box<OwnedEvent>>,
    takes: LockedList<Box<OwnedEvent>>,
    put_slots: usize,
    take_slots: usize,
}

thread_local! {
    static TRANSACTION: RefCell<Option<Transaction>> = const { RefCell::new(None) };
}

/// Java's contract of channels, called by the event.
trait EventChannel: Sync {
    fn begin(&self);
    fn put(&self, event: Box<OwnedEvent>);
    fn take(&self, read: &mut dyn FnMut(&OwnedEvent));
    fn commit(&self);
}

#[derive(Debug)]
struct MemoryChannel {
    queue: Mutex<LockedList<Box<OwnedEvent>>>,
    stored: Permits,
    room: Permits,
    slots: Permits,
    transaction_capacity: usize,
    put_attempts: AtomicU64,
    take_attempts: AtomicU64,
    put_successes: AtomicU64,
    take_successes: AtomicU64,
    size: AtomicUsize,
}

impl MemoryChannel {
    fn new(transaction_capacity: usize) -> Self {
        Self {
            queue: Mutex::new(LockedList::new()),
            stored: Permits::new(0),
            room: Permits::new(CAPACITY),
            slots: Permits::new(SLOTS),
            transaction_capacity,
            put_attempts: AtomicU64::new(0),
            take_attempts: AtomicU64::new(0),
            put_successes: AtomicU64::new(0),
            take_successes: AtomicU64::new(0),
            size: AtomicUsize::new(0),
        }
    }

    /// The thread's transaction, after the checks of each call.
    fn transaction<R>(work: impl FnOnce(&mut Transaction) -> R) -> R {
        TRANSACTION.with_borrow_mut(|transaction| {
            let transaction = transaction.as_mut().expect("a transaction is open");
            assert_eq!(transaction.thread, std::thread::current().id(), "a transaction stays on its thread");
            work(transaction)
        })
    }
}

impl EventChannel for MemoryChannel {
    fn begin(&self) {
        TRANSACTION.set(Some(Transaction {
            thread: std::thread::current().id(),
            puts: LockedList::new(),
            takes: LockedList::new(),
            put_slots: 0,
            take_slots: 0,
        }));
    }

    fn put(&self, event: Box<OwnedEvent>) {
        Self::transaction(|transaction| {
            self.put_attempts.fetch_add(1, Ordering::Relaxed);
            transaction.put_slots += event.slots();
            let mut puts = transaction.puts.list();
            assert!(puts.len() < self.transaction_capacity, "more than a transaction takes");
            puts.push_back(event);
        });
    }

    fn take(&self, read: &mut dyn FnMut(&OwnedEvent)) {
        Self::transaction(|transaction| {
            self.take_attempts.fetch_add(1, Ordering::Relaxed);
            assert!(
                transaction.takes.list().len() < self.transaction_capacity,
                "more than a transaction takes"
            );
            self.stored.acquire(1);
            let event = {
                let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                queue.list().pop_front().expect("a permit stands for an event")
            };
            read(&event);
            transaction.take_slots += event.slots();
            transaction.takes.list().push_back(event);
        });
    }

    fn commit(&self) {
        Self::transaction(|transaction| {
            let (n_puts, n_takes) = (transaction.puts.list().len(), transaction.takes.list().len());
            self.slots.acquire(transaction.put_slots);
            self.room.acquire(n_puts.saturating_sub(n_takes));
            {
                let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                loop {
                    let Some(event) = transaction.puts.list().pop_front() else { break };
                    queue.list().push_back(event);
                }
                transaction.takes.list().clear();
                self.size.store(queue.list().len(), Ordering::Relaxed);
            }
            self.slots.release(transaction.take_slots);
            self.stored.release(n_puts);
            self.room.release(n_takes.saturating_sub(n_puts));
            self.put_successes.fetch_add(n_puts as u64, Ordering::Relaxed);
            self.take_successes.fetch_add(n_takes as u64, Ordering::Relaxed);
        });
        TRANSACTION.set(None);
    }
}

/// Java's contract of interceptors.
trait EventInterceptor: Debug {
    fn intercept(&self, event: &mut OwnedEvent);
}

/// Sets one value on all events, as the host interceptor.
#[derive(Debug)]
struct Host(Arc<str>, Arc<str>);

impl EventInterceptor for Host {
    fn intercept(&self, event: &mut OwnedEvent) {
        event.headers.insert(self.0.clone(), self.1.clone());
    }
}

/// Writes the time into each event, as the timestamp interceptor: each event gets a text of its own.
#[derive(Debug)]
struct Timestamp(Arc<str>);

impl EventInterceptor for Timestamp {
    fn intercept(&self, event: &mut OwnedEvent) {
        let mut text = Vec::with_capacity(24);
        write_decimal(&mut text, black_box(1_700_000_000_000));
        let text = std::str::from_utf8(&text).expect("digits");
        event.headers.insert(self.0.clone(), text.into());
    }
}

/// Java's contract of selectors: the channels of an event.
trait EventSelector: Debug {
    fn required(&self, event: &OwnedEvent) -> &[usize];
    fn optional(&self, event: &OwnedEvent) -> &[usize];
}

#[derive(Debug)]
struct Replicating(Vec<usize>);

impl EventSelector for Replicating {
    fn required(&self, _event: &OwnedEvent) -> &[usize] {
        &self.0
    }
    fn optional(&self, _event: &OwnedEvent) -> &[usize] {
        &[]
    }
}

/// From a source to its channel, as Java's channel processor.
struct Processor<'a> {
    interceptors: Vec<Box<dyn EventInterceptor>>,
    selector: Box<dyn EventSelector>,
    channels: Vec<&'a dyn EventChannel>,
    received: AtomicU64,
    accepted: AtomicU64,
}

impl Processor<'_> {
    #[expect(clippy::vec_box, reason = "in Java each event is an object")]
    fn put(&self, mut events: Vec<Box<OwnedEvent>>) {
        let n_events = events.len() as u64;
        self.received.fetch_add(n_events, Ordering::Relaxed);
        for interceptor in &self.interceptors {
            events.iter_mut().for_each(|event| interceptor.intercept(event));
        }
        let mut queues: HashMap<usize, Vec<Box<OwnedEvent>>> = HashMap::new();
        for event in events {
            assert!(self.selector.optional(&event).is_empty(), "there is no optional channel");
            let channel = self.selector.required(&event)[0];
            queues.entry(channel).or_default().push(event);
        }
        for (channel, events) in queues {
            let channel = self.channels[channel];
            channel.begin();
            events.into_iter().for_each(|event| channel.put(event));
            channel.commit();
        }
        self.accepted.fetch_add(n_events, Ordering::Relaxed);
    }
}

/// Moves `events` in transactions of `batch_size` through a channel, on one thread as the flow beside it: so no lock is ever
/// waited for. With headers, two interceptors set one each.
pub(crate) fn run(events: usize, batch_size: usize, headers: bool) {
    let channel = MemoryChannel::new(batch_size);
    let channel: &dyn EventChannel = &channel;
    let interceptors: Vec<Box<dyn EventInterceptor>> = match headers {
        true => {
            vec![Box::new(Host("host".into(), "localhost".into())), Box::new(Timestamp("timestamp".into()))]
        }
        false => Vec::new(),
    };
    let processor = Processor {
        interceptors,
        selector: Box::new(Replicating(vec![0])),
        channels: vec![channel],
        received: AtomicU64::new(0),
        accepted: AtomicU64::new(0),
    };
    let (mut n_read, mut digits) = (0, Vec::new());
    for first in (0..events).step_by(batch_size) {
        let mut made = Vec::with_capacity(batch_size);
        for n in first..first + batch_size {
            digits.clear();
            write_decimal(&mut digits, n);
            let text: Box<str> = std::str::from_utf8(&digits).expect("digits").into();
            let body = black_box(text).as_bytes().to_vec();
            made.push(Box::new(OwnedEvent { headers: Box::default(), body }));
        }
        processor.put(made);
        channel.begin();
        for _ in 0..batch_size {
            channel.take(&mut |event| n_read += black_box(event).body.len().min(1));
        }
        channel.commit();
    }
    assert!(n_read >= events, "an event was lost");
}
