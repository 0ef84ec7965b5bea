//! A file that is tailed: which one it is, how far it was read, and what is open of it.

use super::{
    disk::{InFile, Stat},
    mark::{Head, Mark, Trail},
    packed::Packed,
};
use flumen_core::event::Headers;
use std::path::PathBuf;
use tokio::time::Instant;

/// What is read at a time, at first.
pub(super) const FIRST_READ: usize = 256 << 10;

/// A number for each file that was found, never used again.
pub(super) type Key = u64;

/// How far the events of a batch reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ack {
    pub(super) key: Key,
    /// Which content of the file: one more each time it was truncated.
    pub(super) epoch: u32,
    pub(super) mark: Mark,
}

/// See the module.
pub(super) struct TailFile {
    pub(super) key: Key,
    pub(super) id: (u64, u64),
    pub(super) birth_ns: Option<i64>,
    pub(super) path: PathBuf,
    pub(super) group: usize,
    /// Made when the first event needs them.
    pub(super) headers: Option<Headers>,
    pub(super) epoch: u32,
    /// Up to here it was read.
    pub(super) read: Mark,
    /// Up to here the channels have it.
    pub(super) committed: Mark,
    pub(super) head: Head,
    /// Empty where it has been idle.
    pub(super) trail: Trail,
    /// The hash of its first bytes, where they were read and are enough.
    pub(super) start: Option<u64>,
    /// `None` until the first bytes have told.
    pub(super) packed: Option<bool>,
    pub(super) handle: Handle,
    pub(super) len: u64,
    pub(super) mtime_ns: i64,
    /// Length and time when there was nothing more to read.
    pub(super) seen: Option<(u64, i64)>,
    /// When length or time was last seen to be other than before.
    pub(super) changed_at: Instant,
    /// Since when it has not been among the files of its group.
    pub(super) leaving: Option<Instant>,
    /// The scan that found it.
    pub(super) found: u64,
    /// It was there at the start, or is known to be no copy that is being made.
    pub(super) first: bool,
    /// It looks like a copy of another file, and waits to be known as one.
    pub(super) held: bool,
    /// No further line has come in time for its last event of several lines.
    pub(super) flush: bool,
    /// It was closed as idle, and has not changed since.
    pub(super) idle: bool,
    /// The last scan that met it.
    pub(super) scan: u64,
    pub(super) queued: bool,
    pub(super) turn_batches: u64,
    pub(super) turn_bytes: u64,
    pub(super) read_size: usize,
    /// A failure was told, and nothing was read since.
    pub(super) failed: bool,
}

/// What is open.
pub(super) enum Handle {
    Closed,
    Plain(Box<dyn InFile>),
    Packed(Box<Packed>),
}

impl Handle {
    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Self::Closed)
    }

    pub(super) fn file(&self) -> Option<&dyn InFile> {
        match self {
            Self::Closed => None,
            Self::Plain(file) => Some(&**file),
            Self::Packed(packed) => Some(packed.file()),
        }
    }
}

impl TailFile {
    /// A file to be read from its start.
    pub(super) fn new(key: Key, group: usize, path: PathBuf, stat: &Stat, now: Instant) -> Self {
        Self {
            key,
            id: (stat.dev, stat.ino),
            birth_ns: stat.birth_ns,
            path,
            group,
            headers: None,
            epoch: 0,
            read: Mark { pos: 0, tail: None },
            committed: Mark { pos: 0, tail: None },
            head: Head::NONE,
            trail: Trail::default(),
            start: None,
            packed: None,
            handle: Handle::Closed,
            len: stat.len,
            mtime_ns: stat.mtime_ns,
            seen: None,
            changed_at: now,
            leaving: None,
            found: 0,
            first: false,
            held: false,
            flush: false,
            idle: false,
            scan: 0,
            queued: false,
            turn_batches: 0,
            turn_bytes: 0,
            read_size: FIRST_READ,
            failed: false,
        }
    }

    /// Takes note of length and time.
    pub(super) fn note(&mut self, stat: &Stat, now: Instant) {
        if (stat.len, stat.mtime_ns) != (self.len, self.mtime_ns) {
            (self.len, self.mtime_ns) = (stat.len, stat.mtime_ns);
            self.changed_at = now;
            self.idle = false;
        }
    }

    /// Whether it is known to be compressed, so that positions do not count its own bytes.
    pub(super) fn is_packed(&self) -> bool {
        self.packed == Some(true)
    }

    /// Whether there are bytes behind what was read.
    pub(super) fn has_rest(&self) -> bool {
        if self.is_packed() { self.seen != Some((self.len, self.mtime_ns)) } else { self.read.pos < self.len }
    }
}
