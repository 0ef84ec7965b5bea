//! `.properties` files as `java.util.Properties.load` reads them, with line numbers.

mod lines;
mod sniff;
#[cfg(test)]
mod tests;

pub use sniff::{NotText, sniff};

use crate::charset::{Charset, OnError};
use lines::{Line, Lines};

/// More pairs than this are no configuration: the load stops. (Memory for them would grow to many times the file.)
pub const MAX_PAIRS: usize = 1_000_000;

/// How the bytes of a file become characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// ISO-8859-1: `load(InputStream)`, what Flume uses for its configuration.
    Latin1,
    /// UTF-8: `load(Reader)`. Malformed bytes become U+FFFD, as many as Java writes.
    Utf8,
}

/// One key and its value. A half surrogate pair from an escape such as `\uD83D` (Java keeps it) is U+FFFD here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The key, escapes resolved. May be empty.
    pub key: String,
    /// The value, escapes resolved, blanks at its end kept.
    pub value: String,
    /// The line, from 1, where the key (or, without one, the pair) starts.
    pub line: u32,
    /// The line where the pair starts: an earlier one where lines with nothing but a backslash come before the key.
    pub first_line: u32,
}

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// In the order of the file, duplicates too: of two pairs with one key the later holds.
    pub pairs: Vec<Pair>,
    /// Why the load ended early. The pairs before it stay.
    pub error: Option<LoadError>,
}

/// Why a load ended early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// A `\u` without four hexadecimal digits: mostly a Windows path.
    #[error(
        "line {line}: \"{text}\" is no character: after \\u come four hexadecimal digits; for a backslash write two (\\\\), or use /"
    )]
    BadEscape {
        /// The line, from 1, of the escape.
        line: u32,
        /// The line where its pair starts.
        first_line: u32,
        /// The escape as it stands, from its backslash, at most 6 characters.
        text: String,
    },
    /// More than [`MAX_PAIRS`].
    #[error("line {line}: more than {MAX_PAIRS} properties: is this a configuration file?")]
    TooMany {
        /// Where the first pair too many starts.
        line: u32,
    },
}

/// Reads a file, in time and memory in proportion to its size. Never fails as a whole: see [`Loaded::error`].
pub fn load(bytes: &[u8], encoding: Encoding) -> Loaded {
    let mut loaded = Loaded::default();
    loaded.error = match encoding {
        Encoding::Latin1 => read(bytes, encoding, &mut loaded.pairs),
        Encoding::Utf8 => {
            let text = Charset::utf_8().decode(bytes, OnError::Replace).unwrap_or_default();
            read(text.as_bytes(), encoding, &mut loaded.pairs)
        }
    }
    .err();
    loaded
}

fn read(bytes: &[u8], encoding: Encoding, pairs: &mut Vec<Pair>) -> Result<(), LoadError> {
    let mut lines = Lines::new(bytes);
    while let Some(line) = lines.next_line() {
        if pairs.len() == MAX_PAIRS {
            return Err(LoadError::TooMany { line: line.first_line() });
        }
        pairs.push(pair(&line, encoding)?);
    }
    Ok(())
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0C)
}

/// Splits a logical line. Everything that matters is ASCII, so UTF-8 needs no decoding here.
fn pair(line: &Line<'_>, encoding: Encoding) -> Result<Pair, LoadError> {
    let text = line.text;
    let (mut key_end, mut escaped) = (0, false);
    while key_end < text.len() {
        let byte = text[key_end];
        if !escaped && (matches!(byte, b'=' | b':') || is_blank(byte)) {
            break;
        }
        escaped = byte == b'\\' && !escaped;
        key_end += 1;
    }
    let mut value_start = key_end;
    let mut separated = false;
    while value_start < text.len() {
        let byte = text[value_start];
        if !separated && matches!(byte, b'=' | b':') {
            separated = true;
        } else if !is_blank(byte) {
            break;
        }
        value_start += 1;
    }
    let key = unescape(line, 0..key_end, encoding)?;
    let value = unescape(line, value_start..text.len(), encoding)?;
    Ok(Pair { key, value, line: line.line_at(0), first_line: line.first_line() })
}

/// Resolves the escapes of a part of a line.
fn unescape(line: &Line<'_>, range: std::ops::Range<usize>, encoding: Encoding) -> Result<String, LoadError> {
    let part = &line.text[range.clone()];
    let mut out = Text { bytes: Vec::with_capacity(part.len()), half: None };
    let mut at = 0;
    while at < part.len() {
        let plain = part[at..].iter().position(|b| *b == b'\\').unwrap_or(part.len() - at);
        out.push(&part[at..at + plain], encoding);
        at += plain;
        match part.get(at + 1) {
            None => break,
            Some(b'u') => {
                let unit = part.get(at + 2..at + 6).and_then(hex).ok_or_else(|| LoadError::BadEscape {
                    line: line.line_at(range.start + at),
                    first_line: line.first_line(),
                    text: shown(&part[at..], encoding),
                })?;
                out.push_unit(unit);
                at += 6;
            }
            Some(letter) => {
                let byte = match letter {
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b'f' => 0x0C,
                    other => *other,
                };
                out.push(&[byte], encoding);
                at += 2;
            }
        }
    }
    Ok(out.finish())
}

fn hex(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0, |value: u16, d| Some(value << 4 | char::from(*d).to_digit(16)? as u16))
}

fn shown(part: &[u8], encoding: Encoding) -> String {
    match encoding {
        Encoding::Latin1 => part.iter().take(6).copied().map(char::from).collect(),
        Encoding::Utf8 => {
            let start = &part[..part.len().min(24)];
            String::from_utf8_lossy(start).chars().take(6).collect()
        }
    }
}

/// A text under construction, as UTF-8; an escape for the first half of a surrogate pair waits for the second.
struct Text {
    bytes: Vec<u8>,
    half: Option<u16>,
}

impl Text {
    fn push(&mut self, part: &[u8], encoding: Encoding) {
        if part.is_empty() {
            return;
        }
        self.end_half();
        if encoding == Encoding::Utf8 || part.is_ascii() {
            self.bytes.extend_from_slice(part);
        } else {
            part.iter().for_each(|b| self.push_char(char::from(*b)));
        }
    }

    fn push_unit(&mut self, unit: u16) {
        if (0xDC00..=0xDFFF).contains(&unit)
            && let Some(high) = self.half.take()
        {
            char::decode_utf16([high, unit])
                .for_each(|c| self.push_char(c.unwrap_or(char::REPLACEMENT_CHARACTER)));
            return;
        }
        self.end_half();
        match char::from_u32(u32::from(unit)) {
            Some(c) => self.push_char(c),
            None if unit < 0xDC00 => self.half = Some(unit),
            None => self.push_char(char::REPLACEMENT_CHARACTER),
        }
    }

    fn push_char(&mut self, c: char) {
        self.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn end_half(&mut self) {
        if self.half.take().is_some() {
            self.push_char(char::REPLACEMENT_CHARACTER);
        }
    }

    fn finish(mut self) -> String {
        self.end_half();
        match String::from_utf8(self.bytes) {
            Ok(text) => text,
            Err(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
        }
    }
}
