//! Answers the calls of a connection: begun in their order, several at work, answered in their order.

use super::{
    MAX_FRAME_BYTES,
    frame::{Budget, Frame, FrameError, FrameReader, Room},
    protocol::{Method, Status},
    session::{Answer, Asked, KnownClients, Session},
};
use crate::net::{Accepted, BoxIo};
use flumen_core::event::Batch;
use futures_util::{
    FutureExt,
    future::{BoxFuture, OptionFuture, ready},
    stream::{FuturesOrdered, StreamExt},
};
use std::{future::Future, io, sync::Arc, time::Duration};
use tokio::{io::AsyncWriteExt, time::timeout};

/// Calls of one connection that are at work together. Java's clients wait for each answer; ours send on.
const MAX_AT_WORK: usize = 8;
/// How long an answer may take to be read by its peer.
const WRITE_LIMIT: Duration = Duration::from_secs(30);

/// A call that is to be stored.
#[derive(Debug)]
pub struct Call {
    /// One event, or a list.
    pub method: Method,
    /// The events: rows over the received frame.
    pub batch: Batch,
}

/// What answers a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A status.
    Status(Status),
    /// An error of the protocol with this text; Java's begin with the name of a class.
    Error(String),
}

/// A call that was begun.
#[derive(Debug)]
pub enum Begun<F> {
    /// It is over already.
    Over(Outcome),
    /// It has its place; what it comes to is known later.
    AtWork(F),
}

/// What is behind a server.
pub trait Service: Send + Sync + 'static {
    /// Takes a call. The calls of a connection are begun one after the other; what is at work may then take its time, while
    /// others begin.
    fn begin(
        &self,
        call: Call,
    ) -> impl Future<Output = Begun<impl Future<Output = Outcome> + Send + 'static>> + Send;
}

/// What all connections of a server have in common.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The longest frame.
    pub max_frame_bytes: usize,
    /// How long a peer may pause within a frame.
    pub max_pause: Duration,
    /// The room for all frames that are being read.
    pub budget: Arc<Budget>,
    /// The clients' protocols.
    pub known: Arc<KnownClients>,
}

impl Default for Shared {
    /// Frames of 128 MiB, 512 MiB of them together, pauses of a minute.
    fn default() -> Self {
        Self {
            max_frame_bytes: MAX_FRAME_BYTES,
            max_pause: Duration::from_secs(60),
            budget: Budget::new(512 << 20),
            known: Arc::default(),
        }
    }
}

/// A call that is begun; then whether it has failed already, and what answers it.
type Beginning = BoxFuture<'static, (bool, BoxFuture<'static, Answered>)>;

/// An answer, and whether it says that something was not stored.
struct Answered {
    answer: Answer,
    serial: i32,
    failed: bool,
}

/// Answers calls until the peer ends the connection or the server stops.
///
/// # Errors
/// What the peer did wrong, in words: the connection is then closed.
pub async fn serve<S: Service>(accepted: Accepted, service: Arc<S>, shared: &Shared) -> Result<(), String> {
    let Accepted { mut stream, peer, mut shutdown } = accepted;
    let mut frames = FrameReader::new(shared.max_frame_bytes, shared.budget.clone());
    let mut session = Session::new(shared.known.clone());
    let mut beginning: Option<Beginning> = None;
    let mut at_work = FuturesOrdered::new();
    let mut out = Vec::new();
    // A call was not stored, and the client counts on it that nothing is stored behind it.
    let mut refuses = false;
    // Why no more calls are read: what is at work is still answered.
    let mut end: Option<Result<(), String>> = None;
    loop {
        let may_read = end.is_none() && beginning.is_none() && at_work.len() < MAX_AT_WORK;
        tokio::select! {
            biased;
            Some((failed, answered)) = OptionFuture::from(beginning.as_mut()) => {
                beginning = None;
                refuses |= failed && session.keeps_order();
                at_work.push_back(answered);
            }
            Some(first) = at_work.next(), if !at_work.is_empty() => {
                let mut next = Some(first);
                // What is ready together goes out together.
                while let Some(Answered { answer, serial, failed }) = next {
                    refuses |= failed && session.keeps_order();
                    answer.put(serial, &mut out);
                    next = at_work.next().now_or_never().flatten();
                }
                send(&mut stream, &mut out).await?;
            }
            () = shutdown.requested(), if end.is_none() => end = Some(Ok(())),
            frame = next(&mut frames, &mut stream, shared.max_pause), if may_read => match frame {
                Ok(None) => end = Some(Ok(())),
                Err(error) => end = Some(Err(error)),
                Ok(Some(Frame { serial, payload, room })) => match session.ask(&payload) {
                    Asked::Nothing { answer, wrong } => {
                        if let Some(wrong) = wrong {
                            tracing::warn!(%peer, wrong, "a call cannot be understood, and was answered with an error");
                        }
                        at_work.push_back(ready(Answered { answer, serial, failed: false }).boxed());
                    }
                    Asked::Store { answer, .. } if refuses => {
                        let answer = answer.status(Status::Failed);
                        at_work.push_back(ready(Answered { answer, serial, failed: true }).boxed());
                    }
                    Asked::Store { method, batch, answer } => {
                        beginning = Some(begin(service.clone(), Call { method, batch }, room, answer, serial));
                    }
                },
            },
            else => break,
        }
    }
    // The peer may be gone already.
    let _ = timeout(WRITE_LIMIT, stream.shutdown()).await;
    end.unwrap_or(Ok(()))
}

fn begin<S: Service>(service: Arc<S>, call: Call, room: Room, answer: Answer, serial: i32) -> Beginning {
    let answered = move |outcome: Outcome, answer: Answer| {
        let failed = outcome != Outcome::Status(Status::Ok);
        let answer = match outcome {
            Outcome::Status(status) => answer.status(status),
            Outcome::Error(text) => answer.error(&text),
        };
        Answered { answer, serial, failed }
    };
    let begun = async move {
        match service.begin(call).await {
            Begun::Over(outcome) => {
                let answered = answered(outcome, answer);
                (answered.failed, ready(answered).boxed())
            }
            Begun::AtWork(outcome) => {
                // From here on it is in the channel, which has limits of its own.
                drop(room);
                (false, async move { answered(outcome.await, answer) }.boxed())
            }
        }
    };
    begun.boxed()
}

async fn send(stream: &mut BoxIo, out: &mut Vec<u8>) -> Result<(), String> {
    let written = async {
        stream.write_all(out).await?;
        stream.flush().await
    };
    let sent = match timeout(WRITE_LIMIT, written).await {
        Ok(sent) => sent.map_err(|error| format!("an answer was not sent: {error}")),
        Err(_) => Err("the peer does not read its answers".to_owned()),
    };
    out.clear();
    sent
}

/// The next frame; `None` at the end, of which a peer that is gone without a word between two frames is one as well.
async fn next(
    frames: &mut FrameReader,
    stream: &mut BoxIo,
    max_pause: Duration,
) -> Result<Option<Frame>, String> {
    loop {
        if let Some(frame) = frames.advance().map_err(|error| error.to_string())? {
            return Ok(Some(frame));
        }
        let within = frames.is_within_frame();
        let read = match within {
            false => frames.read(stream).await,
            true => timeout(max_pause, frames.read(stream)).await.unwrap_or_else(|_| {
                let what =
                    format!("it has paused for {} s in the middle of a frame", max_pause.as_secs_f32());
                Err(io::Error::new(io::ErrorKind::TimedOut, what))
            }),
        };
        match read {
            Ok(0) if within => return Err(FrameError::Cut.to_string()),
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if !within && is_gone(&error) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
