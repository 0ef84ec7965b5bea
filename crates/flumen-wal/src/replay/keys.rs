//! Whether the keys are the right ones, where a checkpoint has kept a replay from reading the events.

use super::{Found, Recovered, ReplayError};
use crate::{data_file::Item, disk::Disk};
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
        if !has_record(found.scan(disk, u64::from(offset))?)? && !has_record(found.scan(disk, 0)?)? {
            return Err(ReplayError::WrongKey { file: found.file.path.clone() });
        }
    }
    Ok(())
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
