//! The bytes of runs, made outside of any lock.

use super::Shared;
use crate::{
    committer::{Place, Ticket},
    place::Pointer,
    queue::{EventAt, EventCopy, Piece},
    record::{self, Of, Stamp},
};
use bytes::Bytes;
use std::io;

/// What of a put record comes behind the body: the field with its checksum, and the footer with the record's.
const BEHIND_BODY: usize = 9 + 6;

/// An event to be put.
#[derive(Debug, Clone, Copy)]
pub struct EventBytes<'a> {
    /// Its headers, encoded by [`crate::record::headers`].
    pub headers: &'a [u8],
    /// Its body.
    pub body: &'a [u8],
}

impl EventBytes<'_> {
    /// Bytes of its record; the most that can be said where it is far too long.
    pub(super) fn record_len(&self) -> u32 {
        u32::try_from(record::put_len(self.headers.len(), self.body.len())).unwrap_or(u32::MAX)
    }
}

/// A run of puts: the bytes by part, in clear, and the pieces that they become. The commit is the last record. `overhead`: bytes
/// that each record is longer on disk.
pub(super) fn put_run(
    events: &[EventBytes<'_>],
    lens: &[u32],
    overhead: u32,
    ticket: &Ticket,
    since: u64,
) -> (Vec<Bytes>, Vec<Piece>) {
    let (mut parts, mut pieces) = (Vec::new(), Vec::new());
    let mut order = ticket.first_order;
    for place in &ticket.parts {
        let Place { file, at, records, .. } = place;
        let len: u64 = lens[records.clone()].iter().map(|len| u64::from(*len)).sum();
        let (mut out, start) = buffer(len, place);
        let mut places = Vec::with_capacity(records.len());
        let mut n_bytes = 0;
        for record in records.clone() {
            let stamp = Stamp { transaction: ticket.transaction, order };
            order += 1;
            let Some(event) = events.get(record) else {
                record::commit(&mut out, stamp, Of::Puts, lens.len() as u32, ticket.watermark);
                continue;
            };
            let before = (record - records.start) as u64 * u64::from(overhead);
            let offset = (at + (out.len() - start) as u64 + before) as u32;
            record::put(&mut out, stamp, event.headers, event.body);
            n_bytes += event.body.len() as u64;
            places.push(place_in(&out, offset, event));
        }
        record::pad(&mut out, place.pad);
        let bytes = Bytes::from(out);
        if let Some(first) = places.first() {
            let place = Pointer { file: *file, offset: first.offset };
            let count = places.len() as u32;
            let copy = Some(EventCopy::new(bytes.clone(), places));
            pieces.push(Piece { first: 0, place, count, bytes: n_bytes, since, copy });
        }
        parts.push(bytes.slice(start..));
    }
    (parts, pieces)
}

/// A buffer for a part with so many bytes of records, and where it begins in it: on a block in memory, where it does so in the
/// file.
fn buffer(len: u64, place: &Place) -> (Vec<u8>, usize) {
    let block = place.block as usize;
    let mut out: Vec<u8> = Vec::with_capacity((len + place.pad) as usize + block);
    let start = if block > 0 { out.as_ptr().align_offset(block) } else { 0 };
    out.resize(start, 0);
    (out, start)
}

/// Where headers and body of the event lie whose record ends `out`: body, checksum field and footer come last.
fn place_in(out: &[u8], offset: u32, event: &EventBytes<'_>) -> EventAt {
    let body = out.len() - BEHIND_BODY - event.body.len();
    let varint_len = (u64::BITS - (event.body.len() as u64 | 1).leading_zeros()).div_ceil(7) as usize;
    let headers = body - varint_len - 1 - event.headers.len();
    EventAt {
        offset,
        headers: headers as u32,
        headers_len: event.headers.len() as u32,
        body: body as u32,
        body_len: event.body.len() as u32,
    }
}

/// A run of takes.
pub(super) fn take_run(pieces: &[Piece], ticket: &Ticket) -> Vec<Bytes> {
    let places = pieces.iter().flat_map(|piece| {
        let events = piece.copy.as_ref().map_or(&[][..], EventCopy::events);
        events.iter().map(|event| Pointer { file: piece.place.file, offset: event.offset })
    });
    let n_records = ticket.parts.last().map_or(0, |place| place.records.end);
    let mut places = places.fuse();
    let mut order = ticket.first_order;
    let mut parts = Vec::new();
    for place in &ticket.parts {
        let len = place.records.len() * record::TAKE_LEN + record::COMMIT_LEN;
        let (mut out, start) = buffer(len as u64, place);
        for _ in place.records.clone() {
            let stamp = Stamp { transaction: ticket.transaction, order };
            order += 1;
            match places.next() {
                Some(place) => record::take(&mut out, stamp, place),
                None => record::commit(&mut out, stamp, Of::Takes, n_records as u32, ticket.watermark),
            }
        }
        record::pad(&mut out, place.pad);
        parts.push(Bytes::from(out).slice(start..));
    }
    parts
}

/// A record that says nothing but how far the log is durable.
pub(super) fn mark(ticket: &Ticket) -> Vec<Bytes> {
    let mut out = Vec::with_capacity(record::ROLLBACK_LEN);
    let stamp = Stamp { transaction: ticket.transaction, order: ticket.first_order };
    record::rollback(&mut out, stamp, ticket.watermark);
    vec![out.into()]
}

/// A place in the line whose bytes never come would hold up everything behind it: a panic on the way fails the log.
pub(super) struct FailsUnlessDone<'a>(Option<&'a Shared>);

impl<'a> FailsUnlessDone<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self(Some(shared))
    }

    pub(super) fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for FailsUnlessDone<'_> {
    fn drop(&mut self) {
        if let Some(shared) = self.0 {
            shared.fail(io::Error::other("a fault of the program while a run was encoded"));
        }
    }
}
