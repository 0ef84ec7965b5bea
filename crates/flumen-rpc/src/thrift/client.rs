//! The client's side of a connection: one call after the other, each answered before the next.

use super::{DecodeError, Method, Protocol, Status, decode_reply, encode_call, frame::Frames};
use crate::net::BoxIo;
use flumen_core::event::Batch;
use std::{fmt, io, ops::Range};
use tokio::io::AsyncWriteExt;

/// The longest frame to send where a call can be split: what all of Java's servers take.
const SPLIT_ABOVE: usize = 16_384_000;
/// The longest answer to read.
const LONGEST_ANSWER: usize = 1 << 20;
/// A buffer that is larger is given back after the call.
const KEPT_BUFFER: usize = 4 << 20;

/// Why a call was not answered with OK.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The peer has answered, and stored nothing.
    #[error("the peer answered {0:?}")]
    Status(Status),
    /// The peer failed in the call.
    #[error("the peer failed: {0}")]
    Exception(String),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// The peer has ended the connection.
    #[error("the peer has closed the connection")]
    Closed,
    /// The answer cannot be read.
    #[error("the answer cannot be read: {0}")]
    Decode(#[from] DecodeError),
    /// The answer is to another call.
    #[error("the peer has answered call {got} instead of {wanted}")]
    Sequence {
        /// The number of the answer.
        got: i32,
        /// The number of the call.
        wanted: i32,
    },
}

impl CallError {
    /// Whether the connection can be used on, as Java's client does after a status.
    pub fn keeps_connection(&self) -> bool {
        matches!(self, Self::Status(_))
    }
}

/// A connection to a Thrift source. A call that is dropped or fails, but for a status, leaves it unusable.
pub struct Connection {
    stream: BoxIo,
    frames: Frames,
    protocol: Protocol,
    sequence: i32,
    out: Vec<u8>,
}

impl Connection {
    /// A client over a fresh connection.
    pub fn new(stream: BoxIo, protocol: Protocol) -> Self {
        let frames = Frames::new(LONGEST_ANSWER, None);
        Self { stream, frames, protocol, sequence: 0, out: Vec::new() }
    }

    /// Sends one event of the batch and waits for its answer.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn append(&mut self, batch: &Batch, index: usize) -> Result<(), CallError> {
        self.encode(Method::Append, batch, index..index + 1);
        self.call().await
    }

    /// Sends a part of the batch, in one call unless it is too long for Java's servers, and waits for the answer.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn append_batch(&mut self, batch: &Batch, range: Range<usize>) -> Result<(), CallError> {
        let mut start = range.start;
        let mut len = range.len();
        loop {
            self.encode(Method::AppendBatch, batch, start..start + len);
            if self.out.len() > SPLIT_ABOVE && len > 1 {
                len = len.div_ceil(2);
                continue;
            }
            self.call().await?;
            start += len;
            len = len.min(range.end - start);
            if len == 0 {
                return Ok(());
            }
        }
    }

    fn encode(&mut self, method: Method, batch: &Batch, range: Range<usize>) {
        self.out.clear();
        encode_call(&mut self.out, self.protocol, method, self.sequence.wrapping_add(1), batch, range);
    }

    async fn call(&mut self) -> Result<(), CallError> {
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.write_all(&self.out).await?;
        self.stream.flush().await?;
        if self.out.capacity() > KEPT_BUFFER {
            self.out = Vec::new();
        }
        let frame = match self.frames.next(&mut self.stream).await {
            Ok(Some(frame)) => frame,
            Ok(None) => return Err(CallError::Closed),
            Err(error) => return Err(CallError::Io(io::Error::other(error))),
        };
        let reply = decode_reply(&frame.bytes, self.protocol)?;
        if reply.sequence != self.sequence {
            return Err(CallError::Sequence { got: reply.sequence, wanted: self.sequence });
        }
        match reply.answer {
            Ok(Status::Ok) => Ok(()),
            Ok(status) => Err(CallError::Status(status)),
            Err((_, text)) => Err(CallError::Exception(text)),
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("protocol", &self.protocol)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}
