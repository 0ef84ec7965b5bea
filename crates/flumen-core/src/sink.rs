//! Where events go. A sink gets a batch and answers; it never sees a channel or a transaction.

mod blocking;

pub use blocking::{Blocking, BlockingSink};

use crate::{
    event::Batch,
    source::{BoxError, BoxFuture},
};
use std::future::Future;
use tokio::time::Instant;

/// Takes a batch to where it must go.
pub trait Sink: Send + 'static {
    /// Delivers the batch, or part of it. It may be dropped at any await: what was sent by then may be sent again.
    ///
    /// # Errors
    /// The batch goes back into the channel, and so do all batches that are held: the sink forgets these, and the next
    /// answer of [`Sink::settled`] does not count them.
    fn deliver(&mut self, batch: &Batch) -> impl Future<Output = Result<Delivery, DeliverError>> + Send;

    /// When `on_deadline` is next wanted although no event came: rolling, closing what is idle.
    fn next_deadline(&self) -> Option<Instant> {
        None
    }

    /// Does what is due. Also called early, when the runner holds as many batches as it may and wants some settled.
    ///
    /// # Errors
    /// As for [`Sink::deliver`], all that is held goes back. It is called again a second later.
    fn on_deadline(&mut self) -> impl Future<Output = Result<(), DeliverError>> + Send {
        async { Ok(()) }
    }

    /// How many of the held batches, oldest first, have become safe since it was last asked (after a roll, an upload, a
    /// broker's confirmation).
    ///
    /// # Errors
    /// A held batch cannot become safe: all that is held is rolled back, and delivered again.
    fn settled(&mut self) -> Result<u32, DeliverError> {
        Ok(0)
    }

    /// Finishes what is open, at the end. What it settles is still committed.
    fn close(&mut self) -> impl Future<Output = Result<(), DeliverError>> + Send {
        async { Ok(()) }
    }
}

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The first `done` events leave the channel; the rest is rolled back and offered again.
    pub done: u32,
    /// Positions among the first `done` that the peer refused for good, each with its reason: counted and logged.
    pub discarded: Vec<(u32, &'static str)>,
    /// Sent, but safe only later: the runner keeps the transaction open until [`Sink::settled`] counts it.
    pub held: bool,
    /// Wait a little before the next batch.
    pub pause: bool,
}

impl Delivery {
    /// All of the batch has arrived.
    pub fn all(batch: &Batch) -> Self {
        Self { done: u32::try_from(batch.len()).unwrap_or(u32::MAX), ..Self::default() }
    }

    /// All of the batch is sent and becomes safe later.
    pub fn held(batch: &Batch) -> Self {
        Self { held: true, ..Self::all(batch) }
    }

    /// The first `done` events have arrived.
    pub fn first(done: u32) -> Self {
        Self { done, ..Self::default() }
    }
}

/// Why a batch did not arrive. The events stay in the channel.
#[derive(Debug, thiserror::Error)]
#[error("{reason}{}", cause_text(.source))]
pub struct DeliverError {
    /// What to do next.
    pub retry: Retry,
    /// What failed and where, for the operator.
    pub reason: String,
    /// What the system or a library said.
    pub source: Option<BoxError>,
}

fn cause_text(source: &Option<BoxError>) -> String {
    source.as_ref().map_or(String::new(), |cause| format!(": {cause}"))
}

impl DeliverError {
    /// Try the same sink again after a pause.
    pub fn backoff(reason: impl Into<String>) -> Self {
        Self { retry: Retry::Backoff, reason: reason.into(), source: None }
    }

    /// Build the sink anew, then try again.
    pub fn rebuild(reason: impl Into<String>) -> Self {
        Self { retry: Retry::Rebuild, reason: reason.into(), source: None }
    }

    /// The same error with what the system or a library said.
    #[must_use]
    pub fn because(mut self, cause: impl Into<BoxError>) -> Self {
        self.source = Some(cause.into());
        self
    }
}

/// What a failed delivery asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same sink, after a pause.
    Backoff,
    /// A fresh sink, after a pause.
    Rebuild,
}

/// The erased twin of [`Sink`], as the runner holds it. A delivery costs one boxed future a batch.
pub trait DynSink: Send {
    /// See [`Sink::deliver`].
    fn deliver<'a>(&'a mut self, batch: &'a Batch) -> BoxFuture<'a, Result<Delivery, DeliverError>>;
    /// See [`Sink::next_deadline`].
    fn next_deadline(&self) -> Option<Instant>;
    /// See [`Sink::on_deadline`].
    fn on_deadline(&mut self) -> BoxFuture<'_, Result<(), DeliverError>>;
    /// See [`Sink::settled`].
    fn settled(&mut self) -> Result<u32, DeliverError>;
    /// See [`Sink::close`].
    fn close(&mut self) -> BoxFuture<'_, Result<(), DeliverError>>;
}

impl<S: Sink> DynSink for S {
    fn deliver<'a>(&'a mut self, batch: &'a Batch) -> BoxFuture<'a, Result<Delivery, DeliverError>> {
        Box::pin(Sink::deliver(self, batch))
    }

    fn next_deadline(&self) -> Option<Instant> {
        Sink::next_deadline(self)
    }

    fn on_deadline(&mut self) -> BoxFuture<'_, Result<(), DeliverError>> {
        Box::pin(Sink::on_deadline(self))
    }

    fn settled(&mut self) -> Result<u32, DeliverError> {
        Sink::settled(self)
    }

    fn close(&mut self) -> BoxFuture<'_, Result<(), DeliverError>> {
        Box::pin(Sink::close(self))
    }
}
