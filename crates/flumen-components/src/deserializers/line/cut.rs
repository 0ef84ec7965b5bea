//! Where a line ends: in UTF-8 without a look at each character, in other charsets character by character.

use flumen_java::charset::{CodingError, Decoder};
use memchr::memchr;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// A line.
    Line(Line),
    /// It may go on behind these bytes.
    More,
    /// It has bytes that are not UTF-8.
    Bad,
}

/// A line, or a piece of one that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Bytes of its text in the file.
    pub(super) len: usize,
    /// Bytes up to the next line.
    pub(super) used: usize,
}

/// How much of some bytes is UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sound {
    /// Bytes from the start.
    pub(super) len: usize,
    /// What follows is no UTF-8, however it goes on.
    pub(super) bad: bool,
}

impl Sound {
    pub(super) fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(_) => Self { len: bytes.len(), bad: false },
            Err(error) => Self { len: error.valid_up_to(), bad: error.error_len().is_some() },
        }
    }
}

/// The first line of sound bytes, of less than `max_units` UTF-16 units, or so many of them.
pub(super) fn utf_8(bytes: &[u8], sound: Sound, max_units: usize) -> Cut {
    let text = &bytes[..sound.len];
    // A unit is three bytes at most, so that a line that ends behind these is too long.
    let near = &text[..text.len().min(max_units.saturating_mul(3).saturating_add(1))];
    let newline = memchr(b'\n', near);
    let line = &near[..newline.unwrap_or(near.len())];
    if line.len() >= max_units
        && let Some(len) = too_long(line, max_units)
    {
        return Cut::Line(Line { len, used: len });
    }
    match newline {
        Some(len) => Cut::Line(Line { len, used: len + 1 }),
        None if sound.bad => Cut::Bad,
        None => Cut::More,
    }
}

/// Where a text reaches `max_units` UTF-16 units. A character is never cut in two.
fn too_long(text: &[u8], max_units: usize) -> Option<usize> {
    let sound = Sound::of(text).len;
    let text = std::str::from_utf8(&text[..sound]).unwrap_or_default();
    let mut units = 0;
    for (at, c) in text.char_indices() {
        let before = units;
        units += c.len_utf16();
        if units > max_units && before > 0 {
            return Some(at);
        }
        if units >= max_units {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// The first line of bytes of any charset, decoded into `text`.
pub(super) fn decoded(
    decoder: &mut Decoder,
    bytes: &[u8],
    max_units: usize,
    text: &mut String,
) -> Result<Cut, CodingError> {
    text.clear();
    // The line begins anew when more bytes are there.
    let mut trial = decoder.clone();
    let (mut at, mut units) = (0, 0);
    let line = loop {
        let next = trial
            .next_char(&bytes[at..], false)
            .map_err(|error| CodingError { position: at as u64 + error.position, ..error })?;
        let Some((c, n_bytes)) = next else { return Ok(Cut::More) };
        if c == '\n' {
            break Line { len: at, used: at + n_bytes };
        }
        if units > 0 && units + c.len_utf16() > max_units {
            break Line { len: at, used: at };
        }
        text.push(c);
        at += n_bytes;
        units += c.len_utf16();
        if units >= max_units {
            break Line { len: at, used: at };
        }
    };
    *decoder = trial;
    Ok(Cut::Line(line))
}
