//! A commit under way.

use super::ChannelError;
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::sync::oneshot;

/// A commit under way: done (a memory channel), or to be answered by the channel's own thread (a log).
///
/// Its place in the channel's order is fixed when `commit` returns this. Dropping it does not undo it: the channel
/// finishes what it started, only the answer is lost.
#[derive(Debug)]
#[must_use = "the commit is only known to have worked when this says so"]
pub struct Commit(State);

#[derive(Debug)]
enum State {
    // Errors are rare and large: on the heap, a commit is handed on as a word or two.
    Done(Option<Result<(), Box<ChannelError>>>),
    Pending(Box<Pending>),
}

#[derive(Debug)]
struct Pending {
    answer: oneshot::Receiver<Result<(), ChannelError>>,
    channel: String,
}

impl Commit {
    /// A commit that is already answered.
    pub fn done(result: Result<(), ChannelError>) -> Self {
        Self(State::Done(Some(result.map_err(Box::new))))
    }

    /// A commit that somebody else will answer. If that somebody goes away, the answer is `Closed`.
    pub fn pending(channel: &str, answer: oneshot::Receiver<Result<(), ChannelError>>) -> Self {
        Self(State::Pending(Box::new(Pending { answer, channel: channel.to_owned() })))
    }

    /// The answer, if it is there already and was not given yet.
    pub fn try_answer(&mut self) -> Option<Result<(), ChannelError>> {
        match &mut self.0 {
            State::Done(result) => Some(result.take()?.map_err(|error| *error)),
            State::Pending(pending) => match pending.answer.try_recv() {
                Ok(result) => Some(result),
                Err(oneshot::error::TryRecvError::Empty) => None,
                Err(oneshot::error::TryRecvError::Closed) => {
                    Some(Err(ChannelError::closed(&pending.channel)))
                }
            },
        }
    }
}

impl Future for Commit {
    type Output = Result<(), ChannelError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Done(result) => {
                let result = result.take().expect("a commit is not polled after its answer");
                Poll::Ready(result.map_err(|error| *error))
            }
            State::Pending(pending) => {
                let Pending { answer, channel } = &mut **pending;
                let closed = |_| Err(ChannelError::closed(channel));
                Pin::new(answer).poll(context).map(|answer| answer.unwrap_or_else(closed))
            }
        }
    }
}
