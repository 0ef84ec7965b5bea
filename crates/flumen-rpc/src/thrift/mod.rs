//! Flume's Thrift service: framed messages in the compact or the binary protocol, a server and a client.
//!
//! The service is `ThriftSourceProtocol` of `flume.thrift`: `append` of one event and `appendBatch` of a list, both of which
//! answer with a [`Status`]. The encodings are those of the Apache Thrift specification (`thrift-binary-protocol.md`,
//! `thrift-compact-protocol.md`); a frame is a length in four bytes, most significant first, and so many bytes.

mod client;
mod decode;
mod encode;
mod frame;
mod reader;
mod reply;
mod server;
#[cfg(test)]
mod tests;
mod writer;

pub use client::{CallError, Connection};
pub use decode::{Call, DecodeError, MAX_DEPTH, MAX_EVENTS, MAX_HEADERS, decode_call};
pub use encode::{encode_call, encode_reply};
pub use frame::{MAX_FRAME_BYTES, Memory};
pub use reply::{Reply, decode_reply};
pub use server::{Answer, Service, serve};

use flumen_core::config::PropertyValue;

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Varints and short field headers.
    Compact,
    /// Fixed lengths; strict in what is written, and also reading messages without a version.
    Binary,
}

/// A method of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// One event.
    Append,
    /// A list of events.
    AppendBatch,
}

impl Method {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::AppendBatch => "appendBatch",
        }
    }
}

/// What the service answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All events are in the channels.
    Ok,
    /// A channel refused.
    Failed,
    /// Not used by Flume's own server.
    Error,
    /// Not used by Flume's own server, and what any other number is taken for.
    Unknown,
}

impl Status {
    /// Its number in `flume.thrift`.
    pub fn number(self) -> i32 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Error => 2,
            Self::Unknown => 3,
        }
    }

    /// The status of a number.
    pub fn of_number(number: i32) -> Self {
        match number {
            0 => Self::Ok,
            1 => Self::Failed,
            2 => Self::Error,
            _ => Self::Unknown,
        }
    }
}

/// What kind of failure an exception of the protocol reports (`TApplicationException`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The service has no such method.
    UnknownMethod,
    /// Something failed while the call was carried out.
    Internal,
    /// The arguments cannot be read.
    Protocol,
}

impl Fault {
    /// Its number on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::UnknownMethod => 1,
            Self::Internal => 6,
            Self::Protocol => 7,
        }
    }
}

impl PropertyValue for Protocol {
    const KIND: &'static str = "`compact` or `binary`";

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "compact" => Ok(Self::Compact),
            "binary" => Ok(Self::Binary),
            _ => Err("expected `compact` or `binary`, in lower case".to_owned()),
        }
    }

    /// Java takes either word in any case, and then looks for `binary` in lower case only: the peer speaks compact.
    fn forgive(text: &str) -> Option<(Self, String)> {
        let known = ["compact", "binary"].iter().any(|name| text.trim().eq_ignore_ascii_case(name));
        known.then(|| (Self::Compact, "compact".to_owned()))
    }
}
