//! What cannot be beaten, and what is to be: a bare queue of batches, and events one by one as Java holds them.

use bytes::Bytes;
use flumen_core::event::{Batch, Headers};
use std::{
    cell::RefCell,
    collections::{HashMap, VecDeque},
    hint::black_box,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The bodies that all shapes move: the numbers from `first`, in decimal digits.
pub(crate) fn seq_batch(first: usize, n_events: usize) -> Batch {
    let mut bodies = Vec::with_capacity(n_events * 8 + 24);
    let mut lens = Vec::with_capacity(n_events);
    for n in first..first + n_events {
        let before = bodies.len();
        write_decimal(&mut bodies, n);
        lens.push(u32::try_from(bodies.len() - before).expect("small bodies"));
    }
    let mut batch = Batch::with_capacity(n_events);
    let segment = batch.add_segment(Bytes::from(bodies));
    let set = batch.add_headers(Headers::new());
    batch.push_slices(set, segment, 0, lens);
    batch
}

fn write_decimal(out: &mut Vec<u8>, mut n: usize) {
    let mut digits = [0; 24];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(n % 10).expect("a digit");
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Batches through a queue under a lock: no transaction, no limit, no waiting, no metrics.
pub(crate) fn bare_queue(events: usize, batch_size: usize) {
    let queue: Mutex<VecDeque<Batch>> = Mutex::default();
    let mut moved = 0;
    for first in (0..events).step_by(batch_size) {
        let batch = seq_batch(first, batch_size);
        queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(batch);
        let taken = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        moved += black_box(taken).map_or(0, |batch| batch.len());
    }
    assert!(moved >= events);
}

/// An event as Java's: a map and a body of its own, each an object on the heap.
#[expect(clippy::box_collection, reason = "in Java an empty map is an object too")]
struct OwnedEvent {
    headers: Box<HashMap<String, String>>,
    body: Vec<u8>,
}

/// Permits that are counted, as Java's semaphores are.
#[derive(Default)]
struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Permits {
    fn acquire(&self, n: usize) {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.freed.wait_while(free, |free| *free < n).unwrap_or_else(PoisonError::into_inner);
        *free -= n;
    }

    fn release(&self, n: usize) {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += n;
        self.freed.notify_all();
    }
}

/// A channel as Java's memory channel: events one by one, in the transaction of the thread.
#[derive(Default)]
struct EventChannel {
    queue: Mutex<VecDeque<Box<OwnedEvent>>>,
    stored: Permits,
    room: Permits,
    put_attempts: AtomicU64,
    take_attempts: AtomicU64,
}

/// What the thread has put and taken since it began its transaction.
#[derive(Default)]
struct EventTransaction {
    puts: VecDeque<Box<OwnedEvent>>,
    takes: VecDeque<Box<OwnedEvent>>,
    put_bytes: usize,
}

thread_local! {
    static TRANSACTION: RefCell<EventTransaction> = RefCell::default();
}

/// Java's contract, called by the event.
trait EventByEvent: Sync {
    fn put(&self, event: Box<OwnedEvent>);
    fn take(&self) -> usize;
    fn commit(&self);
}

impl EventByEvent for EventChannel {
    fn put(&self, event: Box<OwnedEvent>) {
        self.put_attempts.fetch_add(1, Ordering::Relaxed);
        TRANSACTION.with_borrow_mut(|transaction| {
            transaction.put_bytes += event.body.len().div_ceil(100).max(1);
            transaction.puts.push_back(event);
        });
    }

    fn take(&self) -> usize {
        self.take_attempts.fetch_add(1, Ordering::Relaxed);
        self.stored.acquire(1);
        let event = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let event = event.expect("a permit stands for an event");
        let read = event.headers.len() + event.body.len();
        TRANSACTION.with_borrow_mut(|transaction| transaction.takes.push_back(event));
        read
    }

    fn commit(&self) {
        TRANSACTION.with_borrow_mut(|transaction| {
            let (puts, takes) = (transaction.puts.len(), transaction.takes.len());
            if puts > 0 {
                self.room.acquire(puts);
                let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                while let Some(event) = transaction.puts.pop_front() {
                    queue.push_back(event);
                }
                drop(queue);
                self.stored.release(puts);
            }
            transaction.takes.clear();
            transaction.put_bytes = 0;
            self.room.release(takes);
        });
    }
}

/// Event by event, a thread for the source and one for the sink, as Java does it. Flattered: its events have no headers.
pub(crate) fn event_by_event(events: usize, batch_size: usize) {
    let channel = EventChannel::default();
    channel.room.release(100_000);
    let channel: &dyn EventByEvent = &channel;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for first in (0..events).step_by(batch_size) {
                for n in first..first + batch_size {
                    let mut body = Vec::new();
                    write_decimal(&mut body, n);
                    channel.put(Box::new(OwnedEvent { headers: Box::default(), body }));
                }
                channel.commit();
            }
        });
        let mut read = 0;
        for _ in (0..events).step_by(batch_size) {
            for _ in 0..batch_size {
                read += black_box(channel.take());
            }
            channel.commit();
        }
        assert!(read >= events, "an event was lost");
    });
}
