//! Events that lie together in one data file.

use super::EventCopy;
use crate::place::Pointer;

/// What a piece takes in memory beside its copy, and a copy beside its bytes.
const PIECE_BYTES: u64 = 160;

/// Neighbouring puts of one data file: no other put lies between them.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Number of the first event; the others follow.
    pub first: u64,
    /// Where its record begins.
    pub place: Pointer,
    /// How many events there are.
    pub count: u32,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// When the first was put, in the caller's time.
    pub since: u64,
    /// The events themselves, if they are in memory.
    pub copy: Option<EventCopy>,
}

impl Piece {
    /// Bytes of memory that count against the limit.
    pub(super) fn memory(&self) -> u64 {
        self.copy.as_ref().map_or(0, |copy| PIECE_BYTES + copy.memory())
    }

    pub(super) fn without_copy(&self) -> Self {
        Self { copy: None, ..self.clone() }
    }

    /// Whether `next` lies behind this one with nothing between, and neither is in memory.
    pub(super) fn can_join(&self, next: &Piece) -> bool {
        self.copy.is_none()
            && next.copy.is_none()
            && self.place.file == next.place.file
            && self.place.offset < next.place.offset
            && self.first + u64::from(self.count) == next.first
            && self.count.checked_add(next.count).is_some()
    }

    pub(super) fn join(&mut self, next: &Piece) {
        self.count += next.count;
        self.bytes += next.bytes;
    }

    /// Cuts off what lies behind the first `n_events`. The copy must be there.
    pub(super) fn split_off(&mut self, n_events: u32) -> Piece {
        let copy = self.copy.as_mut().map(|copy| copy.split_off(n_events)).unwrap_or_default();
        let bytes = copy.body_bytes();
        let rest = Piece {
            first: self.first + u64::from(n_events),
            place: copy.place(self.place.file),
            count: self.count - n_events,
            bytes,
            since: self.since,
            copy: Some(copy),
        };
        self.count = n_events;
        self.bytes -= bytes;
        rest
    }
}
