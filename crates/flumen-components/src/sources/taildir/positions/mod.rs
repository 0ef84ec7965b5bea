//! Positions between two runs: Java Flume's file, and a second one beside it with what Java's cannot hold.
//!
//! Java's file has inode, position and path. The second file (`<positionFile>.marks`) tells whether it is still the same
//! content at that inode and path. It names the first file's content that it belongs to: when another program has written
//! the first one since, only that one counts.

mod json;
mod rows;

pub(super) use rows::Row;

use super::{
    disk::Disk,
    mark::{Head, hash},
};
use crate::shared::held::Held;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Rows of content that is gone, at most.
pub(super) const MOST_GONE: usize = 1_000;

/// The position file of one source, which no other one of this process has.
#[derive(Debug)]
pub(super) struct Positions {
    path: PathBuf,
    marks: PathBuf,
    /// The hash of what the file holds.
    written: u64,
    _held: Held,
}

impl Positions {
    /// Takes the file and reads it. A file that is torn gives what can be read of it.
    pub(super) fn open(disk: &dyn Disk, path: &Path) -> io::Result<(Self, Vec<Row>)> {
        let held = Held::new(path, "positionFile")?;
        let mut marks = path.as_os_str().to_owned();
        marks.push(".marks");
        let marks = PathBuf::from(marks);
        let content = disk.load(path)?;
        let rows = read(path, content.as_deref(), disk.load(&marks)?.as_deref().unwrap_or_default());
        let written = hash(content.as_deref().unwrap_or_default());
        Ok((Self { path: path.to_owned(), marks, written, _held: held }, rows))
    }

    /// Writes all rows, where they differ from what is written. Marks first: they name the file that they belong to, and the
    /// one before it, so that either is good after a crash.
    pub(super) fn write(&mut self, disk: &dyn Disk, rows: &[Row]) -> io::Result<()> {
        let content = json::write(rows);
        let now = hash(&content);
        if now == self.written {
            return Ok(());
        }
        disk.replace(&self.marks, &rows::write(now, self.written, rows))?;
        disk.replace(&self.path, &content)?;
        self.written = now;
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// What both files say together.
fn read(path: &Path, content: Option<&[u8]>, marks: &[u8]) -> Vec<Row> {
    let Some(content) = content else { return Vec::new() };
    let marked = rows::read(marks);
    let hash = hash(content);
    if marked.belongs_to.contains(&hash) {
        return marked.rows;
    }
    let found = json::read(content);
    if !found.whole || (content.is_empty() && !marked.rows.is_empty()) {
        let (path, n) = (path.display(), found.rows.len());
        tracing::warn!(file = %path, "the position file is torn: {n} positions can be read; others come from the marks beside it");
        let mut all = found.rows;
        let missing = |row: &Row| !all.iter().any(|known| known.ino == row.ino && known.file == row.file);
        let more: Vec<Row> = marked.rows.into_iter().filter(missing).collect();
        all.extend(more);
        return all;
    }
    // Java has gone on: its positions count. What is known of the content stays true where it has only grown.
    let mut all = found.rows;
    for row in &mut all {
        let same =
            |mark: &&Row| mark.ino == row.ino && mark.file == row.file && !mark.gone && mark.pos <= row.pos;
        if let Some(mark) = marked.rows.iter().find(same) {
            (row.dev, row.birth_ns) = (mark.dev, mark.birth_ns);
            if mark.pos == row.pos {
                (row.head, row.tail) = (mark.head, mark.tail);
            }
        }
    }
    all
}

impl Row {
    /// A row as Java's file has it.
    pub(super) fn new(ino: u64, pos: u64, file: String) -> Self {
        Self {
            ino,
            pos,
            file,
            dev: None,
            birth_ns: None,
            head: Head::NONE,
            tail: None,
            packed: false,
            seen: None,
            gone: false,
        }
    }
}

/// Reads a position file and writes what was read, for hostile input.
#[doc(hidden)]
pub fn read_and_write(content: &[u8], marks: &[u8]) -> Vec<u8> {
    json::write(&read(Path::new("positions"), Some(content), marks))
}

#[cfg(test)]
mod tests;
