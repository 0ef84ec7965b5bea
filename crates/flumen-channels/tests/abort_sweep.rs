//! A running source, channel and sink are stopped at every moment: nothing is held, and nothing acknowledged is lost.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

use flumen_channels::memory::MemoryChannel;
use flumen_core::{
    channel::{Channel, ChannelLimits, Signal},
    group::{Member, MemberOptions, SinkRunner},
    processor::ChannelProcessor,
    sink::Retry,
    source::{Shutdown, Source},
    testing::{Act, Alone, Everywhere, SinkLog, SourceAct, SourceLog, numbers},
};
use std::{
    collections::BTreeSet,
    future::Future,
    ops::Range,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

const EVENTS: Range<u64> = 0..140;
/// Events a put.
const PUT: usize = 7;
const MS: Duration = Duration::from_millis(1);

/// A source, two required channels, and a sink for each.
struct Flow {
    channels: Vec<Arc<dyn Channel>>,
    sinks: Vec<Arc<SinkLog>>,
    wake: Arc<Signal>,
    source: Arc<SourceLog>,
}

impl Flow {
    /// Channels that are nearly always full, sinks that fail in every way, and a source with pauses.
    fn new() -> Self {
        let limits = |capacity| ChannelLimits {
            capacity,
            transaction_capacity: 10,
            byte_slots: None,
            keep_alive: Duration::from_millis(15),
        };
        let channel = |name: &str, capacity| -> Arc<dyn Channel> {
            Arc::new(MemoryChannel::new(name.into(), limits(capacity), Arc::default()))
        };
        let script = |shift: usize| {
            let fail = Act::Fail(Retry::Backoff);
            let acts = [
                Act::Late(MS * 2),
                fail,
                Act::First(3),
                Act::DeliverAndFail,
                Act::Hold,
                Act::Late(MS * 5),
                Act::Fail(Retry::Rebuild),
                Act::Hold,
                Act::Hold,
                Act::Pause,
            ];
            acts.into_iter().cycle().skip(shift).take(120)
        };
        let puts = EVENTS.step_by(PUT).map(|start| SourceAct::Put(start..start + PUT as u64));
        let acts = puts.flat_map(|put| [put, SourceAct::Wait(MS * 3)]);
        Self {
            channels: vec![channel("narrow", 15), channel("wide", 50)],
            sinks: vec![SinkLog::new(script(0)), SinkLog::new(script(4))],
            wake: Arc::default(),
            source: SourceLog::new(acts),
        }
    }

    /// Everything at once; held batches are settled every 4 ms.
    async fn run(&self) {
        let all = [0, 1].map(|i| self.channels[i].clone()).to_vec();
        let out = ChannelProcessor::new(Vec::new(), Arc::new(Everywhere(2)), all, &[0, 1], Arc::default());
        let (_stop, shutdown) = Shutdown::new();
        let mut runners: Vec<_> =
            self.channels.iter().zip(&self.sinks).map(|(channel, log)| self.runner(channel, log)).collect();
        let (first, second) = runners.split_at_mut(1);
        let mut source = self.source.source();
        let settle = async {
            loop {
                tokio::time::sleep(MS * 4).await;
                self.sinks.iter().for_each(|sink| sink.settle(1));
                self.wake.raise();
            }
        };
        tokio::join!(
            async { source.run(out, shutdown.clone()).await.unwrap() },
            first[0].run(shutdown.clone()),
            second[0].run(shutdown.clone()),
            settle
        );
    }

    fn runner(&self, channel: &Arc<dyn Channel>, log: &Arc<SinkLog>) -> SinkRunner {
        let log = log.clone();
        let member = Member::new(
            "k".into(),
            Box::new(move || Ok(Box::new(log.sink()))),
            channel.clone(),
            4,
            MemberOptions::default(),
            Arc::default(),
            self.wake.clone(),
        );
        SinkRunner::new(vec![member.unwrap()], Box::new(Alone::default()))
    }

    /// What must hold at any moment at which nothing runs.
    fn check(&self, when: &str) {
        let acknowledged = self.source.acknowledged();
        assert!(acknowledged.is_sorted(), "{when}: {acknowledged:?}");
        let mut known = Vec::new();
        for (channel, sink) in self.channels.iter().zip(&self.sinks) {
            let depth = channel.depth();
            let name = channel.name();
            assert_eq!((depth.on_loan, depth.reserved), (0, 0), "{when}, {name}: something is held");
            let queued = contents(&**channel);
            assert!(queued.is_sorted_by(|a, b| a < b), "{when}, {name}: not in order, or twice: {queued:?}");
            assert_eq!(depth.queued, queued.len() as u64, "{when}, {name}");
            let all: BTreeSet<u64> = queued.into_iter().chain(sink.delivered()).collect();
            let lost: Vec<_> = acknowledged.iter().filter(|number| !all.contains(number)).collect();
            assert!(lost.is_empty(), "{when}, {name}: acknowledged and gone: {lost:?}");
            for start in EVENTS.step_by(PUT) {
                let there = (start..start + PUT as u64).filter(|number| all.contains(number)).count();
                assert!(there == 0 || there == PUT, "{when}, {name}: {there} of {PUT} events of a put");
            }
            known.push(all);
        }
        assert_eq!(known[0], known[1], "{when}: a put is in both channels or in neither");
    }
}

/// What is in the channel, without taking it out.
fn contents(channel: &dyn Channel) -> Vec<u64> {
    let mut all = Vec::new();
    let mut leases = Vec::new();
    while let Some(taken) = channel.try_take(10).unwrap() {
        all.extend(numbers(taken.batch()));
        leases.push(taken);
    }
    // Newest first and oldest first in turn: both must bring everything back to its place.
    if all.len() % 2 == 0 {
        leases.reverse();
    }
    drop(leases);
    all
}

/// Ends after so many polls, wherever the future then is.
struct ForPolls<F>(Pin<Box<F>>, u32);

impl<F: Future<Output = ()>> Future for ForPolls<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.1 == 0 {
            return Poll::Ready(());
        }
        self.1 -= 1;
        self.0.as_mut().poll(context)
    }
}

#[tokio::test(start_paused = true)]
async fn invariant_05_stopped_after_any_millisecond_nothing_is_held_and_nothing_lost() {
    let mut complete = 0;
    for moment in 0..400 {
        let flow = Flow::new();
        assert!(tokio::time::timeout(MS * moment, flow.run()).await.is_err());
        flow.check(&format!("after {moment} ms"));
        complete += usize::from(flow.source.acknowledged().len() as u64 == EVENTS.end);
    }
    assert!(complete > 0, "the sweep is long enough to see the end");
    assert!(complete < 200, "and short enough to see mostly the middle");
}

#[tokio::test(start_paused = true)]
async fn invariant_05_stopped_after_any_number_of_polls_nothing_is_held_and_nothing_lost() {
    for polls in 0..400 {
        let flow = Flow::new();
        ForPolls(Box::pin(flow.run()), polls).await;
        flow.check(&format!("after {polls} polls"));
    }
}

#[tokio::test(start_paused = true)]
async fn invariant_01_stopped_again_and_again_every_acknowledged_event_arrives() {
    let flow = Flow::new();
    let mut rounds = 0;
    while flow.source.acknowledged().len() as u64 != EVENTS.end
        || flow.channels.iter().any(|c| c.depth().queued > 0)
    {
        rounds += 1;
        assert!(rounds < 1_000, "no end: {:?}", flow.channels);
        let _ = tokio::time::timeout(MS * (rounds % 60), flow.run()).await;
        flow.check(&format!("in round {rounds}"));
    }
    for sink in &flow.sinks {
        let delivered: BTreeSet<u64> = sink.delivered().into_iter().collect();
        assert!(EVENTS.eq(delivered), "each event has arrived at least once");
    }
}
