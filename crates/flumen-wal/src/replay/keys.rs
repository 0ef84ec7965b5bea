//! Whether the keys are the right ones, where a checkpoint has kept a replay from reading the events.

use super::{Found, Recovered, ReplayError};
use crate::{
    data_file::{Cipher, Item},
    disk::{Disk, Mode, read_exact},
    record::{FRAME_LEN, HEADER_LEN, OP_END, OP_RECORD, is_header},
};
use std::{collections::BTreeMap, io};

/// Looks into each encrypted file in which events wait: one record that can be decrypted is enough. With a wrong key every event
/// would be taken for damaged, and given up.
///
/// # Errors
/// Nothing in a file can be decrypted, or the disk fails.
pub fn check_keys(disk: &dyn Disk, recovered: &Recovered) -> Result<(), ReplayError> {
    let mut waiting: BTreeMap<u32, u32> = BTreeMap::new();
    for run in &recovered.runs {
        waiting.entry(run.start.file).or_insert(run.start.offset);
    }
    for (number, offset) in waiting {
        let Some(found) = recovered.files.get(&number).filter(|found| is_in_doubt(found)) else {
            continue;
        };
        let Some(cipher) = found.cipher.as_deref() else { continue };
        let at = u64::from(offset);
        let nothing = !has_record(found.scan(disk, at)?)? && !has_record(found.scan(disk, 0)?)?;
        if nothing && is_right_key(disk, found, cipher, at) == Some(false) {
            return Err(ReplayError::WrongKey { file: found.file.path.clone() });
        }
    }
    Ok(())
}

/// Whether the header of what was a record at `at` can be decrypted. `None`: no header was written there whole.
pub(super) fn is_right_key(disk: &dyn Disk, found: &Found, cipher: &Cipher, at: u64) -> Option<bool> {
    let file = disk.open(&found.file.path, Mode::Read).ok()?;
    let mut bytes = read_exact(&*file, at, FRAME_LEN + HEADER_LEN).ok()?;
    let is_left_out = |byte: u8| bytes[FRAME_LEN + HEADER_LEN - 8..].iter().all(|other| *other == byte);
    if bytes[0] != OP_RECORD || is_left_out(0) || is_left_out(OP_END) {
        return None;
    }
    cipher.peek(at, &mut bytes[FRAME_LEN..]);
    Some(is_header(&bytes[FRAME_LEN..]))
}

/// Whether a file is encrypted in a way that does not tell a wrong key by itself.
fn is_in_doubt(found: &Found) -> bool {
    found.cipher.as_ref().is_some_and(|cipher| !cipher.proves_its_key())
}

fn has_record(mut scanner: crate::data_file::Scanner) -> io::Result<bool> {
    while let Some(item) = scanner.next_item()? {
        if let Item::Record { .. } = item {
            return Ok(true);
        }
    }
    Ok(false)
}
