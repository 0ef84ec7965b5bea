//! What the golden tests share: reading the files, and the list of rows that are known to differ.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test uses a part; what does not unwrap fails the test"
)]

use std::io::Read;
use std::path::PathBuf;

/// A file of the golden data.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden")).join(name)
}

/// Its text; a name that ends in `.gz` is unpacked.
pub(crate) fn read(name: &str) -> String {
    let bytes = std::fs::read(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    if !name.ends_with(".gz") {
        return String::from_utf8(bytes).unwrap();
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    text
}

/// The rows of a table, without its head.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split('\t').collect())
}

pub(crate) fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// The text of UTF-16 units in hex, halves of pairs as U+FFFD: what Flumen makes of a text that Java can hold and Rust cannot.
pub(crate) fn units(hex: &str) -> String {
    let units: Vec<u16> = unhex(hex).chunks(2).map(|b| u16::from_be_bytes([b[0], b[1]])).collect();
    String::from_utf16_lossy(&units)
}

/// Collects what differs and compares it with what is known to differ.
pub(crate) struct Verdict {
    what: &'static str,
    known: &'static [(&'static str, &'static str)],
    total: usize,
    failed: Vec<(String, String)>,
}

impl Verdict {
    /// `known`: rows that differ on purpose, each with the reason; see docs/differences.md.
    pub(crate) fn new(what: &'static str, known: &'static [(&'static str, &'static str)]) -> Self {
        Self { what, known, total: 0, failed: Vec::new() }
    }

    pub(crate) fn check<T: PartialEq + std::fmt::Debug>(
        &mut self,
        id: &str,
        what: &str,
        got: T,
        expected: T,
    ) {
        self.total += 1;
        if got != expected {
            self.failed.push((id.to_owned(), format!("{id} {what}: got {got:?}, Java has {expected:?}")));
        }
    }

    /// Fails for a difference that is not known, for a known one that is gone, and for too many known ones.
    pub(crate) fn settle(self, least: usize) {
        assert!(self.total >= least, "{}: only {} checks", self.what, self.total);
        let new: Vec<&str> = self
            .failed
            .iter()
            .filter(|(id, _)| !self.known.iter().any(|k| k.0 == id))
            .map(|(_, text)| text.as_str())
            .collect();
        let shown = new.iter().take(40).copied().collect::<Vec<_>>().join("\n");
        assert!(new.is_empty(), "{}: {} of {} differ:\n{shown}", self.what, new.len(), self.total);
        for (id, reason) in self.known {
            assert!(
                self.failed.iter().any(|f| f.0 == *id),
                "{id} ({reason}) no longer differs: take it off the list"
            );
        }
        assert!(self.known.len() * 100 <= self.total, "{}: more than 1 % are on the list", self.what);
    }
}
