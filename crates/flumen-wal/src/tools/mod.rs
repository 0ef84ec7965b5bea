//! Looks into the directories of a log without opening it: what waits there, and what is damaged. Nothing is written, but by
//! [`integrity`], which repairs data files one by one as Java Flume's tool does.

mod events;
pub mod integrity;

pub use events::{WaitingEvent, events};

use crate::{
    data_file::{self, DataFile, Encryption, find_meta},
    disk::{Disk, Mode, read_exact},
    log::{Keys, Known},
    record::v2,
    replay::{self, Options, Recovered, ReplayError, Report, Start},
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The directories of a log.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Where checkpoints are, if anywhere.
    pub checkpoint_dir: Option<PathBuf>,
    /// Where Java Flume's second checkpoint is.
    pub backup_dir: Option<PathBuf>,
    /// Where data files are.
    pub data_dirs: Vec<PathBuf>,
    /// Keys, where files are encrypted.
    pub keys: Option<Keys>,
}

/// Told of what is done, and of what there is to do.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

impl Places {
    /// All of them.
    pub fn all(&self) -> Vec<&Path> {
        let first = self.checkpoint_dir.iter().chain(&self.backup_dir);
        first.chain(&self.data_dirs).map(PathBuf::as_path).collect()
    }

    fn replay(
        &self,
        disk: &dyn Disk,
        start: Start<'_>,
        progress: Progress<'_>,
    ) -> Result<Recovered, ReplayError> {
        let key = |alias: &str| (self.keys.as_ref()?.key)(alias);
        let mut options = Options { dirs: &self.data_dirs, key: &key, progress };
        replay::replay(disk, &mut options, start)
    }
}

/// The checkpoints of a log. `None` where no directory of checkpoints is named.
///
/// # Errors
/// What the disk says.
pub fn known(disk: &dyn Disk, places: &Places) -> io::Result<Option<Known>> {
    let Some(dir) = &places.checkpoint_dir else { return Ok(None) };
    Known::read(disk, dir, places.backup_dir.as_deref(), &places.data_dirs).map(Some)
}

/// What opening the log would find: what waits, what it would change, what was not as it should be.
///
/// # Errors
/// The disk fails, or a key is missing or wrong.
pub fn waiting(
    disk: &dyn Disk,
    places: &Places,
    known: Option<&Known>,
    progress: Progress<'_>,
) -> Result<Recovered, ReplayError> {
    places.replay(disk, known.map_or(Start::Nothing, Known::start), progress)
}

/// What is damaged, in every record of every data file, also where a checkpoint would save the reading.
///
/// # Errors
/// The disk fails, or a key is missing or wrong.
pub fn verify(disk: &dyn Disk, places: &Places, progress: Progress<'_>) -> Result<Report, ReplayError> {
    Ok(places.replay(disk, Start::Nothing, progress)?.report)
}

/// A data file as far as its name, its length and its meta tell.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Number, directory, path and length.
    pub file: DataFile,
    /// Its version: 3, or 2; 0 where it has no meta that can be read.
    pub version: u32,
    /// How it is encrypted.
    pub encryption: Option<Encryption>,
}

/// The data files, in the order of their numbers. No key is needed.
///
/// # Errors
/// What the disk says.
pub fn list(disk: &dyn Disk, dirs: &[PathBuf]) -> io::Result<Vec<Listed>> {
    data_file::list(disk, dirs)?.into_iter().map(|file| look(disk, file)).collect()
}

fn look(disk: &dyn Disk, file: DataFile) -> io::Result<Listed> {
    let dir = file.path.parent().unwrap_or(Path::new("."));
    if let Some(meta) = find_meta(disk, dir, file.number)?.meta() {
        return Ok(Listed { file, version: 3, encryption: meta.encryption.clone() });
    }
    let head_len = u64::from(v2::FILE_HEADER_LEN).min(file.len) as usize;
    let head = read_exact(&*disk.open(&file.path, Mode::Read)?, 0, head_len).unwrap_or_default();
    let is_2 = v2::file_header(&head).is_some_and(|header| header.file == file.number);
    Ok(Listed { file, version: if is_2 { 2 } else { 0 }, encryption: None })
}
