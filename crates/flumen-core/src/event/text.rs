//! Header names and values: immutable UTF-8 that shares its bytes.

use bytes::Bytes;
use bytestring::ByteString;
use smallvec::SmallVec;
use std::{
    borrow::Borrow,
    collections::BTreeSet,
    fmt::{self, Write},
    ops::Deref,
    str::Utf8Error,
    sync::{Mutex, PoisonError},
};

/// Immutable UTF-8 that shares its bytes: a slice of the frame it came in, or a static.
/// Cloning counts a reference; it copies nothing.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(ByteString);

impl Text {
    /// A text that lives as long as the program.
    pub const fn from_static(text: &'static str) -> Self {
        Self(ByteString::from_static(text))
    }

    /// A text of a configuration that stays for the life of the program, once however often it is asked for: a header name that
    /// goes onto event after event. Cloning it counts nothing, so that threads do not fight over one counter.
    ///
    /// At most 10,000 texts of at most 1,000 bytes are kept so; further ones are texts like any other.
    pub fn kept(text: &str) -> Self {
        static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(text) {
            return Self::from_static(known);
        }
        if kept.len() >= 10_000 || text.len() > 1_000 {
            return Self::from(text);
        }
        let text: &'static str = Box::leak(text.into());
        kept.insert(text);
        Self::from_static(text)
    }

    /// Whether the two are equal; quick where they share their bytes.
    pub(super) fn is(&self, other: &Self) -> bool {
        (self.as_ptr() == other.as_ptr() && self.len() == other.len()) || self == other
    }

    /// Takes over bytes that came from outside.
    ///
    /// # Errors
    /// The bytes are not UTF-8.
    pub fn from_utf8(bytes: Bytes) -> Result<Self, Utf8Error> {
        ByteString::try_from(bytes).map(Self)
    }

    /// A value in words (a number, a time): formatted on the stack, and kept in one allocation of its length.
    pub fn from_display(value: impl fmt::Display) -> Self {
        let mut short = Short(SmallVec::new());
        // It cannot fail; a Display that reports an error has still written what it could.
        let _ = write!(short, "{value}");
        Self(ByteString::try_from(Bytes::copy_from_slice(&short.0)).expect("only strings were written"))
    }

    /// The same bytes as a string slice.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes behind the text, shared.
    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }

    /// A part of this text that shares its bytes.
    ///
    /// # Panics
    /// `part` is not a slice of this text.
    pub fn slice_of(&self, part: &str) -> Self {
        Self(self.0.slice_ref(part))
    }
}

/// Collects a short text without an allocation.
struct Short(SmallVec<[u8; 64]>);

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(ByteString::from(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(ByteString::from(text))
    }
}

impl From<ByteString> for Text {
    fn from(text: ByteString) -> Self {
        Self(text)
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
