//! What is in a memory channel: batches in the order of their commits, and the counts. No lock and no waiting here.

use flumen_core::{
    channel::{ChannelDepth, ChannelLimits},
    event::{Batch, BatchSize, SLOT_BYTES},
    planted::{self, Bug},
};
use smallvec::SmallVec;
use std::{collections::VecDeque, mem};
use tokio::time::Instant;

/// The queue with its counts. Every event has a number, given when its put commits; the queue is sorted by it.
#[derive(Debug)]
pub(super) struct Store {
    limits: ChannelLimits,
    queue: VecDeque<Piece>,
    /// For each open take the number and the time of its first event, sorted.
    loans: VecDeque<(u64, Instant)>,
    next_number: u64,
    removed: u64,
    queued: u64,
    on_loan: u64,
    reserved: u64,
    /// Slots of what is queued, on loan and reserved.
    slots: u64,
    /// Bytes of what is queued and on loan.
    bytes: u64,
    closed: bool,
}

/// Events that lie together, with consecutive numbers.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) batch: Batch,
    /// Rows of `batch` that were taken before.
    taken_rows: usize,
    /// The size of the rest.
    pub(super) size: BatchSize,
    /// Where the rest came from, in order.
    pub(super) spans: Spans,
}

/// Events that one put has brought, or what is left of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    first: u64,
    len: u64,
    stored_at: Instant,
}

pub(super) type Spans = SmallVec<[Span; 1]>;
pub(super) type Pieces = SmallVec<[Piece; 1]>;

/// A transaction that can never succeed.
#[derive(Debug)]
pub(super) struct TooLarge {
    pub(super) asked: u64,
    pub(super) unit: &'static str,
    pub(super) limit_name: &'static str,
    pub(super) limit: u64,
}

impl Store {
    pub(super) fn new(limits: ChannelLimits) -> Self {
        Self {
            limits,
            queue: VecDeque::new(),
            loans: VecDeque::new(),
            next_number: 0,
            removed: 0,
            queued: 0,
            on_loan: 0,
            reserved: 0,
            slots: 0,
            bytes: 0,
            closed: false,
        }
    }

    /// The limits; one that was set below what is in the channel counts as that much until enough has left.
    pub(super) fn limits(&self) -> ChannelLimits {
        ChannelLimits {
            capacity: self.limits.capacity.max(self.used()),
            byte_slots: self.limits.byte_slots.map(|slots| slots.max(self.slots)),
            ..self.limits.clone()
        }
    }

    pub(super) fn set_limits(&mut self, limits: ChannelLimits) {
        self.limits = limits;
    }

    fn used(&self) -> u64 {
        self.queued + self.on_loan + self.reserved
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn depth(&self) -> ChannelDepth {
        let queued = self.queue.front().map(|piece| (piece.spans[0].first, piece.spans[0].stored_at));
        let oldest = queued.into_iter().chain(self.loans.front().copied()).min();
        ChannelDepth {
            queued: self.queued,
            on_loan: self.on_loan,
            reserved: self.reserved,
            stored_total: self.next_number,
            removed_total: self.removed,
            bytes: self.bytes,
            oldest: oldest.map(|(_, stored_at)| stored_at),
        }
    }

    /// Holds room. False: there is none now.
    pub(super) fn reserve(&mut self, size: BatchSize) -> Result<bool, TooLarge> {
        let events = u64::from(size.events);
        let most = u64::from(self.limits.transaction_capacity);
        if events > most {
            return Err(TooLarge {
                asked: events,
                unit: "events",
                limit_name: "transactionCapacity",
                limit: most,
            });
        }
        let most_slots = self.limits.byte_slots.unwrap_or(u64::MAX);
        if size.slots > most_slots {
            return Err(TooLarge {
                asked: size.slots.saturating_mul(SLOT_BYTES),
                unit: "bytes (each body rounded up to the next 100)",
                limit_name: "byteCapacity less byteCapacityBufferPercentage",
                limit: most_slots.saturating_mul(SLOT_BYTES),
            });
        }
        let capacity = self.limits.capacity + u64::from(planted::is(Bug::CapacityIsOffByOne));
        if self.used() + events > capacity || self.slots + size.slots > most_slots {
            return Ok(false);
        }
        self.reserved += events;
        self.slots += size.slots;
        Ok(true)
    }

    /// Gives held room back.
    pub(super) fn release(&mut self, room: BatchSize) {
        self.reserved -= u64::from(room.events);
        self.slots -= room.slots;
    }

    /// Stores a batch in the room that is held for it.
    pub(super) fn put(&mut self, batch: Batch, size: BatchSize, room: BatchSize, now: Instant) {
        self.release(room);
        if batch.is_empty() {
            return;
        }
        let len = u64::from(size.events);
        self.queued += len;
        self.slots += size.slots;
        self.bytes += size.bytes;
        let span = Span { first: self.next_number, len, stored_at: now };
        self.next_number += len;
        self.queue.push_back(Piece { batch, taken_rows: 0, size, spans: SmallVec::from_buf([span]) });
    }

    /// Lends up to `max_events` from the front; whole pieces are moved, the last one may be cut.
    pub(super) fn take(&mut self, max_events: u32) -> Result<Pieces, TooLarge> {
        let most = self.limits.transaction_capacity;
        if max_events > most {
            let (asked, limit) = (u64::from(max_events), u64::from(most));
            return Err(TooLarge { asked, unit: "events", limit_name: "transactionCapacity", limit });
        }
        let mut pieces = Pieces::new();
        let mut wanted = max_events;
        while wanted > 0
            && let Some(front) = self.queue.front_mut()
        {
            if front.size.events > wanted {
                pieces.push(front.cut(wanted));
                break;
            }
            wanted -= front.size.events;
            pieces.extend(self.queue.pop_front().map(Piece::whole));
        }
        let taken: u64 = pieces.iter().map(|piece| u64::from(piece.size.events)).sum();
        self.queued -= taken;
        self.on_loan += taken;
        if let Some(first) = pieces.first().map(|piece| piece.spans[0]) {
            let at = self.loans.partition_point(|(number, _)| *number < first.first);
            self.loans.insert(at, (first.first, first.stored_at));
        }
        Ok(pieces)
    }

    /// Ends a loan that began with the event `first`: `done` is forgotten, `back` returns to its old place.
    pub(super) fn settle(&mut self, first: u64, done: BatchSize, back: Pieces) {
        if let Ok(at) = self.loans.binary_search_by_key(&first, |(number, _)| *number) {
            self.loans.remove(at);
        }
        self.on_loan -= u64::from(done.events);
        self.removed += u64::from(done.events);
        self.slots -= done.slots;
        self.bytes -= done.bytes;
        for piece in back.into_iter().skip(usize::from(planted::is(Bug::RollBackLosesTheFirstPiece))) {
            let events = u64::from(piece.size.events);
            self.on_loan -= events;
            self.queued += events;
            // Mostly at the very front; elsewhere when an older loan has come back before this one.
            let at = match planted::is(Bug::RollBackGoesToTheEnd) {
                true => self.queue.len(),
                false => self.queue.partition_point(|other| other.spans[0].first < piece.spans[0].first),
            };
            self.queue.insert(at, piece);
        }
    }
}

impl Piece {
    /// The first `n_events`, which are fewer than all. The rest stays where it is, so that a large batch which is taken in
    /// small parts is not copied each time.
    fn cut(&mut self, n_events: u32) -> Piece {
        let rows = self.taken_rows..self.taken_rows + n_events as usize;
        self.taken_rows = rows.end + usize::from(planted::is(Bug::CutSkipsAnEvent))
            - usize::from(planted::is(Bug::CutGivesAnEventTwice));
        let batch = self.batch.slice(rows);
        let size = batch.size();
        self.size = less(self.size, size);
        let spans = cut_spans(&mut self.spans, u64::from(n_events));
        Piece { batch, taken_rows: 0, size, spans }
    }

    /// All of the rest, in a batch that holds nothing else.
    fn whole(mut self) -> Piece {
        if self.taken_rows > 0 {
            self.batch = self.batch.slice(self.taken_rows..self.batch.len());
            self.taken_rows = 0;
        }
        self
    }
}

/// Takes the first `n_events` out of the spans.
pub(super) fn cut_spans(spans: &mut Spans, n_events: u64) -> Spans {
    let (mut front, mut left, mut n_whole) = (Spans::new(), n_events, 0);
    for span in spans.iter_mut() {
        if span.len > left {
            if left > 0 {
                front.push(Span { len: left, ..*span });
                span.first += left;
                span.len -= left;
            }
            break;
        }
        left -= span.len;
        n_whole += 1;
        front.push(*span);
    }
    spans.drain(..n_whole);
    front
}

/// Cuts a batch that came from these spans wherever their numbers are not consecutive.
pub(super) fn pieces_of(mut batch: Batch, mut spans: Spans) -> Pieces {
    let mut pieces = Pieces::new();
    while !spans.is_empty() {
        let gap = spans.windows(2).position(|pair| pair[0].first + pair[0].len != pair[1].first);
        let rest = match gap {
            Some(last) => spans.drain(last + 1..).collect(),
            None => Spans::new(),
        };
        let run = mem::replace(&mut spans, rest);
        let len: u64 = run.iter().map(|span| span.len).sum();
        let front = batch.split_front(usize::try_from(len).expect("these events are in memory"));
        let size = front.size();
        pieces.push(Piece { batch: front, taken_rows: 0, size, spans: run });
    }
    pieces
}

/// The number of the first event.
pub(super) fn first_number(spans: &Spans) -> u64 {
    spans.first().map_or(0, |span| span.first)
}

pub(super) fn less(whole: BatchSize, part: BatchSize) -> BatchSize {
    BatchSize {
        events: whole.events - part.events,
        bytes: whole.bytes - part.bytes,
        slots: whole.slots - part.slots,
    }
}
