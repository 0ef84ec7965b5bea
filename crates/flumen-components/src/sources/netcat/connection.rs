//! One connection: lines in, answers out.

use super::wire::{Answers, End, Found, Lines};
use flumen_core::{
    channel::ChannelError, event::Batch, processor::ChannelProcessor, seldom::Seldom, source::Shutdown,
};
use flumen_java::charset::Charset;
use std::{io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

/// A peer that does not take its answers for this long is given up.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// How long, and for how many bytes, a peer is listened to after the last answer, so that it gets that answer.
const FAREWELL: Duration = Duration::from_secs(1);
const FAREWELL_BYTES: usize = 1 << 20;

/// What all connections of a source have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) name: Arc<str>,
    pub(super) charset: Charset,
    pub(super) max_units: u32,
    pub(super) ack: bool,
    /// What may be told of lines that are not stored, and of connections that are closed.
    pub(super) refused: Seldom,
    pub(super) closed: Seldom,
}

/// Serves a peer until it ends its side, breaks a rule, or the source stops.
pub(super) async fn serve(
    mut stream: TcpStream,
    peer: SocketAddr,
    shared: Arc<Shared>,
    out: ChannelProcessor,
    mut shutdown: Shutdown,
) {
    out.metrics().open_connections.add(1);
    let _open = Open(&out);
    let mut connection = Connection {
        lines: Lines::new(shared.charset, shared.max_units as usize),
        answers: Answers::new(shared.charset),
        shared: &shared,
        out: &out,
    };
    if let Err(error) = connection.run(&mut stream, peer, &mut shutdown).await {
        out.metrics().read_fail.add(1);
        tracing::debug!(source = %shared.name, %peer, %error, "connection broken");
    }
}

/// Counts a connection as open, however its task ends.
struct Open<'a>(&'a ChannelProcessor);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.metrics().open_connections.add(-1);
    }
}

struct Connection<'a> {
    lines: Lines,
    answers: Answers,
    shared: &'a Shared,
    out: &'a ChannelProcessor,
}

impl Connection<'_> {
    async fn run(
        &mut self,
        stream: &mut TcpStream,
        peer: SocketAddr,
        shutdown: &mut Shutdown,
    ) -> io::Result<()> {
        loop {
            let n_bytes = tokio::select! {
                biased;
                () = shutdown.requested() => return Ok(()),
                n_bytes = stream.read_buf(self.lines.room()) => n_bytes?,
            };
            if n_bytes == 0 {
                return Ok(());
            }
            let Found { lines, end } = self.lines.cut(n_bytes);
            if !lines.is_empty() {
                self.put(lines, peer).await;
            }
            if end == Some(End::TooLong) {
                self.answers.too_long(self.shared.max_units);
            }
            self.answer(stream).await?;
            if let Some(end) = end {
                self.out.metrics().read_fail.add(1);
                let why = match end {
                    End::TooLong => "a line is longer than max-line-length",
                    End::Undecodable => "its bytes are none of the charset that encoding names",
                };
                if let Some(unsaid) = self.shared.closed.due() {
                    tracing::warn!(source = %self.shared.name, %peer, unsaid, "connection closed: {why}");
                }
                return farewell(stream).await;
            }
        }
    }

    /// Puts the lines, and notes the answer to each.
    async fn put(&mut self, lines: Batch, peer: SocketAddr) {
        let most = self.out.max_batch_events().max(1) as usize;
        let mut waiting = vec![lines];
        while let Some(mut batch) = waiting.pop() {
            if batch.len() > most {
                let front = batch.split_front(most);
                waiting.push(batch);
                batch = front;
            }
            let n_lines = batch.len();
            let again = (n_lines > 1).then(|| batch.clone());
            match (self.out.put(batch).await, again) {
                (Ok(()), _) => {
                    if self.shared.ack {
                        self.answers.ok(n_lines);
                    }
                }
                // Smaller batches may fit where this one never can.
                (Err(error), Some(mut batch))
                    if error.channel_error().is_some_and(ChannelError::is_permanent) =>
                {
                    let front = batch.split_front(n_lines / 2);
                    waiting.push(batch);
                    waiting.push(front);
                }
                (Err(error), _) => {
                    if let Some(unsaid) = self.shared.refused.due() {
                        tracing::warn!(source = %self.shared.name, %peer, lines = n_lines, %error, unsaid, "lines not stored");
                    }
                    self.answers.failed(&error.to_string(), n_lines);
                }
            }
        }
    }

    async fn answer(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        if self.answers.bytes.is_empty() {
            return Ok(());
        }
        let sent = timeout(ANSWER_LIMIT, stream.write_all(&self.answers.bytes)).await;
        self.answers.bytes.clear();
        sent.unwrap_or_else(|_| {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not take its answers"))
        })
    }
}

/// Ends our side and listens on for a moment. Closing at once with bytes unread would take the last answer from the peer.
async fn farewell(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let deadline = Instant::now() + FAREWELL;
    let mut ignored = vec![0; 16 << 10];
    let mut n_bytes = 0;
    while n_bytes < FAREWELL_BYTES {
        match timeout_at(deadline, stream.read(&mut ignored)).await {
            Ok(Ok(0)) | Err(_) => break,
            Ok(n) => n_bytes += n?,
        }
    }
    Ok(())
}
