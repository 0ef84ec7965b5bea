//! What waits, in the order of delivery, while a replay puts events in and takes them out.

use super::{files::Found, index::FileIndex};
use crate::{
    data_file::{Gap, Item},
    disk::Disk,
    place::{Pointer, Run},
    record::Body,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

/// Puts of one file that lie next to each other and came with one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) file: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    /// The put before the first, if one is known.
    pub(super) before: Option<u32>,
}

/// A part of the queue.
#[derive(Debug)]
struct Part {
    file: u32,
    /// Puts that are in the index, from one offset to another.
    indexed: Option<(u32, u32)>,
    /// Puts behind them that a checkpoint names, and that nobody has looked at yet.
    rest: Option<Rest>,
}

#[derive(Debug, Clone, Copy)]
struct Rest {
    offset: u32,
    count: u32,
    bytes: u64,
}

#[derive(Debug)]
pub(super) struct Live<'a> {
    disk: &'a dyn Disk,
    files: &'a BTreeMap<u32, Found>,
    index: BTreeMap<u32, FileIndex>,
    parts: Vec<Part>,
    /// Where the rests begin, and of which parts they are.
    rests: BTreeMap<(u32, u32), usize>,
    /// Where gaps are: no run goes over one.
    gaps: BTreeSet<(u32, u32)>,
    /// Gaps in what a checkpoint reflects, which no cursor reads.
    pub(super) found_gaps: Vec<(u32, Gap)>,
    /// Events that a checkpoint names and that are not there.
    lost: u64,
    /// Those of them that are known by their pointers, and for each file that is not there, how many are in it: takes that come
    /// later say that they were gone anyway.
    lost_pointers: BTreeSet<Pointer>,
    lost_files: BTreeMap<u32, u64>,
}

impl<'a> Live<'a> {
    pub(super) fn new(disk: &'a dyn Disk, files: &'a BTreeMap<u32, Found>) -> Self {
        Self {
            disk,
            files,
            index: BTreeMap::new(),
            parts: Vec::new(),
            rests: BTreeMap::new(),
            gaps: BTreeSet::new(),
            found_gaps: Vec::new(),
            lost: 0,
            lost_pointers: BTreeSet::new(),
            lost_files: BTreeMap::new(),
        }
    }

    /// Adds a run of our checkpoint at the end. It is not read, unless a take names one of its events.
    pub(super) fn add_run(&mut self, run: &Run) {
        let Run { start, count, bytes } = *run;
        if !self.files.contains_key(&start.file) {
            *self.lost_files.entry(start.file).or_default() += u64::from(count);
            return;
        }
        self.rests.insert((start.file, start.offset), self.parts.len());
        let rest = Some(Rest { offset: start.offset, count, bytes });
        self.parts.push(Part { file: start.file, indexed: None, rest });
    }

    /// Reads what lies between pointers of Java's checkpoint, so that they can be used.
    pub(super) fn index_pointers(&mut self, pointers: impl Iterator<Item = Pointer>) -> io::Result<()> {
        let mut ranges: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for pointer in pointers {
            let range = ranges.entry(pointer.file).or_insert((pointer.offset, pointer.offset));
            *range = (range.0.min(pointer.offset), range.1.max(pointer.offset));
        }
        for (file, (from, to)) in ranges {
            let Some(found) = self.files.get(&file) else { continue };
            let mut scanner = found.scan(self.disk, u64::from(from))?;
            let index = self.index.entry(file).or_default();
            let mut follows = false;
            while scanner.position() <= u64::from(to)
                && let Some(item) = scanner.next_item()?
            {
                match item {
                    Item::Record { at, record, .. } => {
                        if let Body::Put { body, .. } = record.body {
                            index.push(at as u32, body.len() as u32, follows);
                            follows = true;
                        }
                    }
                    Item::Noop => {}
                    Item::Gap(gap) => {
                        self.gaps.insert((file, gap.at as u32));
                        self.found_gaps.push((file, gap));
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds one event at the end by its pointer.
    pub(super) fn add_pointer(&mut self, pointer: Pointer) {
        let Pointer { file, offset } = pointer;
        let before = self.index.get(&file).and_then(|index| index.before(offset));
        if self.index.get_mut(&file).and_then(|index| index.set_live(offset, true)).is_none() {
            self.lost_pointers.insert(pointer);
            return;
        }
        self.append(Span { file, first: offset, last: offset, before });
    }

    /// Notes a put that is read, and not committed yet. `follows`: the put before it in its file has been noted too.
    pub(super) fn note_put(&mut self, file: u32, offset: u32, body_len: u32, follows: bool) {
        self.index.entry(file).or_default().push(offset, body_len, follows);
    }

    pub(super) fn note_gap(&mut self, file: u32, gap: &Gap) {
        self.gaps.insert((file, gap.at as u32));
    }

    /// Adds the puts of a span at the end.
    pub(super) fn add(&mut self, span: Span) {
        self.set(span, true);
        self.append(span);
    }

    /// Takes the puts of a span out again. Says how many of them waited.
    pub(super) fn remove(&mut self, span: Span) -> u64 {
        self.set(span, false)
    }

    fn set(&mut self, span: Span, live: bool) -> u64 {
        self.index.get_mut(&span.file).map_or(0, |index| index.set_all(span.first, span.last, live))
    }

    fn append(&mut self, span: Span) {
        if let Some(Part { file, indexed: Some((_, last)), rest: None }) = self.parts.last_mut()
            && *file == span.file
            && Some(*last) == span.before
        {
            *last = span.last;
            return;
        }
        self.parts.push(Part { file: span.file, indexed: Some((span.first, span.last)), rest: None });
    }

    /// Takes an event out. False: it does not wait, as far as is known.
    pub(super) fn take(&mut self, pointer: Pointer) -> io::Result<bool> {
        let Pointer { file, offset } = pointer;
        if let Some(lost) = self.lost_files.get_mut(&file) {
            *lost = lost.saturating_sub(1);
            return Ok(false);
        }
        if self.lost_pointers.remove(&pointer) {
            return Ok(false);
        }
        let known =
            |live: &mut Self| live.index.get_mut(&file).and_then(|index| index.set_live(offset, false));
        if let Some(lived) = known(self) {
            return Ok(lived);
        }
        self.load_until(pointer)?;
        Ok(known(self).unwrap_or(false))
    }

    /// Events that a checkpoint names, that are not there, and that no take has taken out.
    pub(super) fn n_lost(&self) -> u64 {
        self.lost + self.lost_pointers.len() as u64 + self.lost_files.values().sum::<u64>()
    }

    /// Where the events of a run are.
    pub(super) fn places_of(&mut self, run: &Run) -> io::Result<Vec<Pointer>> {
        let Pointer { file, offset } = run.start;
        let Some(found) = self.files.get(&file) else { return Ok(Vec::new()) };
        let mut scanner = found.scan(self.disk, u64::from(offset))?;
        let mut places = Vec::new();
        while (places.len() as u64) < u64::from(run.count)
            && let Some(item) = scanner.next_item()?
        {
            if let Item::Record { at, record, .. } = item
                && let Body::Put { .. } = record.body
            {
                places.push(Pointer { file, offset: at as u32 });
            }
        }
        Ok(places)
    }

    /// Indexes a checkpoint's run up to an event, so that it can be taken out.
    fn load_until(&mut self, pointer: Pointer) -> io::Result<()> {
        let Pointer { file, offset } = pointer;
        let before =
            self.rests.range((file, 0)..=(file, offset)).next_back().map(|(key, part)| (*key, *part));
        let (Some((key, part)), Some(found)) = (before, self.files.get(&file)) else { return Ok(()) };
        let Some(mut rest) = self.parts[part].rest.take() else { return Ok(()) };
        self.rests.remove(&key);
        let mut scanner = found.scan(self.disk, u64::from(rest.offset))?;
        let index = self.index.entry(file).or_default();
        let mut indexed = self.parts[part].indexed;
        while rest.count > 0
            && let Some(item) = scanner.next_item()?
        {
            match item {
                Item::Record { at, record, .. } => {
                    let Body::Put { body, .. } = record.body else { continue };
                    let at = at as u32;
                    if at > offset {
                        rest.offset = at;
                        break;
                    }
                    index.push(at, body.len() as u32, indexed.is_some());
                    index.set_live(at, true);
                    indexed = Some((indexed.map_or(at, |(first, _)| first), at));
                    rest.count -= 1;
                    rest.bytes = rest.bytes.saturating_sub(body.len() as u64);
                    rest.offset = u32::MAX;
                }
                Item::Noop => {}
                // One record at least was here.
                Item::Gap(gap) => {
                    self.gaps.insert((file, gap.at as u32));
                    self.found_gaps.push((file, gap));
                    rest.count -= 1;
                    self.lost += 1;
                }
            }
        }
        self.parts[part].indexed = indexed;
        if rest.count > 0 && rest.offset != u32::MAX {
            self.parts[part].rest = Some(rest);
            self.rests.insert((file, rest.offset), part);
        } else {
            self.lost += u64::from(rest.count);
        }
        Ok(())
    }

    /// Everything that waits, as runs in order.
    pub(super) fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        // The last event of the last run, where it is known.
        let mut last: Option<Pointer> = None;
        for part in &self.parts {
            let file = part.file;
            if let (Some((from, to)), Some(index)) = (part.indexed, self.index.get(&file)) {
                let mut before = index.before(from).map(|offset| Pointer { file, offset });
                for put in index.range(from, to) {
                    let place = Pointer { file, offset: put.offset };
                    if put.live {
                        let joins = last.is_some() && last == before && !self.gap_between(before, put.offset);
                        match runs.last_mut().filter(|run| joins && run.count < u32::MAX) {
                            Some(run) => {
                                run.count += 1;
                                run.bytes += u64::from(put.body_len);
                            }
                            None => runs.push(Run { start: place, count: 1, bytes: u64::from(put.body_len) }),
                        }
                        last = Some(place);
                    }
                    before = Some(place);
                }
            }
            if let Some(rest) = part.rest {
                let end = part.indexed.map(|(_, to)| Pointer { file, offset: to });
                let joins = last.is_some() && last == end && !self.gap_between(end, rest.offset);
                match runs.last_mut().filter(|run| joins && run.count.checked_add(rest.count).is_some()) {
                    Some(run) => {
                        run.count += rest.count;
                        run.bytes += rest.bytes;
                    }
                    None => {
                        let start = Pointer { file, offset: rest.offset };
                        runs.push(Run { start, count: rest.count, bytes: rest.bytes });
                    }
                }
                last = None;
            }
        }
        runs
    }

    fn gap_between(&self, from: Option<Pointer>, to: u32) -> bool {
        from.is_some_and(|from| self.gaps.range((from.file, from.offset)..(from.file, to)).next().is_some())
    }
}
