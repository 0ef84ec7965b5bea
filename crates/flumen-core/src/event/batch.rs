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
/// for all events is stored, and edited, once. It is a pointer to its contents, as it is handed on a dozen times on its way.
#[derive(Debug, Clone, Default)]
pub struct Batch(Option<Box<Contents>>);

/// What an empty batch looks at.
static NOTHING: Contents = Contents::new();

#[derive(Debug, Clone, Default)]
struct Contents {
    rows: Vec<Row>,
    /// Bytes and slots of all rows.
    bytes: u64,
    slots: u64,
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
        Self(Some(Box::new(Contents { rows: Vec::with_capacity(n_events), ..Contents::new() })))
    }

    fn contents(&self) -> &Contents {
        self.0.as_deref().unwrap_or(&NOTHING)
    }

    fn contents_mut(&mut self) -> &mut Contents {
        self.0.get_or_insert_default()
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.contents().rows.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.contents().rows.is_empty()
    }

    /// Events, bytes and slots.
    pub fn size(&self) -> BatchSize {
        let Contents { rows, bytes, slots, .. } = self.contents();
        BatchSize { events: to_u32(rows.len()), bytes: *bytes, slots: *slots }
    }

    /// The events in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Event<'_>> + Clone {
        let contents = self.contents();
        contents.rows.iter().map(|row| contents.event(row))
    }

    /// One event, by position.
    pub fn get(&self, index: usize) -> Option<Event<'_>> {
        let contents = self.contents();
        contents.rows.get(index).map(|row| contents.event(row))
    }

    /// A body to give away (an HTTP request, a Kafka record): it shares the bytes.
    ///
    /// # Panics
    /// There is no event at `index`.
    pub fn body_bytes(&self, index: usize) -> Bytes {
        let contents = self.contents();
        let row = contents.rows[index];
        contents.segments[row.segment as usize].slice(row.range())
    }

    // ---- building ----

    /// Adds bytes that rows can point into, and gives their number. A source adds its read buffer once.
    ///
    /// # Panics
    /// The bytes are 4 GiB or more; every source limits its frames far below.
    pub fn add_segment(&mut self, bytes: Bytes) -> u32 {
        assert!(u32::try_from(bytes.len()).is_ok(), "a segment of a batch is smaller than 4 GiB");
        let segments = &mut self.contents_mut().segments;
        segments.push(bytes);
        to_u32(segments.len() - 1)
    }

    /// Adds headers that rows can share, and gives their number.
    pub fn add_headers(&mut self, headers: Headers) -> u32 {
        let Contents { bases, sets, .. } = self.contents_mut();
        bases.push(headers);
        sets.push(Set { base: to_u32(bases.len() - 1), own_start: 0, own_len: 0 });
        to_u32(sets.len() - 1)
    }

    /// Adds an event: headers and a range of a segment, both by the numbers that adding them gave.
    ///
    /// # Panics
    /// A number was not given by this batch, or the range lies outside of the segment.
    pub fn push_slice(&mut self, set: u32, segment: u32, range: Range<u32>) {
        let contents = self.contents_mut();
        assert!((set as usize) < contents.sets.len(), "no header set {set} in this batch");
        let len = contents.segments[segment as usize].len();
        assert!(range.start <= range.end && range.end as usize <= len, "{range:?} outside of {len} bytes");
        let row = Row { set, segment, start: range.start, len: range.end - range.start };
        contents.rows.push(row);
        contents.bytes += u64::from(row.len);
        contents.slots += row.slots();
    }

    /// Adds events whose bodies lie end to end in a segment from `start` on, by their lengths: one check for all of them.
    ///
    /// # Panics
    /// As [`Self::push_slice`]; no event is added then.
    pub fn push_slices(&mut self, set: u32, segment: u32, start: u32, lens: impl IntoIterator<Item = u32>) {
        let contents = self.contents_mut();
        assert!((set as usize) < contents.sets.len(), "no header set {set} in this batch");
        let segment_len = contents.segments[segment as usize].len() as u64;
        let n_before = contents.rows.len();
        let mut end = u64::from(start);
        contents.rows.extend(lens.into_iter().map(|len| {
            // Cut off here where it is too long: the check below then fails.
            let row = Row { set, segment, start: end as u32, len };
            end += u64::from(len);
            row
        }));
        if end > segment_len {
            contents.rows.truncate(n_before);
            panic!("bodies up to {end} outside of {segment_len} bytes");
        }
        let (bytes, slots) = measure(&contents.rows[n_before..]);
        contents.bytes += bytes;
        contents.slots += slots;
    }

    /// Adds an event with headers and a body of its own. Equal headers in a row are stored once.
    ///
    /// # Panics
    /// The body is 4 GiB or more.
    pub fn push(&mut self, headers: Headers, body: impl Into<Bytes>) {
        let body = body.into();
        let len = body.len();
        let segment = self.add_segment(body);
        let Contents { bases, sets, .. } = self.contents();
        let set = match sets.last() {
            Some(set) if set.own_len == 0 && bases[set.base as usize] == headers => to_u32(sets.len() - 1),
            _ => self.add_headers(headers),
        };
        self.push_slice(set, segment, 0..to_u32(len));
    }

    // ---- rewriting in place ----

    /// Edits the headers of all events, once for each set that they share.
    pub fn edit_headers(&mut self, mut edit: impl FnMut(&mut HeadersMut<'_>)) {
        let Some(contents) = &mut self.0 else { return };
        if contents.own_names.is_empty() {
            for base in &mut contents.bases {
                let mut headers =
                    HeadersMut { headers: std::mem::take(base), own_names: &[], conflict: false };
                edit(&mut headers);
                *base = headers.headers;
            }
            return;
        }
        let mut edited = SmallVec::with_capacity(contents.bases.len());
        for base in &contents.bases {
            let mut headers =
                HeadersMut { headers: base.clone(), own_names: &contents.own_names, conflict: false };
            edit(&mut headers);
            if headers.conflict {
                return contents.edit_each_set(edit);
            }
            edited.push(headers.headers);
        }
        contents.bases = edited;
    }

    /// Gives each event headers of its own beside the shared ones (a UUID, an extracted field).
    ///
    /// The own entries of the whole batch lie in one allocation, and so do the values that are written here.
    pub fn edit_each(&mut self, mut edit: impl FnMut(Event<'_>, &mut OwnHeaders)) {
        let Some(contents) = &mut self.0 else { return };
        let n_events = contents.rows.len();
        let mut collected = OwnHeaders::for_events(n_events);
        let mut sets = SmallVec::with_capacity(n_events);
        for (i, row) in contents.rows.iter().enumerate() {
            if i == 1 {
                collected.expect_like_the_first();
            }
            let old = contents.sets[row.set as usize];
            collected.next_event();
            for (name, value) in &contents.own[old.own()] {
                collected.set(name.clone(), value.clone());
            }
            edit(contents.event(row), &mut collected);
            let (start, len) = collected.of_this_event();
            sets.push(Set { base: old.base, own_start: to_u32(start), own_len: to_u32(len) });
        }
        if collected.entries.is_empty() {
            return;
        }
        for (i, row) in contents.rows.iter_mut().enumerate() {
            row.set = to_u32(i);
        }
        contents.sets = sets;
        (contents.own, contents.own_names) = collected.finish();
    }

    /// Keeps the events for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(Event<'_>) -> bool) {
        let Some(contents) = &mut self.0 else { return };
        let mut rows = std::mem::take(&mut contents.rows);
        let n_before = rows.len();
        rows.retain(|row| keep(contents.event(row)));
        if rows.len() != n_before {
            (contents.bytes, contents.slots) = measure(&rows);
        }
        contents.rows = rows;
    }

    /// Makes of each event none, one or several, in order. New bodies share one new segment.
    ///
    /// # Panics
    /// All new bodies together are 4 GiB or more.
    pub fn expand(&mut self, mut make: impl FnMut(Event<'_>, &mut Emit)) {
        let Some(contents) = &mut self.0 else { return };
        let segment = to_u32(contents.segments.len());
        let mut emit =
            Emit { rows: Vec::with_capacity(contents.rows.len()), bytes: Vec::new(), segment, row: None };
        for row in &contents.rows {
            emit.row = Some(*row);
            make(contents.event(row), &mut emit);
        }
        (contents.bytes, contents.slots) = measure(&emit.rows);
        contents.rows = emit.rows;
        if !emit.bytes.is_empty() || contents.rows.iter().any(|row| row.segment == segment) {
            self.add_segment(emit.bytes.into());
        }
    }

    // ---- moving: bytes stay shared, no body is copied ----

    /// Moves all events of `other` behind those of this batch.
    pub fn append(&mut self, other: Batch) {
        if self.is_empty() {
            *self = other;
            return;
        }
        let Some(mut other) = other.0 else { return };
        let contents = self.contents_mut();
        let (segment, set, base, own) = (
            to_u32(contents.segments.len()),
            to_u32(contents.sets.len()),
            to_u32(contents.bases.len()),
            to_u32(contents.own.len()),
        );
        contents.rows.extend(other.rows.iter().map(|row| Row {
            set: row.set + set,
            segment: row.segment + segment,
            ..*row
        }));
        contents.bytes += other.bytes;
        contents.slots += other.slots;
        contents.segments.append(&mut other.segments);
        contents.sets.extend(other.sets.iter().map(|old| Set {
            base: old.base + base,
            own_start: old.own_start + own,
            ..*old
        }));
        contents.bases.append(&mut other.bases);
        contents.own.append(&mut other.own);
        for name in other.own_names {
            if !contents.own_names.contains(&name) {
                contents.own_names.push(name);
            }
        }
    }

    /// Takes the first `n_events` out, or all there are.
    pub fn split_front(&mut self, n_events: usize) -> Batch {
        if n_events >= self.len() {
            return std::mem::take(self);
        }
        let contents = self.contents_mut();
        let rest = contents.rows.split_off(n_events);
        let rest = contents.with_rows(rest);
        let front = std::mem::replace(self, rest);
        let rows = front.contents().rows.clone();
        front.contents().with_rows(rows)
    }

    /// The events at these positions, as a batch that shares all bytes.
    ///
    /// # Panics
    /// The range lies outside of the batch.
    pub fn slice(&self, range: Range<usize>) -> Batch {
        let contents = self.contents();
        contents.with_rows(contents.rows[range].to_vec())
    }

    /// The events for which `choose` holds, as a batch that shares all bytes. `choose` also gets the position.
    pub fn filtered(&self, mut choose: impl FnMut(usize, Event<'_>) -> bool) -> Batch {
        let contents = self.contents();
        let rows = contents.rows.iter().enumerate().filter(|(i, row)| choose(*i, contents.event(row)));
        contents.with_rows(rows.map(|(_, row)| *row).collect())
    }

    /// Bytes that this batch keeps alive: all of its segments, used or not.
    pub fn pinned_bytes(&self) -> u64 {
        self.contents().segments.iter().map(|segment| segment.len() as u64).sum()
    }

    /// Copies what is live into one segment, where less than half of the bytes are, or where the segments are many and
    /// small. A short body in a large read buffer would keep all of it in memory otherwise.
    pub fn compact(&mut self) {
        let pinned = self.pinned_bytes();
        let Some(contents) = &mut self.0 else { return };
        let live = contents.bytes;
        let scattered = contents.segments.len() > 64 && live / (contents.segments.len() as u64) < 4096;
        if (live * 2 >= pinned && !scattered) || live > u64::from(u32::MAX) {
            return;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(live).expect("live bytes are in memory"));
        for row in &mut contents.rows {
            let start = to_u32(bytes.len());
            bytes.extend_from_slice(&contents.segments[row.segment as usize][row.range()]);
            (row.segment, row.start) = (0, start);
        }
        contents.segments.clear();
        contents.segments.push(bytes.into());
    }
}

impl Contents {
    const fn new() -> Self {
        Self {
            rows: Vec::new(),
            bytes: 0,
            slots: 0,
            segments: SmallVec::new_const(),
            sets: SmallVec::new_const(),
            bases: SmallVec::new_const(),
            own: Vec::new(),
            own_names: SmallVec::new_const(),
        }
    }

    fn event(&self, row: &Row) -> Event<'_> {
        let set = self.sets[row.set as usize];
        Event {
            headers: EventHeaders { shared: &self.bases[set.base as usize], own: &self.own[set.own()] },
            body: &self.segments[row.segment as usize][row.range()],
        }
    }

    /// The slow way of `edit_headers`: every set becomes a base without own entries first.
    fn edit_each_set(&mut self, mut edit: impl FnMut(&mut HeadersMut<'_>)) {
        let mut bases = SmallVec::with_capacity(self.sets.len());
        for set in &mut self.sets {
            let headers = EventHeaders { shared: &self.bases[set.base as usize], own: &self.own[set.own()] };
            let mut headers = HeadersMut { headers: headers.to_headers(), own_names: &[], conflict: false };
            edit(&mut headers);
            *set = Set { base: to_u32(bases.len()), own_start: 0, own_len: 0 };
            bases.push(headers.headers);
        }
        self.bases = bases;
        self.own.clear();
        self.own_names.clear();
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
        let (bytes, slots) = measure(&rows);
        Batch(Some(Box::new(Contents {
            rows,
            bytes,
            slots,
            segments: self.segments[segments.start as usize..segments.end as usize].into(),
            sets,
            bases: self.bases[bases.start as usize..bases.end as usize].into(),
            own_names: if own.is_empty() { SmallVec::new() } else { self.own_names.clone() },
            own,
        })))
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

    fn slots(&self) -> u64 {
        u64::from((self.len.max(1) - 1) / SLOT_BYTES as u32 + 1)
    }
}

impl Set {
    fn own(&self) -> Range<usize> {
        self.own_start as usize..(self.own_start + self.own_len) as usize
    }
}

/// Bytes and slots of rows.
fn measure(rows: &[Row]) -> (u64, u64) {
    rows.iter().fold((0, 0), |(bytes, slots), row| (bytes + u64::from(row.len), slots + row.slots()))
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
