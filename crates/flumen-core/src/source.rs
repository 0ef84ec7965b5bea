//! Where events come from.

use crate::{
    channel::ChannelError,
    processor::{ChannelProcessor, PutError},
};
use std::{future::Future, pin::Pin, time::Duration};
use tokio::{sync::watch, time::sleep};

/// A future on the heap: the one allocation a call through an erased twin costs.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An error of any kind, for messages.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Runs until told to stop. A source tells its peer OK after `out.put(batch).await` has returned `Ok`, and not before.
pub trait Source: Send + 'static {
    /// Receives, puts and acknowledges until `shutdown` ends. An error asks the supervisor for a fresh instance. May be
    /// dropped at any await.
    fn run(
        &mut self,
        out: ChannelProcessor,
        shutdown: Shutdown,
    ) -> impl Future<Output = Result<(), SourceError>> + Send;
}

/// A source that is asked for more, over and over: Flume's pollable kind.
pub trait PollSource: Send + 'static {
    /// Gets a batch and puts it, or says that there was nothing.
    fn poll(&mut self, out: &ChannelProcessor) -> impl Future<Output = Result<Polled, SourceError>> + Send;

    /// Called once at the end, after the last `poll`.
    fn close(&mut self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// What a poll brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polled {
    /// Events: ask again at once.
    Ready,
    /// Nothing: wait a little longer each time.
    Backoff,
}

/// Turns asking into running, with Flume's linear, capped pause (`backoffSleepIncrement`, `maxBackoffSleep`).
#[derive(Debug)]
pub struct Polling<P> {
    /// Who is asked.
    pub inner: P,
    /// What each further empty poll adds to the pause.
    pub increment: Duration,
    /// The longest pause.
    pub max: Duration,
}

impl<P: PollSource> Source for Polling<P> {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let mut empty = 0u32;
        let result = loop {
            if shutdown.is_requested() {
                break Ok(());
            }
            let polled = tokio::select! {
                biased;
                () = shutdown.requested() => break Ok(()),
                polled = self.inner.poll(&out) => polled,
            };
            empty = match polled {
                Ok(Polled::Ready) => 0,
                Ok(Polled::Backoff) => empty.saturating_add(1),
                // What was refused is offered again, after the pause.
                Err(error) if error.is_full() => {
                    tracing::warn!(%error, "source waits for its channel");
                    empty.saturating_add(1)
                }
                Err(error) => break Err(error),
            };
            if empty > 0 {
                tokio::select! {
                    biased;
                    () = shutdown.requested() => break Ok(()),
                    () = sleep(self.increment.saturating_mul(empty).min(self.max)) => {}
                }
            }
        };
        self.inner.close().await;
        result
    }
}

/// Why a source gives up.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct SourceError {
    reason: String,
    #[source]
    cause: Option<BoxError>,
    full: bool,
}

impl SourceError {
    /// An error with a reason that names what failed and what to do.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), cause: None, full: false }
    }

    /// An error with a reason and what the system or a library said; both show in the message.
    pub fn with(reason: impl Into<String>, cause: impl Into<BoxError>) -> Self {
        let cause = cause.into();
        Self { reason: format!("{}: {cause}", reason.into()), cause: Some(cause), full: false }
    }

    /// Whether a channel had no room: a pause is enough, the source itself is sound.
    pub fn is_full(&self) -> bool {
        self.full
    }
}

impl From<PutError> for SourceError {
    fn from(error: PutError) -> Self {
        let full = matches!(error.channel_error(), Some(ChannelError::Full { .. }));
        Self { reason: error.to_string(), cause: Some(error.into()), full }
    }
}

/// Ends when a component is told to stop.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

/// Tells components to stop. Dropping it tells them too.
#[derive(Debug)]
pub struct ShutdownHandle(watch::Sender<bool>);

impl Shutdown {
    /// A signal and the handle that gives it.
    pub fn new() -> (ShutdownHandle, Self) {
        let (sender, receiver) = watch::channel(false);
        (ShutdownHandle(sender), Self(receiver))
    }

    /// Whether to stop.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Ends when it is time to stop. Stopping to wait loses nothing.
    pub async fn requested(&mut self) {
        // An error means that the handle is gone, which is a request as well.
        let _ = self.0.wait_for(|stop| *stop).await;
    }
}

impl ShutdownHandle {
    /// Asks for the stop.
    pub fn request(&self) {
        self.0.send_replace(true);
    }
}

/// The erased twin of [`Source`], as the agent holds it.
pub trait DynSource: Send {
    /// See [`Source::run`].
    fn run<'a>(
        &'a mut self,
        out: ChannelProcessor,
        shutdown: Shutdown,
    ) -> BoxFuture<'a, Result<(), SourceError>>;
}

impl<S: Source> DynSource for S {
    fn run<'a>(
        &'a mut self,
        out: ChannelProcessor,
        shutdown: Shutdown,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(Source::run(self, out, shutdown))
    }
}
