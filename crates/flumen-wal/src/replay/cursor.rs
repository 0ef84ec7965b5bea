//! Reads the files of one directory one after the other, as small owned steps that can be put in order with those of others.

use super::files::Found;
use crate::{
    data_file::{Gap, GapKind, Item, Scanner},
    disk::Disk,
    place::Pointer,
    record::{Body, Of, Record, Stamp},
};
use std::io;

/// A record, without the bytes of its event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) file: u32,
    pub(super) at: u32,
    pub(super) end: u32,
    pub(super) stamp: Stamp,
    pub(super) ours: bool,
    pub(super) records: Option<u32>,
    pub(super) watermark: Option<u64>,
    /// Whether a no-op was passed since the record before it in its file.
    pub(super) noop_before: bool,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Put { body_len: u32 },
    Take(Pointer),
    Rollback,
    Commit(Of),
}

/// What comes next in a directory.
#[derive(Debug)]
pub(super) enum Step {
    Record(Seen),
    /// No record here. `tail`: it reaches to the end of the file.
    Gap {
        file: u32,
        gap: Gap,
        tail: bool,
    },
    /// A file is read. `n_records` is what was in it.
    End {
        file: u32,
        n_records: u64,
        whole: bool,
    },
}

/// Reads a directory.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    disk: &'a dyn Disk,
    /// Files that are still to be read, with where to begin; the next one last.
    files: Vec<(&'a Found, u64)>,
    open: Option<Open>,
    /// A record that was read while looking at what comes behind a gap.
    held: Option<Step>,
    /// Bytes that have been read, and that there are.
    pub(super) done: u64,
    pub(super) total: u64,
}

#[derive(Debug)]
struct Open {
    scanner: Scanner,
    file: u32,
    from: u64,
    n_records: u64,
    ours: bool,
    noop: bool,
}

impl<'a> Cursor<'a> {
    /// Reads these files, in order.
    pub(super) fn new(disk: &'a dyn Disk, mut files: Vec<(&'a Found, u64)>) -> Self {
        files.reverse();
        let total = files.iter().map(|(found, at)| found.file.len.saturating_sub(*at)).sum();
        Self { disk, files, open: None, held: None, done: 0, total }
    }

    /// Whether no file comes after the one that is being read.
    pub(super) fn is_last(&self) -> bool {
        self.files.is_empty() && self.held.is_none()
    }

    pub(super) fn next_step(&mut self) -> io::Result<Option<Step>> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        loop {
            let Some(open) = &mut self.open else {
                let Some((found, at)) = self.files.pop() else { return Ok(None) };
                let scanner = found.scan(self.disk, at)?;
                self.open = Some(Open {
                    scanner,
                    file: found.file.number,
                    from: at,
                    n_records: 0,
                    ours: false,
                    noop: false,
                });
                continue;
            };
            let before = open.scanner.position();
            let step = open.step()?;
            self.done += open.scanner.position().saturating_sub(before.max(open.from));
            let Some(step) = step else {
                let Open { file, n_records, from, .. } = *open;
                self.open = None;
                return Ok(Some(Step::End { file, n_records, whole: from == 0 }));
            };
            let Step::Gap { gap, tail: false, .. } = step else { return Ok(Some(step)) };
            if open.ours || !self.files.is_empty() || gap.kind == GapKind::Damaged {
                return Ok(Some(step));
            }
            // Java's last file: what lies behind its fill came there by chance, unless we wrote it.
            let behind = open.step()?;
            if matches!(&behind, Some(Step::Record(seen)) if seen.ours) {
                self.held = behind;
                return Ok(Some(step));
            }
            let end = open.scanner.file_len();
            let (file, kind, unreadable) = (open.file, GapKind::Torn, false);
            open.scanner.skip_to_end();
            self.done += end.saturating_sub(gap.end);
            return Ok(Some(Step::Gap { file, gap: Gap { at: gap.at, end, kind, unreadable }, tail: true }));
        }
    }
}

impl Open {
    fn step(&mut self) -> io::Result<Option<Step>> {
        let len = self.scanner.file_len();
        loop {
            return Ok(Some(match self.scanner.next_item()? {
                None => return Ok(None),
                Some(Item::Noop) => {
                    self.noop = true;
                    continue;
                }
                Some(Item::Gap(gap)) => Step::Gap { file: self.file, gap, tail: gap.end == len },
                Some(Item::Record { at, end, record, .. }) => {
                    self.n_records += 1;
                    self.ours |= record.footer.is_ours();
                    let noop_before = std::mem::take(&mut self.noop);
                    Step::Record(Seen { noop_before, ..seen(self.file, at, end, &record) })
                }
            }));
        }
    }
}

/// Offsets of a scanner are below 2^32.
pub(super) fn seen(file: u32, at: u64, end: u64, record: &Record<'_>) -> Seen {
    let what = match record.body {
        Body::Put { body, .. } => What::Put { body_len: body.len() as u32 },
        Body::Take(place) => What::Take(place),
        Body::Rollback => What::Rollback,
        Body::Commit(of) => What::Commit(of),
    };
    let footer = record.footer;
    Seen {
        file,
        at: at as u32,
        end: end as u32,
        stamp: record.stamp,
        ours: footer.is_ours(),
        records: footer.records,
        watermark: footer.watermark,
        noop_before: false,
        what,
    }
}
