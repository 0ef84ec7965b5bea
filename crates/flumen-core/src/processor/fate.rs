//! What becomes of the events of one put: each is counted once, however the put ends, so that the figures of a source
//! balance. Received, added and copied events are those dropped, unrouted, refused, missed, in flight and stored.

use crate::{
    metrics::SourceMetrics,
    planted::{self, Bug},
};
use std::sync::Arc;

/// The events that a put has in hand. Dropping it counts them as refused, unless they were accepted.
#[derive(Debug)]
pub(super) struct Fate {
    metrics: Arc<SourceMetrics>,
    n_events: u64,
    n_unrouted: u64,
    /// Events that are in one channel at least, and so not in hand alone.
    n_placed: u64,
    accepted: bool,
}

impl Fate {
    /// So many events were received.
    pub(super) fn new(metrics: Arc<SourceMetrics>, n_events: u64) -> Self {
        metrics.received.add(n_events);
        metrics.in_flight.add(signed(n_events));
        Self { metrics, n_events, n_unrouted: 0, n_placed: 0, accepted: false }
    }

    /// So many are left, or have become of them.
    pub(super) fn intercepted(&mut self, n_events: u64) {
        if n_events == self.n_events {
            return;
        }
        let (fewer, more) = (self.n_events.saturating_sub(n_events), n_events.saturating_sub(self.n_events));
        self.metrics.intercepted_away.add(fewer);
        self.metrics.intercepted_more.add(more);
        self.metrics.in_flight.add(signed(more) - signed(fewer));
        self.n_events = n_events;
    }

    /// So many go nowhere.
    pub(super) fn unrouted(&mut self, n_events: u64) {
        self.n_unrouted = n_events;
    }

    /// A channel has this many, or could not take them and did not have to. The first place of an event ends its way, each
    /// further one is a copy.
    pub(super) fn placed(&mut self, n_events: u64) {
        let first = n_events.min(self.n_events.saturating_sub(self.n_unrouted + self.n_placed));
        self.n_placed += first;
        self.metrics.in_flight.add(-signed(first));
        if n_events > first && !planted::is(Bug::CopiesAreNotCounted) {
            self.metrics.copied.add(n_events - first);
        }
    }

    /// Every required channel has its part.
    pub(super) fn accept(mut self, n_received: u64) {
        self.metrics.accepted.add(n_received);
        self.accepted = true;
    }

    /// Where else to count.
    pub(super) fn metrics(&self) -> &SourceMetrics {
        &self.metrics
    }
}

impl Drop for Fate {
    fn drop(&mut self) {
        let metrics = &self.metrics;
        // Mostly all are placed: nothing is left to count then.
        let n_left = self.n_events.saturating_sub(self.n_placed);
        if n_left > 0 {
            metrics.in_flight.add(-signed(n_left));
        }
        if self.accepted {
            if self.n_unrouted > 0 && !planted::is(Bug::UnroutedEventsAreNotCounted) {
                metrics.routed_nowhere.add(self.n_unrouted);
            }
        } else if !planted::is(Bug::RefusedEventsAreNotCounted) {
            metrics.refused.add(self.n_events);
            metrics.copied.add(self.n_placed);
        }
    }
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
