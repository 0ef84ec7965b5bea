//! Finds the next record behind damage, by what every record has in common.

use super::{FRAME_LEN, HEADER_LEN, OP_RECORD};

/// Bytes that [`candidate`] looks at from the start of a record on.
pub const PROBE_LEN: usize = FRAME_LEN + HEADER_LEN;
/// The shortest payload of a record: header, empty body and empty footer (a roll-back of Java's).
pub const MIN_PAYLOAD: u32 = 26;

/// Where, from `from` on, a record may begin: the first place that looks like one, with at least [`PROBE_LEN`] bytes there.
/// `mask` is the key stream of an encrypted file (zeros for others), as every record is encrypted from its start on. What looks
/// like a record must still be decoded: the bytes of a body can contain one.
pub fn candidate(bytes: &[u8], from: usize, mask: &[u8; HEADER_LEN]) -> Option<usize> {
    candidate_by(bytes, from, &mut |_| *mask)
}

/// The same, where the key stream is another one for each place.
pub(crate) fn candidate_by(
    bytes: &[u8],
    from: usize,
    mask: &mut dyn FnMut(usize) -> [u8; HEADER_LEN],
) -> Option<usize> {
    let last = bytes.len().checked_sub(PROBE_LEN)?;
    let mut at = from;
    while at <= last {
        at += memchr::memchr(OP_RECORD, &bytes[at..=last])?;
        if looks_like_record(&bytes[at..at + PROBE_LEN], &mask(at)) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Whether these [`PROBE_LEN`] bytes look like the start of a record.
pub fn looks_like_record(probe: &[u8], mask: &[u8; HEADER_LEN]) -> bool {
    let payload = |i: usize| probe[FRAME_LEN + i] ^ mask[i];
    let length = u32::from_be_bytes([probe[1], probe[2], probe[3], probe[4]]);
    probe[0] == OP_RECORD
        && (MIN_PAYLOAD..=i32::MAX as u32).contains(&length)
        && payload(0) == 0x17
        && payload(1) == 0x0d
        && (1..=4).contains(&payload(2))
        && (3..6).all(|i| payload(i) == 0)
        && payload(6) == 0x11
        && payload(15) == 0x19
}
