//! Header names and values: immutable UTF-8 that shares its bytes.

use arrayvec::ArrayString;
use bytes::Bytes;
use bytestring::ByteString;
use smallvec::SmallVec;
use std::{
    borrow::Borrow,
    cmp::Ordering,
    collections::BTreeSet,
    fmt::{self, Write},
    hash::{Hash, Hasher},
    ops::Deref,
    str::Utf8Error,
    sync::{Mutex, PoisonError},
};

/// Immutable UTF-8 that shares its bytes (a slice of the frame it came in, or a static), or that is short enough to lie in its
/// place. Cloning counts a reference or copies a few bytes; it allocates nothing.
#[derive(Clone)]
pub struct Text(Repr);

#[derive(Clone)]
enum Repr {
    Shared(ByteString),
    Plain(Plain),
}

/// What is cloned and dropped without a call.
#[derive(Clone, Copy)]
enum Plain {
    Static(&'static str),
    Short(ArrayString<SHORT_BYTES>),
}

/// Texts up to this length need neither an allocation nor a count of references: numbers, dates, times, addresses. It is what
/// fits without making a text larger.
const SHORT_BYTES: usize = 16;

const _: () = assert!(size_of::<Text>() == size_of::<ByteString>());

impl Text {
    /// A text that lives as long as the program.
    pub const fn from_static(text: &'static str) -> Self {
        Self(Repr::Plain(Plain::Static(text)))
    }

    /// The text in its place, if it is that short.
    fn short(text: &str) -> Option<Self> {
        ArrayString::from(text).ok().map(|short| Self(Repr::Plain(Plain::Short(short))))
    }

    /// Becomes this text, written where it stays: moving what was just written is slow. False: it is too long, and nothing was
    /// done.
    #[inline]
    pub(super) fn set_short(&mut self, text: &str) -> bool {
        if text.len() > SHORT_BYTES {
            return false;
        }
        self.0 = Repr::Plain(Plain::Short(ArrayString::new()));
        if let Repr::Plain(Plain::Short(short)) = &mut self.0 {
            short.push_str(text);
        }
        true
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
    #[inline]
    pub(super) fn is(&self, other: &Self) -> bool {
        self.is_same(other) || self == other
    }

    /// Whether the two share their bytes. Equal ones need not.
    #[inline]
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Plain(Plain::Static(one)), Repr::Plain(Plain::Static(other))) => {
                std::ptr::eq(*one, *other)
            }
            _ => self.as_ptr() == other.as_ptr() && self.len() == other.len(),
        }
    }

    /// Takes over bytes that came from outside.
    ///
    /// # Errors
    /// The bytes are not UTF-8.
    pub fn from_utf8(bytes: Bytes) -> Result<Self, Utf8Error> {
        ByteString::try_from(bytes).map(Self::from)
    }

    /// A value in words (a number, a time): formatted on the stack, and kept in one allocation of its length, or in its place.
    pub fn from_display(value: impl fmt::Display) -> Self {
        Self::from(Written::of(value).as_str())
    }

    /// The same bytes as a string slice.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Plain(Plain::Static(text)) => text,
            Repr::Shared(text) => text,
            Repr::Plain(Plain::Short(text)) => text,
        }
    }

    /// The bytes behind the text: shared, or copied where they are few.
    pub fn into_bytes(self) -> Bytes {
        match self.0 {
            Repr::Plain(Plain::Static(text)) => Bytes::from_static(text.as_bytes()),
            Repr::Shared(text) => text.into_bytes(),
            Repr::Plain(Plain::Short(text)) => Bytes::copy_from_slice(text.as_bytes()),
        }
    }

    /// A part of this text that shares its bytes, or copies them where they are few.
    ///
    /// # Panics
    /// `part` is not a slice of this text.
    pub fn slice_of(&self, part: &str) -> Self {
        if let Some(short) = Self::short(part) {
            return short;
        }
        match &self.0 {
            Repr::Plain(Plain::Static(text)) => {
                Self(Repr::Shared(ByteString::from_static(text).slice_ref(part)))
            }
            Repr::Shared(text) => Self(Repr::Shared(text.slice_ref(part))),
            Repr::Plain(Plain::Short(_)) => panic!("a part is not longer than its text"),
        }
    }
}

/// A value in words on the stack; only a long one allocates.
pub(super) struct Written(SmallVec<[u8; 64]>);

impl Written {
    pub(super) fn of(value: impl fmt::Display) -> Self {
        let mut written = Self(SmallVec::new());
        // It cannot fail; a Display that reports an error has still written what it could.
        let _ = write!(written, "{value}");
        written
    }

    pub(super) fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("only strings were written")
    }
}

impl Write for Written {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl Deref for Text {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::short(text).unwrap_or_else(|| Self(Repr::Shared(ByteString::from(text))))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::short(&text).unwrap_or_else(|| Self(Repr::Shared(ByteString::from(text))))
    }
}

impl From<ByteString> for Text {
    fn from(text: ByteString) -> Self {
        Self::short(&text).unwrap_or(Self(Repr::Shared(text)))
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::from_static("")
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

// As its string, which it can be borrowed as.
impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
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
