//! Our checkpoint: which events wait, and up to where in each directory that is true. It saves time and nothing else.
//!
//! Two files take turns, so that one is whole while the other is written. All numbers little endian:
//!
//! ```text
//! "FLMCKPT2" | sequence, 8 | write-order id, 8 | transaction id, 8 | file number, 4 | positions, 4 | missing files, 4 | damaged files, 4 | runs, 8
//! position: file, 4 | offset, 8                    (up to there the file was durable; older files are done with)
//! missing file: its number, 4                      (events wait in it, and it is not there)
//! damaged file: its number, 4                      (events in it could not be read)
//! run: file, 4 | offset, 4 | events, 4 | bytes of bodies, 8
//! CRC-32C of all before, 4
//! ```

use crate::{
    disk::{Disk, read_whole, write_whole},
    place::{Pointer, Run},
};
use std::{io, path::Path};

/// The two files, in `checkpointDir`.
pub const NAMES: [&str; 2] = ["flumen-checkpoint-0", "flumen-checkpoint-1"];
/// Where a checkpoint is written before it gets its name.
const ASIDE: &str = "flumen-checkpoint.tmp";

const MAGIC: &[u8; 8] = b"FLMCKPT2";
const HEAD_LEN: usize = 8 + 8 + 8 + 8 + 4 + 4 + 4 + 4 + 8;
const POSITION_LEN: usize = 12;
const FILE_LEN: usize = 4;
const RUN_LEN: usize = 20;
/// The longest file that is read: some fifty million runs.
const MAX_FILE: u64 = 1 << 30;

/// What was true of a log at a write-order id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Grows by one with each checkpoint of a log.
    pub sequence: u64,
    /// All records with this write-order id or a lower one are reflected, none with a higher one.
    pub order: u64,
    /// The highest transaction id that was given.
    pub transaction: u64,
    /// The highest file number that was given.
    pub file: u32,
    /// For each file that was being written, the offset of the first record that is not reflected. All records of other files up
    /// to number `file` are reflected, and none of younger files.
    pub positions: Vec<(u32, u64)>,
    /// Data files that events waited in, and that were not there: what is in them is not reflected.
    pub missing: Vec<u32>,
    /// Data files with events that could not be read any more: they are not removed.
    pub damaged: Vec<u32>,
    /// Events that wait or were on loan, in the order of delivery.
    pub runs: Vec<Run>,
}

impl Checkpoint {
    /// The oldest data file that this checkpoint needs. `None`: none.
    pub fn oldest_file(&self) -> Option<u32> {
        let positions = self.positions.iter().map(|(file, _)| *file);
        positions.chain(self.runs.iter().map(|run| run.start.file)).min()
    }

    /// Writes it in place of the older one of the two: aside, synced, renamed, and the name made durable.
    ///
    /// # Errors
    /// What the disk says. The younger of the two is untouched.
    pub fn write(&self, disk: &dyn Disk, dir: &Path) -> io::Result<()> {
        let name = NAMES[usize::from(self.sequence % 2 == 1)];
        write_whole(disk, &dir.join(name), &dir.join(ASIDE), &self.encode())
    }

    /// The whole and valid ones that are there, the youngest first.
    ///
    /// # Errors
    /// A file is there and cannot be read. One that does not check is no error: it is left out.
    pub fn read_all(disk: &dyn Disk, dir: &Path) -> io::Result<Vec<Self>> {
        let mut found = Vec::new();
        for name in NAMES {
            match read_whole(disk, &dir.join(name), MAX_FILE) {
                Ok(bytes) => found.extend(Self::decode(&bytes)),
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {}
                Err(error) => return Err(error),
            }
        }
        found.sort_by_key(|checkpoint: &Self| std::cmp::Reverse(checkpoint.sequence));
        Ok(found)
    }

    /// Removes both, and makes that durable: when something else knows better.
    ///
    /// # Errors
    /// What the disk says.
    pub fn discard(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
        let mut any = false;
        for name in NAMES {
            match disk.remove(&dir.join(name)) {
                Ok(()) => any = true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        if any { disk.sync_dir(dir) } else { Ok(()) }
    }

    fn encode(&self) -> Vec<u8> {
        let n_named = self.missing.len() + self.damaged.len();
        let lists = POSITION_LEN * self.positions.len() + FILE_LEN * n_named;
        let len = HEAD_LEN + lists + RUN_LEN * self.runs.len() + 4;
        let mut out = Vec::with_capacity(len);
        out.extend_from_slice(MAGIC);
        for number in [self.sequence, self.order, self.transaction] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.file.to_le_bytes());
        out.extend_from_slice(&(self.positions.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.missing.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.damaged.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.runs.len() as u64).to_le_bytes());
        for (file, offset) in &self.positions {
            out.extend_from_slice(&file.to_le_bytes());
            out.extend_from_slice(&offset.to_le_bytes());
        }
        for file in self.missing.iter().chain(&self.damaged) {
            out.extend_from_slice(&file.to_le_bytes());
        }
        for run in &self.runs {
            for number in [run.start.file, run.start.offset, run.count] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.extend_from_slice(&run.bytes.to_le_bytes());
        }
        let checksum = crc32c::crc32c(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, checksum) = bytes.split_last_chunk::<4>()?;
        if crc32c::crc32c(body) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let mut rest = body.strip_prefix(MAGIC.as_slice())?;
        let (sequence, order, transaction) = (long(&mut rest)?, long(&mut rest)?, long(&mut rest)?);
        let (file, n_positions) = (int(&mut rest)?, int(&mut rest)? as usize);
        let (n_missing, n_damaged) = (int(&mut rest)? as usize, int(&mut rest)? as usize);
        let n_runs = usize::try_from(long(&mut rest)?).ok()?;
        let positions_len = n_positions.checked_mul(POSITION_LEN)?;
        let (named_len, runs_len) =
            (n_missing.checked_add(n_damaged)?.checked_mul(FILE_LEN)?, n_runs.checked_mul(RUN_LEN)?);
        if rest.len() != positions_len.checked_add(named_len)?.checked_add(runs_len)? {
            return None;
        }
        let mut checkpoint = Self { sequence, order, transaction, file, ..Self::default() };
        for _ in 0..n_positions {
            checkpoint.positions.push((int(&mut rest)?, long(&mut rest)?));
        }
        for _ in 0..n_missing {
            checkpoint.missing.push(int(&mut rest)?);
        }
        for _ in 0..n_damaged {
            checkpoint.damaged.push(int(&mut rest)?);
        }
        checkpoint.runs.reserve_exact(rest.len() / RUN_LEN);
        while !rest.is_empty() {
            let start = Pointer { file: int(&mut rest)?, offset: int(&mut rest)? };
            checkpoint.runs.push(Run { start, count: int(&mut rest)?, bytes: long(&mut rest)? });
        }
        Some(checkpoint)
    }
}

fn int(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number))
}

fn long(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

#[cfg(test)]
mod tests;
