//! The thread that commits: one request at a time, each with all that was finished since the last.

use super::{
    Shared,
    worker::{Consumer, list},
};
use crate::client::told;
use flumen_core::seldom::Seldom;
use rdkafka::consumer::{CommitMode, Consumer as _};
use std::{
    sync::{Arc, PoisonError, Weak},
    time::Duration,
};
use tokio::time::Instant;

/// After a commit that failed, how long until the next.
const AGAIN: Duration = Duration::from_secs(1);
/// How long there may be nothing to do before it is looked whether the consumer is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Commits until the inbox ends, and then once more.
pub(super) fn run(consumer: &Weak<Consumer>, shared: &Arc<Shared>) {
    let seldom = Seldom::default();
    loop {
        let last = wait(shared);
        let Some(consumer) = consumer.upgrade() else { break };
        let good = commit(&consumer, shared, &seldom);
        if last {
            break;
        }
        if !good {
            pause(shared);
        }
    }
    let mut state = shared.lock();
    super::tell(std::mem::take(&mut state.waiting));
    state.committer_ended = true;
    drop(state);
    shared.changed.notify_all();
}

/// Waits for something to commit. True: it is the end.
fn wait(shared: &Shared) -> bool {
    let mut state = shared.lock();
    while !shared.is_stopping() && !state.queue.is_dirty() && state.waiting.is_empty() {
        let (woken, waited) =
            shared.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
        state = woken;
        if waited.timed_out() {
            break;
        }
    }
    shared.is_stopping()
}

fn pause(shared: &Shared) {
    let end = Instant::now() + AGAIN;
    let mut state = shared.lock();
    while !shared.is_stopping() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        state = shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// One commit. False: it failed, and what it was to commit is with the next.
fn commit(consumer: &Consumer, shared: &Shared, seldom: &Seldom) -> bool {
    let (positions, mut waiting) = {
        let mut state = shared.lock();
        (state.queue.positions(None), std::mem::take(&mut state.waiting))
    };
    if positions.is_empty() {
        // Nothing of it is ours to commit any more, or it is behind what is still on loan.
        super::tell(waiting);
        return true;
    }
    let since = Instant::now();
    let result = consumer.commit(&list(&positions), CommitMode::Sync);
    shared.counts.reader.commit_ms.add(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX));
    let Err(error) = result else {
        super::tell(waiting);
        return true;
    };
    if let Some(unsaid) = seldom.due() {
        tracing::warn!(unsaid, "offsets were not committed, and are with the next ones: {}", told(&error));
    }
    let mut state = shared.lock();
    state.queue.untold(&positions);
    waiting.append(&mut state.waiting);
    state.waiting = waiting;
    false
}
