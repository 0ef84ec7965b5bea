//! Records of version-2 data files (Flume 1.2 and 1.3), which are read and never written.
//!
//! They have no length and no checksum: `op | deadbeef | type, 2 bytes | transaction id, 8 | write-order id, 8 | body`, all big
//! endian. So nothing can be skipped, and reading ends at the first damage.

use super::{
    Body, Damage, Footer, HeaderBytes, HeaderForm, Of, Record, Stamp,
    wire::{Short, Wire},
};
use crate::place::Pointer;

/// Length of a version-2 file's header: version, file id, checkpoint position, checkpoint write-order id.
pub const FILE_HEADER_LEN: u32 = 24;
const MAGIC: u32 = 0xdead_beef;
/// Stands before each text of a header.
const TEXT_MARK: u8 = 0x8c;

/// The header of a version-2 file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHeader {
    /// Number of the file.
    pub file: u32,
    /// Where reading may begin when the checkpoint has [`FileHeader::checkpoint_order`] or a later write-order id.
    pub checkpoint_position: u64,
    /// Write-order id of the checkpoint that last touched the file.
    pub checkpoint_order: u64,
}

/// Reads a file's header. `None`: not a version-2 file.
pub fn file_header(bytes: &[u8]) -> Option<FileHeader> {
    let mut wire = Wire::new(bytes);
    let version = u32::from_be_bytes(wire.array().ok()?);
    let file = u32::from_be_bytes(wire.array().ok()?);
    let checkpoint_position = u64::from_be_bytes(wire.array().ok()?);
    let checkpoint_order = u64::from_be_bytes(wire.array().ok()?);
    (version == 2).then_some(FileHeader { file, checkpoint_position, checkpoint_order })
}

/// Decodes the record behind an operation byte 7f, and says how many bytes it has, without the operation byte.
///
/// # Errors
/// The bytes are no record, or end too early.
pub fn decode(bytes: &[u8]) -> Result<(Record<'_>, usize), Damage> {
    let mut wire = Wire::new(bytes);
    if u32::from_be_bytes(wire.array()?) != MAGIC {
        return Err(Damage::Form);
    }
    let kind = u16::from_be_bytes(wire.array()?);
    let transaction = u64::from_be_bytes(wire.array()?);
    let order = u64::from_be_bytes(wire.array()?);
    let body = match kind {
        1 => put(&mut wire)?,
        2 => {
            let offset = u32::from_be_bytes(wire.array()?);
            Body::Take(Pointer { file: u32::from_be_bytes(wire.array()?), offset })
        }
        3 => Body::Rollback,
        4 => match u16::from_be_bytes(wire.array()?) {
            1 => Body::Commit(Of::Puts),
            2 => Body::Commit(Of::Takes),
            _ => return Err(Damage::Form),
        },
        _ => return Err(Damage::Type(u32::from(kind))),
    };
    if (transaction | order) >> 63 != 0 {
        return Err(Damage::Form);
    }
    let record = Record { stamp: Stamp { transaction, order }, body, footer: Footer::default() };
    Ok((record, bytes.len() - wire.rest().len()))
}

fn put<'a>(wire: &mut Wire<'a>) -> Result<Body<'a>, Damage> {
    let [classes] = wire.array()?;
    for _ in 0..classes {
        let [_id] = wire.array()?;
        let len = u16::from_be_bytes(wire.array()?);
        wire.take(usize::from(len))?;
    }
    let count = u32::from_be_bytes(wire.array()?);
    let start = wire.rest();
    for _ in 0..count {
        // Each header has four bytes at least, so a wrong count ends with the bytes.
        text(wire)?;
        text(wire)?;
    }
    let headers = &start[..start.len() - wire.rest().len()];
    let len = i32::from_be_bytes(wire.array()?);
    // -1 is a body that was null.
    let len = if len == -1 { 0 } else { usize::try_from(len).map_err(|_| Damage::Form)? };
    let body = wire.take(len)?;
    Ok(Body::Put { headers: HeaderBytes { bytes: headers, form: HeaderForm::Version2 }, body })
}

/// The next header in bytes that have been checked.
pub(super) fn next_header<'a>(wire: &mut Wire<'a>) -> Option<(&'a [u8], &'a [u8])> {
    if wire.is_empty() {
        return None;
    }
    Some((text(wire).ok()?, text(wire).ok()?))
}

fn text<'a>(wire: &mut Wire<'a>) -> Result<&'a [u8], Short> {
    if wire.array()? != [TEXT_MARK] {
        return Err(Short);
    }
    let len = vint(wire)?;
    wire.take(usize::try_from(len).map_err(|_| Short)?)
}

/// Hadoop's variable-length number: small ones in one byte, else a byte that says sign and length, and big-endian bytes.
fn vint(wire: &mut Wire<'_>) -> Result<i64, Short> {
    let [first] = wire.array()?;
    let first = first as i8;
    let (negative, len) = match first {
        -112..=127 => return Ok(i64::from(first)),
        -120..=-113 => (false, -112 - i32::from(first)),
        _ => (true, -120 - i32::from(first)),
    };
    let mut value = 0_i64;
    for &byte in wire.take(len as usize)? {
        value = value << 8 | i64::from(byte);
    }
    Ok(if negative { !value } else { value })
}
