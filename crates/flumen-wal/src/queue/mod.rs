//! What waits in a log, in the order of delivery: runs of events by their places, some with a copy in memory, and what is on
//! loan. Memory does not grow with the backlog, but for a piece a stretch of neighbours.

mod copy;
mod piece;

pub use copy::{EventAt, EventCopy};
pub use piece::Piece;

use crate::place::Pointer;
use std::collections::{BTreeMap, VecDeque};

/// With less memory than this a source and a sink are not brought to one pace: there is too little to see it by.
const LEAST_PACED: u64 = 16 << 20;

/// Events that wait and events on loan. Each has a number, which is its place in the order of delivery.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Sorted by number.
    pieces: VecDeque<Piece>,
    /// Copies of the pieces on loan, without their bytes, by number.
    loans: BTreeMap<u64, Piece>,
    depth: QueueDepth,
    /// Bytes that may be held in memory, and that are.
    pub(crate) memory_limit: u64,
    memory: u64,
    /// Neighbours by number below this one may have other records between them.
    recovered: u64,
}

/// How much is in a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Events that wait.
    pub queued: u64,
    /// Events that were taken and are neither committed nor given back.
    pub on_loan: u64,
    /// Room that is held for puts.
    pub reserved: u64,
    /// Events that were ever stored, those found at the opening included.
    pub stored: u64,
    /// Events that are gone for good.
    pub removed: u64,
    /// Bytes of the bodies of what waits or is on loan.
    pub bytes: u64,
    /// Since when the oldest has been there, in the caller's time.
    pub since: Option<u64>,
}

impl Queue {
    /// A queue with what was found on disk.
    pub(crate) fn new(
        found: impl IntoIterator<Item = (Pointer, u32, u64)>,
        since: u64,
        memory_limit: u64,
    ) -> Self {
        let mut queue = Self {
            pieces: VecDeque::new(),
            loans: BTreeMap::new(),
            depth: QueueDepth::default(),
            memory_limit,
            memory: 0,
            recovered: u64::MAX,
        };
        for (place, count, bytes) in found {
            queue.push_back(Piece { first: queue.depth.stored, place, count, bytes, since, copy: None });
        }
        queue.recovered = queue.depth.stored;
        queue
    }

    pub(crate) fn depth(&self) -> QueueDepth {
        let queued = self.pieces.front().map(|piece| (piece.first, piece.since));
        let loan = self.loans.first_key_value().map(|(first, piece)| (*first, piece.since));
        let since = queued.into_iter().chain(loan).min().map(|(_, since)| since);
        QueueDepth { since, ..self.depth }
    }

    /// Holds room for so many events. False: there is none now.
    pub(crate) fn reserve(&mut self, events: u64, capacity: u64) -> bool {
        let depth = &mut self.depth;
        let used = depth.queued + depth.on_loan + depth.reserved;
        let fits = used.checked_add(events).is_some_and(|sum| sum <= capacity);
        if fits {
            depth.reserved += events;
        }
        fits
    }

    /// Whether all that waits is in memory and events are on loan, and so many bytes more may be too much.
    pub(crate) fn would_outrun_memory(&self, bytes: u64) -> bool {
        let limit = self.memory_limit - self.memory_limit / 8;
        self.memory_limit >= LEAST_PACED
            && self.depth.on_loan > 0
            && self.pieces.back().is_some_and(|last| last.copy.is_some())
            && self.memory.saturating_add(bytes) > limit
    }

    pub(crate) fn release(&mut self, events: u64) {
        self.depth.reserved -= events;
    }

    /// Adds events that have become durable, in the room that was held for them.
    pub(crate) fn store(&mut self, parts: Vec<Piece>) {
        for mut piece in parts {
            self.depth.reserved -= u64::from(piece.count);
            piece.first = self.depth.stored;
            // What lies behind events that must be read from disk is read when its turn comes.
            let readable = self.pieces.back().is_none_or(|last| last.copy.is_some());
            if !readable || self.memory + piece.memory() > self.memory_limit {
                piece.copy = None;
            }
            self.push_back(piece);
        }
    }

    fn push_back(&mut self, piece: Piece) {
        self.depth.stored += u64::from(piece.count);
        self.depth.queued += u64::from(piece.count);
        self.depth.bytes += piece.bytes;
        self.memory += piece.memory();
        let recovered = self.recovered;
        match self.pieces.back_mut() {
            Some(last) if last.first >= recovered && last.can_join(&piece) => last.join(&piece),
            _ => self.pieces.push_back(piece),
        }
    }

    /// Lends up to `most` events from the front, as far as their copies are there.
    pub(crate) fn lend(&mut self, most: u32) -> Vec<Piece> {
        let mut lent = Vec::new();
        let mut n_lent = 0;
        while n_lent < most
            && let Some(mut piece) = self.pieces.pop_front_if(|piece| piece.copy.is_some())
        {
            if piece.count > most - n_lent {
                let whole = piece.memory();
                let rest = piece.split_off(most - n_lent);
                self.memory += piece.memory() + rest.memory() - whole;
                self.pieces.push_front(rest);
            }
            n_lent += piece.count;
            self.loans.insert(piece.first, piece.without_copy());
            lent.push(piece);
        }
        self.depth.queued -= u64::from(n_lent);
        self.depth.on_loan += u64::from(n_lent);
        lent
    }

    /// Puts lent events back where they were.
    pub(crate) fn give_back(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            self.loans.remove(&piece.first);
            self.depth.queued += u64::from(piece.count);
            self.depth.on_loan -= u64::from(piece.count);
            let at = self.pieces.partition_point(|other| other.first < piece.first);
            self.pieces.insert(at, piece);
        }
    }

    /// Splits lent pieces: the first `n_events` of them stay on loan, and the rest is given back.
    pub(crate) fn split_loan(&mut self, mut pieces: Vec<Piece>, n_events: u32) -> Vec<Piece> {
        let mut back = Vec::new();
        let mut left = n_events;
        let mut kept = 0;
        for piece in &mut pieces {
            if left > 0 {
                kept += 1;
            }
            if left > 0 && left < piece.count {
                let whole = piece.memory();
                let rest = piece.split_off(left);
                self.memory += piece.memory() + rest.memory() - whole;
                self.loans.insert(piece.first, piece.without_copy());
                self.loans.insert(rest.first, rest.without_copy());
                back.push(rest);
            }
            left = left.saturating_sub(piece.count);
        }
        back.extend(pieces.drain(kept..));
        self.give_back(back);
        pieces
    }

    /// Forgets lent events for good.
    pub(crate) fn remove(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.loans.remove(&piece.first);
            self.depth.on_loan -= u64::from(piece.count);
            self.depth.removed += u64::from(piece.count);
            self.depth.bytes -= piece.bytes;
            self.memory -= piece.memory();
        }
    }

    /// The first events that have no copy, if there is memory for one: their number, place and count, and where the next
    /// piece of the same file begins.
    pub(crate) fn to_read(&self) -> Option<(u64, Pointer, u32, Option<u32>)> {
        if self.memory >= self.memory_limit.div_ceil(2)
            && self.pieces.front().is_some_and(|piece| piece.copy.is_some())
        {
            return None;
        }
        // Those with a copy are in front: nothing gets one while something before it has none.
        let at = self.pieces.partition_point(|piece| piece.copy.is_some());
        let piece = self.pieces.get(at)?;
        let next = self.pieces.iter().skip(at + 1).find(|next| next.place.file == piece.place.file);
        let next = next.map(|next| next.place.offset).filter(|offset| *offset > piece.place.offset);
        Some((piece.first, piece.place, piece.count, next))
    }

    /// Attaches a copy of the first events of the piece that begins with `first`. `lost` events behind them cannot be read and
    /// are given up; the rest begins at `rest`, and is given up too where nothing can be read there. Says how many were
    /// given up.
    pub(crate) fn attach(&mut self, first: u64, copy: EventCopy, lost: u32, rest: Option<Pointer>) -> u32 {
        let at = self.pieces.partition_point(|piece| piece.first < first);
        let waits = |piece: &Piece| piece.first == first && piece.copy.is_none();
        let Some(whole) = self.pieces.get(at).filter(|piece| waits(piece)).cloned() else { return 0 };
        self.pieces.remove(at);
        let (n_read, bytes) = (copy.len().min(whole.count), copy.body_bytes());
        let mut n_rest = 0;
        self.depth.bytes -= whole.bytes;
        if let Some(place) = rest {
            n_rest = (whole.count - n_read).saturating_sub(lost);
            if n_rest > 0 {
                let first = whole.first + u64::from(whole.count - n_rest);
                let bytes = whole.bytes.saturating_sub(bytes);
                self.depth.bytes += bytes;
                self.pieces.insert(at, Piece { first, place, count: n_rest, bytes, copy: None, ..whole });
            }
        }
        if n_read > 0 {
            self.depth.bytes += bytes;
            let place = copy.place(whole.place.file);
            let piece = Piece { place, count: n_read, bytes, copy: Some(copy), ..whole };
            self.memory += piece.memory();
            self.pieces.insert(at, piece);
        }
        let n_lost = whole.count - n_read - n_rest;
        self.depth.queued -= u64::from(n_lost);
        self.depth.removed += u64::from(n_lost);
        n_lost
    }

    /// All events that wait, and those on loan if `loans` says so, in order, as places, counts and bytes.
    pub(crate) fn live(&self, loans: bool) -> Vec<(Pointer, u32, u64)> {
        let loans = self.loans.values().filter(|_| loans);
        let mut all: Vec<&Piece> = self.pieces.iter().chain(loans).collect();
        all.sort_unstable_by_key(|piece| piece.first);
        let mut live: Vec<Piece> = Vec::new();
        for piece in all {
            let piece = piece.without_copy();
            match live.last_mut() {
                Some(last) if last.first >= self.recovered && last.can_join(&piece) => last.join(&piece),
                _ => live.push(piece),
            }
        }
        live.into_iter().map(|piece| (piece.place, piece.count, piece.bytes)).collect()
    }

    /// The oldest data file that holds an event that is not gone.
    pub(crate) fn oldest_file(&self) -> Option<u32> {
        self.pieces.iter().chain(self.loans.values()).map(|piece| piece.place.file).min()
    }
}

#[cfg(test)]
mod tests;
