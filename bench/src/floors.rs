//! What cannot be beaten: a bare queue of batches.

use bytes::Bytes;
use flumen_core::event::{Batch, Headers};
use std::{
    collections::VecDeque,
    hint::black_box,
    sync::{Mutex, PoisonError},
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

/// Writes a number without any formatting machinery.
pub(crate) fn write_decimal(out: &mut Vec<u8>, mut n: usize) {
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
