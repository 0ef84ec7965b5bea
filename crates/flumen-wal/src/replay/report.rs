//! What a replay found that is not as it should be.

use crate::data_file::{Gap, GapKind};
use std::{fmt, path::PathBuf};

/// How many stretches of damage are named; further ones are counted.
const MAX_NAMED: usize = 1000;

/// What a replay read, and what it could not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Put records that were read.
    pub puts: u64,
    /// Take records.
    pub takes: u64,
    /// Commit records.
    pub commits: u64,
    /// Roll-back records.
    pub rollbacks: u64,
    /// Stretches that are damaged, the first thousand of them.
    pub damaged: Vec<Damaged>,
    /// How many there are.
    pub n_damaged: u64,
    /// Their bytes.
    pub damaged_bytes: u64,
    /// Events that were acknowledged and are gone, as far as they can be counted.
    pub lost_events: u64,
    /// Events that are delivered although nobody may have been told that they are stored, or although their take may have been
    /// committed: they may come twice.
    pub maybe_doubled_events: u64,
    /// Runs that were never written whole, and so never acknowledged: they are left out.
    pub unfinished_runs: u64,
    /// Commits without the records that they commit.
    pub orphan_commits: u64,
    /// Numbers of data files that events lie in, and that are gone.
    pub missing_files: Vec<u32>,
    /// Data files in which nothing can be read.
    pub unreadable_files: Vec<PathBuf>,
    /// Data files whose number another one has.
    pub duplicate_files: Vec<PathBuf>,
    /// Whether our checkpoint is of other data files, or of these at another time. It was not believed.
    pub foreign_checkpoint: bool,
}

/// A stretch of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// The data file.
    pub file: PathBuf,
    /// Where it is and what it looks like.
    pub gap: Gap,
}

impl Report {
    /// Whether everything was as it should be.
    pub fn is_clean(&self) -> bool {
        let Self { puts, takes, commits, rollbacks, unfinished_runs, .. } = *self;
        *self == Self { puts, takes, commits, rollbacks, unfinished_runs, ..Self::default() }
    }

    pub(super) fn add_damage(&mut self, file: PathBuf, gap: Gap) {
        self.n_damaged += 1;
        self.damaged_bytes += gap.end - gap.at;
        if self.damaged.len() < MAX_NAMED {
            self.damaged.push(Damaged { file, gap });
        }
    }
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.gap.kind {
            _ if self.gap.unreadable => "cannot be read",
            GapKind::Fill | GapKind::Zeros => "are missing",
            GapKind::Torn => "are written in part",
            GapKind::Damaged => "are damaged",
        };
        let len = self.gap.end - self.gap.at;
        write!(f, "{}: {len} bytes at {} {what}", self.file.display(), self.gap.at)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { puts, takes, commits, rollbacks, .. } = self;
        write!(f, "read {puts} puts, {takes} takes, {commits} commits and {rollbacks} roll-backs")?;
        for (n, what) in [
            (self.n_damaged, "damaged stretches"),
            (self.lost_events, "events lost"),
            (self.maybe_doubled_events, "events that may come twice"),
            (self.unfinished_runs, "unfinished transactions left out"),
            (self.orphan_commits, "commits without their records"),
            (self.missing_files.len() as u64, "data files missing"),
            (self.unreadable_files.len() as u64, "data files unreadable"),
            (self.duplicate_files.len() as u64, "data files with a number that another has"),
        ] {
            if n > 0 {
                write!(f, "; {n} {what}")?;
            }
        }
        if self.foreign_checkpoint {
            f.write_str("; the checkpoint is of other data files, or of another time, and was not believed")?;
        }
        Ok(())
    }
}
