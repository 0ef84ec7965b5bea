//! A log file that is rolled by size or time, named as log4j names its files.

use flumen_java::dates::DateFormat;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// How a log file is kept.
#[derive(Debug)]
pub(crate) struct FileSettings {
    /// The file that is written.
    pub(crate) path: PathBuf,
    /// What finished files are called.
    pub(crate) archive: Archive,
    /// A file that would grow beyond this is finished first.
    pub(crate) max_bytes: Option<u64>,
    /// A file is finished when this gives another text for the time.
    pub(crate) period: Option<DateFormat>,
    /// Finished files that are kept (of one time, where names bear the time).
    pub(crate) keep: usize,
    /// Whether what is there at the start stays.
    pub(crate) append: bool,
    /// Of all finished files, how much is kept: bytes and milliseconds of age.
    pub(crate) delete: Option<Delete>,
}

/// What finished files are called.
#[derive(Debug)]
pub(crate) enum Archive {
    /// `flume.log.1` is the newest, and the others move on by one.
    Numbered,
    /// Texts and times, and perhaps a number that grows: `flume.log.%d{yyyyMMdd}-%i`.
    Named(Vec<NamePart>),
}

/// A part of a name.
#[derive(Debug)]
pub(crate) enum NamePart {
    Text(String),
    Date(DateFormat),
    Number,
}

/// Which finished files are removed: the oldest in a folder whose names begin so.
#[derive(Debug)]
pub(crate) struct Delete {
    pub(crate) folder: PathBuf,
    pub(crate) start: String,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) max_age_ms: Option<i64>,
}

/// Files of a folder that a removal looks at.
const MAX_FILES: usize = 100_000;

/// An open log file.
#[derive(Debug)]
pub(crate) struct RollingFile {
    settings: FileSettings,
    file: Option<File>,
    bytes: u64,
    /// The period of what is in the file: its text, and a time in it.
    period: Option<(String, i64)>,
}

impl RollingFile {
    /// Opens the file, and makes its folder where there is none.
    pub(crate) fn open(settings: FileSettings, now_ms: i64) -> io::Result<Self> {
        let mut rolling = Self { settings, file: None, bytes: 0, period: None };
        let append = rolling.settings.append;
        rolling.reopen(now_ms, append)?;
        Ok(rolling)
    }

    fn reopen(&mut self, now_ms: i64, append: bool) -> io::Result<()> {
        let path = &self.settings.path;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).append(append).write(true).truncate(!append).open(path)?;
        let meta = file.metadata()?;
        self.bytes = meta.len();
        // What an earlier run has left belongs to the time of its last line.
        let left = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let at = match left.and_then(|since| i64::try_from(since.as_millis()).ok()) {
            Some(at) if self.bytes > 0 => at.min(now_ms),
            _ => now_ms,
        };
        self.period = self.settings.period.as_ref().map(|format| (format.format(at), at));
        self.file = Some(file);
        Ok(())
    }

    /// Writes a whole line. After a failure the next line tries again.
    pub(crate) fn write(&mut self, line: &[u8], now_ms: i64) -> io::Result<()> {
        if self.file.is_none() {
            self.reopen(now_ms, true)?;
        }
        let full =
            self.settings.max_bytes.is_some_and(|max| self.bytes > 0 && self.bytes + line.len() as u64 > max);
        let over = match (&self.settings.period, &self.period) {
            (Some(format), Some((text, _))) => format.format(now_ms) != *text,
            _ => false,
        };
        if (full || over) && self.bytes > 0 {
            self.roll(now_ms)?;
        } else if over {
            self.period = self.settings.period.as_ref().map(|format| (format.format(now_ms), now_ms));
        }
        let Some(file) = &mut self.file else { return Err(io::Error::other("the log file is closed")) };
        file.write_all(line)?;
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// Finishes the file and begins a new one. Where it cannot be renamed, it is written on.
    fn roll(&mut self, now_ms: i64) -> io::Result<()> {
        self.file = None;
        let at = self.period.as_ref().map_or(now_ms, |(_, at)| *at);
        let path = &self.settings.path;
        let moved = match &self.settings.archive {
            Archive::Numbered => shift(path, self.settings.keep),
            Archive::Named(parts) => archive(path, parts, at, self.settings.keep),
        };
        self.reopen(now_ms, true)?;
        self.period = self.settings.period.as_ref().map(|format| (format.format(now_ms), now_ms));
        if let Some(delete) = &self.settings.delete {
            delete.run(now_ms);
        }
        moved
    }
}

/// `x` becomes `x.1`, `x.1` becomes `x.2`, and so on; with nothing to keep the file is emptied.
fn shift(path: &Path, keep: usize) -> io::Result<()> {
    let numbered = |n: usize| PathBuf::from(format!("{}.{n}", path.display()));
    if keep == 0 {
        return fs::write(path, "");
    }
    for n in (1..keep).rev().filter(|n| numbered(*n).exists()) {
        fs::rename(numbered(n), numbered(n + 1))?;
    }
    fs::rename(path, numbered(1))
}

/// Renames the file after the time; with a number in the name the newest has the highest, and the oldest goes.
fn archive(path: &Path, parts: &[NamePart], at_ms: i64, keep: usize) -> io::Result<()> {
    let name = |n: usize| {
        let mut name = String::new();
        for part in parts {
            match part {
                NamePart::Text(text) => name.push_str(text),
                NamePart::Date(format) => format.format_into(&mut name, at_ms),
                NamePart::Number => name.push_str(&n.to_string()),
            }
        }
        PathBuf::from(name)
    };
    let keep = keep.max(1);
    let has_number = parts.iter().any(|part| matches!(part, NamePart::Number));
    if let Some(folder) = name(1).parent() {
        fs::create_dir_all(folder)?;
    }
    if !has_number {
        return fs::rename(path, name(1));
    }
    let mut n = 1;
    while n <= keep && name(n).exists() {
        n += 1;
    }
    if n > keep {
        for i in 1..keep {
            fs::rename(name(i + 1), name(i))?;
        }
        n = keep;
    }
    fs::rename(path, name(n))
}

impl Delete {
    /// Removes what is too old or too much, the oldest first.
    fn run(&self, now_ms: i64) {
        let mut files: Vec<(i64, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten().take(MAX_FILES) {
            let Ok(meta) = entry.metadata() else { continue };
            if !meta.is_file() || !entry.file_name().to_string_lossy().starts_with(&self.start) {
                continue;
            }
            let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let at = modified.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(now_ms);
            files.push((at, meta.len(), entry.path()));
        }
        files.sort();
        let mut kept = 0_u64;
        for (at, bytes, path) in files.into_iter().rev() {
            kept = kept.saturating_add(bytes);
            let too_old = self.max_age_ms.is_some_and(|max| now_ms - at > max);
            if too_old || self.max_bytes.is_some_and(|max| kept > max) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flumen_java::dates::{Locale, Zone};

    fn day() -> DateFormat {
        DateFormat::compile("yyyyMMdd", &Locale::us(), &Zone::utc()).unwrap()
    }

    fn settings(path: PathBuf) -> FileSettings {
        FileSettings {
            path,
            archive: Archive::Numbered,
            max_bytes: Some(10),
            period: None,
            keep: 2,
            append: true,
            delete: None,
        }
    }

    fn shown(folder: &Path) -> Vec<String> {
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .flatten()
            .map(|entry| {
                let text = fs::read_to_string(entry.path()).unwrap();
                format!("{}={text}", entry.file_name().to_string_lossy())
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn numbered_files_move_on_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = RollingFile::open(settings(folder.path().join("f.log")), 0).unwrap();
        for line in ["one--", "two--", "three", "four-", "five-", "six--", "seven"] {
            file.write(line.as_bytes(), 0).unwrap();
        }
        assert_eq!(shown(folder.path()), ["f.log.1=five-six--", "f.log.2=threefour-", "f.log=seven"]);
    }

    #[test]
    fn files_of_a_day_are_numbered_and_another_day_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let start = NamePart::Text(format!("{}/old/f.", folder.path().display()));
        let archive =
            Archive::Named(vec![start, NamePart::Date(day()), NamePart::Text("-".into()), NamePart::Number]);
        let settings = FileSettings { archive, period: Some(day()), ..settings(folder.path().join("f.log")) };
        let mut file = RollingFile::open(settings, 0).unwrap();
        for (line, at) in
            [("a-------", 0), ("b-------", 1), ("c-------", 2), ("d-------", 3), ("e", 86_400_000)]
        {
            file.write(line.as_bytes(), at).unwrap();
        }
        assert_eq!(shown(&folder.path().join("old")), ["f.19700101-1=c-------", "f.19700101-2=d-------"]);
        assert_eq!(fs::read_to_string(folder.path().join("f.log")).unwrap(), "e");
    }

    #[test]
    fn the_oldest_are_removed_when_there_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["f.1", "f.2", "other"] {
            fs::write(folder.path().join(name), "12345").unwrap();
        }
        let (start, max_age_ms) = ("f.".to_owned(), None);
        Delete { folder: folder.path().into(), start, max_bytes: Some(7), max_age_ms }.run(0);
        assert_eq!(shown(folder.path()).len(), 2);
    }
}
