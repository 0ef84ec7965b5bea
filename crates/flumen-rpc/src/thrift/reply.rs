//! Reads answers.

use super::{
    DecodeError, Protocol, Status,
    reader::{Kind, MessageKind, Reader},
};

/// The longest text of an exception that is kept, in bytes.
const LONGEST_TEXT: usize = 4_000;

/// An answer, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The number of the call that it answers.
    pub sequence: i32,
    /// The status, or the number and text of an exception.
    pub answer: Result<Status, (i32, String)>,
}

/// Reads an answer, the frame's length already taken off.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode_reply(frame: &[u8], protocol: Protocol) -> Result<Reply, DecodeError> {
    let mut reader = Reader::new(frame, protocol);
    let header = reader.message()?;
    let is_reply = match header.kind {
        MessageKind::Reply => true,
        MessageKind::Exception => false,
        _ => return Err(DecodeError::Malformed("no answer, but a call")),
    };
    let (mut number, mut text) = (None, String::new());
    let mut last = 0;
    while let Some((kind, field)) = reader.field(&mut last)? {
        match (is_reply, kind, field) {
            (true, Kind::I32, 0) | (false, Kind::I32, 2) => number = Some(reader.i32()?),
            (false, Kind::Binary, 1) => {
                let range = reader.binary()?;
                let end = range.end.min(range.start + LONGEST_TEXT);
                text = String::from_utf8_lossy(reader.slice(range.start..end)).into_owned();
            }
            _ => reader.skip(kind)?,
        }
    }
    let answer = match (is_reply, number) {
        (true, Some(number)) => Ok(Status::of_number(number)),
        (true, None) => return Err(DecodeError::Malformed("an answer without a status")),
        (false, number) => Err((number.unwrap_or(0), text)),
    };
    Ok(Reply { sequence: header.sequence, answer })
}
