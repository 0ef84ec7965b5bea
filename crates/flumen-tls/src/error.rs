//! What can go wrong with a key store or with a key in it, in words an operator can act on.

use thiserror::Error;

use crate::StoreType;

/// Why a key store did not open.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The integrity check failed, or what the password opens made no sense. Which of the two cannot be told.
    #[error("the key store password is wrong, or the key store is damaged")]
    WrongPassword,
    /// The bytes are not a store of the type that was asked for.
    #[error("not a {asked} key store{}", looks_like.map(|l| format!(": it looks like {l}")).unwrap_or_default())]
    NotThisType {
        /// The type that was asked for.
        asked: StoreType,
        /// What the first bytes suggest, where they suggest something.
        looks_like: Option<&'static str>,
    },
    /// The bytes end in the middle of something.
    #[error("the key store ends too early: it is cut short or was not copied whole")]
    CutShort,
    /// Something is not as the format has it.
    #[error("the key store is damaged or not understood: {0}")]
    Malformed(String),
    /// A cipher, digest or other algorithm that is not read, by its name.
    #[error("the key store uses {0}, which is not supported")]
    UnsupportedAlgorithm(String),
    /// More than is ever read: bytes, entries, rounds of hashing.
    #[error("the key store asks for {found} {what}, and at most {limit} are allowed")]
    TooMuch {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much there may be.
        limit: u64,
    },
}

/// Why a key was not given out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyError {
    /// No entry has this alias.
    #[error("the key store has no entry `{0}`")]
    NoSuchAlias(String),
    /// The entry is of another kind.
    #[error("entry `{alias}` of the key store is a {found}, not a {wanted}")]
    WrongKind {
        /// The entry.
        alias: String,
        /// What it is.
        found: &'static str,
        /// What was asked for.
        wanted: &'static str,
    },
    /// The key is protected and no password was given.
    #[error("the key is protected, and no key password was given")]
    PasswordMissing,
    /// The key did not open, or what came out made no sense. Which of the two cannot be told.
    #[error("the key password is wrong, or the key is damaged")]
    WrongPassword,
    /// Keys of this format are sealed with ASCII passwords only.
    #[error(
        "the key password has characters other than ASCII, with which no key of this format can be sealed"
    )]
    PasswordNotAscii,
    /// A cipher or key type that is not read, by its name.
    #[error("the key uses {0}, which is not supported")]
    UnsupportedAlgorithm(String),
    /// Something is not as the format has it.
    #[error("the key is damaged or not understood: {0}")]
    Malformed(String),
    /// More than is ever read.
    #[error("the key asks for {found} {what}, and at most {limit} are allowed")]
    TooMuch {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much there may be.
        limit: u64,
    },
}

impl From<KeyError> for StoreError {
    fn from(error: KeyError) -> StoreError {
        match error {
            KeyError::UnsupportedAlgorithm(name) => StoreError::UnsupportedAlgorithm(name),
            KeyError::TooMuch { what, found, limit } => StoreError::TooMuch { what, found, limit },
            KeyError::Malformed(what) => StoreError::Malformed(what),
            _ => StoreError::WrongPassword,
        }
    }
}
