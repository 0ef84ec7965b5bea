//! Appends records to a buffer: no allocation but the buffer's own growth.

use super::{
    FRAME_LEN, Footer, HEADER_LEN, OP_END, OP_NOOP, OP_RECORD, Of, Stamp, wire::put_varint, wire::varint_len,
};
use crate::{checksum, place::Pointer};

/// Footer with a checksum alone, its length included.
const FOOTER_LEN: usize = 1 + 5;
/// Bytes of a take record.
pub const TAKE_LEN: usize = FRAME_LEN + HEADER_LEN + 1 + 10 + FOOTER_LEN;
/// Bytes of a commit record with run count and watermark.
pub const COMMIT_LEN: usize = FRAME_LEN + HEADER_LEN + 1 + 5 + FOOTER_LEN + 5 + 9;
/// Bytes of a roll-back record with a watermark.
pub const ROLLBACK_LEN: usize = FRAME_LEN + HEADER_LEN + 1 + FOOTER_LEN + 9;

/// Bytes of a put record for an event with so many bytes of encoded headers and of body.
pub fn put_len(headers_len: usize, body_len: usize) -> usize {
    let event = event_len(headers_len, body_len);
    let put = 1 + varint_len(event as u32) + event + 9;
    FRAME_LEN + HEADER_LEN + varint_len(put as u32) + put + FOOTER_LEN
}

fn event_len(headers_len: usize, body_len: usize) -> usize {
    headers_len + 1 + varint_len(body_len as u32) + body_len
}

/// Appends one header in the form that [`put`] takes. Encode a set once and hand it to each event that shares it.
///
/// Name and value together have at most 2^31 bytes; the caller limits them far below.
pub fn header(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let len =
        1 + varint_len(name.len() as u32) + name.len() + 1 + varint_len(value.len() as u32) + value.len();
    out.push(0x0a);
    put_varint(out, len as u32);
    for (tag, text) in [(0x0a, name), (0x12, value)] {
        out.push(tag);
        put_varint(out, text.len() as u32);
        out.extend_from_slice(text);
    }
}

/// Appends all headers of a set, as [`header`] does.
pub fn headers<'a>(out: &mut Vec<u8>, set: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) {
    for (name, value) in set {
        header(out, name, value);
    }
}

/// Appends the record of a put. `headers` are encoded with [`headers`]. Record and length stay below 2^31 bytes: the caller
/// compares [`put_len`] with the size of a file first.
pub fn put(out: &mut Vec<u8>, stamp: Stamp, headers: &[u8], body: &[u8]) {
    let start = out.len();
    out.reserve(put_len(headers.len(), body.len()));
    begin(out, 1, stamp);
    let event = event_len(headers.len(), body.len()) as u32;
    put_varint(out, 1 + varint_len(event) as u32 + event + 9);
    out.push(0x0a);
    put_varint(out, event);
    out.extend_from_slice(headers);
    out.push(0x12);
    put_varint(out, body.len() as u32);
    out.extend_from_slice(body);
    out.push(0x11);
    out.extend_from_slice(&u64::from(crc32fast::hash(body)).to_le_bytes());
    finish(out, start, &Footer::default());
}

/// Appends the record of a take of the event at `place`.
pub fn take(out: &mut Vec<u8>, stamp: Stamp, place: Pointer) {
    let start = out.len();
    begin(out, 2, stamp);
    out.extend_from_slice(&[0x0a, 0x0d]);
    out.extend_from_slice(&place.file.to_le_bytes());
    out.push(0x15);
    out.extend_from_slice(&place.offset.to_le_bytes());
    finish(out, start, &Footer::default());
}

/// Appends the record that commits a run of `records` records, itself included. `watermark`: see [`Footer`].
pub fn commit(out: &mut Vec<u8>, stamp: Stamp, of: Of, records: u32, watermark: u64) {
    let start = out.len();
    begin(out, 4, stamp);
    out.extend_from_slice(&[0x05, 0x0d, if of == Of::Puts { 1 } else { 2 }, 0, 0, 0]);
    finish(out, start, &Footer { checksum: None, records: Some(records), watermark: Some(watermark) });
}

/// Appends a roll-back record, which undoes nothing and carries a watermark (at a clean stop, and when the log is quiet).
pub fn rollback(out: &mut Vec<u8>, stamp: Stamp, watermark: u64) {
    let start = out.len();
    begin(out, 3, stamp);
    out.push(0);
    finish(out, start, &Footer { checksum: None, records: None, watermark: Some(watermark) });
}

/// The first bytes of a no-op record that covers `len` bytes: written over a stretch, they make every reader skip it.
/// `None` where the stretch is too short for a record, or too long for one.
pub fn noop(len: u64) -> Option<[u8; FRAME_LEN]> {
    let payload = u32::try_from(len.checked_sub(FRAME_LEN as u64)?).ok()?;
    let length = i32::try_from(payload).ok()?.to_be_bytes();
    Some([OP_NOOP, length[0], length[1], length[2], length[3]])
}

/// What a no-op of ours begins with, behind its frame: a mark, and a checksum of the frame.
const PAD_MARK: [u8; 8] = *b"\x80flumen\x80";
/// Bytes of the shortest no-op with a mark.
pub(crate) const PAD_LEN: usize = FRAME_LEN + PAD_MARK.len() + 4;

/// Appends a no-op of `len` bytes with a mark, or nothing where that is 0. `len` is none of 1 to 16, and below 2^31.
pub fn pad(out: &mut Vec<u8>, len: u64) {
    if let Some(head) = pad_head(len) {
        out.extend_from_slice(&head);
        out.resize(out.len() + len as usize - PAD_LEN, OP_END);
    }
}

/// The first bytes of a no-op with a mark: with it a flipped bit in the length is noticed, which would skip records. `None`
/// where the stretch is too short for it, or too long.
pub fn pad_head(len: u64) -> Option<[u8; PAD_LEN]> {
    let frame = noop(len).filter(|_| len >= PAD_LEN as u64)?;
    let mut head = [0; PAD_LEN];
    head[..FRAME_LEN].copy_from_slice(&frame);
    head[FRAME_LEN..PAD_LEN - 4].copy_from_slice(&PAD_MARK);
    head[PAD_LEN - 4..].copy_from_slice(&crc32c::crc32c(&frame).to_le_bytes());
    Some(head)
}

/// Whether these bytes begin a no-op with a mark, and whether its length is then right.
pub(crate) fn pad_checks(bytes: &[u8]) -> Option<bool> {
    let (head, rest) = bytes.split_first_chunk::<FRAME_LEN>()?;
    let checksum = rest.strip_prefix(&PAD_MARK)?.first_chunk()?;
    Some(crc32c::crc32c(head).to_le_bytes() == *checksum)
}

/// Frame with room for the length, and the header.
fn begin(out: &mut Vec<u8>, kind: u32, stamp: Stamp) {
    out.extend_from_slice(&[OP_RECORD, 0, 0, 0, 0, 0x17, 0x0d]);
    out.extend_from_slice(&kind.to_le_bytes());
    out.push(0x11);
    out.extend_from_slice(&stamp.transaction.to_le_bytes());
    out.push(0x19);
    out.extend_from_slice(&stamp.order.to_le_bytes());
}

/// Footer, then the length, then the checksum over both.
fn finish(out: &mut Vec<u8>, start: usize, footer: &Footer) {
    let len_at = out.len();
    out.push(0);
    if let Some(watermark) = footer.watermark {
        out.push(0x69);
        out.extend_from_slice(&watermark.to_le_bytes());
    }
    if let Some(records) = footer.records {
        out.push(0x75);
        out.extend_from_slice(&records.to_le_bytes());
    }
    out.push(0x7d);
    out[len_at] = (out.len() + 4 - len_at - 1) as u8;
    let payload = (out.len() + 4 - start - FRAME_LEN) as u32;
    out[start + 1..start + FRAME_LEN].copy_from_slice(&payload.to_be_bytes());
    let checksum = checksum::crc32c(&out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}
