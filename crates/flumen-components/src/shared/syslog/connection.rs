//! One connection: what comes in is cut into messages, read, and put in batches. Nothing is answered.

use super::{
    fields::Fields,
    frames::{Cut, Ended, Frames},
    rows::Rows,
};
use crate::shared::puts::Puts;
use flumen_core::{event::Headers, world::WallClock};
use flumen_rpc::net::Accepted;
use std::sync::Arc;
use tokio::io::AsyncReadExt;

/// What a connection is served with.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) frames: Frames,
    pub(crate) rows: Rows,
    pub(crate) puts: Puts,
    pub(crate) clock: Arc<dyn WallClock>,
    /// Headers of all messages of this peer.
    pub(crate) more: Headers,
    /// Whether facility and severity are told even of bad messages.
    pub(crate) with_numbers: bool,
    /// Messages in a batch.
    pub(crate) max_batch: usize,
}

impl Connection {
    /// Serves a peer until it ends its side, the connection breaks, or the source stops; what is left then is the last message.
    /// `read` reads a message, which may be cut, at a time of day, and hands on what it found.
    ///
    /// # Errors
    /// The connection broke; in words.
    pub(crate) async fn serve(
        mut self,
        accepted: Accepted,
        read: impl Fn(&[u8], bool, i64, &mut dyn FnMut(&Fields<'_>)),
    ) -> Result<(), String> {
        let Accepted { mut stream, mut shutdown, .. } = accepted;
        let ended = loop {
            tokio::select! {
                biased;
                () = shutdown.requested() => break Ok(Ended::Broken),
                () = self.puts.oldest_ended(), if self.puts.are_open() => self.puts.settle_ended().await,
                n_bytes = stream.read_buf(self.frames.room()) => match n_bytes {
                    Ok(0) => break Ok(Ended::Cleanly),
                    Ok(n_bytes) => self.take(n_bytes, &read).await,
                    Err(error) => break Err(error),
                }
            }
        };
        let rest = self.frames.rest(*ended.as_ref().unwrap_or(&Ended::Broken));
        self.put(rest, &read).await;
        self.puts.finish().await;
        ended.map(|_| ()).map_err(|error| {
            self.puts.out().metrics().read_fail.add(1);
            format!("the connection broke: {error}")
        })
    }

    async fn take(&mut self, n_bytes: usize, read: &impl Fn(&[u8], bool, i64, &mut dyn FnMut(&Fields<'_>))) {
        let mut n_bytes = n_bytes;
        loop {
            let cut = self.frames.cut(n_bytes, self.max_batch);
            if cut.messages.is_empty() {
                return;
            }
            n_bytes = 0;
            self.put(cut, read).await;
        }
    }

    async fn put(&mut self, cut: Cut, read: &impl Fn(&[u8], bool, i64, &mut dyn FnMut(&Fields<'_>))) {
        if cut.messages.is_empty() {
            return;
        }
        let now_ms = self.clock.now_ms();
        for message in &cut.messages {
            let mut push = |fields: &Fields<'_>| {
                self.rows.push(message.range.start, fields, self.with_numbers, &self.more);
            };
            read(&cut.bytes[message.range.clone()], message.is_cut, now_ms, &mut push);
        }
        let batch = self.rows.finish(cut.bytes);
        self.puts.add(batch).await;
    }
}
