//! How interceptors write headers: once for what events share, or for each event its own.

use super::{Headers, Text, text::Written};
use smallvec::SmallVec;
use std::{borrow::Borrow, iter, ops::Range};

/// Headers that several events share, open for editing.
///
/// Where events of the batch have entries of their own, touching one of those names ends the shared edit; the batch
/// then gives each event a full set and calls the editor again for each.
#[derive(Debug)]
pub struct HeadersMut<'a> {
    pub(super) headers: Headers,
    pub(super) own_names: &'a [Text],
    pub(super) conflict: bool,
}

impl HeadersMut<'_> {
    /// The value under a name.
    pub fn get(&mut self, name: &str) -> Option<&Text> {
        self.touch(name);
        self.headers.get(name)
    }

    /// Sets a value, replacing one that is there.
    pub fn set(&mut self, name: Text, value: Text) {
        self.touch(&name);
        if !self.conflict {
            self.headers.set(name, value);
        }
    }

    /// Removes a name, if it is there.
    pub fn remove(&mut self, name: &str) {
        self.touch(name);
        if !self.conflict {
            self.headers.remove(name);
        }
    }

    /// Keeps the entries for which `keep` holds.
    pub fn retain(&mut self, keep: impl FnMut(&Text, &Text) -> bool) {
        self.conflict |= !self.own_names.is_empty();
        if !self.conflict {
            self.headers.retain(keep);
        }
    }

    fn touch(&mut self, name: &str) {
        self.conflict |= self.own_names.iter().any(|own| *own == *name);
    }
}

/// Collects what one event gets of its own. All longer values that are written here lie in one allocation of the batch.
#[derive(Default)]
pub struct OwnHeaders {
    pub(super) entries: Vec<(Text, Text)>,
    /// Which entries have a value that is a part of `written`, and which part: they get it at the end.
    parts: Vec<(usize, Range<usize>)>,
    written: String,
    /// Each name that occurs, once.
    names: SmallVec<[Text; 1]>,
    /// Where the entries of the present event begin, and those of the one before.
    start: usize,
    before: usize,
    /// Whether the present event has had the names of the one before so far, in their order.
    in_step: bool,
    n_events: usize,
}

/// Room that is made ahead is no more than this, however long the values are and however many events there are.
const MOST_BYTES_AHEAD: usize = 1 << 20;

impl OwnHeaders {
    /// Sets a value that is there already (a static, a part of the event's frame).
    #[inline]
    pub fn set(&mut self, name: impl Borrow<Text>, value: Text) {
        let entry = self.entry(name.borrow());
        self.entries[entry].1 = value;
    }

    /// Sets a value by copying it.
    #[inline]
    pub fn set_str(&mut self, name: impl Borrow<Text>, value: &str) {
        let entry = self.entry(name.borrow());
        if self.entries[entry].1.set_short(value) {
            return;
        }
        self.make_room(value.len());
        let start = self.written.len();
        self.written.push_str(value);
        self.note_part(entry, start);
    }

    /// Sets a value by formatting it (a number, a UUID).
    pub fn set_fmt(&mut self, name: impl Borrow<Text>, value: impl std::fmt::Display) {
        self.set_str(name, Written::of(value).as_str());
    }

    /// Collects from so many events, of which each gets at least one entry.
    pub(super) fn for_events(n_events: usize) -> Self {
        Self { entries: Vec::with_capacity(n_events), n_events, ..Self::default() }
    }

    /// The next event begins.
    pub(super) fn next_event(&mut self) {
        (self.before, self.start, self.in_step) = (self.start, self.entries.len(), true);
    }

    /// How many entries the present event has, and where they begin.
    pub(super) fn of_this_event(&self) -> (usize, usize) {
        (self.start, self.entries.len() - self.start)
    }

    /// Makes room for as much as the first event got from each of them, and a little more.
    pub(super) fn expect_like_the_first(&mut self) {
        let n_more = self.n_events - 1;
        self.entries.reserve(self.entries.len().saturating_mul(n_more));
        self.parts.reserve(self.parts.len().saturating_mul(n_more));
        self.written.reserve(ahead(self.written.len(), n_more));
    }

    /// Before the first value: room for one like it from each event.
    fn make_room(&mut self, len: usize) {
        if self.written.capacity() == 0 {
            self.written.reserve(ahead(len, self.n_events));
        }
    }

    /// The entry's value is what was written last, from `start` on.
    fn note_part(&mut self, entry: usize, start: usize) {
        if self.parts.capacity() == 0 {
            self.parts.reserve(self.n_events);
        }
        self.parts.push((entry, start..self.written.len()));
    }

    /// The place of a name among the present event's entries, without a value that was written for it before.
    #[inline]
    fn entry(&mut self, name: &Text) -> usize {
        let at = self.entries.len();
        // Mostly events get the same names in the same order. Then the name is none that this event has.
        let before = self.before + (at - self.start);
        if self.in_step && before < self.start && self.entries[before].0.is_same(name) {
            self.entries.extend(iter::once_with(|| (name.clone(), Text::default())));
            return at;
        }
        self.entry_out_of_step(name)
    }

    #[inline(never)]
    fn entry_out_of_step(&mut self, name: &Text) -> usize {
        self.in_step = false;
        let Some(known) = self.entries[self.start..].iter().position(|(known, _)| known.is(name)) else {
            if !self.names.iter().any(|known| known.is(name)) {
                self.names.push(name.clone());
            }
            self.entries.push((name.clone(), Text::default()));
            return self.entries.len() - 1;
        };
        let entry = self.start + known;
        let of_this_event = self.parts.iter().rev().take_while(|(of, _)| *of >= self.start);
        if let Some(back) = of_this_event.map(|(of, _)| *of).position(|of| of == entry) {
            self.parts.remove(self.parts.len() - 1 - back);
        }
        entry
    }

    /// The finished entries of the whole batch, in the order of events, and their names, each once.
    pub(super) fn finish(mut self) -> (Vec<(Text, Text)>, SmallVec<[Text; 1]>) {
        let written = Text::from(self.written);
        for (entry, range) in self.parts {
            self.entries[entry].1 = written.slice_of(&written[range]);
        }
        (self.entries, self.names)
    }
}

/// Bytes for `n_events` values of this length and a quarter more.
fn ahead(len: usize, n_events: usize) -> usize {
    let bytes = len.saturating_mul(n_events).min(MOST_BYTES_AHEAD);
    bytes + bytes / 4
}
