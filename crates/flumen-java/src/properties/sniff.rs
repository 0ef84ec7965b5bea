//! Recognises files that are no `.properties` text before they are read as one.

/// What a file seems to be instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// Starts with the byte order mark of UTF-8. Java makes it a part of the first key, which is then not found.
    #[error(
        "the file starts with a UTF-8 byte order mark, which becomes part of the first key: save it without one"
    )]
    Utf8Mark,
    /// UTF-16, by its byte order mark.
    #[error("the file is in UTF-16: save it as UTF-8 or ISO-8859-1")]
    Utf16,
    /// UTF-32, by its byte order mark.
    #[error("the file is in UTF-32: save it as UTF-8 or ISO-8859-1")]
    Utf32,
    /// A byte of value 0, which no text has: a binary file, or UTF-16 without a mark.
    #[error(
        "line {line}: byte {offset} of the file is 0: this is a binary file, or text in UTF-16; save it as UTF-8 or ISO-8859-1"
    )]
    Nul {
        /// From 1.
        line: u32,
        /// From 0.
        offset: usize,
    },
}

/// Says why a file is probably no `.properties` text, or `None`. Java reads all of these without a word.
pub fn sniff(bytes: &[u8]) -> Option<NotText> {
    match bytes {
        [0, 0, 0xFE, 0xFF, ..] | [0xFF, 0xFE, 0, 0, ..] => return Some(NotText::Utf32),
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] => return Some(NotText::Utf16),
        _ => {}
    }
    if let Some(offset) = bytes.iter().position(|b| *b == 0) {
        let before = &bytes[..offset];
        let ends = |b: &(usize, &u8)| {
            *b.1 == b'\n' || *b.1 == b'\r' && before.get(b.0 + 1).is_none_or(|next| *next != b'\n')
        };
        let line = before.iter().enumerate().filter(ends).count();
        return Some(NotText::Nul {
            line: u32::try_from(line).map_or(u32::MAX, |n| n.saturating_add(1)),
            offset,
        });
    }
    bytes.starts_with(&[0xEF, 0xBB, 0xBF]).then_some(NotText::Utf8Mark)
}
