//! The events that wait, one after another, in the order of their delivery.

use crate::{
    data_file::{GapKind, Item},
    disk::Disk,
    place::{Pointer, Run},
    record::{Body, HeaderBytes},
    replay::Recovered,
};
use std::io;

/// An event that waits.
#[derive(Debug, Clone, Copy)]
pub struct WaitingEvent<'a> {
    /// Where its record is.
    pub place: Pointer,
    /// Its headers, encoded.
    pub headers: HeaderBytes<'a>,
    /// Its body.
    pub body: &'a [u8],
}

/// Hands on every event that waits, until the receiver says that it is enough. Returns how many could not be read.
///
/// # Errors
/// What the disk or the receiver says.
pub fn events(
    disk: &dyn Disk,
    recovered: &Recovered,
    each: &mut dyn FnMut(WaitingEvent<'_>) -> io::Result<bool>,
) -> io::Result<u64> {
    let mut lost = 0;
    for run in &recovered.runs {
        match of_run(disk, recovered, run, each)? {
            Some(n) => lost += n,
            None => return Ok(lost),
        }
    }
    Ok(lost)
}

/// Those of one run: as many puts from its start on. `None`: it is enough.
fn of_run(
    disk: &dyn Disk,
    recovered: &Recovered,
    run: &Run,
    each: &mut dyn FnMut(WaitingEvent<'_>) -> io::Result<bool>,
) -> io::Result<Option<u64>> {
    let Some(found) = recovered.files.get(&run.start.file) else { return Ok(Some(u64::from(run.count))) };
    let mut scanner = found.scan(disk, u64::from(run.start.offset))?;
    let (mut left, mut lost) = (run.count, 0);
    while left > 0 {
        match scanner.next_item()? {
            // The file ends before all of them.
            None => return Ok(Some(lost + u64::from(left))),
            Some(Item::Record { at, record, .. }) => {
                if let Body::Put { headers, body } = record.body {
                    left -= 1;
                    let place = Pointer { file: run.start.file, offset: at as u32 };
                    if !each(WaitingEvent { place, headers, body })? {
                        return Ok(None);
                    }
                }
            }
            Some(Item::Noop) => {}
            Some(Item::Gap(gap)) if gap.kind == GapKind::Fill => {}
            // One record at least was here.
            Some(Item::Gap(_)) => {
                left -= 1;
                lost += 1;
            }
        }
    }
    Ok(Some(lost))
}
