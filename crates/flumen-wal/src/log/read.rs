//! Reading ahead: events that have no copy in memory are read in large pieces, in order, when their turn comes.

use super::Shared;
use crate::{
    data_file::{GapKind, Item, Scanner},
    disk::Mode,
    place::Pointer,
    queue::{EventAt, EventCopy},
    record::{self, Body, FRAME_LEN},
};
use std::io;

/// Bytes that one reading brings, about.
const READ_BYTES: usize = 1 << 20;
/// What is read past the system's cache begins and ends on this.
const BLOCK: usize = 4096;
/// About what a record has beside headers and body.
const RECORD_BYTES: usize = 80;
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
        let direct = self.settings.blocks.is_some();
        let file = match self.disk.open(&path, if direct { Mode::ReadDirect } else { Mode::Read }) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(error),
        };
        let limit = limit.map_or(u64::MAX, u64::from);
        let reading = self.reading_of(dir, place.file)?;
        // Records in clear are not copied once more.
        let in_place = reading.cipher.is_none() && !reading.version_2;
        let mut scanner = Scanner::new(file, u64::from(place.offset), reading.cipher)?;
        if in_place {
            let wanted = limit.saturating_sub(u64::from(place.offset)).min(READ_BYTES as u64) as usize;
            scanner = scanner.in_blocks(wanted.next_multiple_of(BLOCK), if direct { BLOCK } else { 1 });
        } else {
            found.bytes.reserve(READ_BYTES + READ_BYTES / 8);
        }
        if reading.version_2 {
            scanner = scanner.version_2();
        }
        found.events.reserve(EVENTS.min(count as usize));
        loop {
            if in_place && !found.events.is_empty() && !scanner.holds_next() {
                break;
            }
            let Some(item) = scanner.next_item()? else {
                found.next = None;
                break;
            };
            let end = match item {
                Item::Record { at, end, record, payload } => {
                    if at >= limit {
                        break;
                    }
                    if let Body::Put { headers, body } = record.body {
                        if in_place {
                            found.note(at, headers.as_bytes(), body, payload);
                        } else {
                            found.push(at as u32, headers, body);
                        }
                    }
                    end
                }
                Item::Noop => continue,
                // What is still being written, or never was.
                Item::Gap(gap) if gap.kind == GapKind::Fill => gap.end,
                // Damaged since it was found whole. What was read before is given first, and this is found again.
                Item::Gap(_) if !found.events.is_empty() => break,
                Item::Gap(gap) => {
                    found.lost += 1;
                    gap.end
                }
            };
            found.next = u32::try_from(end).ok();
            if found.events.len() as u32 >= count || found.bytes.len() >= READ_BYTES || found.lost > 0 {
                break;
            }
        }
        if in_place && !found.events.is_empty() {
            found.keep(scanner);
        }
        Ok(found)
    }
}

impl Found {
    /// An event that stays where it was read: its places are those in the file, until [`Found::keep`].
    fn note(&mut self, at: u64, headers: &[u8], body: &[u8], payload: &[u8]) {
        let start = at + FRAME_LEN as u64;
        let place = |part: &[u8]| (start + (part.as_ptr().addr() - payload.as_ptr().addr()) as u64) as u32;
        let headers_at = if headers.is_empty() { start as u32 } else { place(headers) };
        let body_at = if body.is_empty() { start as u32 } else { place(body) };
        self.events.push(EventAt {
            offset: at as u32,
            headers: headers_at,
            headers_len: headers.len() as u32,
            body: body_at,
            body_len: body.len() as u32,
        });
    }

    /// Keeps what was read, or copies the events out of it where they are less than three quarters of it.
    fn keep(&mut self, scanner: Scanner) {
        let (window, place) = scanner.into_window();
        let part = |at: u32, len: u32| place(u64::from(at))..place(u64::from(at)) + len as usize;
        let n_bytes: usize =
            self.events.iter().map(|event| (event.headers_len + event.body_len) as usize).sum();
        let copies = n_bytes + RECORD_BYTES * self.events.len() < window.len() / 4 * 3;
        if copies {
            self.bytes.reserve_exact(n_bytes);
        }
        for event in &mut self.events {
            let headers = part(event.headers, event.headers_len);
            let body = part(event.body, event.body_len);
            (event.headers, event.body) = (headers.start as u32, body.start as u32);
            if copies {
                event.headers = self.bytes.len() as u32;
                self.bytes.extend_from_slice(&window[headers]);
                event.body = self.bytes.len() as u32;
                self.bytes.extend_from_slice(&window[body]);
            }
        }
        if !copies {
            self.bytes = window;
        }
    }

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
