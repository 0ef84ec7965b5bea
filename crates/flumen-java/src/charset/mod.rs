//! Java's charsets: look-up by name, decoding and encoding with Java's three answers to an error.
//!
//! All one-byte charsets of a JDK, the common Chinese, Japanese and Korean ones and all forms of UTF work to the byte as in JDK 17.
//! The others (EBCDIC with shifts, ISO-2022-CN and -KR, EUC-TW and the like) are known by name and refused.
//! The tables are in `tables/`, written by the program there.

mod decoder;
mod encoder;
mod names;
mod step;
mod table;

pub use decoder::Decoder;
pub use encoder::Encoder;

use std::borrow::Cow;
use std::fmt;

/// A supported charset. Cheap to copy and compare.
#[derive(Clone, Copy)]
pub struct Charset(&'static names::Info);

/// Why a name gives no charset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Empty, or with a character that no charset name has.
    #[error("\"{0}\" cannot be the name of a charset: use letters, digits and - + . : _, as in UTF-8")]
    Illegal(String),
    /// Java does not know it either.
    #[error(
        "no charset is called \"{0}\": use a name that Java knows, such as UTF-8, ISO-8859-1 or windows-1252"
    )]
    Unknown(String),
    /// Java has it, Flumen does not.
    #[error("the charset {0} is not supported: convert the data to UTF-8 first")]
    Unsupported(&'static str),
}

/// What to do with bytes or characters that cannot be converted: Java's `CodingErrorAction`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// Stop with an error.
    Report,
    /// Write a replacement: U+FFFD, or the charset's own bytes (mostly `?`).
    Replace,
    /// Leave them out.
    Ignore,
}

/// What is wrong with the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Not a legal sequence.
    Malformed,
    /// Legal, but without a counterpart.
    Unmappable,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "malformed",
            Self::Unmappable => "unmappable",
        })
    }
}

/// Input that cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{kind} input of length {length} at {position}: check the charset setting, or choose to replace or ignore"
)]
pub struct CodingError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Bytes (decoding) or UTF-16 units (encoding).
    pub length: usize,
    /// Where, from the start of the stream, in the same unit.
    pub position: u64,
}

impl Charset {
    /// UTF-8.
    pub fn utf_8() -> Self {
        Self::built_in("UTF-8")
    }

    /// ISO-8859-1.
    pub fn latin_1() -> Self {
        Self::built_in("ISO-8859-1")
    }

    /// US-ASCII.
    pub fn us_ascii() -> Self {
        Self::built_in("US-ASCII")
    }

    fn built_in(name: &str) -> Self {
        Self(names::find(name).expect("the list of charsets has the three standard ones, as a test shows"))
    }

    /// The charset with this name or alias, in any case: Java's `Charset.forName`.
    pub fn for_name(name: &str) -> Result<Self, NameError> {
        let legal = |(i, c): (usize, char)| c.is_ascii_alphanumeric() || i > 0 && "-+:_.".contains(c);
        if name.is_empty() || !name.char_indices().all(legal) {
            return Err(NameError::Illegal(name.to_owned()));
        }
        match names::find(name) {
            None => Err(NameError::Unknown(name.to_owned())),
            Some(info) if info.kind == names::Kind::Unsupported => Err(NameError::Unsupported(info.name)),
            Some(info) => Ok(Self(info)),
        }
    }

    /// Every supported charset, sorted by name.
    pub fn all() -> impl Iterator<Item = Self> {
        names::all().iter().filter(|i| i.kind != names::Kind::Unsupported).map(Self)
    }

    /// Java's canonical name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Its other names.
    pub fn aliases(self) -> &'static [&'static str] {
        &self.0.aliases
    }

    /// Decodes a whole text. UTF-8 and ASCII without errors are borrowed, not copied. A byte order mark is kept, except in the
    /// charsets that Java removes it from (UTF-16, UTF-32 and those named after it).
    pub fn decode(self, bytes: &[u8], on_error: OnError) -> Result<Cow<'_, str>, CodingError> {
        let plain = match self.0.kind {
            names::Kind::Utf8 => true,
            names::Kind::Ascii => bytes.is_ascii(),
            _ => false,
        };
        if plain && let Ok(text) = std::str::from_utf8(bytes) {
            return Ok(Cow::Borrowed(text));
        }
        let mut out = String::with_capacity(bytes.len());
        self.decoder(on_error).decode(bytes, true, &mut out)?;
        Ok(Cow::Owned(out))
    }

    /// Encodes a whole text. UTF-8 is borrowed.
    pub fn encode(self, text: &str, on_error: OnError) -> Result<Cow<'_, [u8]>, CodingError> {
        if self.0.kind == names::Kind::Utf8 {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        let mut out = Vec::with_capacity(text.len());
        let mut encoder = self.encoder(on_error);
        encoder.encode(text, &mut out)?;
        encoder.finish(&mut out);
        Ok(Cow::Owned(out))
    }

    /// A decoder for a stream.
    pub fn decoder(self, on_error: OnError) -> Decoder {
        Decoder::new(self, on_error)
    }

    /// An encoder for a stream.
    pub fn encoder(self, on_error: OnError) -> Encoder {
        Encoder::new(self, on_error)
    }

    fn info(self) -> &'static names::Info {
        self.0
    }
}

impl PartialEq for Charset {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Charset {}

impl fmt::Debug for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Charset({})", self.name())
    }
}

impl fmt::Display for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
