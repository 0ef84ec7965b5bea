//! Makes a batch of a call: its rows point into the frame.

use super::{
    Method, Protocol,
    reader::{Kind, MessageKind, Reader},
};
use bytes::Bytes;
use flumen_core::event::{Batch, Headers, Text};
use std::ops::Range;

/// The most events of a call. Channels take far fewer in one transaction.
pub const MAX_EVENTS: usize = 1_000_000;
/// The most headers of all events of a call together, each set that is written anew counted.
pub const MAX_HEADERS: usize = 4_000_000;
/// How deep values may be nested, as in Java's library.
pub const MAX_DEPTH: u32 = 64;

/// The shortest event: a map and a body, both empty, in the compact protocol.
const SHORTEST_EVENT: usize = 5;

/// A call, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What is called.
    pub method: Method,
    /// The number that the answer must have.
    pub sequence: i32,
    /// The events.
    pub batch: Batch,
}

/// Why a message is no call of the service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes are no message of Thrift.
    #[error("this is not Thrift: is the peer's type or protocol another, or TLS on at one side only?")]
    NotThrift,
    /// The message is of the protocol that was not chosen.
    #[error("the peer speaks Thrift's {} protocol: set `protocol` alike on both sides", name(*.0))]
    OtherProtocol(Protocol),
    /// The message ends within a value.
    #[error("the message ends too early")]
    Short,
    /// The message breaks the rules of the protocol.
    #[error("the message holds {0}")]
    Malformed(&'static str),
    /// Values within values within values.
    #[error("the message is nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// More events, or more headers, than a call may have.
    #[error("the call has too many {0}: at most {1}")]
    TooMany(&'static str, usize),
    /// A good message that asks for a method that is not there. It is answered.
    #[error("invalid method name: '{name}'")]
    UnknownMethod {
        /// The method.
        name: String,
        /// The number of the call.
        sequence: i32,
    },
    /// Arguments that cannot be understood, of a call that can be answered.
    #[error("{cause}")]
    Arguments {
        /// The method.
        method: Method,
        /// The number of the call.
        sequence: i32,
        /// What is wrong.
        cause: Box<DecodeError>,
    },
}

fn name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Compact => "compact",
        Protocol::Binary => "binary",
    }
}

/// Reads a call, the frame's length already taken off. Names and values that are not UTF-8 get replacement characters, as
/// in Java; unknown fields are passed over.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode_call(frame: Bytes, protocol: Protocol) -> Result<Call, DecodeError> {
    let mut reader = Reader::new(&frame, protocol);
    let header = reader.message()?;
    if !matches!(header.kind, MessageKind::Call | MessageKind::OneWay) {
        return Err(DecodeError::Malformed("no call, but an answer"));
    }
    let sequence = header.sequence;
    let method = match reader.slice(header.name) {
        b"append" => Method::Append,
        b"appendBatch" => Method::AppendBatch,
        other => {
            let name = String::from_utf8_lossy(other).into_owned();
            return Err(DecodeError::UnknownMethod { name, sequence });
        }
    };
    let mut events = Events { reader, frame: &frame, batch: Batch::new(), headers: None, n_headers: 0 };
    let read = events.arguments(method);
    let batch = events.batch;
    match read {
        Ok(()) => Ok(Call { method, sequence, batch }),
        Err(cause) => Err(DecodeError::Arguments { method, sequence, cause: Box::new(cause) }),
    }
}

/// The events of a call, as they are read.
struct Events<'a> {
    reader: Reader<'a>,
    frame: &'a Bytes,
    batch: Batch,
    /// The headers of the event before: their bytes, and their number in the batch. Most events have the same.
    headers: Option<(Range<usize>, u32)>,
    n_headers: usize,
}

impl Events<'_> {
    fn arguments(&mut self, method: Method) -> Result<(), DecodeError> {
        let mut last = 0;
        let mut is_there = false;
        while let Some((kind, number)) = self.reader.field(&mut last)? {
            match (method, kind, number) {
                (Method::Append, Kind::Struct, 1) => {
                    self.begin(1);
                    self.event()?;
                    is_there = true;
                }
                (Method::AppendBatch, Kind::List, 1) => {
                    self.list()?;
                    is_there = true;
                }
                _ => self.reader.skip(kind)?,
            }
        }
        if is_there { Ok(()) } else { Err(DecodeError::Malformed("no events: the field is missing")) }
    }

    fn list(&mut self) -> Result<(), DecodeError> {
        let (kind, count) = self.reader.list()?;
        if count > MAX_EVENTS {
            return Err(DecodeError::TooMany("events", MAX_EVENTS));
        }
        if !matches!(kind, None | Some(Kind::Struct)) {
            return Err(DecodeError::Malformed("a list of something else than events"));
        }
        self.begin(count.min(self.reader.rest().len() / SHORTEST_EVENT));
        for _ in 0..count {
            self.event()?;
        }
        Ok(())
    }

    /// An empty batch over the frame; a field that comes twice counts as it was last.
    fn begin(&mut self, n_events: usize) {
        self.batch = Batch::with_capacity(n_events);
        self.batch.add_segment(self.frame.clone());
        self.headers = None;
    }

    fn event(&mut self) -> Result<(), DecodeError> {
        let (mut set, mut body) = (None, None);
        let mut last = 0;
        while let Some((kind, number)) = self.reader.field(&mut last)? {
            match (kind, number) {
                (Kind::Map, 1) => set = Some(self.headers()?),
                (Kind::Binary, 2) => body = Some(self.reader.binary()?),
                _ => self.reader.skip(kind)?,
            }
        }
        let (Some(set), Some(body)) = (set, body) else {
            return Err(DecodeError::Malformed("an event without headers or body"));
        };
        let place = |at: usize| u32::try_from(at).expect("a frame is shorter than 4 GiB");
        self.batch.push_slice(set, 0, place(body.start)..place(body.end));
        Ok(())
    }

    /// Reads a map and gives its number in the batch.
    fn headers(&mut self) -> Result<u32, DecodeError> {
        // A map says where it ends: one that begins with all the bytes of another is that one.
        if let Some((before, set)) = &self.headers {
            let (set, before) = (*set, self.reader.slice(before.clone()));
            if self.reader.rest().starts_with(before) {
                self.reader.advance(before.len());
                return Ok(set);
            }
        }
        let start = self.reader.position();
        let (kinds, count) = self.reader.map()?;
        if !matches!(kinds, None | Some((Kind::Binary, Kind::Binary))) {
            return Err(DecodeError::Malformed("headers that are no texts"));
        }
        self.n_headers += count;
        if self.n_headers > MAX_HEADERS {
            return Err(DecodeError::TooMany("headers", MAX_HEADERS));
        }
        // What is wrong in a map shows in its entries, which are read one after the other.
        let mut wrong = None;
        let entries = (0..count).map_while(|_| {
            let entry = self.reader.binary().and_then(|name| Ok((name, self.reader.binary()?)));
            entry.map_err(|error| wrong = Some(error)).ok()
        });
        let headers = Headers::from_pairs(entries.map(|(n, v)| (text(self.frame, n), text(self.frame, v))));
        if let Some(error) = wrong {
            return Err(error);
        }
        let set = self.batch.add_headers(headers);
        self.headers = Some((start..self.reader.position(), set));
        Ok(set)
    }
}

fn text(frame: &Bytes, range: Range<usize>) -> Text {
    let bytes = frame.slice(range);
    Text::from_utf8(bytes.clone())
        .unwrap_or_else(|_| Text::from(String::from_utf8_lossy(&bytes).into_owned()))
}
