//! The end of an agent: sources, then sinks, then channels; and what was left.

use super::{
    Agent,
    apply::{STOP_LIMIT, drain, stop_all},
};
use flumen_core::planted::{self, Bug};
use std::time::Duration;

/// What a stop left behind.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StopReport {
    /// Channels with events in them.
    pub left: Vec<Left>,
    /// Sources and sink groups that did not stop in time and were cut off.
    pub cut_off: usize,
}

/// Events in a channel at the end.
#[derive(Debug, PartialEq, Eq)]
pub struct Left {
    /// The channel.
    pub channel: String,
    /// How many.
    pub events: u64,
    /// Whether they are still there at the next start.
    pub kept: bool,
}

impl Agent {
    /// Stops everything. Sources finish what they have begun; then, for at most `drain_limit`, sinks may empty the
    /// channels; then sinks finish the batch they have.
    pub async fn stop(mut self, drain_limit: Duration) -> StopReport {
        let sources: Vec<_> = std::mem::take(&mut self.sources).into_values().collect();
        let mut cut_off = stop_all(sources, STOP_LIMIT).await;
        let channels: Vec<_> = self.channels.values().map(|live| live.channel.clone()).collect();
        if !drain_limit.is_zero() {
            drain(&channels, drain_limit).await;
        }
        let groups: Vec<_> = std::mem::take(&mut self.groups).into_values().collect();
        cut_off += stop_all(groups, STOP_LIMIT).await;
        let mut left = Vec::new();
        for (name, live) in std::mem::take(&mut self.channels) {
            live.channel.close();
            let depth = live.channel.depth();
            let events = depth.queued + depth.on_loan;
            if events > 0 && !planted::is(Bug::StopHidesWhatIsLeft) {
                left.push(Left { channel: name, events, kept: live.channel.durable() });
            }
            live.task.stop(STOP_LIMIT).await;
        }
        StopReport { left, cut_off }
    }
}
