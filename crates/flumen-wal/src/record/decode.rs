//! Decodes payloads. Stricter than Java: what its writer never wrote (unknown fields, a field twice, bytes behind the footer)
//! counts as damage, since nothing but damage makes it.

use super::{
    Body, FRAME_LEN, Footer, HeaderBytes, HeaderForm, OP_END, OP_NOOP, OP_RECORD, Of, Record, Stamp,
    wire::{Short, Value, Wire},
};
use crate::{checksum, place::Pointer};

/// Why bytes are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The messages do not fill the payload exactly, or hold fields that no record has.
    #[error("the record's fields cannot be read")]
    Form,
    /// A type other than put, take, rollback and commit.
    #[error("the record has the unknown type {0}")]
    Type(u32),
    /// The body does not match its CRC-32.
    #[error("the event's body does not match its checksum")]
    BodyChecksum,
    /// The record does not match its CRC-32C.
    #[error("the record does not match its checksum")]
    RecordChecksum,
}

impl From<Short> for Damage {
    fn from(Short: Short) -> Self {
        Self::Form
    }
}

/// What the first bytes at a place say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// A record with so many bytes of payload.
    Record(u32),
    /// A no-op with so many bytes to skip behind the frame.
    Noop(u32),
    /// Fill: nothing was written here.
    End,
    /// Neither: an unknown operation, a negative length, or fewer than five bytes.
    Unknown,
}

/// Reads operation byte and length.
pub fn frame(bytes: &[u8]) -> Frame {
    let Some((&op, rest)) = bytes.split_first() else { return Frame::Unknown };
    if op == OP_END {
        return Frame::End;
    }
    let Some(length) = rest.first_chunk::<4>() else { return Frame::Unknown };
    match (op, u32::try_from(i32::from_be_bytes(*length))) {
        (OP_RECORD, Ok(len)) => Frame::Record(len),
        (OP_NOOP, Ok(len)) => Frame::Noop(len),
        _ => Frame::Unknown,
    }
}

/// Decodes the payload of a record, and checks it: by the checksum of the whole record where there is one, else by that of
/// the body.
///
/// # Errors
/// The payload is no record, or does not match its checksum.
pub fn decode(payload: &[u8]) -> Result<Record<'_>, Damage> {
    read(payload, true)
}

/// The fields of a payload that [`decode`] has accepted: its checksums are not looked at again.
pub(crate) fn decode_checked(payload: &[u8]) -> Result<Record<'_>, Damage> {
    read(payload, false)
}

fn read(payload: &[u8], check: bool) -> Result<Record<'_>, Damage> {
    let mut wire = Wire::new(payload);
    let (kind, stamp) = header(wire.delimited()?)?;
    let message = wire.delimited()?;
    let mut footer_wire = wire.delimited()?;
    if !wire.is_empty() {
        return Err(Damage::Form);
    }
    let footer = footer(&mut footer_wire)?;
    if let Some(expected) = footer.checksum.filter(|_| check) {
        check_record(payload, expected)?;
    }
    let body = match kind {
        1 => put(message, check && !footer.is_ours())?,
        2 => take(message)?,
        3 if message.is_empty() => Body::Rollback,
        4 => Body::Commit(commit(message)?),
        3 => return Err(Damage::Form),
        _ => return Err(Damage::Type(kind)),
    };
    let may = match body {
        Body::Put { .. } | Body::Take(_) => footer.records.is_none() && footer.watermark.is_none(),
        Body::Rollback => footer.records.is_none(),
        Body::Commit(_) => true,
    };
    if may { Ok(Record { stamp, body, footer }) } else { Err(Damage::Form) }
}

/// How long the payload is that these bytes begin with, by the lengths inside of it, if it is one of ours and checks: then only
/// its frame is damaged.
pub fn len_by_itself(bytes: &[u8]) -> Option<usize> {
    let mut wire = Wire::new(bytes);
    let whole = (0..3).all(|_| wire.delimited().is_ok());
    let len = bytes.len() - wire.rest().len();
    // The checksum covers the length as it was.
    let ours = whole && decode(&bytes[..len]).is_ok_and(|record| record.footer.is_ours());
    ours.then_some(len)
}

/// Whether a whole record, frame included, is as it was written.
///
/// # Errors
/// It is damaged, or no record.
pub fn check(record: &[u8]) -> Result<Record<'_>, Damage> {
    match frame(record) {
        Frame::Record(len) if len as usize == record.len() - FRAME_LEN => decode(&record[FRAME_LEN..]),
        _ => Err(Damage::Form),
    }
}

fn check_record(payload: &[u8], expected: u32) -> Result<(), Damage> {
    let length = u32::try_from(payload.len()).map_err(|_| Damage::Form)?.to_be_bytes();
    let frame = crc32c::crc32c(&[OP_RECORD, length[0], length[1], length[2], length[3]]);
    let actual = checksum::crc32c_append(frame, &payload[..payload.len() - 4]);
    if actual == expected { Ok(()) } else { Err(Damage::RecordChecksum) }
}

fn header(mut wire: Wire<'_>) -> Result<(u32, Stamp), Damage> {
    let (mut kind, mut transaction, mut order) = (None, None, None);
    while !wire.is_empty() {
        match wire.field()? {
            (1, Value::Fixed32(value)) if kind.is_none() => kind = Some(value),
            (2, Value::Fixed64(value)) if transaction.is_none() => transaction = Some(value),
            (3, Value::Fixed64(value)) if order.is_none() => order = Some(value),
            _ => return Err(Damage::Form),
        }
    }
    match (kind, transaction, order) {
        // Ids are positive numbers in Java.
        (Some(kind), Some(transaction), Some(order)) if (transaction | order) >> 63 == 0 => {
            Ok((kind, Stamp { transaction, order }))
        }
        _ => Err(Damage::Form),
    }
}

fn put(mut wire: Wire<'_>, check_body: bool) -> Result<Body<'_>, Damage> {
    let (mut event, mut checksum) = (None, None);
    while !wire.is_empty() {
        match wire.field()? {
            (1, Value::Bytes(value)) if event.is_none() => event = Some(value),
            (2, Value::Fixed64(value)) if checksum.is_none() => checksum = Some(value),
            _ => return Err(Damage::Form),
        }
    }
    let event = event.ok_or(Damage::Form)?;
    let mut wire = Wire::new(event);
    let mut body = None;
    // Headers come first, and then they are the bytes before the body; in any other order they are picked out.
    let mut headers = event;
    while !wire.is_empty() {
        let before = event.len() - wire.rest().len();
        match wire.field()? {
            (1, Value::Bytes(value)) => {
                header_pair(value)?;
                if body.is_some() {
                    headers = event;
                }
            }
            (2, Value::Bytes(value)) if body.is_none() => {
                body = Some(value);
                headers = &event[..before];
            }
            _ => return Err(Damage::Form),
        }
    }
    let body = body.ok_or(Damage::Form)?;
    if check_body && checksum.is_some_and(|expected| expected != u64::from(crc32fast::hash(body))) {
        return Err(Damage::BodyChecksum);
    }
    Ok(Body::Put { headers: HeaderBytes { bytes: headers, form: HeaderForm::Protobuf }, body })
}

fn header_pair(bytes: &[u8]) -> Result<(&[u8], &[u8]), Damage> {
    let mut wire = Wire::new(bytes);
    let (mut name, mut text) = (None, None);
    while !wire.is_empty() {
        match wire.field()? {
            (1, Value::Bytes(value)) if name.is_none() => name = Some(value),
            (2, Value::Bytes(value)) if text.is_none() => text = Some(value),
            _ => return Err(Damage::Form),
        }
    }
    Ok((name.ok_or(Damage::Form)?, text.unwrap_or_default()))
}

/// The next header in the bytes of an event that has been checked.
pub(super) fn next_header<'a>(wire: &mut Wire<'a>) -> Option<(&'a [u8], &'a [u8])> {
    while !wire.is_empty() {
        match wire.field() {
            Ok((1, Value::Bytes(pair))) => return header_pair(pair).ok(),
            Ok(_) => {}
            Err(Short) => return None,
        }
    }
    None
}

fn take(mut wire: Wire<'_>) -> Result<Body<'static>, Damage> {
    let (mut file, mut offset) = (None, None);
    while !wire.is_empty() {
        match wire.field()? {
            (1, Value::Fixed32(value)) if file.is_none() => file = Some(value),
            (2, Value::Fixed32(value)) if offset.is_none() => offset = Some(value),
            _ => return Err(Damage::Form),
        }
    }
    match (file, offset) {
        (Some(file), Some(offset)) => Ok(Body::Take(Pointer { file, offset })),
        _ => Err(Damage::Form),
    }
}

fn commit(mut wire: Wire<'_>) -> Result<Of, Damage> {
    match (wire.field()?, wire.is_empty()) {
        ((1, Value::Fixed32(1)), true) => Ok(Of::Puts),
        ((1, Value::Fixed32(2)), true) => Ok(Of::Takes),
        _ => Err(Damage::Form),
    }
}

fn footer(wire: &mut Wire<'_>) -> Result<Footer, Damage> {
    let mut footer = Footer::default();
    while !wire.is_empty() {
        // Nothing comes behind the checksum, which covers what is before it.
        match wire.field()? {
            _ if footer.checksum.is_some() => return Err(Damage::Form),
            (13, Value::Fixed64(value)) if footer.watermark.is_none() => footer.watermark = Some(value),
            (14, Value::Fixed32(value)) if footer.records.is_none() => footer.records = Some(value),
            (15, Value::Fixed32(value)) => footer.checksum = Some(value),
            _ => return Err(Damage::Form),
        }
    }
    let bare = footer.watermark.is_some() || footer.records.is_some();
    if bare && footer.checksum.is_none() { Err(Damage::Form) } else { Ok(footer) }
}
