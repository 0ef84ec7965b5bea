//! The files of a folder that are to be sent, and those that were.

use super::tracker::Tracker;
use std::{
    fs::{self, File},
    io::{self, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// What the name of a file that was sent ends with, as with Java's spooling directory.
const COMPLETED: &str = ".COMPLETED";

/// A folder that is being sent.
#[derive(Debug)]
pub(super) struct Spool {
    folder: PathBuf,
    tracker: Tracker,
}

/// A file of it, open where it is to be sent on.
#[derive(Debug)]
pub(super) struct SpoolFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) offset: u64,
    /// When it was opened: a file that changes while it is sent is no finished file.
    about: (u64, SystemTime),
}

impl SpoolFile {
    /// Nothing is in it: it counts as one empty event, as in Java.
    pub(super) fn is_empty(&self) -> bool {
        self.about.0 == 0
    }
}

impl Spool {
    /// Takes a folder.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        // Without slashes that mean nothing: Java compares paths of its tracker as texts.
        let folder: PathBuf = folder.components().collect();
        Ok(Self { tracker: Tracker::open(&folder)?, folder })
    }

    /// The next file, open where the last client left it.
    pub(super) fn next(&mut self) -> io::Result<Option<SpoolFile>> {
        let Some(path) = oldest(&self.folder)? else { return Ok(None) };
        let mut file = File::open(&path)?;
        let about = about(&path)?;
        // A shorter file than was sent is another one.
        let offset = Some(self.tracker.begin(&path)?).filter(|offset| *offset <= about.0).unwrap_or(0);
        file.seek(SeekFrom::Start(offset))?;
        Ok(Some(SpoolFile { path, file, offset, about }))
    }

    /// Notes that a file was sent up to here.
    pub(super) fn sent(&mut self, offset: u64) -> io::Result<()> {
        self.tracker.store(offset)
    }

    /// Marks a file as sent.
    pub(super) fn complete(&mut self, file: &SpoolFile) -> io::Result<()> {
        if about(&file.path)? != file.about {
            return Err(io::Error::other(
                "it was changed while it was sent: put files there when they are finished",
            ));
        }
        let mut name = file.path.file_name().unwrap_or_default().to_owned();
        name.push(COMPLETED);
        let to = file.path.with_file_name(name);
        if to.exists() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("{} is there already", to.display()),
            ));
        }
        fs::rename(&file.path, to)?;
        self.tracker.end()
    }
}

fn about(path: &Path) -> io::Result<(u64, SystemTime)> {
    let about = fs::metadata(path)?;
    Ok((about.len(), about.modified()?))
}

/// The file that was changed longest ago, and of those of one time the first by name. Folders, hidden files and those that were
/// sent are passed over.
fn oldest(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut oldest: Option<(SystemTime, PathBuf)> = None;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let about = fs::metadata(entry.path())?;
        if !about.is_file() || name.starts_with('.') || name.ends_with(COMPLETED) {
            continue;
        }
        let candidate = (about.modified()?, entry.path());
        if oldest.as_ref().is_none_or(|oldest| candidate < *oldest) {
            oldest = Some(candidate);
        }
    }
    Ok(oldest.map(|(_, path)| path))
}
