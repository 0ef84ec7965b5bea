//! A file that is being read, or was and waits for the channels.

use super::tracker::identity;
use crate::shared::disk::{InFile, Stat};
use flumen_core::{
    event::{Batch, Headers},
    serialize::{DeserializeError, EventDeserializer, Most, Place},
};
use std::path::PathBuf;

/// A number for each file that was opened, never used again.
pub(super) type Key = u64;

/// How far the events of a batch reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ack {
    pub(super) key: Key,
    pub(super) place: Place,
}

/// Why a file is not read on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// All of it was read.
    Whole,
    /// What follows is no event.
    Bad(String),
    /// Reading failed; it may go better later.
    Unreadable(String),
}

/// See the module.
pub(super) struct SpoolFile {
    pub(super) key: Key,
    /// Below the directory.
    pub(super) relative: PathBuf,
    pub(super) path: PathBuf,
    /// What it was when it was opened.
    pub(super) stat: Stat,
    pub(super) handle: Box<dyn InFile>,
    pub(super) deserializer: Box<dyn EventDeserializer>,
    pub(super) headers: Headers,
    /// It is empty, and the one event that says so is to be made.
    pub(super) is_empty: bool,
    /// Up to here the channels have it.
    pub(super) committed: Place,
    /// Up to here the tracker has it.
    pub(super) tracked: Place,
    /// Batches that are on their way.
    pub(super) n_open: usize,
    pub(super) end: Option<End>,
    /// A failure of it was told.
    pub(super) told: bool,
}

impl SpoolFile {
    /// The next events; none where the file has an end.
    pub(super) fn read(&mut self, most: Most) -> Option<(Batch, Ack)> {
        let mut batch = Batch::new();
        if self.end.is_none() && std::mem::take(&mut self.is_empty) {
            batch.push(self.headers.clone(), Vec::new());
            self.end = Some(End::Whole);
        } else if self.end.is_none() {
            let result = self.deserializer.read(&self.handle, &self.headers, most, &mut batch);
            self.end = match result {
                Ok(()) => batch.is_empty().then_some(End::Whole),
                Err(error) => Some(End::of(&error)),
            };
        }
        if batch.is_empty() {
            return None;
        }
        self.n_open += 1;
        let place = match self.end {
            Some(End::Whole) => self.committed,
            _ => self.deserializer.place(),
        };
        Some((batch, Ack { key: self.key, place }))
    }

    /// Whether nothing of it is to be read or on its way.
    pub(super) fn is_settled(&self) -> bool {
        self.end.is_some() && self.n_open == 0
    }

    /// Whether it is still the file that was opened.
    pub(super) fn is_same(&self, stat: &Stat) -> bool {
        (self.stat.dev, self.stat.ino) == (stat.dev, stat.ino) && identity(&self.stat) == identity(stat)
    }

    /// Whether it was written to since it was opened.
    pub(super) fn is_changed(&self, stat: &Stat) -> bool {
        (self.stat.len, self.stat.mtime_ns) != (stat.len, stat.mtime_ns)
    }
}

impl End {
    pub(super) fn of(error: &DeserializeError) -> Self {
        match error {
            DeserializeError::Input(error) => Self::Unreadable(error.to_string()),
            DeserializeError::Bad { .. } => Self::Bad(error.to_string()),
        }
    }
}
