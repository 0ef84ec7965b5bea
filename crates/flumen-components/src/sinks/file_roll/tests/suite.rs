//! The contract of sinks, and what the runner does with this one.

use super::*;
use crate::testing::{batch_of, channel};
use flumen_core::{
    group::{Member, MemberOptions, RunnerEnd, SinkRunner},
    sink::DynSink,
    source::Shutdown,
    testing::{Alone, Once, SinkPeer, SinkSuite},
};

/// A disk that runs full.
struct Peer {
    disk: FaultyDisk,
    fsync: &'static str,
}

impl SinkPeer for Peer {
    fn sink(&self) -> Box<dyn DynSink> {
        let pairs = [("sink.fsync", self.fsync), ("sink.rollInterval", "1")];
        let disk = Box::new(self.disk.clone());
        let rolling = with_disk(Path::new("/d"), &pairs, &Arc::new(SetClock::at(1)), disk);
        Box::new(FileRollSink(Blocking::new("k", rolling)))
    }

    fn arrived(&self) -> Vec<u64> {
        self.disk.texts().iter().flat_map(|text| text.lines()).map(|line| line.parse().unwrap()).collect()
    }

    fn set_failing(&self, failing: bool) {
        self.disk.set(|state| state.room = failing.then_some(1));
    }
}

#[tokio::test]
async fn the_contract_of_sinks_is_kept() {
    for fsync in ["none", "batch", "roll"] {
        SinkSuite::new(Peer { disk: FaultyDisk::default(), fsync }).run().await;
    }
}

#[tokio::test]
async fn ser_44_a_channel_that_fails_a_take_ends_the_runner_and_is_counted() {
    let channel = channel(100, 100);
    channel.fill(&batch_of(&["1"]));
    channel.once(Once::TakeFails);
    let disk = FaultyDisk::default();
    let peer = Peer { disk: disk.clone(), fsync: "none" };
    let context = sink_context(0, false);
    let member = Member::new(
        "k".into(),
        Box::new(move || Ok(peer.sink())),
        channel.clone(),
        10,
        MemberOptions::default(),
        context.metrics.clone(),
        context.wake.clone(),
    );
    let mut runner = SinkRunner::new(vec![member.unwrap()], Box::new(Alone::default()));
    let (_stop, shutdown) = Shutdown::new();
    let end = runner.run(shutdown).await;
    assert!(matches!(end, RunnerEnd::Channel(_)), "{end:?}");
    assert_eq!(context.metrics.channel_read_fail.get(), 1);
    assert_eq!(channel.numbers(), [1], "the event is where it was");
}
