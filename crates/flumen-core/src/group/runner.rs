//! The loop around `step`: what every sink gets for nothing.
//!
//! It keeps several take commits open, commits held batches when their sink has settled them, serves deadlines, builds
//! failed sinks anew, and waits for events on all channels of the group.

use super::{Member, SinkIndex, SinkProcessor, Step, step};
use crate::{
    channel::ChannelError,
    planted::{self, Bug},
    sink::{DeliverError, Retry},
    source::Shutdown,
};
use futures_util::future::{FutureExt, select_all};
use std::{future::pending, pin::Pin, time::Duration};
use tokio::time::{Instant, sleep_until};

/// After a failed `on_deadline`, how long until the next call.
const DEADLINE_RETRY: Duration = Duration::from_secs(1);

/// The sinks of a group, or a single sink, and the policy that chooses among them.
#[derive(Debug)]
pub struct SinkRunner {
    group: Vec<Member>,
    policy: Box<dyn SinkProcessor>,
    /// Picks in a row that found nothing to take.
    idle_in_row: usize,
}

/// Why a runner has ended.
#[derive(Debug)]
pub enum RunnerEnd {
    /// It was told to, and closed its sinks.
    Stopped,
    /// A channel failed under it.
    Channel(ChannelError),
}

impl SinkRunner {
    /// A runner for these sinks.
    ///
    /// # Panics
    /// There is no sink.
    pub fn new(group: Vec<Member>, policy: Box<dyn SinkProcessor>) -> Self {
        assert!(!group.is_empty(), "a runner has at least one sink");
        Self { group, policy, idle_in_row: 0 }
    }

    /// Takes and delivers until told to stop, then closes the sinks and commits what they settle. Dropping it puts
    /// everything that is not committed back into the channels.
    pub async fn run(&mut self, mut shutdown: Shutdown) -> RunnerEnd {
        loop {
            if shutdown.is_requested() {
                break;
            }
            if let Err(error) = self.round(&mut shutdown).await {
                return RunnerEnd::Channel(error);
            }
        }
        match self.close().await {
            Ok(()) => RunnerEnd::Stopped,
            Err(error) => RunnerEnd::Channel(error),
        }
    }

    async fn round(&mut self, shutdown: &mut Shutdown) -> Result<(), ChannelError> {
        // Counted before anything is tried: what is stored after that ends the wait at once.
        let seen = self.raised();
        for member in &mut self.group {
            member.flight.reap(&member.metrics).await?;
        }
        self.settle().await?;
        self.serve_deadlines().await?;
        match step(&mut self.group, &mut *self.policy).await? {
            Step::Delivered { sink, events, commit } => {
                self.idle_in_row = 0;
                let member = &mut self.group[sink.0];
                // A sink that asked for a pause with nothing done says nothing about its health.
                if events > 0 {
                    member.works();
                }
                member.flight.add_commit(commit, events, &member.metrics)?;
                // A memory channel and a null sink never wait: leave room for the other tasks of this thread.
                tokio::task::coop::consume_budget().await;
            }
            Step::Held { .. } => self.idle_in_row = 0,
            Step::Failed { sink, error } => {
                self.idle_in_row = 0;
                self.failed(sink, error).await;
            }
            Step::Idle => {
                self.idle_in_row += 1;
                if self.idle_in_row >= self.group.len() {
                    self.idle_in_row = 0;
                    self.wait(seen, None, true, shutdown).await?;
                }
            }
            Step::Waiting { until } => {
                let lingers = self.group.iter().any(|member| member.lingering_since.is_some());
                self.wait(seen, Some(until), lingers, shutdown).await?;
            }
        }
        Ok(())
    }

    /// Asks every sink how much of what it holds has become safe, and commits that.
    async fn settle(&mut self) -> Result<(), ChannelError> {
        for i in 0..self.group.len() {
            let member = &mut self.group[i];
            if !member.flight.holds() {
                continue;
            }
            match member.sink.settled() {
                Ok(0) => {}
                Ok(n_batches) => {
                    member.works();
                    member.flight.settle(n_batches, &member.metrics)?;
                }
                Err(error) => self.failed(SinkIndex(i), error).await,
            }
        }
        Ok(())
    }

    async fn serve_deadlines(&mut self) -> Result<(), ChannelError> {
        for i in 0..self.group.len() {
            let member = &mut self.group[i];
            let full =
                member.flight.is_full(&member.options, &*member.channel) && !member.flight.asked_to_settle;
            if !full && member.deadline().is_none_or(|deadline| deadline > Instant::now()) {
                continue;
            }
            member.flight.asked_to_settle |= full;
            match member.sink.on_deadline().await {
                Ok(()) => member.deadline_pause = None,
                Err(error) => {
                    member.deadline_pause = Some(Instant::now() + DEADLINE_RETRY);
                    self.failed(SinkIndex(i), error).await;
                }
            }
        }
        self.settle().await
    }

    async fn failed(&mut self, sink: SinkIndex, error: DeliverError) {
        let member = &mut self.group[sink.0];
        let again = if error.retry == Retry::Rebuild { ", with a fresh sink" } else { "" };
        member.failing.get_or_insert((Instant::now(), 0)).1 += 1;
        let told = member.options.origin.tell(&error);
        tracing::warn!(sink = %member.name, error = told, "not delivered, events stay in channel {}; trying again{again}", member.channel.name());
        member.recover(error.retry).await;
    }

    /// How often the signals that can end a wait were raised: of each member its channel's and its own.
    fn raised(&self) -> u64 {
        // Each only grows, so the sum changes exactly when one of them does.
        self.group.iter().map(|member| member.channel.signals().stored.count() + member.wake.count()).sum()
    }

    /// Waits for a signal since `seen`, a deadline, `until`, the oldest open commit or the stop.
    async fn wait(
        &mut self,
        seen: u64,
        until: Option<Instant>,
        for_events: bool,
        shutdown: &mut Shutdown,
    ) -> Result<(), ChannelError> {
        let deadline = self.group.iter().filter_map(Member::deadline).chain(until).min();
        let timer = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => pending().await,
            }
        };
        if let [member] = &mut self.group[..] {
            return member.wait(seen, for_events, timer, shutdown).await;
        }
        let stored = self.group.iter().filter(|_| for_events).map(|m| m.channel.clone());
        let channels: Vec<_> = stored.collect();
        let wakes: Vec<_> = self.group.iter().map(|member| member.wake.clone()).collect();
        let mut signals: Vec<Pin<Box<dyn Future<Output = ()> + Send + '_>>> = Vec::new();
        signals.extend(channels.iter().map(|channel| channel.signals().stored.listen().boxed()));
        signals.extend(wakes.iter().map(|wake| wake.listen().boxed()));
        // Listening has begun: what was raised before shows in the count.
        if for_events && self.raised() != seen {
            return Ok(());
        }
        let (answered, answer) = {
            let commits = self.group.iter_mut().enumerate();
            let commits = commits.filter_map(|(i, member)| Some((i, member.flight.first_commit()?)));
            let mut open: Vec<_> =
                commits.map(|(i, commit)| async move { (i, commit.await) }.boxed()).collect();
            if open.is_empty() {
                open.push(pending().boxed());
            }
            tokio::select! {
                biased;
                () = shutdown.requested() => return Ok(()),
                (answer, _, _) = select_all(open) => answer,
                _ = select_all(signals) => return Ok(()),
                () = timer => return Ok(()),
            }
        };
        let member = &mut self.group[answered];
        member.flight.answer_first(answer, &member.metrics)
    }

    async fn close(&mut self) -> Result<(), ChannelError> {
        for member in &mut self.group {
            let closed = match member.sink.close().await {
                Ok(()) => member.sink.settled(),
                Err(error) => Err(error),
            };
            match closed {
                Ok(_) if planted::is(Bug::CloseForgetsWhatItSettled) => {}
                Ok(n_batches) => member.flight.settle(n_batches, &member.metrics)?,
                Err(error) => tracing::warn!(sink = %member.name, %error, "sink did not close cleanly"),
            }
            member.flight.roll_back_held(&member.metrics);
            member.flight.reap_all(&member.metrics).await?;
        }
        Ok(())
    }
}

impl Member {
    /// The same wait for a sink alone, which is most of them: it allocates nothing, as it may come once a batch.
    async fn wait(
        &mut self,
        seen: u64,
        for_events: bool,
        timer: impl Future<Output = ()>,
        shutdown: &mut Shutdown,
    ) -> Result<(), ChannelError> {
        let stored = self.channel.signals().stored.listen();
        let woken = self.wake.listen();
        if for_events && self.channel.signals().stored.count() + self.wake.count() != seen {
            return Ok(());
        }
        let oldest = self.flight.first_commit();
        let answer = tokio::select! {
            biased;
            () = shutdown.requested() => return Ok(()),
            answer = async { match oldest { Some(commit) => commit.await, None => pending().await } } => answer,
            () = stored, if for_events && !planted::is(Bug::SinkSleepsOverEvents) => return Ok(()),
            () = woken => return Ok(()),
            () = timer => return Ok(()),
        };
        self.flight.answer_first(answer, &self.metrics)
    }

    /// When `on_deadline` is to be called next.
    fn deadline(&self) -> Option<Instant> {
        let wanted = self.sink.next_deadline().filter(|_| !planted::is(Bug::DeadlinesAreForgotten))?;
        Some(self.deadline_pause.map_or(wanted, |pause| wanted.max(pause)))
    }
}
