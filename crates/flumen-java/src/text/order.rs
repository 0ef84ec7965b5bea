//! How Java sorts texts.

use super::case;
use std::cmp::Ordering;

/// `String.compareTo`: by UTF-16 units, so characters beyond U+FFFF come before U+E000.
pub fn compare(a: &str, b: &str) -> Ordering {
    // UTF-8 sorts by code point; the two orders differ only where a character beyond U+FFFF meets one from U+E000 up.
    let same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    match (a.as_bytes().get(same), b.as_bytes().get(same)) {
        (Some(x), Some(y)) if *x >= 0xEE && *y >= 0xEE => a.encode_utf16().cmp(b.encode_utf16()),
        _ => a.cmp(b),
    }
}

/// `String.CASE_INSENSITIVE_ORDER`: by code point, each to upper case and then to lower case.
pub fn compare_ignore_case(a: &str, b: &str) -> Ordering {
    a.chars().map(case::folded).cmp(b.chars().map(case::folded))
}
