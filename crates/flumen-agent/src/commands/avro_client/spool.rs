//! The files of a folder that are to be sent, and those that were.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// What the name of a file that was sent ends with, as with Java's spooling directory.
const COMPLETED: &str = ".COMPLETED";

/// The file that was changed longest ago, and of those of one time the first by name. Folders, hidden files and those that were
/// sent are passed over.
pub(super) fn oldest(folder: &Path) -> io::Result<Option<PathBuf>> {
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

/// Marks a file as sent.
pub(super) fn complete(path: &Path) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(COMPLETED);
    let to = path.with_file_name(name);
    if to.exists() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("{} is there already", to.display()),
        ));
    }
    fs::rename(path, to)
}
