//! Events in memory: the bytes of their records, and where in them each event is.

use crate::place::Pointer;
use bytes::Bytes;
use std::{ops::Range, sync::Arc};

/// What an event takes beside its headers and body: the rest of its record, and its [`EventAt`].
const RECORD_BYTES: u64 = 80;

/// Events of one data file in memory. Clones and parts share the bytes.
#[derive(Debug, Clone, Default)]
pub struct EventCopy {
    bytes: Bytes,
    events: Arc<[EventAt]>,
    range: Range<u32>,
}

/// Where an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventAt {
    /// Where its record begins in the data file.
    pub offset: u32,
    /// Where its headers begin in memory, encoded as in a record.
    pub headers: u32,
    /// How long they are.
    pub headers_len: u32,
    /// Where its body begins in memory.
    pub body: u32,
    /// How long it is.
    pub body_len: u32,
}

impl EventCopy {
    /// Events in these bytes.
    ///
    /// # Panics
    /// An event lies outside of the bytes.
    pub fn new(bytes: Bytes, events: Vec<EventAt>) -> Self {
        let len = bytes.len() as u64;
        let inside = |at: u32, n: u32| u64::from(at) + u64::from(n) <= len;
        let all =
            events.iter().all(|one| inside(one.headers, one.headers_len) && inside(one.body, one.body_len));
        assert!(all, "an event lies outside of its {len} bytes");
        let range = 0..u32::try_from(events.len()).unwrap_or(u32::MAX);
        Self { bytes, events: events.into(), range }
    }

    /// How many events there are.
    pub fn len(&self) -> u32 {
        self.range.end - self.range.start
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The bytes that the events lie in.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Where the events are.
    pub fn events(&self) -> &[EventAt] {
        &self.events[self.range.start as usize..self.range.end as usize]
    }

    /// The encoded headers of an event.
    pub fn headers_of(&self, event: &EventAt) -> &[u8] {
        &self.bytes[event.headers as usize..(event.headers + event.headers_len) as usize]
    }

    /// The body of an event.
    pub fn body_of(&self, event: &EventAt) -> &[u8] {
        &self.bytes[event.body as usize..(event.body + event.body_len) as usize]
    }

    /// Bytes of all bodies.
    pub fn body_bytes(&self) -> u64 {
        self.events().iter().map(|event| u64::from(event.body_len)).sum()
    }

    /// Where the first event begins.
    pub(super) fn place(&self, file: u32) -> Pointer {
        Pointer { file, offset: self.events().first().map_or(0, |event| event.offset) }
    }

    /// Bytes of memory, as near as it matters: the same for a whole as for its parts together.
    pub(super) fn memory(&self) -> u64 {
        let one = |event: &EventAt| RECORD_BYTES + u64::from(event.headers_len) + u64::from(event.body_len);
        self.events().iter().map(one).sum()
    }

    /// Cuts off what lies behind the first `n_events`.
    pub(super) fn split_off(&mut self, n_events: u32) -> Self {
        let at = self.range.start + n_events.min(self.len());
        let rest = Self { range: at..self.range.end, ..self.clone() };
        self.range.end = at;
        rest
    }
}
