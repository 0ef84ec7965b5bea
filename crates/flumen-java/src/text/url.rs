//! `URLEncoder` and `URLDecoder` with UTF-8: the form encoding, where a blank is `+`.

use crate::charset::{Charset, OnError};
use crate::number::digits::digit;

/// A `%` that is not followed by two hexadecimal digits: Java's `IllegalArgumentException`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the % at byte {0} of an URL-encoded text is not followed by two hexadecimal digits: write %25 for a percent sign"
)]
pub struct UrlError(pub usize);

/// `URLEncoder.encode(text, UTF_8)`.
pub fn encode(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.extend([
                '%',
                char::from(HEX[usize::from(byte >> 4)]),
                char::from(HEX[usize::from(byte & 15)]),
            ]),
        }
    }
    out
}

/// `URLDecoder.decode(text, UTF_8)`. Bytes that are no UTF-8 become U+FFFD. Like Java it takes digits of any script after a `%`,
/// and `%+1` for `%01`.
pub fn decode(text: &str) -> Result<String, UrlError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['%', '+']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('+') {
            out.push(' ');
            rest = after;
            continue;
        }
        let mut bytes = Vec::new();
        while rest.starts_with('%') {
            let position = text.len() - rest.len();
            let (byte, used) = escape(&rest[1..]).ok_or(UrlError(position))?;
            bytes.push(byte);
            rest = &rest[1 + used..];
        }
        out += &Charset::utf_8().decode(&bytes, OnError::Replace).unwrap_or_default();
    }
    out.push_str(rest);
    Ok(out)
}

/// The byte after a `%` and how long its text is.
fn escape(text: &str) -> Option<(u8, usize)> {
    let mut chars = text.chars();
    let (first, second) = (chars.next()?, chars.next()?);
    let low = digit(second, 16)?;
    // "-0" is a number too, to Java.
    let value = match first {
        '+' => low,
        '-' if low == 0 => 0,
        _ => digit(first, 16)? * 16 + low,
    };
    Some((value as u8, first.len_utf8() + second.len_utf8()))
}
