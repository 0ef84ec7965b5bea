//! What a message says of itself.

use std::ops::Range;

/// The parts of one message, as places in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fields<'a> {
    /// The number between `<` and `>`. `None`: there is no usable one.
    pub(crate) priority: Option<u32>,
    /// That number as it is written, where the head of the message could be read.
    pub(crate) priority_text: Option<&'a str>,
    pub(crate) version: Option<&'a str>,
    /// Milliseconds since 1970.
    pub(crate) timestamp: Option<i64>,
    pub(crate) host: Option<&'a str>,
    pub(crate) status: Status,
    pub(crate) body: Body,
}

/// The body of the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// A part of the message.
    Part(Range<usize>),
    /// Made anew of kept parts.
    Made(Vec<u8>),
}

/// The header `flume.syslog.status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Status {
    /// No header.
    Good,
    /// The message is longer than the limit; the rest comes as further events.
    Incomplete,
    /// It is no syslog message.
    Invalid,
}

impl Status {
    /// The value of the header.
    pub(crate) fn text(self) -> Option<&'static str> {
        match self {
            Self::Good => None,
            Self::Incomplete => Some("Incomplete"),
            Self::Invalid => Some("Invalid"),
        }
    }
}
