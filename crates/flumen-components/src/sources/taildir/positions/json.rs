//! Java Flume's position file: one JSON array, as its JSON library (Gson with its defaults) writes and reads it.

use super::Row;
use serde::Deserialize;
use std::fmt::Write;

/// Rows of a file, at most; each is a file that is tailed.
const MOST_ROWS: usize = 10_000_000;

/// What a position file says.
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    /// False where a part could not be read.
    pub(super) whole: bool,
}

#[derive(Deserialize)]
struct Entry {
    inode: i64,
    pos: i64,
    file: String,
}

/// The rows of files that are there. Nothing at all where there is none, as Java does.
pub(super) fn write(rows: &[Row]) -> Vec<u8> {
    let mut text = String::new();
    for row in rows.iter().filter(|row| !row.gone) {
        text.push(if text.is_empty() { '[' } else { ',' });
        // Java holds both in a long.
        let (ino, pos) = (row.ino as i64, row.pos as i64);
        let _ = write!(text, "{{\"inode\":{ino},\"pos\":{pos},\"file\":\"");
        escape(&row.file, &mut text);
        text.push_str("\"}");
    }
    if !text.is_empty() {
        text.push(']');
    }
    text.into_bytes()
}

/// What Gson escapes by default.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '=' | '\'' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
}

/// All entries that can be read: what is torn loses its last one, and not the others.
pub(super) fn read(content: &[u8]) -> Found {
    let text = content.trim_ascii();
    if text.is_empty() {
        return Found { rows: Vec::new(), whole: true };
    }
    let (mut rows, mut whole) = (Vec::new(), text.starts_with(b"[") && text.ends_with(b"]"));
    let mut rest = text;
    while let Some(object) = next_object(&mut rest) {
        match serde_json::from_slice::<Entry>(object) {
            Ok(entry) if rows.len() < MOST_ROWS => {
                rows.push(Row::new(entry.inode as u64, u64::try_from(entry.pos).unwrap_or(0), entry.file));
            }
            _ => whole = false,
        }
    }
    whole &= !rest.contains(&b'{');
    Found { rows, whole }
}

/// The next `{…}`, braces within strings aside.
fn next_object<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let start = memchr::memchr(b'{', rest)?;
    let (mut in_string, mut escaped, mut depth) = (false, false, 0u32);
    for (at, byte) in rest.iter().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    let object = &rest[start..=at];
                    *rest = &rest[at + 1..];
                    return Some(object);
                }
            }
            _ => {}
        }
    }
    None
}
