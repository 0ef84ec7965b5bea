//! What a sink has under way: take commits that are not answered, and batches that are sent but not safe.

use super::MemberOptions;
use crate::{
    channel::{Channel, ChannelError, Commit, TakeTransaction},
    metrics::SinkMetrics,
    planted::{self, Bug},
};
use std::collections::VecDeque;

/// Take commits that may be open while the sink goes on. The first one that fails stops it.
const MAX_OPEN_COMMITS: usize = 8;

/// What one sink has under way.
#[derive(Debug, Default)]
pub(super) struct Flight {
    commits: VecDeque<(Commit, u32)>,
    held: VecDeque<Held>,
    held_bytes: u64,
    held_events: u64,
    /// Whether the sink was asked to settle early and has settled nothing since.
    pub(super) asked_to_settle: bool,
}

#[derive(Debug)]
struct Held {
    taken: TakeTransaction,
    done: u32,
    bytes: u64,
}

impl Flight {
    /// Remembers a commit that is under way; one that is answered already only counts.
    pub(super) fn add_commit(
        &mut self,
        mut commit: Commit,
        events: u32,
        metrics: &SinkMetrics,
    ) -> Result<(), ChannelError> {
        if self.commits.is_empty()
            && let Some(answer) = commit.try_answer()
        {
            let events = if planted::is(Bug::DeliveredEventsAreNotCounted) { 0 } else { events };
            return answer.map(|()| metrics.drained.add(u64::from(events)));
        }
        self.commits.push_back((commit, events));
        Ok(())
    }

    /// Counts the commits that are answered, in order; waits for the first one while too many are open.
    pub(super) async fn reap(&mut self, metrics: &SinkMetrics) -> Result<(), ChannelError> {
        while !self.commits.is_empty() {
            let must_wait = self.commits.len() >= MAX_OPEN_COMMITS;
            let (commit, events) = self.commits.front_mut().expect("it is not empty");
            let answer = match commit.try_answer() {
                Some(answer) => answer,
                None if must_wait => commit.await,
                None => return Ok(()),
            };
            let events = u64::from(*events);
            self.commits.pop_front();
            answer?;
            metrics.drained.add(events);
        }
        Ok(())
    }

    /// Waits for all open commits.
    pub(super) async fn reap_all(&mut self, metrics: &SinkMetrics) -> Result<(), ChannelError> {
        while let Some((commit, events)) = self.commits.pop_front() {
            commit.await?;
            metrics.drained.add(u64::from(events));
        }
        Ok(())
    }

    /// The oldest open commit, to wait for.
    pub(super) fn first_commit(&mut self) -> Option<&mut Commit> {
        self.commits.front_mut().map(|(commit, _)| commit)
    }

    /// The answer of the oldest open commit, which `first_commit` has waited for.
    pub(super) fn answer_first(
        &mut self,
        answer: Result<(), ChannelError>,
        metrics: &SinkMetrics,
    ) -> Result<(), ChannelError> {
        let events = self.commits.pop_front().map_or(0, |(_, events)| events);
        answer.map(|()| metrics.drained.add(u64::from(events)))
    }

    /// Keeps a batch on loan until its sink has settled it.
    pub(super) fn hold(&mut self, taken: TakeTransaction, done: u32, metrics: &SinkMetrics) {
        let size = taken.batch().size();
        self.held_bytes += size.bytes;
        self.held_events += u64::from(size.events);
        self.held.push_back(Held { taken, done, bytes: size.bytes });
        self.show_held(metrics);
    }

    /// Commits the oldest `n_batches` that are held.
    pub(super) fn settle(&mut self, n_batches: u32, metrics: &SinkMetrics) -> Result<(), ChannelError> {
        let n_batches = n_batches + u32::from(planted::is(Bug::OneMoreBatchIsSettled));
        for _ in 0..n_batches {
            let Some(Held { taken, done, bytes }) = self.held.pop_front() else { break };
            self.asked_to_settle = false;
            self.held_bytes -= bytes;
            self.held_events -= taken.batch().len() as u64;
            self.add_commit(taken.commit_first(done), done, metrics)?;
        }
        self.show_held(metrics);
        Ok(())
    }

    /// Puts everything that is held back where it was.
    pub(super) fn roll_back_held(&mut self, metrics: &SinkMetrics) {
        // Newest first, so that a channel that puts back at its head keeps the order.
        while let Some(Held { taken, done, .. }) = self.held.pop_back() {
            if planted::is(Bug::FailureCommitsWhatIsHeld) {
                drop(taken.commit_first(done));
            }
        }
        (self.held_bytes, self.held_events, self.asked_to_settle) = (0, 0, false);
        self.show_held(metrics);
    }

    /// Whether anything is held.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether no more may be held: by number, by bytes, or because it is half of what the channel has room for.
    pub(super) fn is_full(&self, options: &MemberOptions, channel: &dyn Channel) -> bool {
        self.holds()
            && (self.held.len() >= options.max_held_batches
                || self.held_bytes >= options.max_held_bytes
                || self.held_events * 2 >= channel.limits().capacity)
    }

    fn show_held(&self, metrics: &SinkMetrics) {
        metrics.held.set(i64::try_from(self.held_events).unwrap_or(i64::MAX));
    }
}
