//! Batches whose events can be told apart.

use crate::event::{Batch, Event, Headers, Text};
use std::ops::Range;

/// Events whose bodies are these numbers in decimal, in one segment, with one shared header `test` = `numbered`.
pub fn numbered(range: Range<u64>) -> Batch {
    let texts: Vec<String> = range.map(|n| n.to_string()).collect();
    let mut batch = Batch::with_capacity(texts.len());
    let segment = batch.add_segment(texts.concat().into());
    let set = batch.add_headers([("test", "numbered")].into_iter().collect());
    let mut start = 0;
    for text in &texts {
        let end = start + u32::try_from(text.len()).expect("a number has few digits");
        batch.push_slice(set, segment, start..end);
        start = end;
    }
    batch
}

/// The numbers of all events.
///
/// # Panics
/// A body does not begin with a number.
pub fn numbers(batch: &Batch) -> Vec<u64> {
    batch.iter().map(number_of).collect()
}

/// The number at the beginning of a body; a blank may follow, and anything behind it.
///
/// # Panics
/// The body does not begin with a number.
pub fn number_of(event: Event<'_>) -> u64 {
    let digits = event.body.split(|byte| *byte == b' ').next().unwrap_or_default();
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    number.unwrap_or_else(|| {
        panic!("{:?} is not the body of a numbered event", String::from_utf8_lossy(event.body))
    })
}

/// Numbered events of many shapes: bodies of 1 to some hundred bytes, shared and own segments, none, shared and own headers.
pub(super) fn varied(rng: &mut fastrand::Rng, range: Range<u64>) -> Batch {
    let mut batch = Batch::new();
    let shared: Headers = [("kind", "varied")].into_iter().collect();
    let mut set = batch.add_headers(Headers::new());
    for n in range {
        let mut body = n.to_string().into_bytes();
        match rng.u8(..4) {
            0 => {}
            1 => body.extend([b' ', 0, 0xff, b'\n']),
            _ => body.extend(std::iter::once(b' ').chain(std::iter::repeat_n(b'x', rng.usize(..300)))),
        }
        let headers = match rng.u8(..3) {
            0 => Headers::new(),
            1 => shared.clone(),
            _ => [("n".to_owned(), n.to_string())].into_iter().collect(),
        };
        if rng.bool() {
            batch.push(headers, body);
            continue;
        }
        if rng.bool() {
            set = batch.add_headers(headers);
        }
        let len = u32::try_from(body.len()).expect("a body is short");
        let segment = batch.add_segment([b"before".to_vec(), body, b"behind".to_vec()].concat().into());
        batch.push_slice(set, segment, 6..6 + len);
    }
    if rng.u8(..3) == 0 {
        batch.edit_each(|event, own| own.set_fmt(Text::from_static("own"), number_of(event)));
    }
    batch
}
