//! Frames of Java's Netty transport: a serial number, a list of buffers, one message.

use bytes::{Buf, Bytes, BytesMut};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::io::{AsyncRead, AsyncReadExt};

/// What is read at a time between frames. A larger frame is then read to where it stays.
const SMALL_READ: usize = 16 << 10;
/// The same for a peer that cuts its frames into small buffers.
const LARGE_READ: usize = 64 << 10;
/// From so many missing bytes on, a buffer is read to where it stays.
const DIRECT_READ: usize = 64 << 10;
/// A frame gets room for so many bytes at first, whatever length it claims.
const FIRST_ROOM: usize = 1 << 20;
/// More buffers than this in one frame are a mistake: Java cuts every 8 KB.
const MAX_BUFFERS: i32 = 1 << 18;

/// A message with the number that its answer will bear.
#[derive(Debug)]
pub struct Frame {
    /// The number.
    pub serial: i32,
    /// The message: all buffers, end to end.
    pub payload: Bytes,
    /// The room that it takes. To be dropped when the payload is in a channel, which has limits of its own.
    pub room: Room,
}

/// Why a connection cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The system, TLS or zlib said so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes are no frame.
    #[error("{0} buffers in a frame: {1}")]
    Buffers(i32, &'static str),
    /// A buffer has a length below zero.
    #[error("a buffer of {0} bytes in a frame")]
    BufferLength(i32),
    /// A frame is longer than allowed.
    #[error("a frame of {0} bytes or more: the limit is {1}")]
    TooLong(u64, usize),
    /// All frames that are being read are more than allowed.
    #[error("no room for a frame: {0} bytes of frames are being read")]
    NoRoom(u64),
    /// The peer ended its side within a frame.
    #[error("the connection ended in the middle of a frame")]
    Cut,
}

/// How much memory all connections of a server may use for frames that are being read.
#[derive(Debug)]
pub struct Budget {
    used: AtomicU64,
    max: u64,
}

/// A part of a budget; dropping it gives it back.
#[derive(Debug)]
pub struct Room {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(max_bytes: u64) -> Arc<Self> {
        Arc::new(Self { used: AtomicU64::new(0), max: max_bytes })
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

impl Room {
    fn none(budget: &Arc<Budget>) -> Self {
        Self { budget: budget.clone(), bytes: 0 }
    }

    fn grow(&mut self, bytes: usize) -> Result<(), FrameError> {
        let bytes = bytes as u64;
        let before = self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        if before + bytes > self.budget.max { Err(FrameError::NoRoom(before)) } else { Ok(()) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Puts frames together from what a connection brings.
#[derive(Debug)]
pub struct FrameReader {
    budget: Arc<Budget>,
    max_frame_bytes: usize,
    input: BytesMut,
    read_size: usize,
    /// The frame that is being read.
    part: Option<Part>,
}

#[derive(Debug)]
struct Part {
    serial: i32,
    n_buffers: i32,
    buffers_left: i32,
    /// What the present buffer lacks.
    missing: usize,
    payload: BytesMut,
    room: Room,
}

impl FrameReader {
    /// A reader of frames of at most so many bytes, within a budget.
    pub fn new(max_frame_bytes: usize, budget: Arc<Budget>) -> Self {
        Self { budget, max_frame_bytes, input: BytesMut::new(), read_size: SMALL_READ, part: None }
    }

    /// Whether a frame has begun and is not finished.
    pub fn is_within_frame(&self) -> bool {
        self.part.is_some() || !self.input.is_empty()
    }

    /// The next frame, or `None` when the peer has ended its side between frames. Nothing is lost when it is dropped before it
    /// is done.
    ///
    /// # Errors
    /// See [`FrameError`]. The connection is of no use then.
    pub async fn next(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<Option<Frame>, FrameError> {
        loop {
            if let Some(frame) = self.advance()? {
                return Ok(Some(frame));
            }
            if self.read(stream).await? == 0 {
                return if self.is_within_frame() { Err(FrameError::Cut) } else { Ok(None) };
            }
        }
    }

    /// Reads once: to where the bytes stay, where many are missing.
    ///
    /// # Errors
    /// What the connection said.
    pub async fn read(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<usize> {
        if let Some(part) = &mut self.part
            && part.missing >= DIRECT_READ
            && part.payload.capacity() > part.payload.len()
        {
            let most = part.missing.min(part.payload.capacity() - part.payload.len());
            let mut room = bytes::BufMut::limit(&mut part.payload, most);
            let n_bytes = stream.read_buf(&mut room).await?;
            part.missing -= n_bytes;
            return Ok(n_bytes);
        }
        self.input.reserve(self.read_size);
        stream.read_buf(&mut self.input).await
    }

    /// Takes over bytes that were read elsewhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Goes on with what was read, as far as it can.
    ///
    /// # Errors
    /// See [`FrameError`].
    pub fn advance(&mut self) -> Result<Option<Frame>, FrameError> {
        loop {
            let Some(part) = &mut self.part else {
                let Some((serial, n_buffers)) = self.header()? else { return Ok(None) };
                self.part = Some(Part {
                    serial,
                    n_buffers,
                    buffers_left: n_buffers,
                    missing: 0,
                    payload: BytesMut::new(),
                    room: Room::none(&self.budget),
                });
                continue;
            };
            if part.missing > 0 {
                part.fill(&mut self.input)?;
                if part.missing > 0 {
                    part.make_room(0)?;
                    return Ok(None);
                }
            }
            if part.buffers_left == 0 {
                let Some(part) = self.part.take() else { return Ok(None) };
                let per_buffer = part.payload.len() / usize::try_from(part.n_buffers).unwrap_or(1).max(1);
                let is_cut_small = part.n_buffers > 4 && per_buffer < DIRECT_READ;
                self.read_size = if is_cut_small { LARGE_READ } else { SMALL_READ };
                let Part { serial, payload, room, .. } = part;
                return Ok(Some(Frame { serial, payload: payload.freeze(), room }));
            }
            if self.input.len() < 4 {
                return Ok(None);
            }
            let length = self.input.get_i32();
            part.buffers_left -= 1;
            part.missing = usize::try_from(length).map_err(|_| FrameError::BufferLength(length))?;
            let whole = part.payload.len() as u64 + part.missing as u64;
            if whole > self.max_frame_bytes as u64 {
                return Err(FrameError::TooLong(whole, self.max_frame_bytes));
            }
        }
    }

    fn header(&mut self) -> Result<Option<(i32, i32)>, FrameError> {
        if self.input.len() < 8 {
            return Ok(None);
        }
        let hint = foreign(&self.input[..8]);
        let (serial, n_buffers) = (self.input.get_i32(), self.input.get_i32());
        if !(1..=MAX_BUFFERS).contains(&n_buffers) {
            return Err(FrameError::Buffers(n_buffers, hint));
        }
        Ok(Some((serial, n_buffers)))
    }
}

impl Part {
    /// Moves what there is of the present buffer.
    fn fill(&mut self, input: &mut BytesMut) -> Result<(), FrameError> {
        while self.missing > 0 && !input.is_empty() {
            self.make_room(input.len())?;
            let n_bytes = self.missing.min(input.len()).min(self.payload.capacity() - self.payload.len());
            self.payload.extend_from_slice(&input[..n_bytes]);
            input.advance(n_bytes);
            self.missing -= n_bytes;
        }
        Ok(())
    }

    /// Makes room for more of the present buffer, in steps that double: bytes that were only announced take no memory.
    fn make_room(&mut self, at_hand: usize) -> Result<(), FrameError> {
        let free = self.payload.capacity() - self.payload.len();
        if free >= self.missing || (free > 0 && free >= at_hand) {
            return Ok(());
        }
        // Further buffers of the frame are likely of the same size.
        let whole = self.missing.max(at_hand);
        let step = whole.min(FIRST_ROOM.max(self.payload.len()));
        self.room.grow(step)?;
        self.payload.reserve(step);
        Ok(())
    }
}

/// What the first bytes of something else look like.
fn foreign(start: &[u8]) -> &'static str {
    match start {
        [0x16, 3, ..] => "the peer speaks TLS, and ssl is not true here",
        [0x78, ..] => "the peer compresses, and compression-type is not deflate here",
        [_, _, _, _, 0x80, 1, ..] | [_, _, _, _, 0x82, 0x21 | 0x41 | 0x81, ..] => "the peer speaks Thrift",
        _ if start.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') => {
            "the peer speaks something else, perhaps HTTP"
        }
        _ => {
            "the peer does not speak Flume's Avro protocol, or compresses or encrypts where this side does not"
        }
    }
}

/// Appends a message as a frame of one buffer.
pub(super) fn put(serial: i32, payload: &[u8], out: &mut Vec<u8>) {
    let start = begin(serial, out);
    out.extend_from_slice(payload);
    end(start, out);
}

/// Begins a frame of one buffer; [`end`] finishes it.
pub(super) fn begin(serial: i32, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&serial.to_be_bytes());
    out.extend_from_slice(&1i32.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    out.len()
}

/// Notes the length of what was appended since [`begin`].
pub(super) fn end(start: usize, out: &mut [u8]) {
    // What is sent is below the limit of frames, which is far below 2 GiB.
    let length = i32::try_from(out.len() - start).unwrap_or(i32::MAX);
    out[start - 4..start].copy_from_slice(&length.to_be_bytes());
}
