//! A connection as a client has it: plain TCP in two halves that share no lock, or layers around it.

use super::BoxIo;
use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// A connection, perhaps with layers around it.
pub(crate) enum Stream {
    /// TCP alone.
    Plain(TcpStream),
    /// TLS, zlib, or both.
    Layered(BoxIo),
}

/// The half of a connection that reads.
pub(crate) enum ReadHalf {
    Plain(OwnedReadHalf),
    Layered(tokio::io::ReadHalf<BoxIo>),
}

/// The half of a connection that writes. Dropping it ends that direction.
pub(crate) enum WriteHalf {
    Plain(OwnedWriteHalf),
    Layered(tokio::io::WriteHalf<BoxIo>),
}

impl Stream {
    /// The connection as one.
    pub(crate) fn boxed(self) -> BoxIo {
        match self {
            Self::Plain(stream) => Box::new(stream),
            Self::Layered(stream) => stream,
        }
    }

    /// Both halves, which can be used at a time. Those of plain TCP share no lock.
    pub(crate) fn into_split(self) -> (ReadHalf, WriteHalf) {
        match self {
            Self::Plain(stream) => {
                let (reader, writer) = stream.into_split();
                (ReadHalf::Plain(reader), WriteHalf::Plain(writer))
            }
            Self::Layered(stream) => {
                let (reader, writer) = tokio::io::split(stream);
                (ReadHalf::Layered(reader), WriteHalf::Layered(writer))
            }
        }
    }
}

impl AsyncRead for ReadHalf {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(half) => Pin::new(half).poll_read(context, into),
            Self::Layered(half) => Pin::new(half).poll_read(context, into),
        }
    }
}

impl AsyncWrite for WriteHalf {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(half) => Pin::new(half).poll_write(context, bytes),
            Self::Layered(half) => Pin::new(half).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(half) => Pin::new(half).poll_flush(context),
            Self::Layered(half) => Pin::new(half).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(half) => Pin::new(half).poll_shutdown(context),
            Self::Layered(half) => Pin::new(half).poll_shutdown(context),
        }
    }
}

impl std::fmt::Debug for ReadHalf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadHalf")
    }
}

impl std::fmt::Debug for WriteHalf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WriteHalf")
    }
}
