//! How a channel wakes those that wait for it.

use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Notify, futures::Notified};

/// What a channel tells those that wait.
#[derive(Debug, Default)]
pub struct Signals {
    /// Raised when events have become ready to be taken.
    pub stored: Signal,
    /// Raised when room has become free.
    pub freed: Signal,
    /// Raised when what is under the channel has failed, and [`super::Channel::failure`] says why.
    pub failed: Signal,
}

/// Wakes all that listen. One raise serves a whole batch.
#[derive(Debug, Default)]
pub struct Signal {
    notify: Notify,
    raised: AtomicU64,
}

impl Signal {
    /// Wakes all that listen now.
    pub fn raise(&self) {
        self.raised.fetch_add(1, Ordering::Release);
        self.notify.notify_waiters();
    }

    /// Ends at the next raise, also one between this call and the first await.
    pub fn listen(&self) -> Notified<'_> {
        self.notify.notified()
    }

    /// How often it was raised. Who remembers the number before a try need not listen during it.
    pub fn count(&self) -> u64 {
        self.raised.load(Ordering::Acquire)
    }

    /// Waits until it was raised more often than `seen`.
    pub async fn passed(&self, seen: u64) {
        loop {
            let raised = self.listen();
            if self.count() != seen {
                return;
            }
            raised.await;
        }
    }
}
