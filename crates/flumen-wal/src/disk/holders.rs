//! Who has files of a directory open or mapped. Java Flume holds no lock while it runs on Linux, but it keeps its data files
//! open and its checkpoint mapped: that is how it is seen.

use super::Holders;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Another process that uses a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// Its name, as the system shows it (`java`).
    pub name: String,
    /// One of the files.
    pub file: PathBuf,
}

/// Looks through `/proc`. Processes that may not be looked into and may be Java are told by `blind`.
pub(super) fn of(dirs: &[&Path]) -> Holders {
    let dirs: Vec<PathBuf> = dirs.iter().filter_map(|dir| fs::canonicalize(dir).ok()).collect();
    let mut found = Holders::default();
    let Ok(processes) = fs::read_dir("/proc") else {
        found.blind = true;
        return found;
    };
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if pid == std::process::id() {
            continue;
        }
        let (file, blind) = look_into(&process.path(), &dirs);
        found.blind |= blind && may_be_java(&process.path());
        if let Some(file) = file {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            found.seen.push(Holder { pid, name: name.trim().to_owned(), file });
        }
    }
    found.seen.sort();
    found
}

/// Whether a process that may not be looked into can be a Java Flume, by its name, which everybody may read. Otherwise some
/// process of the system would always stand in the way.
fn may_be_java(process: &Path) -> bool {
    fs::read_to_string(process.join("comm")).map_or(true, |name| matches!(name.trim(), "java" | "jsvc"))
}

/// A file below the directories that this process has open or mapped, and whether it could not be looked into.
fn look_into(process: &Path, dirs: &[PathBuf]) -> (Option<PathBuf>, bool) {
    let below = |path: &Path| dirs.iter().any(|dir| path.starts_with(dir));
    let mut blind = false;
    match fs::read_dir(process.join("fd")) {
        Ok(descriptors) => {
            for descriptor in descriptors.flatten() {
                if let Ok(path) = fs::read_link(descriptor.path())
                    && below(&path)
                {
                    return (Some(path), blind);
                }
            }
        }
        Err(error) => blind |= error.kind() == io::ErrorKind::PermissionDenied,
    }
    match fs::read_to_string(process.join("maps")) {
        Ok(maps) => {
            let mapped = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
            (mapped.into_iter().find(|path| below(path)).map(Path::to_owned), blind)
        }
        Err(error) => (None, blind || error.kind() == io::ErrorKind::PermissionDenied),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_java_stands_in_the_way_unseen() {
        assert!(!may_be_java(Path::new("/proc/self")), "a test program has a name of its own");
        assert!(may_be_java(Path::new("/proc/no such process")), "nothing is known of it");
    }
}
