//! Why a document makes no batch.

/// Why a document makes no batch. Messages never repeat what was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum JsonError {
    /// It is not JSON, or not an array of events.
    #[error("invalid JSON at byte {at}: {what}")]
    Syntax { what: &'static str, at: usize },
    /// `\u` without four hexadecimal digits. Java answers as to a failure of its own.
    #[error("invalid JSON at byte {at}: \\u needs four hexadecimal digits")]
    Hex { at: usize },
    /// There is no document, it is `null`, or it has `null` where an event or a header's name belongs. Java fails at
    /// it.
    #[error("{0}")]
    Null(&'static str),
    /// More of something than one request may have.
    #[error("more than {limit} {what} in one request: send several requests")]
    TooMany { what: &'static str, limit: usize },
}
