//! Whole agents in a simulated world: real plans, channels, processors, selectors, sink runners, supervision and reload, in one
//! thread with a paused clock, between scripted sources and sinks that fail, stall, answer late and go away.
//!
//! An observer hears of every acknowledgement and every delivery, and says what must never be: an acknowledged event that is
//! lost, an event from nowhere or in a channel that it was not sent to, one more often than its way allows, one before another
//! that was put earlier, a channel above its capacity, figures that do not balance, a stop or a delivery that does not end. A
//! seed gives the same run each time.

mod events;
mod observer;
mod ops;
mod run;
mod scenario;
mod shrink;
mod sink;
mod source;

pub use run::{Figures, run_seed};
pub use shrink::shortest;

/// The longest that a run may take in its own time before it counts as stuck, in seconds.
pub const STUCK_AFTER_S: u64 = 4 * 3_600;

#[cfg(test)]
mod tests;
