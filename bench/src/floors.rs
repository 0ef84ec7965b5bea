//! What cannot be beaten, and what is to be: a bare queue of batches, and events one by one as Java holds them.

use bytes::Bytes;
use flumen_core::event::{Batch, Headers};
use std::{
    collections::{HashMap, VecDeque},
    hint::black_box,
    sync::{Mutex, PoisonError},
};

/// The bodies that all shapes move: the numbers from `first`, in decimal digits.
pub(crate) fn seq_batch(first: usize, n_events: usize) -> Batch {
    let mut bodies = Vec::with_capacity(n_events * 8);
    let mut ends = Vec::with_capacity(n_events);
    for n in first..first + n_events {
        write_decimal(&mut bodies, n);
        ends.push(u32::try_from(bodies.len()).expect("small bodies"));
    }
    let mut batch = Batch::with_capacity(n_events);
    let segment = batch.add_segment(Bytes::from(bodies));
    let set = batch.add_headers(Headers::new());
    let mut start = 0;
    for end in ends {
        batch.push_slice(set, segment, start..end);
        start = end;
    }
    batch
}

fn write_decimal(out: &mut Vec<u8>, mut n: usize) {
    let mut digits = [0; 20];
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

/// An event as Java's: a map and a body of its own.
struct OwnedEvent {
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

/// Event by event as Java's memory channel: each goes into the transaction's list, at the commit from there into the queue,
/// and back the same way.
pub(crate) fn event_by_event(events: usize, batch_size: usize) {
    let queue: Mutex<VecDeque<OwnedEvent>> = Mutex::default();
    let mut moved = 0;
    for first in (0..events).step_by(batch_size) {
        let mut puts = VecDeque::new();
        for n in first..first + batch_size {
            let mut body = Vec::new();
            write_decimal(&mut body, n);
            puts.push_back(OwnedEvent { headers: HashMap::new(), body });
        }
        while let Some(event) = puts.pop_front() {
            queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(event);
        }
        let mut takes = VecDeque::new();
        for _ in 0..batch_size {
            let event = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            takes.extend(event);
        }
        moved += takes.iter().map(|event| black_box(event.headers.len()) + usize::from(!event.body.is_empty())).sum::<usize>();
    }
    assert!(moved >= events);
}
