//! The second file: a line for each position, JSON, with what is known of the content.

use crate::sources::taildir::mark::Head;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// What is kept of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sources::taildir) struct Row {
    pub(in crate::sources::taildir) ino: u64,
    pub(in crate::sources::taildir) pos: u64,
    /// The absolute path. What of it is no UTF-8 is replaced.
    pub(in crate::sources::taildir) file: String,
    pub(in crate::sources::taildir) dev: Option<u64>,
    pub(in crate::sources::taildir) birth_ns: Option<i64>,
    pub(in crate::sources::taildir) head: Head,
    /// See [`super::super::mark::Mark`].
    pub(in crate::sources::taildir) tail: Option<u64>,
    /// It is compressed: the position counts unpacked bytes.
    pub(in crate::sources::taildir) packed: bool,
    /// Length and time of the file when all of it was read.
    pub(in crate::sources::taildir) seen: Option<(u64, i64)>,
    /// The content is no longer in a file that is known; a copy of it may turn up. Not in Java's file.
    pub(in crate::sources::taildir) gone: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    inode: u64,
    pos: u64,
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dev: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    birth: Option<i64>,
    #[serde(default)]
    head_len: u16,
    #[serde(default)]
    head: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tail: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    packed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen: Option<(u64, i64)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    gone: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct First {
    belongs_to: [u64; 2],
}

/// What the second file says.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// Hashes of contents of the first file that these rows are as good as.
    pub(super) belongs_to: Vec<u64>,
    pub(super) rows: Vec<Row>,
}

pub(super) fn write(now: u64, before: u64, rows: &[Row]) -> Vec<u8> {
    let mut text = format!("{{\"belongs_to\":[{now},{before}]}}\n");
    for row in rows {
        let stored = Stored {
            inode: row.ino,
            pos: row.pos,
            file: row.file.clone(),
            dev: row.dev,
            birth: row.birth_ns,
            head_len: row.head.len,
            head: row.head.hash,
            tail: row.tail,
            packed: row.packed,
            seen: row.seen,
            gone: row.gone,
        };
        // Numbers and text always have a JSON form.
        if let Ok(line) = serde_json::to_string(&stored) {
            let _ = writeln!(text, "{line}");
        }
    }
    // A file without this line is torn.
    text.push_str("end\n");
    text.into_bytes()
}

/// Reads as many lines as are whole. Where the end is missing, the rows belong to nothing: they are only better than none.
pub(super) fn read(text: &[u8]) -> Marked {
    let mut marked = Marked::default();
    let mut lines = text.split(|byte| *byte == b'\n');
    let Some(first) = lines.next().and_then(|line| serde_json::from_slice::<First>(line).ok()) else {
        return marked;
    };
    for line in lines {
        if line == b"end" {
            marked.belongs_to = first.belongs_to.into();
            break;
        }
        let Ok(stored) = serde_json::from_slice::<Stored>(line) else { break };
        marked.rows.push(Row {
            ino: stored.inode,
            pos: stored.pos,
            file: stored.file,
            dev: stored.dev,
            birth_ns: stored.birth,
            head: Head { len: stored.head_len, hash: stored.head },
            tail: stored.tail,
            packed: stored.packed,
            seen: stored.seen,
            gone: stored.gone,
        });
    }
    marked
}
