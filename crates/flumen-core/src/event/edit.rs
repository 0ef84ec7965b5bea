//! How interceptors write headers: once for what events share, or for each event its own.

use super::{Headers, Text};
use std::{fmt::Write, ops::Range};

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

/// Where a value of an own header comes from until the edit of the whole batch is over.
pub(super) enum OwnValue {
    /// Written into the text that all own values of the batch share.
    Written(Range<usize>),
    /// A text that is there already.
    Shared(Text),
}

/// Collects what one event gets of its own. All values written here lie in one allocation of the batch.
#[derive(Default)]
pub struct OwnHeaders {
    pub(super) entries: Vec<(Text, OwnValue)>,
    pub(super) written: String,
    /// Where the entries of the present event begin.
    pub(super) start: usize,
}

impl OwnHeaders {
    /// Sets a value that is there already (a static, a part of the event's frame).
    pub fn set(&mut self, name: Text, value: Text) {
        self.put(name, OwnValue::Shared(value));
    }

    /// Sets a value by copying it.
    pub fn set_str(&mut self, name: Text, value: &str) {
        let start = self.written.len();
        self.written.push_str(value);
        self.put(name, OwnValue::Written(start..self.written.len()));
    }

    /// Sets a value by formatting it (a number, a UUID).
    pub fn set_fmt(&mut self, name: Text, value: impl std::fmt::Display) {
        let start = self.written.len();
        // Writing to a String cannot fail; a Display that reports an error has still written what it could.
        let _ = write!(self.written, "{value}");
        self.put(name, OwnValue::Written(start..self.written.len()));
    }

    /// Collects from so many events, of which each gets at least one entry.
    pub(super) fn for_events(n_events: usize) -> Self {
        Self { entries: Vec::with_capacity(n_events), written: String::with_capacity(64), start: 0 }
    }

    /// Makes room for `n_events` that get as much as the first one did, and a little more.
    pub(super) fn expect_like_the_first(&mut self, n_events: usize) {
        self.entries.reserve(self.entries.len().saturating_mul(n_events - 1));
        let bytes = self.written.len().saturating_mul(n_events);
        self.written.reserve(bytes + bytes / 4);
    }

    fn put(&mut self, name: Text, value: OwnValue) {
        match self.entries[self.start..].iter_mut().find(|(known, _)| known.is(&name)) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((name, value)),
        }
    }

    /// The finished entries of the whole batch, in the order of events.
    pub(super) fn finish(self) -> Vec<(Text, Text)> {
        let written = Text::from(self.written);
        let value = |value| match value {
            OwnValue::Shared(text) => text,
            OwnValue::Written(range) => written.slice_of(&written[range]),
        };
        self.entries.into_iter().map(|(name, own)| (name, value(own))).collect()
    }
}
