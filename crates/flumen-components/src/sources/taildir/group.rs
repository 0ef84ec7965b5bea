//! A group of files: a directory, and which of its names belong to the group.

use super::disk::Disk;
use flumen_core::event::{Headers, Text};
use flumen_java::regex::{Flags, Pattern};
use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A directory that has changed less than this long ago, by its own time, may change again without a new time.
const SETTLED_MS: i64 = 2_000;

/// Where the files of a group are, as the configuration says.
#[derive(Debug, Clone)]
pub struct FileGroup {
    pub(super) directory: PathBuf,
    pub(super) pattern: Arc<Pattern>,
    /// The text of the pattern.
    name: String,
}

impl FileGroup {
    /// Whether a name belongs to the group. A pattern that takes too many steps on a name does not match it.
    fn matches(&self, name: &OsStr) -> bool {
        self.pattern.matches(name.as_bytes(), None).unwrap_or(false)
    }

    /// The path as one would read it without knowing that its end is a pattern.
    pub(super) fn as_name(&self) -> PathBuf {
        self.directory.join(&self.name)
    }
}

/// Reads `directory/regex`. Only the last part is a pattern.
pub(super) fn parse(text: &str) -> Result<FileGroup, String> {
    let text = text.trim();
    let (directory, name) =
        text.rsplit_once('/').ok_or("expected a directory before the regular expression")?;
    if name.is_empty() {
        return Err("it ends with a slash: expected a regular expression for file names behind it".to_owned());
    }
    let directory = if directory.is_empty() { "/" } else { directory };
    let directory = std::path::absolute(directory).map_err(|error| error.to_string())?;
    // Doubled slashes go, as in Java's paths.
    let directory = directory.components().collect();
    let pattern = Pattern::compile(name, Flags::NONE).map_err(|error| error.to_string())?;
    Ok(FileGroup { directory, pattern: Arc::new(pattern), name: name.to_owned() })
}

/// A group at work.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) files: FileGroup,
    pub(super) headers: Headers,
    use_cache: bool,
    /// The directory's time when it was listed; `None`: list it again.
    listed: Option<i64>,
    matching: Arc<[OsString]>,
    /// Names of known inodes that do not match: files that were renamed.
    elsewhere: BTreeMap<u64, OsString>,
    broken: bool,
}

impl Group {
    pub(super) fn new(files: FileGroup, headers: Headers, use_cache: bool) -> Self {
        Self {
            files,
            headers,
            use_cache,
            listed: None,
            matching: Arc::new([]),
            elsewhere: BTreeMap::new(),
            broken: false,
        }
    }

    /// The names that match now.
    pub(super) fn matching(
        &mut self,
        disk: &dyn Disk,
        now_ms: i64,
        known: impl FnOnce() -> HashSet<u64>,
    ) -> io::Result<Arc<[OsString]>> {
        let time = disk.stat(&self.files.directory)?.mtime_ns;
        if !self.use_cache || self.listed != Some(time) {
            let known = known();
            let mut matching = Vec::new();
            self.elsewhere.clear();
            disk.list(&self.files.directory, &mut |name, ino| {
                if self.files.matches(name) {
                    matching.push(name.to_owned());
                } else if known.contains(&ino) {
                    self.elsewhere.insert(ino, name.to_owned());
                }
            })?;
            matching.sort();
            self.matching = matching.into();
            let settled = now_ms.saturating_sub(time / 1_000_000) > SETTLED_MS;
            self.listed = settled.then_some(time);
        }
        Ok(self.matching.clone())
    }

    /// Whether a name belongs to it.
    pub(super) fn matches(&self, name: &OsStr) -> bool {
        self.files.matches(name)
    }

    /// Lists the directory anew next time: something that it had is not there.
    pub(super) fn distrust_cache(&mut self) {
        self.listed = None;
    }

    /// Where a file that no longer matches is now, if that is in this directory.
    pub(super) fn elsewhere(&self, ino: u64) -> Option<PathBuf> {
        self.elsewhere.get(&ino).map(|name| self.path(name))
    }

    pub(super) fn path(&self, name: &OsString) -> PathBuf {
        self.files.directory.join(name)
    }

    /// Whether to say that the directory cannot be read: once until it can be.
    pub(super) fn tell_broken(&mut self, broken: bool) -> bool {
        std::mem::replace(&mut self.broken, broken) != broken && broken
    }
}

/// The headers of one file's events.
pub(super) fn headers_of(group: &Headers, file_header: Option<&Text>, path: &Path) -> Headers {
    let mut headers = group.clone();
    if let Some(key) = file_header {
        headers.set(key.clone(), Text::from(path.to_string_lossy().as_ref()));
    }
    headers
}
