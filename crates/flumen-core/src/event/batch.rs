//! The unit of everything: rows over shared bytes and shared header sets.

use super::{Event, EventHeaders, Headers, HeadersMut, OwnHeaders, Text};
use bytes::Bytes;
use smallvec::SmallVec;
use std::ops::Range;

/// Java Flume counts `byteCapacity` in slots of this many bytes, at least one slot an event.
pub const SLOT_BYTES: u64 = 100;

/// Events that move as one.
///
/// No row owns anything: a body is a range of a segment (a read buffer, a frame), headers are a shared set and perhaps
/// a few entries of the event's own. So a clone copies rows and counts references, never a body, and what is the same
/// for all events is stored, and edited, once.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    rows: Vec<Row>,
    // Mostly one of each: held in place, without an allocation.
    segments: SmallVec<[Bytes; 1]>,
    sets: SmallVec<[Set; 1]>,
    bases: SmallVec<[Headers; 1]>,
    /// The entries of all sets that have some of their own, end to end.
    own: Vec<(Text, Text)>,
    /// Each name that occurs in `own`, once.
    own_names: SmallVec<[Text; 1]>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    set: u32,
    segment: u32,
    start: u32,
    len: u32,
}

#[derive(Debug, Clone, Copy)]
struct Set {
    base: u32,
    own_start: u32,
    own_len: u32,
}

/// How large a batch is, in the three ways in which a channel counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchSize {
    /// Events.
    pub events: u32,
    /// Bytes of all bodies.
    pub bytes: u64,
    /// Java Flume's `byteCapacity` units: for each event its body in slots of 100 bytes, rounded up, at least one.
    pub slots: u64,
}

impl std::ops::AddAssign for BatchSize {
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.bytes += other.bytes;
        self.slots += other.slots;
    }
}

impl Batch {
    /// An empty batch that allocates nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch with room for `n_events` rows.
    pub fn with_capacity(n_events: usize) -> Self {
        Self { rows: Vec::with_capacity(n_events), ..Self::default() }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Events, bytes and slots, counted anew at each call.
    pub fn size(&self) -> BatchSize {
        let (mut bytes, mut slots) = (0, 0);
        for row in &self.rows {
            bytes += u64::from(row.len);
            slots += u64::from(row.len).div_ceil(SLOT_BYTES).max(1);
        }
        BatchSize { events: to_u32(self.rows.len()), bytes, slots }
    }

    /// The events in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Event<'_>> + Clone {
        self.rows.iter().map(|row| self.event(row))
    }

    /// One event, by position.
    pub fn get(&self, index: usize) -> Option<Event<'_>> {
        self.rows.get(index).map(|row| self.event(row))
    }

    /// A body to give away (an HTTP request, a Kafka record): it shares the bytes.
    ///
    /// # Panics
    /// There is no event at `index`.
    pub fn body_bytes(&self, index: usize) -> Bytes {
        let row = self.rows[index];
        self.segments[row.segment as usize].slice(row.range())
    }

    fn event(&self, row: &Row) -> Event<'_> {
        let set = self.sets[row.set as usize];
        let own = set.own_start as usize..(set.own_start + set.own_len) as usize;
        Event {
            headers: EventHeaders { shared: &self.bases[set.base as usize], own: &self.own[own] },
            body: &self.segments[row.segment as usize][row.range()],
        }
    }

    // ---- building ----

    /// Adds bytes that rows can point into, and gives their number. A source adds its read buffer once.
    ///
    /// # Panics
    /// The bytes are 4 GiB or more; every source limits its frames far below.
    pub fn add_segment(&mut self, bytes: Bytes) -> u32 {
        assert!(u32::try_from(bytes.len()).is_ok(), "a segment of a batch is smaller than 4 GiB");
        self.segments.push(bytes);
        to_u32(self.segments.len() - 1)
    }

    /// Adds headers that rows can share, and gives their number.
    pub fn add_headers(&mut self, headers: Headers) -> u32 {
        self.bases.push(headers);
        self.sets.push(Set { base: to_u32(self.bases.len() - 1), own_start: 0, own_len: 0 });
        to_u32(self.sets.len() - 1)
    }

    /// Adds an event: headers and a range of a segment, both by the numbers that adding them gave.
    ///
    /// # Panics
    /// A number was not given by this batch, or the range lies outside of the segment.
    pub fn push_slice(&mut self, set: u32, segment: u32, range: Range<u32>) {
        assert!((set as usize) < self.sets.len(), "no header set {set} in this batch");
        let len = self.segments[segment as usize].len();
        assert!(range.start <= range.end && range.end as usize <= len, "{range:?} outside of {len} bytes");
        self.rows.push(Row { set, segment, start: range.start, len: range.end - range.start });
    }

    /// Adds events whose bodies lie end to end in a segment from `start` on, by their lengths: one check for all of them.
    ///
    /// # Panics
    /// As [`Self::push_slice`]; no event is added then.
    pub fn push_slices(&mut self, set: u32, segment: u32, start: u32, lens: impl IntoIterator<Item = u32>) {
        assert!((set as usize) < self.sets.len(), "no header set {set} in this batch");
        let segment_len = self.segments[segment as usize].len() as u64;
        let n_before = self.rows.len();
        let mut end = u64::from(start);
        self.rows.extend(lens.into_iter().map(|len| {
            // Cut off here where it is too long: the check below then fails.
            let row = Row { set, segment, start: end as u32, len };
            end += u64::from(len);
            row
        }));
        if end > segment_len {
            self.rows.truncate(n_before);
            panic!("bodies up to {end} outside of {segment_len} bytes");
        }
    }

    /// Adds an event with headers and a body of its own. Equal headers in a row are stored once.
    ///
    /// # Panics
    /// The body is 4 GiB or more.
    pub fn push(&mut self, headers: Headers, body: impl Into<Bytes>) {
        let body = body.into();
        let len = body.len();
        let segment = self.add_segment(body);
        let set = match self.sets.last() {
            Some(set) if set.own_len == 0 && self.bases[set.base as usize] == headers => {
                to_u32(self.sets.len() - 1)
            }
            _ => self.add_headers(headers),
        };
        self.push_slice(set, segment, 0..to_u32(len));
    }

    // ---- rewriting in place ----

    /// Edits the headers of all events, once for each set that they share.
    pub fn edit_headers(&mut self, mut edit: impl FnMut(&mut HeadersMut<'_>)) {
        if self.own_names.is_empty() {
            for base in &mut self.bases {
                let mut headers =
                    HeadersMut { headers: std::mem::take(base), own_names: &[], conflict: false };
                edit(&mut headers);
                *base = headers.headers;
            }
            return;
        }
        let mut edited = SmallVec::with_capacity(self.bases.len());
        for base in &self.bases {
            let mut headers =
                HeadersMut { headers: base.clone(), own_names: &self.own_names, conflict: false };
            edit(&mut headers);
            if headers.conflict {
                return self.edit_each_set(edit);
            }
            edited.push(headers.headers);
        }
        self.bases = edited;
    }

    /// The slow way of `edit_headers`: every set becomes a base without own entries first.
    fn edit_each_set(&mut self, mut edit: impl FnMut(&mut HeadersMut<'_>)) {
        let mut bases = SmallVec::with_capacity(self.sets.len());
        for set in &mut self.sets {
            let own = set.own_start as usize..(set.own_start + set.own_len) as usize;
            let headers = EventHeaders { shared: &self.bases[set.base as usize], own: &self.own[own] };
            let mut headers = HeadersMut { headers: headers.to_headers(), own_names: &[], conflict: false };
            edit(&mut headers);
            *set = Set { base: to_u32(bases.len()), own_start: 0, own_len: 0 };
            bases.push(headers.headers);
        }
        self.bases = bases;
        self.own.clear();
        self.own_names.clear();
    }

    /// Gives each event headers of its own beside the shared ones (a UUID, an extracted field).
    ///
    /// The own entries of the whole batch lie in one allocation, and so do the values that are written here.
    pub fn edit_each(&mut self, mut edit: impl FnMut(Event<'_>, &mut OwnHeaders)) {
        let mut collected = OwnHeaders::for_events(self.rows.len());
        let mut sets = SmallVec::with_capacity(self.rows.len());
        for (i, row) in self.rows.iter().enumerate() {
            if i == 1 {
                collected.expect_like_the_first(self.rows.len());
            }
            let old = self.sets[row.set as usize];
            collected.start = collected.entries.len();
            for (name, value) in &self.own[old.own_start as usize..(old.own_start + old.own_len) as usize] {
                collected.set(name.clone(), value.clone());
            }
            edit(self.event(row), &mut collected);
            let own_len = to_u32(collected.entries.len() - collected.start);
            sets.push(Set { base: old.base, own_start: to_u32(collected.start), own_len });
        }
        if collected.entries.is_empty() {
            return;
        }
        for (i, row) in self.rows.iter_mut().enumerate() {
            row.set = to_u32(i);
        }
        self.sets = sets;
        self.own = collected.finish();
        self.own_names.clear();
        for (name, _) in &self.own {
            if !self.own_names.iter().any(|known| known.is(name)) {
                self.own_names.push(name.clone());
            }
        }
    }

    /// Keeps the events for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(Event<'_>) -> bool) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| keep(self.event(row)));
        self.rows = rows;
    }

    /// Makes of each event none, one or several, in order. New bodies share one new segment.
    ///
    /// # Panics
    /// All new bodies together are 4 GiB or more.
    pub fn expand(&mut self, mut make: impl FnMut(Event<'_>, &mut Emit)) {
        let segment = to_u32(self.segments.len());
        let mut emit =
            Emit { rows: Vec::with_capacity(self.rows.len()), bytes: Vec::new(), segment, row: None };
        for row in &self.rows {
            emit.row = Some(*row);
            make(self.event(row), &mut emit);
        }
        self.rows = emit.rows;
        if !emit.bytes.is_empty() || self.rows.iter().any(|row| row.segment == segment) {
            self.add_segment(emit.bytes.into());
        }
    }

    // ---- moving: bytes stay shared, no body is copied ----

    /// Moves all events of `other` behind those of this batch.
    pub fn append(&mut self, mut other: Batch) {
        if self.rows.is_empty() {
            *self = other;
            return;
        }
        let (segment, set, base, own) = (
            to_u32(self.segments.len()),
            to_u32(self.sets.len()),
            to_u32(self.bases.len()),
            to_u32(self.own.len()),
        );
        self.rows.extend(other.rows.iter().map(|row| Row {
            set: row.set + set,
            segment: row.segment + segment,
            ..*row
        }));
        self.segments.append(&mut other.segments);
        self.sets.extend(other.sets.iter().map(|old| Set {
            base: old.base + base,
            own_start: old.own_start + own,
            ..*old
        }));
        self.bases.append(&mut other.bases);
        self.own.append(&mut other.own);
        for name in other.own_names {
            if !self.own_names.contains(&name) {
                self.own_names.push(name);
            }
        }
    }

    /// Takes the first `n_events` out, or all there are.
    pub fn split_front(&mut self, n_events: usize) -> Batch {
        if n_events >= self.rows.len() {
            return std::mem::take(self);
        }
        let rest = self.rows.split_off(n_events);
        let rest = self.with_rows(rest);
        let front = std::mem::replace(self, rest);
        let rows = front.rows.clone();
        front.with_rows(rows)
    }

    /// The events at these positions, as a batch that shares all bytes.
    ///
    /// # Panics
    /// The range lies outside of the batch.
    pub fn slice(&self, range: Range<usize>) -> Batch {
        self.with_rows(self.rows[range].to_vec())
    }

    /// The events for which `choose` holds, as a batch that shares all bytes. `choose` also gets the position.
    pub fn filtered(&self, mut choose: impl FnMut(usize, Event<'_>) -> bool) -> Batch {
        let rows = self.rows.iter().enumerate().filter(|(i, row)| choose(*i, self.event(row)));
        self.with_rows(rows.map(|(_, row)| *row).collect())
    }

    /// A batch of these rows that holds on to no more of the shared parts than from the first to the last one used.
    fn with_rows(&self, mut rows: Vec<Row>) -> Batch {
        let segments = span(rows.iter().map(|row| row.segment));
        let sets = span(rows.iter().map(|row| row.set));
        for row in &mut rows {
            row.segment -= segments.start;
            row.set -= sets.start;
        }
        let mut sets: SmallVec<[Set; 1]> = self.sets[sets.start as usize..sets.end as usize].into();
        let bases = span(sets.iter().map(|set| set.base));
        let own_start = sets.iter().filter(|set| set.own_len > 0).map(|set| set.own_start).min().unwrap_or(0);
        let own_end = sets.iter().map(|set| set.own_start + set.own_len).max().unwrap_or(0).max(own_start);
        for set in &mut sets {
            set.base -= bases.start;
            set.own_start = set.own_start.saturating_sub(own_start);
        }
        let own = self.own[own_start as usize..own_end as usize].to_vec();
        Batch {
            rows,
            segments: self.segments[segments.start as usize..segments.end as usize].into(),
            sets,
            bases: self.bases[bases.start as usize..bases.end as usize].into(),
            own_names: if own.is_empty() { SmallVec::new() } else { self.own_names.clone() },
            own,
        }
    }

    /// Bytes that this batch keeps alive: all of its segments, used or not.
    pub fn pinned_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.len() as u64).sum()
    }

    /// Copies what is live into one segment, where less than half of the bytes are, or where the segments are many and
    /// small. A short body in a large read buffer would keep all of it in memory otherwise.
    pub fn compact(&mut self) {
        let live = self.size().bytes;
        let pinned = self.pinned_bytes();
        let scattered = self.segments.len() > 64 && live / (self.segments.len() as u64) < 4096;
        if (live * 2 >= pinned && !scattered) || live > u64::from(u32::MAX) {
            return;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(live).expect("live bytes are in memory"));
        let mut rows = std::mem::take(&mut self.rows);
        for row in &mut rows {
            let start = to_u32(bytes.len());
            bytes.extend_from_slice(&self.segments[row.segment as usize][row.range()]);
            (row.segment, row.start) = (0, start);
        }
        self.rows = rows;
        self.segments.clear();
        self.segments.push(bytes.into());
    }
}

/// Two batches are equal when their events are, however these are stored.
impl PartialEq for Batch {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.iter().zip(other.iter()).all(|(a, b)| {
                let same = |(name, value)| b.headers.get(name) == Some(value);
                a.body == b.body
                    && a.headers.len() == b.headers.len()
                    && a.headers.iter().all(|(n, v)| same((n, v)))
            })
    }
}

impl Row {
    fn range(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// Takes what becomes of one event in [`Batch::expand`].
#[derive(Debug)]
pub struct Emit {
    rows: Vec<Row>,
    bytes: Vec<u8>,
    segment: u32,
    row: Option<Row>,
}

impl Emit {
    /// The event as it is.
    pub fn keep(&mut self) {
        self.rows.extend(self.row);
    }

    /// An event with the same headers and this body.
    pub fn body(&mut self, body: &[u8]) {
        let row = self.row.expect("expand sets the row before it calls");
        let start = to_u32(self.bytes.len());
        self.bytes.extend_from_slice(body);
        self.rows.push(Row { segment: self.segment, start, len: to_u32(body.len()), ..row });
    }

    /// An event with the same headers and this part of its body, which is shared and not copied.
    ///
    /// # Panics
    /// The range lies outside of the event's body.
    pub fn part(&mut self, range: Range<usize>) {
        let row = self.row.expect("expand sets the row before it calls");
        assert!(range.start <= range.end && range.end <= row.len as usize, "{range:?} outside of the body");
        self.rows.push(Row { start: row.start + to_u32(range.start), len: to_u32(range.len()), ..row });
    }
}

/// The smallest range that holds all of the numbers.
fn span(numbers: impl Iterator<Item = u32>) -> Range<u32> {
    let (low, high) = numbers.fold((u32::MAX, 0), |(low, high), n| (low.min(n), high.max(n + 1)));
    if low == u32::MAX { 0..0 } else { low..high }
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).expect("a batch has fewer than 2^32 events, segments, headers and bytes of a segment")
}
