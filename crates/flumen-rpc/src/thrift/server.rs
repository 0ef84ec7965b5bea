//! Answers the calls of a connection: begun in their order, several at work, answered in their order.

use super::{
    Call, DecodeError, Fault, Memory, Method, Protocol, Status, decode_call, encode_reply,
    frame::{Frame, Frames},
};
use crate::net::Accepted;
use futures_util::{
    FutureExt,
    future::{BoxFuture, OptionFuture},
    stream::{FuturesOrdered, StreamExt},
};
use std::{future::Future, sync::Arc, time::Duration};
use tokio::{io::AsyncWriteExt, time::timeout};

/// Calls of one connection that are at work together. Java's clients wait for each answer; ours may send on.
const MAX_AT_WORK: usize = 8;
/// How long an answer may take to be read by its peer.
const WRITE_LIMIT: Duration = Duration::from_secs(30);

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A status.
    Status(Status),
    /// An exception of the protocol (internal error) with this text.
    Internal(String),
}

/// A call that is begun, and gives what answers it.
type Beginning = BoxFuture<'static, BoxFuture<'static, Vec<u8>>>;

/// What is behind a server.
pub trait Service: Send + Sync + 'static {
    /// Takes a call. The calls of a connection are begun one after the other; what the first future gives may then take its
    /// time, while others begin.
    fn begin(&self, call: Call)
    -> impl Future<Output = impl Future<Output = Answer> + Send + 'static> + Send;
}

/// Answers calls until the peer ends the connection or the server stops.
///
/// # Errors
/// What the peer did wrong, in words: the connection is then closed.
pub async fn serve<S: Service>(
    accepted: Accepted,
    service: Arc<S>,
    protocol: Protocol,
    max_frame_bytes: usize,
    memory: Memory,
) -> Result<(), String> {
    let Accepted { mut stream, mut shutdown, .. } = accepted;
    let mut frames = Frames::new(max_frame_bytes, Some(memory));
    let mut beginning: Option<Beginning> = None;
    let mut at_work = FuturesOrdered::new();
    // Why no more calls are read: what is at work is still answered.
    let mut end: Option<Result<(), String>> = None;
    loop {
        let may_read = end.is_none() && beginning.is_none() && at_work.len() < MAX_AT_WORK;
        tokio::select! {
            biased;
            Some(begun) = OptionFuture::from(beginning.as_mut()) => {
                beginning = None;
                at_work.push_back(begun);
            }
            Some(answer) = at_work.next(), if !at_work.is_empty() => {
                let written = async {
                    stream.write_all(&answer).await?;
                    stream.flush().await
                };
                match timeout(WRITE_LIMIT, written).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => return Err(format!("an answer was not sent: {error}")),
                    Err(_) => return Err("the peer does not read its answers".to_owned()),
                }
            }
            () = shutdown.requested(), if end.is_none() => end = Some(Ok(())),
            frame = frames.next(&mut stream), if may_read => match frame {
                Ok(None) => end = Some(Ok(())),
                Err(error) => end = Some(Err(error.to_string())),
                Ok(Some(frame)) => match begin(frame, service.clone(), protocol) {
                    Ok(begun) => beginning = Some(begun),
                    Err((answer, error)) => {
                        // It is told before the connection ends, where it can be.
                        if let Some(answer) = answer {
                            at_work.push_back(async { answer }.boxed());
                        }
                        end = error.map(Err);
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

/// What begins the call and then answers it with a frame; or an answer at once, and why the connection ends, if it does.
#[expect(
    clippy::async_yields_async,
    reason = "to begin is one wait and to answer another, for which others do not wait"
)]
fn begin<S: Service>(
    Frame { bytes, memory }: Frame,
    service: Arc<S>,
    protocol: Protocol,
) -> Result<Beginning, (Option<Vec<u8>>, Option<String>)> {
    let call = match decode_call(bytes, protocol) {
        Ok(call) => call,
        Err(error) => {
            let text = error.to_string();
            return Err(match error {
                // As in Java the connection stays: the service may have grown.
                DecodeError::UnknownMethod { name, sequence } => {
                    (Some(reply(protocol, &name, sequence, Err((Fault::UnknownMethod, &text)))), None)
                }
                DecodeError::Arguments { method, sequence, .. } => {
                    let answer = reply(protocol, method.name(), sequence, Err((Fault::Protocol, &text)));
                    (Some(answer), Some(text))
                }
                _ => (None, Some(text)),
            });
        }
    };
    let (method, sequence) = (call.method, call.sequence);
    let begun = async move {
        let answered = service.begin(call).await;
        let whole = async move {
            let answer = answered.await;
            drop(memory);
            answer_to(protocol, method, sequence, &answer)
        };
        whole.boxed()
    };
    Ok(begun.boxed())
}

fn answer_to(protocol: Protocol, method: Method, sequence: i32, answer: &Answer) -> Vec<u8> {
    let answer = match answer {
        Answer::Status(status) => Ok(*status),
        Answer::Internal(text) => Err((Fault::Internal, text.as_str())),
    };
    reply(protocol, method.name(), sequence, answer)
}

fn reply(protocol: Protocol, method: &str, sequence: i32, answer: Result<Status, (Fault, &str)>) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    encode_reply(&mut out, protocol, method, sequence, answer);
    out
}
