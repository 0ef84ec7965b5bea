//! What is not ours and is handed in: wall clock and randomness. Waiting goes through tokio's clock, which a test can pause.

use std::{
    fmt::Debug,
    sync::atomic::{AtomicI64, Ordering},
};

/// Tells the time of day. Only for time that is shown or stored; durations are measured by `tokio::time::Instant`.
pub trait WallClock: Debug + Send + Sync + 'static {
    /// Milliseconds since 1970 in UTC.
    fn now_ms(&self) -> i64;
}

/// A wall clock that stands where a test has set it.
#[derive(Debug, Default)]
pub struct SetClock(AtomicI64);

impl SetClock {
    /// A clock that stands at this many milliseconds since 1970.
    pub fn at(now_ms: i64) -> Self {
        Self(AtomicI64::new(now_ms))
    }

    /// Moves the clock, in any direction.
    pub fn set(&self, now_ms: i64) {
        self.0.store(now_ms, Ordering::Relaxed);
    }
}

impl WallClock for SetClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A generator for one component, which gives the same numbers for the same seed and name.
pub fn rng_for(seed: u64, component: &str) -> fastrand::Rng {
    // FNV-1a, 64 bits (draft-eastlake-fnv): enough to give each component a stream of its own.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    fastrand::Rng::with_seed(component.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix))
}
