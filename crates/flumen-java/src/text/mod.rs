//! `java.lang.String` and what is near it: trimming, splitting, hashing, ordering, case, URL coding, modified UTF-8, UUIDs.
//!
//! Java counts UTF-16 units. Half a surrogate pair, which a Java text can hold and a Rust text cannot, is U+FFFD here.

mod case;
pub mod hash_order;
pub mod mutf8;
mod order;
mod split;
#[cfg(test)]
mod tests;
pub mod url;
pub mod uuid;

pub use case::{CaseLocale, equals_ignore_case, to_lower, to_upper};
pub use order::{compare, compare_ignore_case};
pub use split::{Separator, split, split_by};
pub use uuid::Uuid;

/// `String.trim`: cuts everything up to U+0020, so NUL too, but no other blanks.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// `String.strip`: cuts what `Character.isWhitespace` says is white space.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_whitespace)
}

/// `String.isBlank`.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_whitespace)
}

/// `Character.isWhitespace`: no no-break spaces, but the four separators 1C to 1F.
pub fn is_whitespace(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | '\u{1C}'..='\u{20}' | '\u{1680}' | '\u{2000}'..='\u{2006}' | '\u{2008}'..='\u{200A}'
        | '\u{2028}' | '\u{2029}' | '\u{205F}' | '\u{3000}')
}

/// `String.length`: UTF-16 units.
pub fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// `String.hashCode`.
pub fn hash_code(text: &str) -> i32 {
    let next = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    if text.is_ascii() {
        text.bytes().map(u16::from).fold(0, next)
    } else {
        text.encode_utf16().fold(0, next)
    }
}
