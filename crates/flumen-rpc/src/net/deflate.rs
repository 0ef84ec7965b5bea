//! zlib around a connection: one stream of RFC 1950 for each direction, flushed where a message ends, as Netty's does.

use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};
use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What is read of the connection at a time.
const INPUT_BYTES: usize = 16 << 10;
/// Compressed bytes beyond which no more is taken before they are written.
const OUTPUT_BYTES: usize = 64 << 10;

/// How a connection is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// 0 to 9; 0 only wraps.
    pub level: u32,
    /// With TLS: whether what TLS carries is compressed, as in Flume up to 1.9, and not what comes out of TLS, as in 1.10 and
    /// later. The two cannot talk to each other.
    pub within_tls: bool,
}

/// A connection that is compressed both ways.
pub struct Deflate<S> {
    inner: S,
    compress: Compress,
    /// Compressed, and written up to `written`.
    output: Vec<u8>,
    written: usize,
    /// Whether something was compressed that no flush has brought out.
    unflushed: bool,
    decompress: Decompress,
    input: Box<[u8]>,
    /// What of the input is not inflated.
    filled: std::ops::Range<usize>,
    /// The peer's zlib stream has ended, or its connection.
    ended: bool,
    /// The inflater may have more to give without more input.
    more: bool,
}

impl<S> Deflate<S> {
    /// Compresses what is written at this level (0 to 9; 0 only wraps).
    pub fn new(inner: S, level: u32) -> Self {
        Self {
            inner,
            compress: Compress::new(flate2::Compression::new(level.min(9)), true),
            output: Vec::new(),
            written: 0,
            unflushed: false,
            decompress: Decompress::new(true),
            input: vec![0; INPUT_BYTES].into(),
            filled: 0..0,
            ended: false,
            more: false,
        }
    }

    /// Compresses, and grows the output as needed.
    fn compress(&mut self, bytes: &[u8], flush: FlushCompress) -> io::Result<()> {
        let before = self.compress.total_in();
        let mut rest = bytes;
        loop {
            self.output.reserve((rest.len() / 2).max(1 << 10));
            let status =
                self.compress.compress_vec(rest, &mut self.output, flush).map_err(io::Error::other)?;
            let n_bytes = usize::try_from(self.compress.total_in() - before).unwrap_or(bytes.len());
            rest = &bytes[n_bytes..];
            let has_room = self.output.len() < self.output.capacity();
            match status {
                Status::StreamEnd => return Ok(()),
                _ if rest.is_empty() && has_room => return Ok(()),
                _ => {}
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> Deflate<S> {
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.output.len() {
            let n_bytes =
                ready!(Pin::new(&mut self.inner).poll_write(context, &self.output[self.written..]))?;
            if n_bytes == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += n_bytes;
        }
        self.written = 0;
        self.output.clear();
        self.output.shrink_to(OUTPUT_BYTES * 2);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Deflate<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if into.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            if (!this.filled.is_empty() || this.more) && !this.ended {
                let (in_before, out_before) = (this.decompress.total_in(), this.decompress.total_out());
                let room = into.initialize_unfilled();
                let room_len = room.len();
                let status = this
                    .decompress
                    .decompress(&this.input[this.filled.clone()], room, FlushDecompress::None)
                    .map_err(|error| {
                        let what =
                            format!("not zlib ({error}): compression-type must be the same at both ends");
                        io::Error::new(io::ErrorKind::InvalidData, what)
                    })?;
                let read = usize::try_from(this.decompress.total_in() - in_before).unwrap_or(0);
                let made = usize::try_from(this.decompress.total_out() - out_before).unwrap_or(0);
                this.filled.start += read;
                this.ended = matches!(status, Status::StreamEnd);
                this.more = made == room_len;
                if made > 0 {
                    into.advance(made);
                    return Poll::Ready(Ok(()));
                }
                if this.filled.is_empty() || read == 0 {
                    this.more = false;
                }
                if read > 0 {
                    continue;
                }
            }
            if this.ended {
                return Poll::Ready(Ok(()));
            }
            // What was not taken for want of more stays in front.
            let rest = this.filled.len();
            this.input.copy_within(this.filled.clone(), 0);
            this.filled = 0..rest;
            if rest == this.input.len() {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "zlib makes no progress",
                )));
            }
            let mut more = ReadBuf::new(&mut this.input[rest..]);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut more))?;
            let n_bytes = more.filled().len();
            this.filled.end += n_bytes;
            this.ended = n_bytes == 0;
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Deflate<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.output.len() >= OUTPUT_BYTES {
            ready!(self.poll_drain(context))?;
        }
        // A large write is taken piece by piece, so that its output stays small.
        let bytes = &bytes[..bytes.len().min(OUTPUT_BYTES)];
        self.compress(bytes, FlushCompress::None)?;
        self.unflushed = true;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.unflushed {
            self.compress(&[], FlushCompress::Sync)?;
            self.unflushed = false;
        }
        ready!(self.poll_drain(context))?;
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl<S> std::fmt::Debug for Deflate<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deflate").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn every_flush_brings_all_over_at_every_level_and_size() {
        for level in [0, 1, 6, 9] {
            // A narrow pipe: writes and reads come in pieces.
            let (here, there) = duplex(100);
            let (mut here, mut there) = (Deflate::new(here, level), Deflate::new(there, level));
            for n_bytes in [1usize, 5, 100, 70_000, 300_000] {
                let text: Vec<u8> = (0..n_bytes).map(|n| (n * n % 251) as u8).collect();
                let mut got = vec![0; n_bytes];
                let send = async {
                    here.write_all(&text).await.unwrap();
                    here.flush().await.unwrap();
                };
                let (_, read) = tokio::join!(send, there.read_exact(&mut got));
                assert_eq!(read.unwrap(), n_bytes, "level {level}");
                assert!(got == text, "level {level}, {n_bytes} bytes");
            }
            drop(here);
            assert_eq!(there.read(&mut [0; 10]).await.unwrap(), 0);
        }
    }

    #[tokio::test]
    async fn what_is_no_zlib_is_told_with_its_cure() {
        let (mut here, there) = duplex(1000);
        here.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let error = Deflate::new(there, 6).read(&mut [0; 100]).await.unwrap_err();
        assert!(error.to_string().contains("compression-type"), "{error}");
    }

    #[tokio::test]
    async fn an_ended_stream_is_the_end() {
        let mut bytes = Vec::with_capacity(100);
        Compress::new(flate2::Compression::best(), true)
            .compress_vec(b"the end", &mut bytes, FlushCompress::Finish)
            .unwrap();
        let (mut here, there) = duplex(1000);
        here.write_all(&bytes).await.unwrap();
        let mut text = String::new();
        Deflate::new(there, 6).read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "the end");
    }
}
