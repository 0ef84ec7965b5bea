//! Recognises content that was read under another name: copies that rotation makes, packed or not.
//!
//! `copytruncate` copies a file and empties the original. The copy has lines that were read and perhaps some that were not:
//! it is read from where the original was left.

use super::{Key, Tailer};
use crate::sources::taildir::{
    disk::InFile,
    file::TailFile,
    mark::{HEAD_BYTES, Head, Mark, START_BYTES, TAIL_BYTES, Trail, hash},
    positions::Row,
};
use std::{io, path::Path, time::Duration};
use tokio::time::Instant;

/// How long a file that looks like a copy of another one waits for that one to be emptied or to go.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Less content than this, in bytes, may be equal by chance.
const LEAST: u64 = 16;
const LEAST_PACKED: u64 = 64;

/// Content that was read, and whose file has gone or has other content now.
#[derive(Debug)]
pub(super) struct Gone {
    /// Whose content it was.
    pub(super) content: (Key, u32),
    pub(super) head: Head,
    pub(super) read: Mark,
    pub(super) committed: Mark,
    trail: Trail,
    /// Its file is there, with other content.
    truncated: bool,
    /// The scan by which it was gone.
    scan: u64,
    ino: u64,
    pub(super) file: String,
    /// Since when something behind what was read is nowhere, where that is to be told.
    pub(super) lost: Option<Instant>,
    /// Copies under names that do not match were looked for.
    pub(super) looked: bool,
}

/// Where a file's content comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// From nowhere else.
    Own,
    /// It is the content at this place in the list of what is gone.
    Copy(usize),
    /// It may be a copy that is being made.
    Perhaps,
}

impl Gone {
    pub(super) fn of_file(file: &TailFile, truncated: bool, scan: u64) -> Self {
        Self {
            content: (file.key, file.epoch),
            head: file.head,
            read: file.read,
            committed: file.committed,
            trail: file.trail.clone(),
            truncated,
            scan,
            ino: file.id.1,
            file: file.path.to_string_lossy().into_owned(),
            lost: None,
            looked: !truncated || file.is_packed(),
        }
    }

    pub(super) fn of_row(row: &Row, truncated: bool, scan: u64) -> Self {
        let read = Mark { pos: row.pos, tail: row.tail };
        Self {
            content: (0, 0),
            head: row.head,
            read,
            committed: read,
            trail: Trail::default(),
            truncated,
            scan,
            ino: row.ino,
            file: row.file.clone(),
            lost: None,
            looked: !truncated || row.packed,
        }
    }

    pub(super) fn row(&self) -> Row {
        let committed = self.committed;
        Row {
            head: self.head,
            tail: committed.tail,
            gone: true,
            ..Row::new(self.ino, committed.pos, self.file.clone())
        }
    }
}

impl Gone {
    /// Whether a file can be a copy of this. One that is made after the content was gone is none, nor is a file of the same path:
    /// equal content is then written anew, and must be read. Of compressed files it is known that rotation makes them late.
    fn can_be(&self, file: &TailFile) -> bool {
        if file.is_packed() {
            return self.read.pos >= LEAST_PACKED;
        }
        let path = file.path.to_string_lossy();
        let same_name = file.path.file_name() == Path::new(&self.file).file_name();
        // One look later counts: it may have been made while the directory was listed.
        path != self.file
            && file.found <= self.scan + 1
            && (self.truncated && self.read.pos >= LEAST || same_name)
    }
}

impl Gone {
    /// Whether a text begins as this, or is as short as its first lines.
    fn begins(&self, text: &Beginnings) -> bool {
        text.with(self.head)
            || text.0.len() < usize::from(self.head.len) && self.trail.within(text.0.len() as u64).is_some()
    }

    /// Whether content that is shorter than what was read is its beginning: the copy was made first, then more was read of the
    /// original, and then that was emptied.
    fn has_beginning(&self, own: &dyn InFile, len: u64) -> io::Result<bool> {
        let Some(mark) = self.trail.within(len).filter(|mark| mark.pos >= LEAST) else { return Ok(false) };
        if !ends_with(own, mark)? {
            return Ok(false);
        }
        // Little content is compared whole, but for half a line at its end.
        let rest = usize::try_from(len - mark.pos).unwrap_or(usize::MAX).min(HEAD_BYTES);
        Ok(mark.pos > HEAD_BYTES as u64 || !own.part(mark.pos, rest)?.contains(&b'\n'))
    }
}

impl Tailer {
    /// Says where the content of a file comes from that begins with `text` and is read for the first time.
    pub(super) fn origin(&mut self, file: &TailFile, text: &[u8], now: Instant) -> io::Result<Origin> {
        let begins = Beginnings::of(text);
        let young = now < file.changed_at + PATIENCE;
        let own = if file.is_packed() { None } else { file.handle.file() };
        for (at, gone) in
            self.gone.iter().enumerate().rev().filter(|(_, gone)| gone.begins(&begins) && gone.can_be(file))
        {
            match own {
                Some(own) if file.len >= gone.read.pos => {
                    if ends_with(own, gone.read)? {
                        return Ok(Origin::Copy(at));
                    }
                }
                Some(own) if (gone.truncated || !young) && gone.has_beginning(own, file.len)? => {
                    return Ok(Origin::Copy(at));
                }
                Some(_) if young && begins.with(gone.head) => return Ok(Origin::Perhaps),
                Some(_) => {}
                None => return Ok(Origin::Copy(at)),
            }
        }
        if file.first {
            return Ok(Origin::Own);
        }
        let may_be = |other: &TailFile| begins.with(other.head) || begins.is_less_of(other);
        let alike: Vec<Key> =
            self.files.values().filter(|other| may_be(other)).map(|other| other.key).collect();
        for key in alike {
            let Some(mut other) = self.files.remove(&key) else { continue };
            let leaves = other.leaving.is_some();
            let is_deleted = leaves
                && !other.has_rest()
                && other.handle.file().and_then(|open| open.stat().ok()).is_some_and(|stat| stat.links == 0);
            let origin =
                if leaves || !young { Ok(Origin::Own) } else { self.origin_in(file, own, &mut other) };
            self.files.insert(key, other);
            if is_deleted {
                self.retire(key, now);
                if let Some(at) = self.gone.len().checked_sub(1).filter(|at| self.gone[*at].can_be(file)) {
                    return Ok(Origin::Copy(at));
                }
            } else if leaves && file.is_packed() {
                // It is packed and goes soon.
                return Ok(Origin::Perhaps);
            }
            match origin? {
                Origin::Own => {}
                origin => return Ok(origin),
            }
        }
        Ok(Origin::Own)
    }

    /// Compares with a file that is there.
    fn origin_in(
        &mut self,
        file: &TailFile,
        own: Option<&dyn InFile>,
        other: &mut TailFile,
    ) -> io::Result<Origin> {
        if other.is_packed() {
            return Ok(Origin::Own);
        }
        let opened = match self.disk.open(&other.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Origin::Perhaps),
            opened => opened?,
        };
        let stat = opened.stat()?;
        if (stat.dev, stat.ino) != other.id {
            // The next scan tells what has become of it.
            return Ok(Origin::Perhaps);
        }
        if stat.len < other.read.pos || !ends_with(&*opened, other.read)? {
            self.restart(other, "its content is another one");
            let Some(at) = self.gone.len().checked_sub(1).filter(|at| self.gone[*at].can_be(file)) else {
                return Ok(Origin::Own);
            };
            let is_copy = match own {
                Some(own) => file.len >= self.gone[at].read.pos && ends_with(own, self.gone[at].read)?,
                None => true,
            };
            return Ok(if is_copy { Origin::Copy(at) } else { Origin::Perhaps });
        }
        let Some(own) = own else { return Ok(Origin::Perhaps) };
        // What there is of the copy must be in the original, at the same place.
        let from = file.len.saturating_sub(TAIL_BYTES as u64);
        let len = (file.len - from) as usize; // at most TAIL_BYTES
        let same = stat.len >= file.len && own.part(from, len)? == opened.part(from, len)?;
        Ok(if same { Origin::Perhaps } else { Origin::Own })
    }

    /// Goes on where the content was left.
    pub(super) fn adopt(&mut self, file: &mut TailFile, at: usize) {
        let Some(gone) = self.gone.remove(at) else { return };
        let (path, was) = (file.path.display(), &gone.file);
        tracing::info!(source = %self.setup.name, file = %path, %was, position = gone.read.pos, "a copy of what was read; read on");
        (file.read, file.committed, file.head) = (gone.read, gone.committed, gone.head);
        if !file.is_packed() && file.len < file.read.pos {
            // All of it was read.
            (file.read, file.head) = (Mark { pos: file.len, tail: None }, Head::NONE);
            if file.committed.pos > file.len {
                file.committed = file.read;
            }
        }
        file.first = true;
        self.note_adopted(gone.content, file.key);
        self.changed = true;
    }

    /// Acknowledgements of a content are another file's from now on.
    pub(super) fn note_adopted(&mut self, content: (Key, u32), key: Key) {
        self.adopted.push_back((content, key));
        if self.adopted.len() > super::MOST_GONE {
            self.adopted.pop_front();
        }
    }
}

/// Whether the bytes before a mark are those that it tells of.
pub(super) fn ends_with(file: &dyn InFile, mark: Mark) -> io::Result<bool> {
    let len = mark.tail_len();
    let Some(tail) = mark.tail else { return Ok(true) };
    let before = file.part(mark.pos - len as u64, len)?;
    Ok(before.len() == len && hash(&before) == tail)
}

/// The hashes of all beginnings of a text.
struct Beginnings(Vec<u64>);

impl Beginnings {
    fn of(text: &[u8]) -> Self {
        let mut head = Head::NONE;
        let text = &text[..text.len().min(HEAD_BYTES)];
        let hashes = (0..text.len()).map(|at| {
            head.extend(at as u64, &text[at..=at]);
            head.hash
        });
        Self(hashes.collect())
    }

    /// Whether the text is so short that it may be a beginning of a file of which more was read.
    fn is_less_of(&self, file: &TailFile) -> bool {
        self.0.len() < usize::from(file.head.len)
            && file.start.is_some_and(|start| self.0.get(START_BYTES - 1) == Some(&start))
    }

    /// Whether the text begins with what a head was made of.
    fn with(&self, head: Head) -> bool {
        usize::from(head.len).checked_sub(1).is_some_and(|at| self.0.get(at) == Some(&head.hash))
    }
}
