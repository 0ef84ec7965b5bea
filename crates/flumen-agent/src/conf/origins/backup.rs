//! The last good configuration, kept as a properties file.

use crate::conf::Entries;
use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// The properties as `java.util.Properties.store` writes them: ASCII, and everything else escaped.
pub(super) fn text(entries: &Entries) -> Vec<u8> {
    let mut out = String::from("# the last good configuration, with its lookups resolved\n");
    for entry in &entries.list {
        escape(&entry.key, true, &mut out);
        out.push('=');
        escape(&entry.value, false, &mut out);
        out.push('\n');
    }
    out.into_bytes()
}

fn escape(text: &str, key: bool, out: &mut String) {
    for (i, c) in text.chars().enumerate() {
        match c {
            ' ' if key || i == 0 => out.push_str("\\ "),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\x0C' => out.push_str("\\f"),
            '\\' | '=' | ':' | '#' | '!' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04X}"))),
        }
    }
}

/// Replaces the file whole, readable to its owner alone: passwords may be in it.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let new = path.with_extension("properties.new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)
}
