//! What cannot be beaten: a bare queue of batches.

use bytes::Bytes;
use flumen_core::event::{Batch, Headers};
use std::{
    collections::VecDeque,
    hint::black_box,
    sync::{Mutex, PoisonError},
};

/// Digits of the largest number.
const MOST_DIGITS: usize = 20;

/// The bodies that all shapes move: the numbers from `first`, in decimal digits, made as cheaply as the seq source makes them.
pub(crate) fn seq_batch(first: usize, n_events: usize) -> Batch {
    let mut digits = Vec::with_capacity(MOST_DIGITS * 2);
    write_decimal(&mut digits, first);
    let mut len = digits.len();
    digits.resize(MOST_DIGITS, b'0');
    let mut digits: [u8; MOST_DIGITS] = digits.try_into().expect("it has this length");
    // The last digit stays out of the array: what was just written in part is slow to read whole.
    let mut last = digits[len - 1];
    let digits_of_n = n_events.to_string().len();
    let mut bodies = vec![0; n_events * (len.max(digits_of_n) + 1) + MOST_DIGITS];
    let mut lens = Vec::with_capacity(n_events);
    let mut end = 0;
    for _ in 0..n_events {
        let room: &mut [u8; MOST_DIGITS] = bodies[end..].first_chunk_mut().expect("one digit more has room");
        *room = digits;
        room[len - 1] = last;
        lens.push(len as u32);
        end += len;
        if last < b'9' {
            last += 1;
            continue;
        }
        last = b'0';
        match (0..len - 1).rev().find(|place| digits[*place] < b'9') {
            Some(place) => {
                digits[place] += 1;
                digits[place + 1..len].fill(b'0');
            }
            None => {
                digits = [b'0'; MOST_DIGITS];
                digits[0] = b'1';
                len += 1;
            }
        }
    }
    bodies.truncate(end);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bodies_are_the_numbers() {
        for first in [0, 7, 95, 9_990, 123_456_789] {
            let batch = seq_batch(first, 120);
            let bodies: Vec<_> = batch.iter().map(|event| event.body.to_vec()).collect();
            let numbers: Vec<_> = (first..first + 120).map(|n| n.to_string().into_bytes()).collect();
            assert_eq!(bodies, numbers);
        }
    }
}
