//! One record of a data file: its bytes, and what they say.
//!
//! ```text
//! op (7f: record, 00: no-op, 80: end of data) | payload length, 4 bytes, big endian | payload
//! payload: header | body | footer, each a protobuf message with its length before it, as a varint
//! ```
//!
//! This is what Java Flume's file channel writes as version 3. Its footer is always empty; ours carries a checksum of the
//! whole record, and in commits and roll-backs what recovery needs to know, as fields that Java skips ([`Footer`]).

mod decode;
mod encode;
pub mod resync;
pub mod v2;
pub(crate) mod wire;

pub(crate) use decode::decode_checked;
pub use decode::{Damage, Frame, check, decode, frame, len_by_itself};
pub use encode::{
    COMMIT_LEN, ROLLBACK_LEN, TAKE_LEN, commit, header, headers, noop, pad, pad_head, put, put_len, rollback,
    take,
};
pub(crate) use encode::{PAD_LEN, pad_checks};

use crate::place::Pointer;

/// Operation byte of a record.
pub const OP_RECORD: u8 = 0x7f;
/// Operation byte of a record that does not count: its bytes are skipped.
pub const OP_NOOP: u8 = 0x00;
/// Operation byte where no record has been written yet: the rest of a file is filled with it.
pub const OP_END: u8 = 0x80;
/// Bytes before the payload: operation and length.
pub const FRAME_LEN: usize = 5;
/// The longest payload that a length can name (a positive 32-bit number in Java).
pub const MAX_PAYLOAD: usize = i32::MAX as usize;
/// The header of each record: length and three fields.
pub(crate) const HEADER_LEN: usize = 24;

/// Whether a payload begins as each does: the length of its header, and the tags of the three fields.
pub(crate) fn is_header(payload: &[u8]) -> bool {
    let tags = [(0, 0x17), (1, 0x0d), (6, 0x11), (15, 0x19)];
    payload.len() >= HEADER_LEN && tags.iter().all(|(at, tag)| payload[*at] == *tag)
}

/// The two numbers of each record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Transaction id: all records of a run have the same, no two runs of a log do.
    pub transaction: u64,
    /// Write-order id: grows from record to record, over all directories of a log.
    pub order: u64,
}

/// A decoded record. It borrows the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its numbers.
    pub stamp: Stamp,
    /// What it says.
    pub body: Body<'a>,
    /// What stands behind it: nothing in Java's records.
    pub footer: Footer,
}

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body<'a> {
    /// An event came in.
    Put {
        /// Its headers, still encoded.
        headers: HeaderBytes<'a>,
        /// Its body.
        body: &'a [u8],
    },
    /// The event at this place went out.
    Take(Pointer),
    /// The transaction is undone.
    Rollback,
    /// The transaction is done, and was one of puts or one of takes.
    Commit(Of),
}

/// What a transaction consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Of {
    /// Puts (1 on disk).
    Puts,
    /// Takes (2 on disk).
    Takes,
}

/// Our part of a record: a protobuf message where Java's is empty. A footer that is not empty has a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footer {
    /// Field 15, fixed32: CRC-32C (Castagnoli) over operation byte, length, and payload before encryption up to and with the
    /// tag of this field, which is the last. `None`: a record of Java Flume.
    pub checksum: Option<u32>,
    /// Field 14, fixed32, in commits: records of the run, the commit included.
    pub records: Option<u32>,
    /// Field 13, fixed64, in commits and roll-backs: write-order id up to which this directory was durable when the record was
    /// written.
    pub watermark: Option<u64>,
}

impl Footer {
    /// Whether the record was written by us.
    pub fn is_ours(&self) -> bool {
        self.checksum.is_some()
    }
}

/// The headers of an event as they lie on disk. Equal bytes are equal headers, so that neighbours can share a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderBytes<'a> {
    bytes: &'a [u8],
    form: HeaderForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeaderForm {
    /// Fields 1 of a protobuf message; other fields are not headers.
    Protobuf,
    /// Version 2: pairs of marked, counted texts.
    Version2,
}

impl<'a> HeaderBytes<'a> {
    /// Headers that [`headers`] has encoded, or that a record of version 3 had.
    pub fn of_version_3(bytes: &'a [u8]) -> Self {
        Self { bytes, form: HeaderForm::Protobuf }
    }

    /// Whether they are in the form of version 3.
    pub fn is_version_3(&self) -> bool {
        self.form == HeaderForm::Protobuf
    }

    /// The bytes themselves.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether there is no header.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Name and value of each header, in the order of the file. Both should be UTF-8, and nobody has checked. A name can come
    /// twice: the last one counts. A value that was null in Java is empty.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut wire = wire::Wire::new(self.bytes);
        let form = self.form;
        std::iter::from_fn(move || match form {
            HeaderForm::Protobuf => decode::next_header(&mut wire),
            HeaderForm::Version2 => v2::next_header(&mut wire),
        })
    }
}

#[cfg(test)]
mod tests;
