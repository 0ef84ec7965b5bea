//! A channel while the agent runs: the object, its metrics, and whether it is open.

use super::task::{End, Task, Who};
use flumen_core::{channel::Channel, source::Shutdown};
use std::sync::Arc;
use tokio::sync::watch;

/// A channel and the task that opens it, again after a failure.
#[derive(Debug)]
pub(super) struct LiveChannel {
    pub(super) channel: Arc<dyn Channel>,
    pub(super) task: Task,
    opening: watch::Receiver<Opening>,
}

/// How far the opening of a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// Under way for the first time.
    First,
    /// It has failed, and is tried again.
    Failed,
    /// Done.
    Open,
}

impl LiveChannel {
    /// Begins to open a channel.
    pub(super) fn open(channel: Arc<dyn Channel>, who: Who) -> Self {
        let (sender, opening) = watch::channel(Opening::First);
        let opened = channel.clone();
        let board = who.board.clone();
        let run = move |mut shutdown: Shutdown| {
            let (channel, sender, board) = (opened.clone(), sender.clone(), board.clone());
            board.set_opening(channel.name(), true);
            async move {
                let open = tokio::select! {
                    biased;
                    () = shutdown.requested() => return End::Finished,
                    open = channel.open() => open,
                };
                if let Err(error) = open {
                    sender.send_replace(Opening::Failed);
                    return End::Failed(error.to_string());
                }
                board.set_opening(channel.name(), false);
                sender.send_replace(Opening::Open);
                loop {
                    // Listening begins before the look: a failure between the two is not missed.
                    let failed = channel.signals().failed.listen();
                    if let Some(error) = channel.failure() {
                        return End::Failed(error.to_string());
                    }
                    tokio::select! {
                        biased;
                        () = shutdown.requested() => break,
                        () = failed => {}
                    }
                }
                if let Err(error) = channel.end().await {
                    tracing::warn!(channel = channel.name(), "it did not end well: {error}");
                }
                End::Finished
            }
        };
        Self { channel, task: Task::start(who, run), opening }
    }

    /// Tells when the channel is open.
    pub(super) fn opening(&self) -> watch::Receiver<Opening> {
        self.opening.clone()
    }
}
