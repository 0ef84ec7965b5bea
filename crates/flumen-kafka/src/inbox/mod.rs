//! A consumer on a thread of its own: it reads ahead, lends events, and commits what is finished.
//!
//! The thread always asks the client, also while nobody takes anything: so it stays in its group. When partitions go to another
//! member it waits for what is on loan of them, commits that, and forgets the rest.

mod committer;
mod form;
mod metrics;
mod queue;
mod worker;

pub(crate) use form::Form;
pub(crate) use metrics::Lag;
pub(crate) use queue::{Mark, Piece};
pub(crate) use worker::Topics;

use crate::client::Reports;
use flumen_core::{
    channel::ChannelError,
    metrics::{KafkaSourceMetrics, SourceMetrics},
};
use queue::Queue;
use rdkafka::ClientConfig;
use std::{
    fmt,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::oneshot;

/// What is read and how much ahead.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) name: Arc<str>,
    pub(crate) topics: Topics,
    pub(crate) form: Form,
    /// Events that wait at most, before reading pauses.
    pub(crate) max_events: u64,
    /// Bytes of their bodies.
    pub(crate) max_bytes: u64,
}

/// What is counted while reading.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    pub(crate) reader: Arc<KafkaSourceMetrics>,
    pub(crate) lag: Arc<Lag>,
    /// Where records that made no event are counted.
    pub(crate) source: Option<Arc<SourceMetrics>>,
}

/// What is called when events are there to take.
pub(crate) type Stored = Arc<dyn Fn() + Send + Sync>;

/// See the module. Dropping it ends the thread soon; [`Inbox::close`] waits for that.
pub(crate) struct Inbox {
    shared: Arc<Shared>,
    ended: Option<oneshot::Receiver<()>>,
}

/// What all sides share.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Room has come free, or something on loan has come back.
    changed: Condvar,
    /// Called when events are there to take.
    stored: Stored,
    stop: AtomicBool,
    counts: Counts,
}

#[derive(Default)]
struct State {
    queue: Queue,
    /// Who waits for the next commit.
    waiting: Vec<Waiting>,
    /// Nothing is committed any more.
    committer_ended: bool,
    /// Why the client cannot go on.
    failure: Option<String>,
}

impl Inbox {
    /// Begins to read. `stored` is called when events are there. It starts a thread: not for an async one.
    ///
    /// # Errors
    /// The settings do not fit together; in words.
    pub(crate) fn start(
        config: &ClientConfig,
        plan: Plan,
        reports: Reports,
        stored: Stored,
        counts: Counts,
    ) -> Result<Self, String> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            stored,
            stop: AtomicBool::new(false),
            counts,
        });
        let ended = worker::start(config, plan, reports, shared.clone())?;
        Ok(Self { shared, ended: Some(ended) })
    }

    /// Lends up to `max` events. `None`: there are none now.
    ///
    /// # Errors
    /// The client cannot go on; in words. Another inbox may.
    pub(crate) fn take(&self, max: usize) -> Result<Option<Piece>, String> {
        let mut state = self.shared.lock();
        if let Some(why) = &state.failure {
            return Err(why.clone());
        }
        let was_full = state.queue.n_ready();
        let taken = state.queue.take(max);
        if was_full > 0 {
            self.shared.changed.notify_all();
        }
        Ok(taken)
    }

    /// Whether the client cannot go on; `take` says why.
    pub(crate) fn has_failed(&self) -> bool {
        self.shared.lock().failure.is_some()
    }

    /// How many wait, how many are on loan, and bytes of what waits.
    pub(crate) fn depth(&self) -> (u64, u64, u64) {
        let state = self.shared.lock();
        (state.queue.n_ready(), state.queue.n_on_loan(), state.queue.bytes())
    }

    /// What its transactions hold on to.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Ends the thread, commits what is finished, and leaves the group.
    pub(crate) async fn close(&mut self) {
        self.shared.stop();
        if let Some(ended) = self.ended.take() {
            // A thread that is gone has ended as well.
            let _ = ended.await;
        }
    }
}

impl Inbox {
    /// The same as [`Self::close`], for a thread that may wait.
    pub(crate) fn close_here(&mut self) {
        self.shared.stop();
        if let Some(ended) = self.ended.take() {
            // A thread that is gone has ended as well.
            let _ = ended.blocking_recv();
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.shared.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// These are finished with; their offsets are committed soon.
    pub(crate) fn done(&self, marks: &[Mark]) {
        self.lock().queue.done(marks);
        self.changed.notify_all();
    }

    /// The same; the answer comes when the broker has the offsets.
    pub(crate) fn done_and_told(&self, marks: &[Mark]) -> oneshot::Receiver<Result<(), ChannelError>> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.lock();
            state.queue.done(marks);
            state.waiting.push(sender);
        }
        self.changed.notify_all();
        receiver
    }

    /// Takes back what was on loan.
    pub(crate) fn give_back(&self, piece: Piece) {
        self.lock().queue.give_back(piece);
        self.changed.notify_all();
        (self.stored)();
    }
}

/// Who waits for a commit.
type Waiting = oneshot::Sender<Result<(), ChannelError>>;

fn tell(waiting: Vec<Waiting>) {
    // Who waited may have gone.
    waiting.into_iter().for_each(|sender| _ = sender.send(Ok(())));
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("queue", &self.depth()).finish_non_exhaustive()
    }
}
