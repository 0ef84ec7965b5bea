//! Reading ahead: events that have no copy in memory are read in large pieces, in order, when their turn comes.

use super::Shared;
use crate::{
    data_file::{GapKind, Item, Scanner},
    disk::Mode,
    place::Pointer,
    queue::{EventAt, EventCopy},
    record::{self, Body},
};
use std::io;

/// Bytes that one reading brings, about.
const READ_BYTES: usize = 1 << 20;
/// Room for so many events is made at first.
const EVENTS: usize = 4096;

/// What one reading has brought.
#[derive(Debug, Default)]
struct Found {
    bytes: Vec<u8>,
    events: Vec<EventAt>,
    /// Events that cannot be read, behind those.
    lost: u32,
    /// Where reading goes on; nothing where there is nothing more.
    next: Option<u32>,
}

impl Shared {
    /// Reads the next events that have no copy, if there is memory for them.
    pub(super) fn read_ahead(&self) {
        let (first, place, count, limit, dir) = {
            let state = self.state();
            let Some((first, place, count, limit)) = state.queue.to_read() else { return };
            (first, place, count, limit, state.files.get(&place.file).copied())
        };
        let found = match dir {
            Some(dir) => self.read_run(dir, place, count, limit),
            None => Ok(Found::default()),
        };
        match found {
            Err(error) => self.fail(error),
            Ok(found) => {
                let next = found.next.map(|offset| Pointer { offset, ..place });
                let mut bytes = found.bytes;
                // Little that was found would hold a lot of memory.
                if bytes.len() < bytes.capacity() / 2 {
                    bytes.shrink_to_fit();
                }
                let copy = EventCopy::new(bytes.into(), found.events);
                let mut state = self.state();
                let lost = state.queue.attach(first, copy, found.lost, next);
                if lost > 0 {
                    state.keep.lost_in(place.file);
                }
                drop(state);
                if lost > 0 {
                    (self.hooks.lost)(lost);
                }
                (self.hooks.readable)();
            }
        }
    }

    /// Reads up to `count` puts from `place` on, and not beyond `limit`.
    fn read_run(&self, dir: usize, place: Pointer, count: u32, limit: Option<u32>) -> io::Result<Found> {
        let mut found = Found::default();
        let path = super::files::path(&self.settings.data_dirs[dir], place.file);
        let file = match self.disk.open(&path, Mode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(error),
        };
        let limit = limit.map_or(u64::MAX, u64::from);
        let reading = self.reading_of(dir, place.file)?;
        let mut scanner = Scanner::new(file, u64::from(place.offset), reading.cipher)?;
        if reading.version_2 {
            scanner = scanner.version_2();
        }
        found.bytes.reserve(READ_BYTES + READ_BYTES / 8);
        found.events.reserve(EVENTS.min(count as usize));
        while let Some(item) = scanner.next_item()? {
            let end = match item {
                Item::Record { at, end, record } => {
                    if at >= limit {
                        return Ok(found);
                    }
                    if let Body::Put { headers, body } = record.body {
                        found.push(at as u32, headers, body);
                    }
                    end
                }
                Item::Noop => continue,
                // What is still being written, or never was.
                Item::Gap(gap) if gap.kind == GapKind::Fill => gap.end,
                // Damaged since it was found whole. What was read before is given first, and this is found again.
                Item::Gap(_) if !found.events.is_empty() => return Ok(found),
                Item::Gap(gap) => {
                    found.lost += 1;
                    gap.end
                }
            };
            found.next = u32::try_from(end).ok();
            if found.events.len() as u32 >= count || found.bytes.len() >= READ_BYTES || found.lost > 0 {
                return Ok(found);
            }
        }
        found.next = None;
        Ok(found)
    }
}

impl Found {
    fn push(&mut self, offset: u32, headers: record::HeaderBytes<'_>, body: &[u8]) {
        let at = self.bytes.len() as u32;
        // Version 2 encodes headers in another way: all are kept in that of version 3.
        if headers.is_version_3() {
            self.bytes.extend_from_slice(headers.as_bytes());
        } else {
            record::headers(&mut self.bytes, headers.iter());
        }
        let body_at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(body);
        let (headers_len, body_len) = (body_at - at, body.len() as u32);
        self.events.push(EventAt { offset, headers: at, headers_len, body: body_at, body_len });
    }
}
