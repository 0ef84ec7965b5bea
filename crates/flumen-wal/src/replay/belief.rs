//! Whether a checkpoint is of these data files as they are now. One of another log, or of another time, would pass over records.

use super::files::Found;
use crate::{checkpoint::Checkpoint, data_file::Item, disk::Disk, java_checkpoint::JavaCheckpoint};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

/// How far before a place the search for the record that ends there begins.
const LOOK_BACK: u64 = 256 << 10;

/// Whether our checkpoint fits: in each file a record ends where it says, with a write-order id up to its own, one of them
/// with just that one, and what comes behind has a higher one. Ids begin with the clock, so that those of another log do not
/// fit. Damage contradicts nothing.
pub(super) fn fits(
    disk: &dyn Disk,
    files: &BTreeMap<u32, Found>,
    checkpoint: &Checkpoint,
) -> io::Result<bool> {
    let (mut last, mut missing) = (None, false);
    for (file, at) in checkpoint.positions.iter().filter(|(_, at)| *at > 0) {
        match files.get(file) {
            Some(found) if *at <= found.file.len => last = last.max(last_before(disk, found, *at)?),
            Some(_) => {}
            // It is not removed before there are younger checkpoints: it is lost, or was never here.
            None => missing = true,
        }
    }
    let right = match last {
        Some(last) => last == checkpoint.order || (missing && last < checkpoint.order),
        None => !missing,
    };
    if !right {
        return Ok(false);
    }
    for found in files.values() {
        let number = found.file.number;
        let position = checkpoint.positions.iter().find(|(file, _)| *file == number).map(|(_, at)| *at);
        let reflected = position.is_none() && number <= checkpoint.file;
        let from = position.unwrap_or(0).min(found.file.len);
        let first = first_from(disk, found, from)?;
        if first.is_some_and(|order| (order <= checkpoint.order) != reflected) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether Java's checkpoint of version 2, which says its write-order id only once, wrote that into a data file, too.
pub(super) fn is_marked(files: &BTreeMap<u32, Found>, checkpoint: &JavaCheckpoint) -> bool {
    let has_mark = |found: &Found| found.version == 3 || found.marks[0].1 == checkpoint.order;
    files.is_empty() || files.values().any(has_mark)
}

/// The data files that a checkpoint which does not fit has a position or events in, and that are not there; and how many events.
pub(super) fn missing(files: &BTreeMap<u32, Found>, checkpoint: &Checkpoint) -> (BTreeSet<u32>, u64) {
    let positions = checkpoint.positions.iter().filter(|(_, at)| *at > 0).map(|(file, _)| *file);
    let runs = checkpoint.runs.iter().filter(|run| !files.contains_key(&run.start.file));
    let events = runs.clone().map(|run| u64::from(run.count)).sum();
    let named = positions.chain(runs.map(|run| run.start.file));
    (named.filter(|file| !files.contains_key(file)).collect(), events)
}

/// Whether a record ends at `at`, with a write-order id up to `order`. Java's meta has no checksum: reading that begins at a
/// wrong place would pass over records, or take them for damage.
pub(super) fn is_between_records(disk: &dyn Disk, found: &Found, at: u64, order: u64) -> io::Result<bool> {
    Ok(last_before(disk, found, at)?.is_some_and(|last| last <= order))
}

/// The write-order id of the last record that ends at `at` or before; `u64::MAX` where one lies over it.
fn last_before(disk: &dyn Disk, found: &Found, at: u64) -> io::Result<Option<u64>> {
    let mut scanner = found.scan(disk, at.saturating_sub(LOOK_BACK))?;
    let mut last = None;
    while scanner.position() < at
        && let Some(item) = scanner.next_item()?
    {
        if let Item::Record { record, .. } = item {
            last = Some(record.stamp.order);
        }
    }
    Ok(if scanner.position() == at { last } else { Some(u64::MAX) })
}

/// The write-order id of the record at `at`, if one is there.
fn first_from(disk: &dyn Disk, found: &Found, at: u64) -> io::Result<Option<u64>> {
    let mut scanner = found.scan(disk, at)?;
    while let Some(item) = scanner.next_item()? {
        match item {
            Item::Record { record, .. } => return Ok(Some(record.stamp.order)),
            Item::Noop => {}
            Item::Gap(_) => return Ok(None),
        }
    }
    Ok(None)
}
