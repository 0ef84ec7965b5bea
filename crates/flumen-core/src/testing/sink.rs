//! The contract of sinks, as a suite: through the runner, with a peer that works, fails and comes back.

use super::{LIMIT, ScriptedChannel, numbered, until};
use crate::{
    channel::{Channel, Signal},
    group::{Member, MemberOptions, Outcome, RunnerEnd, SinkIndex, SinkProcessor, SinkRunner},
    sink::DynSink,
    source::Shutdown,
};
use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};
use tokio::time::{Instant, sleep, timeout};

/// What stands at the other end of a sink. It is shared: what changes in it lies behind a lock.
pub trait SinkPeer: Send + Sync + 'static {
    /// A fresh sink that delivers to this peer.
    fn sink(&self) -> Box<dyn DynSink>;

    /// The numbers ([`super::number_of`]) of the events that have arrived for good, in order.
    fn arrived(&self) -> Vec<u64>;

    /// Fails from now on, or works again.
    fn set_failing(&self, failing: bool);

    /// The signal that the sinks raise when held batches have become safe.
    fn wake(&self) -> Arc<Signal> {
        Arc::default()
    }
}

/// Checks a sink against the contract of [`crate::sink::Sink`]: nothing is lost; nothing comes twice unless something
/// failed; a failing peer leaves all events in the channel; it may be dropped at any moment; closing settles what is open.
pub struct SinkSuite<P> {
    peer: Arc<P>,
    next: u64,
    batch_size: u32,
}

impl<P: SinkPeer> SinkSuite<P> {
    /// A suite for the sinks of this peer.
    pub fn new(peer: P) -> Self {
        Self { peer: Arc::new(peer), next: 0, batch_size: 20 }
    }

    /// Runs all of it.
    ///
    /// # Panics
    /// The sink breaks a rule.
    pub async fn run(&mut self) {
        self.everything_arrives_once_and_in_order().await;
        self.a_failing_peer_loses_nothing().await;
        self.dropped_at_any_moment_it_loses_nothing().await;
    }

    fn runner(&self, channel: &Arc<ScriptedChannel>) -> SinkRunner {
        let peer = self.peer.clone();
        let member = Member::new(
            "k".into(),
            Box::new(move || Ok(peer.sink())),
            channel.clone(),
            self.batch_size,
            MemberOptions::default(),
            Arc::default(),
            self.peer.wake(),
        );
        SinkRunner::new(vec![member.expect("the peer makes a sink")], Box::new(Alone::default()))
    }

    /// A channel with so many new events.
    fn filled(&mut self, n: u64) -> (Arc<ScriptedChannel>, Vec<u64>) {
        let channel = Arc::new(ScriptedChannel::new("c", 10_000, 1_000));
        let range = self.next..self.next + n;
        self.next = range.end;
        channel.fill(&numbered(range.clone()));
        (channel, range.collect())
    }

    fn arrived_of(&self, events: &[u64]) -> Vec<u64> {
        self.peer.arrived().into_iter().filter(|number| events.contains(number)).collect()
    }

    async fn everything_arrives_once_and_in_order(&mut self) {
        let (channel, events) = self.filled(250);
        let mut runner = self.runner(&channel);
        let (stop, shutdown) = Shutdown::new();
        let watch = async {
            // Held batches are on loan until the sink settles them, at the latest when it closes.
            until("a sink that takes all there is", || channel.depth().queued == 0).await;
            stop.request();
        };
        let (end, ()) = tokio::join!(stopped(&mut runner, shutdown), watch);
        assert!(matches!(end, RunnerEnd::Stopped), "{end:?}");
        assert_eq!(channel.depth().on_loan, 0, "a closed sink leaves nothing on loan");
        let (arrived, left) = (self.arrived_of(&events), channel.numbers());
        let both: Vec<u64> = arrived.iter().chain(&left).copied().collect();
        assert_eq!(
            both,
            events,
            "what has not arrived is in the channel, all in order; arrived {}",
            arrived.len()
        );
        assert!(!arrived.is_empty(), "nothing has arrived, although nothing failed");
    }

    async fn a_failing_peer_loses_nothing(&mut self) {
        let (channel, events) = self.filled(100);
        self.peer.set_failing(true);
        let mut runner = self.runner(&channel);
        let (stop, shutdown) = Shutdown::new();
        let watch = async {
            sleep(Duration::from_millis(100)).await;
            self.nothing_is_lost(&channel, &events, "the peer fails");
            self.peer.set_failing(false);
            until("a sink whose peer works again", || channel.depth().queued == 0).await;
            stop.request();
        };
        let (end, ()) = tokio::join!(stopped(&mut runner, shutdown), watch);
        assert!(matches!(end, RunnerEnd::Stopped), "{end:?}");
        self.nothing_is_lost(&channel, &events, "the peer has worked again");
    }

    async fn dropped_at_any_moment_it_loses_nothing(&mut self) {
        let (channel, events) = self.filled(300);
        for moment in 0..30 {
            self.peer.set_failing(moment % 5 == 3);
            let mut runner = self.runner(&channel);
            let (_stop, shutdown) = Shutdown::new();
            let end = timeout(Duration::from_millis(moment), runner.run(shutdown)).await;
            assert!(end.is_err(), "a runner that nobody stops has ended: {end:?}");
            drop(runner);
            assert_eq!(channel.depth().on_loan, 0, "a dropped sink holds events");
            self.nothing_is_lost(&channel, &events, "the sink was dropped");
        }
        self.peer.set_failing(false);
    }

    fn nothing_is_lost(&self, channel: &ScriptedChannel, events: &[u64], when: &str) {
        let mut known: BTreeSet<u64> = self.arrived_of(events).into_iter().collect();
        known.extend(channel.numbers());
        let on_loan = channel.depth().on_loan;
        let lost = events.iter().filter(|number| !known.contains(number)).count();
        assert!(lost as u64 <= on_loan, "{lost} events are lost, {on_loan} are on loan: {when}");
    }
}

async fn stopped(runner: &mut SinkRunner, shutdown: Shutdown) -> RunnerEnd {
    let end = timeout(LIMIT, runner.run(shutdown)).await;
    end.unwrap_or_else(|_| panic!("the sink has not stopped after {} s", LIMIT.as_secs()))
}

impl<P> fmt::Debug for SinkSuite<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SinkSuite").field("next", &self.next).finish_non_exhaustive()
    }
}

/// The policy of a single sink: after a failure it pauses for 10 ms.
#[derive(Debug, Default)]
pub struct Alone {
    until: Option<Instant>,
}

impl SinkProcessor for Alone {
    fn pick(&mut self, now: Instant) -> Result<SinkIndex, Instant> {
        match self.until {
            Some(until) if until > now => Err(until),
            _ => Ok(SinkIndex(0)),
        }
    }

    fn report(&mut self, _sink: SinkIndex, outcome: Outcome, now: Instant) {
        let pause = matches!(outcome, Outcome::Failed | Outcome::Paused);
        self.until = pause.then(|| now + Duration::from_millis(10));
    }
}
