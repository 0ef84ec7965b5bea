//! Which files there are to read, in which order.

use super::{
    config::{ConsumeOrder, TrackingPolicy},
    disk::Disk,
};
use crate::shared::regex::JavaRegex;
use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Files of one look, at most; the others come at the next one.
const MOST_FILES: usize = 1_000_000;
/// What Java Flume tries a directory with, and leaves there when it is killed.
const CANARY: (&[u8], &[u8]) = (b"flume-spooldir-perm-check-", b".canary");

/// Where to look, and what for.
#[derive(Debug)]
pub(super) struct Places {
    /// As the configuration has it, without slashes that mean nothing.
    pub(super) spool_dir: PathBuf,
    pub(super) tracker_dir: PathBuf,
    pub(super) suffix: OsString,
    pub(super) tracking: TrackingPolicy,
    pub(super) order: ConsumeOrder,
    pub(super) recursive: bool,
    pub(super) include: JavaRegex,
    pub(super) ignore: JavaRegex,
}

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Below the directory.
    pub(super) relative: PathBuf,
    mtime_ms: i64,
}

impl Places {
    /// The file's path, as the configuration begins it.
    pub(super) fn path(&self, relative: &Path) -> PathBuf {
        self.spool_dir.join(relative)
    }

    /// The file that says that another one is done.
    pub(super) fn marker(&self, relative: &Path) -> PathBuf {
        with_suffix(&self.tracker_dir.join(relative), &self.suffix)
    }

    /// All files to read, the next one first.
    pub(super) fn list(&self, disk: &dyn Disk) -> io::Result<Vec<Candidate>> {
        let (mut found, mut directories) = (Vec::new(), vec![PathBuf::new()]);
        while let Some(directory) = directories.pop() {
            match self.list_one(disk, &directory, &mut found, &mut directories) {
                Err(error) if directory.as_os_str().is_empty() => return Err(error),
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let directory = self.path(&directory);
                    tracing::warn!(directory = %directory.display(), %error, "cannot be listed: its files wait");
                }
                _ => {}
            }
        }
        self.sort(&mut found);
        Ok(found)
    }

    fn list_one(
        &self,
        disk: &dyn Disk,
        directory: &Path,
        found: &mut Vec<Candidate>,
        directories: &mut Vec<PathBuf>,
    ) -> io::Result<()> {
        let path =
            if directory.as_os_str().is_empty() { self.spool_dir.clone() } else { self.path(directory) };
        let mut names = Vec::new();
        disk.list(&path, &mut |name, is_directory| {
            if is_directory {
                if self.recursive && self.searches(&path, &name) {
                    directories.push(directory.join(name));
                }
            } else if self.wants(&name) && found.len() + names.len() < MOST_FILES {
                names.push(name);
            }
        })?;
        let done = self.done_in(disk, directory, names.is_empty());
        for name in names {
            if done.contains(&with_suffix(Path::new(&name), &self.suffix).into_os_string()) {
                continue;
            }
            let mtime_ms = match self.order {
                ConsumeOrder::Random => 0,
                // A file that is gone, or a pipe, is none.
                _ => match disk.stat(&path.join(&name)) {
                    Ok(stat) if stat.regular => stat.mtime_ns.div_euclid(1_000_000),
                    _ => continue,
                },
            };
            found.push(Candidate { relative: directory.join(name), mtime_ms });
        }
        Ok(())
    }

    /// The names of files that say that another one is done.
    fn done_in(&self, disk: &dyn Disk, directory: &Path, nobody_asks: bool) -> HashSet<OsString> {
        let mut done = HashSet::new();
        if self.tracking == TrackingPolicy::TrackerDir && !nobody_asks {
            // Where there is no such directory nothing is done yet.
            let _ = disk.list(&self.tracker_dir.join(directory), &mut |name, _| _ = done.insert(name));
        }
        done
    }

    fn searches(&self, above: &Path, name: &OsStr) -> bool {
        !name.as_bytes().starts_with(b".")
            && !fits(&self.ignore, name)
            && above.join(name) != self.tracker_dir
    }

    fn wants(&self, name: &OsStr) -> bool {
        let bytes = name.as_bytes();
        let is_canary = bytes.starts_with(CANARY.0) && bytes.ends_with(CANARY.1);
        !bytes.starts_with(b".")
            && !bytes.ends_with(self.suffix.as_bytes())
            && !is_canary
            && fits(&self.include, name)
            && !fits(&self.ignore, name)
    }

    /// By time, then by name; as they were listed for `random`.
    fn sort(&self, found: &mut [Candidate]) {
        let name = |one: &Candidate| one.relative.file_name().map(OsStr::to_owned);
        match self.order {
            ConsumeOrder::Oldest => found.sort_by_cached_key(|one| (one.mtime_ms, name(one))),
            ConsumeOrder::Youngest => found.sort_by_cached_key(|one| (-one.mtime_ms, name(one))),
            ConsumeOrder::Random => {}
        }
    }
}

/// Whether a pattern fits a whole name. One that takes too many steps does not.
fn fits(pattern: &JavaRegex, name: &OsStr) -> bool {
    pattern.matches(name.as_bytes(), None).unwrap_or(false)
}

/// A path with something behind its name.
pub(super) fn with_suffix(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// A directory of the configuration as Java keeps it: doubled slashes and the last one are gone, nothing else.
pub(super) fn java_path(text: &str) -> PathBuf {
    let parts: Vec<&str> = text.trim().split('/').filter(|part| !part.is_empty()).collect();
    let root = if text.trim().starts_with('/') { "/" } else { "" };
    PathBuf::from(format!("{root}{}", parts.join("/")))
}
