//! What can go wrong with patterns, replacements and matching.

use thiserror::Error;

/// Why a pattern is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{description} near index {index}")]
pub struct PatternError {
    /// Java's words for a syntax error, or the limit that was passed.
    pub description: String,
    /// Where, as Java counts: in characters of the pattern after `\Q…\E` was written out; −1 is possible.
    pub index: i64,
}

/// Why a match was given up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MatchError {
    /// The search took more steps or more memory than one match may; nothing is known about the text.
    #[error(
        "the pattern {pattern:?} needs too many steps on a text of {length} bytes; write it with less backtracking"
    )]
    TooComplex {
        /// The pattern as configured.
        pattern: String,
        /// Bytes of the text.
        length: usize,
    },
    /// The replacement text is wrong, which Java tells when something is to be replaced.
    #[error(transparent)]
    Replacement(#[from] ReplacementError),
}

/// Why a replacement text is wrong; the words are Java's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ReplacementError {
    /// What is wrong.
    pub message: String,
    /// The text names a group that the pattern has not (Java's IndexOutOfBoundsException).
    pub no_such_group: bool,
}
