//! Reading ahead: events that have no copy in memory are read in large pieces, in order, when their turn comes.

use super::{Shared, files};
use crate::{
    disk::{self, Mode},
    place::Pointer,
    queue::{EventAt, EventCopy},
    record::{self, Body, FRAME_LEN, Frame},
};
use std::io;

/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 20;

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
        let (wanted, dir) = {
            let state = self.state();
            let Some(wanted) = state.queue.to_read() else { return };
            let dir = state.files.get(&wanted.1.file).copied().unwrap_or(0);
            (wanted, dir)
        };
        let (first, place, count, limit) = wanted;
        match self.read_run(dir, place, count, limit) {
            Err(error) => self.fail(error),
            Ok(found) => {
                let next = found.next.map(|offset| Pointer { offset, ..place });
                let copy = EventCopy::new(found.bytes.into(), found.events);
                let lost = self.state().queue.attach(first, copy, found.lost, next);
                if lost > 0 {
                    (self.hooks.lost)(lost);
                }
                (self.hooks.readable)();
            }
        }
    }

    /// Reads up to `count` puts from `place` on, and not beyond `limit`.
    fn read_run(&self, dir: usize, place: Pointer, count: u32, limit: Option<u32>) -> io::Result<Found> {
        let path = files::path(&self.settings.data_dirs[dir], place.file);
        let file = match self.disk.open(&path, Mode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::default()),
            Err(error) => return Err(error),
        };
        let end = file.len()?.min(limit.map_or(u64::MAX, u64::from));
        let start = u64::from(place.offset);
        let mut len = READ_BYTES;
        loop {
            let len_now = len.min(usize::try_from(end.saturating_sub(start)).map_err(io::Error::other)?);
            let mut bytes = vec![0; len_now];
            let n_read = disk::fill(&*file, start, &mut bytes)?;
            bytes.truncate(n_read);
            let found = scan(bytes, place.offset, count, start + n_read as u64 >= end);
            if !found.events.is_empty() || found.next != Some(place.offset) {
                return Ok(found);
            }
            // A single record that is longer than what was read.
            len = len.saturating_mul(4);
        }
    }
}

/// Finds up to `count` puts. `at_end`: nothing lies behind these bytes.
fn scan(bytes: Vec<u8>, offset: u32, count: u32, at_end: bool) -> Found {
    let mut found = Found::default();
    let mut at = 0;
    let mut next = Some(offset);
    while at < bytes.len() && (found.events.len() as u32) < count {
        let rest = &bytes[at..];
        let len = match record::frame(rest) {
            Frame::Record(len) | Frame::Noop(len) => FRAME_LEN + len as usize,
            Frame::End | Frame::Unknown => 0,
        };
        if len > rest.len() && !at_end {
            break;
        }
        let whole = rest.get(..len).filter(|whole| !whole.is_empty());
        if let Some(whole) = whole.filter(|whole| whole[0] == record::OP_RECORD) {
            match record::check(whole) {
                Ok(record) => {
                    if let Body::Put { headers, body } = record.body {
                        let within = |part: &[u8]| (part.as_ptr() as usize - bytes.as_ptr() as usize) as u32;
                        found.events.push(EventAt {
                            offset: offset + at as u32,
                            headers: within(headers.as_bytes()),
                            headers_len: headers.as_bytes().len() as u32,
                            body: within(body),
                            body_len: body.len() as u32,
                        });
                    }
                }
                Err(_) => {
                    // Damaged after it was found whole: what is before it is given first.
                    if !found.events.is_empty() {
                        break;
                    }
                    found.lost = 1;
                    next = Some(offset + (at + len) as u32);
                    break;
                }
            }
        } else if whole.is_none() {
            if found.events.is_empty() {
                let candidate = record::resync::candidate(&bytes, at + 1, &[0; 24]);
                found.lost = u32::from(candidate.is_some());
                // What looks like a record may begin here and end in the next piece.
                let on = bytes.len().saturating_sub(record::resync::PROBE_LEN - 1).max(at + 1);
                let go_on = candidate.or((!at_end).then_some(on));
                next = go_on.map(|at| offset + at as u32);
            }
            break;
        }
        at += len;
        next = Some(offset + at as u32);
    }
    if at >= bytes.len() && at_end && (found.events.len() as u32) < count {
        next = None;
    }
    found.next = next;
    found.bytes = bytes;
    found
}
