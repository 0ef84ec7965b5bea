//! No wake-up is lost: what becomes possible between a try and the wait that follows it ends that wait at once.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

use flumen_core::{
    channel::{
        Channel, ChannelDepth, ChannelError, ChannelLimits, NeedsRebuild, PutTransaction, Signals,
        TakeTransaction, begin_put, begin_take,
    },
    event::BatchSize,
    group::{Member, MemberOptions, SinkRunner},
    source::Shutdown,
    testing::{Alone, ScriptedChannel, SinkLog, numbered, numbers},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::time::{Instant, timeout};

/// After so many tries that found nothing, what was missing comes: behind the back of the last of them.
#[derive(Debug)]
struct JustAfter {
    inner: ScriptedChannel,
    tries: AtomicUsize,
}

impl JustAfter {
    fn the_try(tries: usize) -> Self {
        Self { inner: ScriptedChannel::new("c", 10, 10), tries: AtomicUsize::new(tries) }
    }

    fn is_the_one(&self) -> bool {
        self.tries.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)) == Ok(1)
    }
}

impl Channel for JustAfter {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn limits(&self) -> ChannelLimits {
        self.inner.limits()
    }
    fn signals(&self) -> &Signals {
        self.inner.signals()
    }
    fn try_put(&self, size: BatchSize) -> Result<Option<PutTransaction>, ChannelError> {
        let room = self.inner.try_put(size)?;
        if room.is_none() && self.is_the_one() {
            self.inner.try_take(10)?.unwrap().commit().try_answer().unwrap()?;
        }
        Ok(room)
    }
    fn try_take(&self, max_events: u32) -> Result<Option<TakeTransaction>, ChannelError> {
        let taken = self.inner.try_take(max_events)?;
        if taken.is_none() && self.is_the_one() {
            let batch = numbered(0..3);
            self.inner.try_put(batch.size())?.unwrap().commit(batch).try_answer().unwrap()?;
        }
        Ok(taken)
    }
    fn reconfigure(&self, limits: &ChannelLimits) -> Result<(), NeedsRebuild> {
        self.inner.reconfigure(limits)
    }
    fn depth(&self) -> ChannelDepth {
        self.inner.depth()
    }
    fn close(&self) {
        self.inner.close();
    }
}

#[tokio::test(start_paused = true)]
async fn room_that_comes_just_after_a_try_ends_the_wait_for_it() {
    for tries in 1..4 {
        let channel = JustAfter::the_try(tries);
        channel.inner.fill(&numbered(100..110));
        let before = Instant::now();
        // A put that is not woken looks again by itself only at the end of its keep-alive, and gives up then.
        let wakes = async {
            for _ in 0..tries {
                tokio::task::yield_now().await;
                if channel.tries.load(Ordering::Relaxed) > 0 {
                    channel.signals().freed.raise();
                }
            }
        };
        let (room, ()) = tokio::join!(begin_put(&channel, numbered(0..2).size()), wakes);
        assert!(room.is_ok(), "after try {tries}: {room:?}");
        assert_eq!(before.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn events_that_come_just_after_a_try_end_the_wait_for_them() {
    for tries in 1..3 {
        let channel = JustAfter::the_try(tries);
        let before = Instant::now();
        let taken = begin_take(&channel, 10).await.unwrap().unwrap();
        assert_eq!(
            (numbers(taken.batch()), before.elapsed()),
            (vec![0, 1, 2], Duration::ZERO),
            "after try {tries}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn events_that_come_just_after_a_runners_try_are_delivered_at_once() {
    for members in [1, 2] {
        let channel = Arc::new(JustAfter::the_try(members));
        let log = SinkLog::new([]);
        let member = |name: &str| {
            let log = log.clone();
            Member::new(
                name.into(),
                Box::new(move || Ok(Box::new(log.sink()))),
                channel.clone(),
                10,
                MemberOptions::default(),
                Arc::default(),
                Arc::default(),
            )
            .unwrap()
        };
        let group = ["k1", "k2"].into_iter().take(members).map(member).collect();
        let mut runner = SinkRunner::new(group, Box::new(Alone::default()));
        let (_stop, shutdown) = Shutdown::new();
        let _ = timeout(Duration::from_secs(1), runner.run(shutdown)).await;
        assert_eq!(log.delivered(), [0, 1, 2], "{members} sinks");
    }
}
