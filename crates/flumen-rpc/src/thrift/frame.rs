//! Takes frames off a connection: none longer than allowed, no more of them in memory than allowed, and none that never ends.

use bytes::{Buf, Bytes, BytesMut};
use std::{io, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The longest frame, as of Java's plain server; its server with TLS and its clients read no more than 16,384,000 bytes.
pub const MAX_FRAME_BYTES: usize = 256 << 20;

/// A peer that has begun a frame goes on within this time.
const STALL: Duration = Duration::from_secs(30);
/// How long a frame waits for memory that others hold.
const MEMORY_WAIT: Duration = Duration::from_secs(10);
/// What is read of a connection before the length of the frame is known, at most.
const READ_AHEAD: usize = 64 << 10;
/// What is read ahead of a connection whose frames are short.
const SHORT_READ_AHEAD: usize = 4 << 10;
/// Up to this size a frame gets its memory at once, beyond as its bytes come: a length alone costs a peer nothing.
const TRUSTED: usize = 256 << 10;
/// Memory is counted in units of this size, so that their number fits.
const UNIT: usize = 1 << 10;

/// What all frames of a server may hold together.
#[derive(Debug, Clone)]
pub struct Memory {
    units: Arc<Semaphore>,
    total: usize,
}

impl Memory {
    /// Room for so many bytes, counted in kilobytes.
    pub fn new(bytes: u64) -> Self {
        let units = usize::try_from(bytes / UNIT as u64).unwrap_or(usize::MAX).clamp(1, 1 << 30);
        Self { units: Arc::new(Semaphore::new(units)), total: units }
    }

    async fn hold(&self, held: &mut Option<OwnedSemaphorePermit>, bytes: usize) -> Result<(), FrameError> {
        let wanted = bytes.div_ceil(UNIT).min(self.total);
        let more = wanted.saturating_sub(held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
        let more = u32::try_from(more).expect("units were made to fit");
        if more == 0 {
            return Ok(());
        }
        let got = match self.units.clone().try_acquire_many_owned(more) {
            Ok(got) => got,
            Err(_) => timeout(MEMORY_WAIT, self.units.clone().acquire_many_owned(more))
                .await
                .map_err(|_| FrameError::NoMemory)?
                .expect("the semaphore is never closed"),
        };
        match held {
            Some(held) => held.merge(got),
            none => *none = Some(got),
        }
        Ok(())
    }
}

/// A frame, and the memory that it counts for until it is dropped.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    pub(super) memory: Option<OwnedSemaphorePermit>,
}

/// Why no frame comes.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    #[error(
        "a frame of {0} bytes, which is no length: is the peer's type another, or TLS on at one side only?"
    )]
    BadLength(i32),
    #[error("a frame of {len} bytes, and at most {max} are taken{}", hint(.len))]
    TooLong { len: usize, max: usize },
    /// Where Thrift has the length, Avro has the number of the call, and the first is 1.
    #[error("a frame of one byte, which no message fits in: the peer speaks Avro")]
    Avro,
    #[error("the peer has not gone on with a frame within {} s", STALL.as_secs())]
    Stalled,
    #[error("no memory for a frame within {} s: other connections hold it all", MEMORY_WAIT.as_secs())]
    NoMemory,
    #[error("the peer has ended the connection within a frame")]
    Cut,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// What the four bytes of a length would be in other protocols.
fn hint(len: &usize) -> &'static str {
    match u32::try_from(*len).unwrap_or_default().to_be_bytes() {
        [0x16, 3, ..] => ": the peer speaks TLS",
        [b'A'..=b'Z', b'A'..=b'Z', b'A'..=b'Z', b' ' | b'A'..=b'Z'] => ": the peer speaks HTTP",
        _ => "",
    }
}

/// What was read of a connection. Dropping [`Self::next`] loses nothing: the next one goes on.
#[derive(Debug)]
pub(super) struct Frames {
    buffer: BytesMut,
    max: usize,
    memory: Option<Memory>,
    held: Option<OwnedSemaphorePermit>,
    /// How much to read when nothing is known: as much as the last frame had.
    read_ahead: usize,
}

impl Frames {
    /// Frames of at most `max` bytes, which count for the memory.
    pub(super) fn new(max: usize, memory: Option<Memory>) -> Self {
        Self {
            buffer: BytesMut::new(),
            max: max.min(MAX_FRAME_BYTES),
            memory,
            held: None,
            read_ahead: SHORT_READ_AHEAD,
        }
    }

    /// The next frame; `None` where the peer has ended the connection between two.
    pub(super) async fn next<R: AsyncRead + Unpin>(
        &mut self,
        from: &mut R,
    ) -> Result<Option<Frame>, FrameError> {
        loop {
            let len = self.length()?;
            if let Some(len) = len {
                if self.buffer.len() >= 4 + len {
                    if let Some(memory) = &self.memory {
                        memory.hold(&mut self.held, len).await?;
                    }
                    self.buffer.advance(4);
                    let bytes = self.buffer.split_to(len).freeze();
                    self.read_ahead = (len + 4 + 64).clamp(SHORT_READ_AHEAD, READ_AHEAD);
                    return Ok(Some(Frame { bytes, memory: self.held.take() }));
                }
                let there = self.buffer.len();
                let room = (4 + len).min((there * 2).max(TRUSTED));
                if let Some(memory) = &self.memory {
                    memory.hold(&mut self.held, room).await?;
                }
                self.buffer.reserve(room - there);
            } else {
                self.buffer.reserve(self.read_ahead.saturating_sub(self.buffer.len()));
            }
            let is_between = self.buffer.is_empty();
            let read = from.read_buf(&mut self.buffer);
            let n = if is_between {
                read.await
            } else {
                timeout(STALL, read).await.map_err(|_| FrameError::Stalled)?
            }?;
            if n == 0 {
                return if is_between { Ok(None) } else { Err(FrameError::Cut) };
            }
        }
    }

    fn length(&self) -> Result<Option<usize>, FrameError> {
        let Some(bytes) = self.buffer.first_chunk::<4>() else { return Ok(None) };
        let len = i32::from_be_bytes(*bytes);
        match usize::try_from(len) {
            Ok(0) | Err(_) => Err(FrameError::BadLength(len)),
            Ok(1) => Err(FrameError::Avro),
            Ok(len) if len > self.max => Err(FrameError::TooLong { len, max: self.max }),
            Ok(len) => Ok(Some(len)),
        }
    }
}
