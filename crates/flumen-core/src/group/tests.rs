//! The take side: what the runner does for every sink, with scripted channels and sinks under a paused clock.

use super::*;
use crate::{
    channel::ChannelError,
    source::{Shutdown, ShutdownHandle},
    testing::{Act, Alone, Once, ScriptedChannel, SinkLog, numbered},
};
use std::future::Future;
use tokio::time::{sleep, timeout};

const MS: Duration = Duration::from_millis(1);

/// A running sink or group with what a test looks at.
struct Rig {
    runner: SinkRunner,
    shutdown: Shutdown,
    stop: ShutdownHandle,
    metrics: Vec<Arc<SinkMetrics>>,
    wakes: Vec<Arc<Signal>>,
}

impl Rig {
    fn new(channel: &Arc<ScriptedChannel>, log: &Arc<SinkLog>, batch_size: u32) -> Self {
        Self::group(&[(channel, log)], batch_size, MemberOptions::default(), Box::new(Alone::default()))
    }

    fn group(
        members: &[(&Arc<ScriptedChannel>, &Arc<SinkLog>)],
        batch_size: u32,
        options: MemberOptions,
        policy: Box<dyn SinkProcessor>,
    ) -> Self {
        let (mut group, mut metrics, mut wakes) = (Vec::new(), Vec::new(), Vec::new());
        for (channel, log) in members {
            let log = (*log).clone();
            let factory: SinkFactory = Box::new(move || Ok(Box::new(log.sink())));
            metrics.push(Arc::<SinkMetrics>::default());
            wakes.push(Arc::<Signal>::default());
            let (metrics, wake) = (metrics[metrics.len() - 1].clone(), wakes[wakes.len() - 1].clone());
            let channel = (*channel).clone();
            group.push(
                Member::new("k".into(), factory, channel, batch_size, options.clone(), metrics, wake)
                    .unwrap(),
            );
        }
        let (stop, shutdown) = Shutdown::new();
        Self { runner: SinkRunner::new(group, policy), shutdown, stop, metrics, wakes }
    }

    /// Runs until the work is over, then is dropped where it is.
    async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            end = self.runner.run(self.shutdown.clone()) => panic!("the runner has ended: {end:?}"),
            output = work => output,
        }
    }

    /// Runs for so long.
    async fn run_for(&mut self, time: Duration) {
        self.during(sleep(time)).await;
    }

    /// Runs until the stop that comes after this work, and stops.
    async fn stop_after(&mut self, work: impl Future<Output = ()>) -> RunnerEnd {
        let (runner, shutdown, stop) = (&mut self.runner, self.shutdown.clone(), &self.stop);
        let stopping = async {
            work.await;
            stop.request();
        };
        timeout(Duration::from_secs(3600), async { tokio::join!(runner.run(shutdown), stopping).0 })
            .await
            .unwrap()
    }

    /// Runs until it ends by itself.
    async fn end(&mut self) -> RunnerEnd {
        timeout(Duration::from_secs(3600), self.runner.run(self.shutdown.clone()))
            .await
            .expect("the runner ends")
    }
}

fn channel(events: u64) -> Arc<ScriptedChannel> {
    let channel = ScriptedChannel::new("c", 1_000, 100);
    channel.fill(&numbered(0..events));
    Arc::new(channel)
}

fn late(events: u64) -> Arc<ScriptedChannel> {
    let channel = ScriptedChannel::new("c", 1_000, 100).durable();
    channel.fill(&numbered(0..events));
    channel.answer_late(true);
    Arc::new(channel)
}

fn all(range: std::ops::Range<u64>) -> Vec<u64> {
    range.collect()
}

#[tokio::test(start_paused = true)]
async fn events_are_delivered_in_batches_and_counted() {
    let (channel, log) = (channel(25), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(MS).await;
    assert_eq!(log.batches(), [all(0..10), all(10..20), all(20..25)]);
    let metrics = &rig.metrics[0];
    assert_eq!((metrics.attempted.get(), metrics.drained.get()), (25, 25));
    assert_eq!(
        (metrics.batch_complete.get(), metrics.batch_underflow.get(), metrics.batch_empty.get()),
        (2, 1, 1)
    );
    assert_eq!((channel.depth().queued, channel.depth().on_loan), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn cps_11_new_events_wake_an_idle_sink_at_once_and_come_in_order() {
    let (channel, log) = (channel(0), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 10);
    rig.during(async {
        for n in 0..1_000 {
            channel.fill(&numbered(n..n + 1));
            if n % 7 == 0 {
                sleep(MS).await;
                assert_eq!(log.delivered(), all(0..n + 1), "within a millisecond");
            }
        }
        sleep(MS).await;
    })
    .await;
    assert_eq!(log.delivered(), all(0..1_000));
}

#[tokio::test(start_paused = true)]
async fn a_failed_batch_goes_back_and_comes_again_after_the_pause() {
    let log = SinkLog::new([Act::Fail(Retry::Backoff), Act::Fail(Retry::Backoff)]);
    let channel = channel(15);
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(MS * 5).await;
    assert_eq!((log.batches().len(), channel.numbers()), (1, all(0..15)));
    rig.run_for(MS * 50).await;
    assert_eq!(log.delivered(), all(0..15));
    assert_eq!(log.batches()[..3], [all(0..10), all(0..10), all(0..10)]);
    assert_eq!(rig.metrics[0].write_fail.get(), 2);
    assert_eq!(log.built_and_closed(), (1, 0), "the same sink goes on");
}

#[tokio::test(start_paused = true)]
async fn a_partly_delivered_batch_leaves_the_rest_in_its_place() {
    let log = SinkLog::new([Act::First(4), Act::First(0), Act::Discard]);
    let channel = channel(12);
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(MS * 50).await;
    assert_eq!(log.batches(), [all(0..10), all(4..12), all(4..12)]);
    assert_eq!(log.delivered(), [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!((rig.metrics[0].drained.get(), rig.metrics[0].discarded.get()), (12, 1));
    assert_eq!(channel.depth().queued, 0);
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_delivers_nothing_or_asks_for_it_gets_a_pause() {
    let log = SinkLog::new([Act::Pause, Act::First(0)]);
    let channel = channel(30);
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(MS * 5).await;
    assert_eq!(log.batches().len(), 1);
    rig.run_for(MS * 10).await;
    assert_eq!(log.batches().len(), 2);
    rig.run_for(MS * 10).await;
    assert_eq!(log.delivered(), all(0..30));
}

#[tokio::test(start_paused = true)]
async fn eight_take_commits_are_open_and_the_ninth_batch_waits() {
    let (channel, log) = (late(100), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(MS).await;
    assert_eq!(log.batches().len(), 8);
    assert_eq!(rig.metrics[0].drained.get(), 0, "nothing is answered yet");
    rig.during(async {
        assert!(channel.answer(true) && channel.answer(true));
        sleep(MS).await;
    })
    .await;
    assert_eq!(rig.metrics[0].drained.get(), 20);
    assert_eq!(log.batches().len(), 10);
}

#[tokio::test(start_paused = true)]
async fn the_first_take_commit_that_fails_stops_the_sink() {
    let (channel, log) = (late(30), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(MS).await;
    assert!(channel.answer(true) && channel.answer(false));
    let end = rig.end().await;
    assert!(matches!(end, RunnerEnd::Channel(ChannelError::Storage { .. })), "{end:?}");
    assert_eq!(rig.metrics[0].drained.get(), 10);
    assert_eq!(channel.numbers(), all(10..20), "what could not be committed is there again");
}

#[tokio::test(start_paused = true)]
async fn an_idle_sink_notices_its_answered_commits() {
    let (channel, log) = (late(10), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 10);
    let metrics = rig.metrics[0].clone();
    rig.during(async {
        sleep(MS).await;
        // The signals of the channel are raised as well; the answer alone has to do.
        assert!(channel.answer(true));
        sleep(MS).await;
        assert_eq!(metrics.drained.get(), 10);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_channel_that_cannot_be_taken_from_ends_the_runner() {
    let (channel, log) = (channel(5), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 10);
    channel.once(Once::TakeFails);
    assert!(matches!(rig.end().await, RunnerEnd::Channel(ChannelError::Storage { .. })));
    assert_eq!(rig.metrics[0].channel_read_fail.get(), 1);
    channel.close();
    assert!(matches!(rig.end().await, RunnerEnd::Channel(ChannelError::Closed { .. })));
}

#[tokio::test(start_paused = true)]
async fn closing_the_channel_wakes_an_idle_runner() {
    let (channel, log) = (channel(0), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 10);
    let closing = async {
        sleep(MS).await;
        channel.close();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        end = rig.end() => assert!(matches!(end, RunnerEnd::Channel(ChannelError::Closed { .. })), "{end:?}"),
        () = closing => {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_size_above_the_transaction_capacity_is_lowered() {
    let (channel, log) = (channel(150), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 1_000);
    rig.run_for(MS).await;
    assert_eq!(log.batches(), [all(0..100), all(100..150)]);
}

#[tokio::test(start_paused = true)]
async fn held_batches_are_committed_in_order_when_the_sink_says_so() {
    let (channel, log) = (channel(30), SinkLog::new([Act::Hold, Act::Hold, Act::Hold]));
    let mut rig = Rig::new(&channel, &log, 10);
    let (wake, metrics) = (rig.wakes[0].clone(), rig.metrics[0].clone());
    rig.during(async {
        sleep(MS).await;
        assert_eq!((channel.depth().on_loan, metrics.held.get(), metrics.drained.get()), (30, 30, 0));
        log.settle(2);
        wake.raise();
        sleep(MS).await;
        assert_eq!((channel.depth().on_loan, metrics.held.get(), metrics.drained.get()), (10, 10, 20));
        assert_eq!(log.delivered(), all(0..20));
    })
    .await;
    drop(rig);
    assert_eq!(channel.numbers(), all(20..30), "what was not settled is back");
}

#[tokio::test(start_paused = true)]
async fn held_batches_that_cannot_become_safe_all_go_back_in_order() {
    let (channel, log) = (channel(40), SinkLog::new([Act::Hold, Act::Hold, Act::Hold]));
    let mut rig = Rig::new(&channel, &log, 10);
    let wake = rig.wakes[0].clone();
    rig.during(async {
        sleep(MS).await;
        log.lose_held();
        wake.raise();
        sleep(MS * 50).await;
    })
    .await;
    assert_eq!(log.batches()[4..], [all(0..10), all(10..20), all(20..30)], "delivered again, oldest first");
    assert_eq!((channel.depth().queued, rig.metrics[0].held.get()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_failed_delivery_puts_held_batches_back_too() {
    let log = SinkLog::new([Act::Hold, Act::Fail(Retry::Backoff)]);
    let channel = channel(20);
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(MS * 5).await;
    assert_eq!(channel.numbers(), all(0..20));
    rig.run_for(MS * 20).await;
    assert_eq!(log.delivered(), all(0..20));
}

#[tokio::test(start_paused = true)]
async fn too_many_held_batches_are_settled_early() {
    let channel = channel(50);
    let by_number = MemberOptions { max_held_batches: 2, ..MemberOptions::default() };
    let by_bytes = MemberOptions { max_held_bytes: 15, ..MemberOptions::default() };
    for options in [by_number, by_bytes] {
        let log = SinkLog::new([Act::Hold, Act::Hold, Act::Hold, Act::Hold]);
        log.settle_on_deadline();
        let mut rig = Rig::group(&[(&channel, &log)], 10, options, Box::new(Alone::default()));
        rig.run_for(MS).await;
        assert!(!log.deadlines().is_empty());
        assert!(rig.metrics[0].drained.get() >= 20, "{}", rig.metrics[0].drained.get());
        drop(rig);
        channel.fill(&numbered(0..50));
    }
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_holds_half_of_its_channel_is_asked_once_and_takes_no_more() {
    let channel = Arc::new(ScriptedChannel::new("c", 40, 40));
    channel.fill(&numbered(0..40));
    let log = SinkLog::new([Act::Hold; 4]);
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(Duration::from_secs(1)).await;
    assert_eq!((log.batches().len(), log.deadlines().len()), (2, 1));
    assert_eq!(channel.depth().on_loan, 20);
}

#[tokio::test(start_paused = true)]
async fn deadlines_are_served_while_idle_on_time() {
    let (channel, log) = (channel(0), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 10);
    let due = Instant::now() + Duration::from_secs(30);
    log.set_deadline(due, false);
    rig.run_for(Duration::from_secs(60)).await;
    assert_eq!(log.deadlines(), [due]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_waits_until_a_delivery_is_over() {
    let (channel, log) = (channel(10), SinkLog::new([Act::Late(Duration::from_secs(40))]));
    let mut rig = Rig::new(&channel, &log, 10);
    let start = Instant::now();
    log.set_deadline(start + Duration::from_secs(30), false);
    rig.run_for(Duration::from_secs(60)).await;
    assert_eq!(log.deadlines(), [start + Duration::from_secs(40)]);
    assert!(!log.was_disturbed());
}

#[tokio::test(start_paused = true)]
async fn a_failed_deadline_is_tried_again_after_a_second() {
    let (channel, log) = (channel(0), SinkLog::new([]));
    let mut rig = Rig::new(&channel, &log, 10);
    let start = Instant::now();
    log.set_deadline(start, true);
    rig.run_for(Duration::from_secs(5)).await;
    assert_eq!(log.deadlines(), [start, start + Duration::from_secs(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_asks_for_it_is_built_anew_and_the_old_one_closed() {
    let (channel, log) = (channel(20), SinkLog::new([Act::Fail(Retry::Rebuild)]));
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(MS * 30).await;
    assert_eq!(log.built_and_closed(), (2, 1));
    assert_eq!(log.delivered(), all(0..20));
    assert_eq!(rig.metrics[0].rebuilt.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn where_no_fresh_sink_can_be_built_the_old_one_goes_on() {
    let (channel, log) = (channel(20), SinkLog::new([Act::Fail(Retry::Rebuild)]));
    let (sinks, mut first) = (log.clone(), true);
    let factory: SinkFactory =
        Box::new(
            move || {
                if std::mem::take(&mut first) { Ok(Box::new(sinks.sink())) } else { Err("no more".into()) }
            },
        );
    let options = MemberOptions::default();
    let member =
        Member::new("k".into(), factory, channel.clone(), 10, options, Arc::default(), Arc::default())
            .unwrap();
    let mut runner = SinkRunner::new(vec![member], Box::new(Alone::default()));
    let (_stop, shutdown) = Shutdown::new();
    assert!(timeout(MS * 30, runner.run(shutdown)).await.is_err());
    assert_eq!((log.delivered(), log.built_and_closed()), (all(0..20), (1, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_cannot_be_built_at_first_is_an_error() {
    let factory: SinkFactory = Box::new(|| Err("no host".into()));
    let options = MemberOptions::default();
    let member = Member::new("k".into(), factory, channel(0), 10, options, Arc::default(), Arc::default());
    assert_eq!(member.unwrap_err().to_string(), "no host");
}

/// One sink after the other, whatever happens.
#[derive(Debug)]
struct InTurn(usize, usize);

impl SinkProcessor for InTurn {
    fn pick(&mut self, _now: Instant) -> Result<SinkIndex, Instant> {
        self.0 = (self.0 + 1) % self.1;
        Ok(SinkIndex(self.0))
    }
    fn report(&mut self, _sink: SinkIndex, _outcome: Outcome, _now: Instant) {}
}

#[tokio::test(start_paused = true)]
async fn a_group_waits_for_all_of_its_channels() {
    let channels = [channel(0), channel(0), channel(0)];
    let logs = [SinkLog::new([]), SinkLog::new([]), SinkLog::new([])];
    let members: Vec<_> = channels.iter().zip(&logs).collect();
    let mut rig = Rig::group(&members, 10, MemberOptions::default(), Box::new(InTurn(0, 3)));
    rig.during(async {
        for turn in [2, 0, 1, 1, 2] {
            sleep(Duration::from_secs(1)).await;
            let before = logs[turn].delivered().len() as u64;
            channels[turn].fill(&numbered(before..before + 1));
            sleep(MS).await;
            assert_eq!(logs[turn].delivered(), all(0..before + 1));
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_sink_lingers_for_a_fuller_batch_but_not_for_long() {
    let (channel, log) = (channel(3), SinkLog::new([]));
    let options = MemberOptions { linger: MS * 100, ..MemberOptions::default() };
    let mut rig = Rig::group(&[(&channel, &log)], 10, options, Box::new(Alone::default()));
    rig.during(async {
        sleep(MS * 50).await;
        channel.fill(&numbered(3..5));
        sleep(MS * 49).await;
        assert!(log.batches().is_empty());
        sleep(MS * 2).await;
        assert_eq!(log.batches(), [all(0..5)]);
        channel.fill(&numbered(5..8));
        sleep(MS).await;
        channel.fill(&numbered(8..15));
        sleep(MS).await;
        assert_eq!(log.batches()[1..], [all(5..15)], "a full batch does not wait");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_stop_ends_every_kind_of_wait() {
    let hour = Duration::from_secs(3600);
    let lingering = MemberOptions { linger: hour, ..MemberOptions::default() };
    for (events, options, script) in [
        (0, MemberOptions::default(), vec![]),
        (5, lingering, vec![]),
        (5, MemberOptions::default(), vec![Act::Hold]),
        (5, MemberOptions::default(), vec![Act::Fail(Retry::Backoff); 1_000]),
    ] {
        let (channel, log) = (channel(events), SinkLog::new(script));
        let mut rig = Rig::group(&[(&channel, &log)], 10, options, Box::new(Alone::default()));
        let start = Instant::now();
        let end = rig.stop_after(sleep(MS * 5)).await;
        assert!(matches!(end, RunnerEnd::Stopped), "{end:?}");
        assert!(start.elapsed() < MS * 20, "{:?}", start.elapsed());
        assert_eq!((channel.numbers(), channel.depth().on_loan), (all(0..events), 0));
        assert_eq!(log.built_and_closed(), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn the_stop_waits_for_the_delivery_under_way() {
    let (channel, log) = (channel(20), SinkLog::new([Act::Late(MS * 50)]));
    let mut rig = Rig::new(&channel, &log, 10);
    rig.stop_after(sleep(MS * 5)).await;
    assert_eq!((log.delivered(), channel.numbers()), (all(0..10), all(10..20)));
}

#[tokio::test(start_paused = true)]
async fn closing_settles_what_it_can_and_waits_for_the_commits() {
    let channel = late(30);
    let log = SinkLog::new([Act::Hold, Act::Deliver, Act::Hold]);
    log.settle_on_close();
    let mut rig = Rig::new(&channel, &log, 10);
    let answers = async {
        sleep(MS).await;
        while log.built_and_closed().1 == 0 {
            rig.stop.request();
            tokio::task::yield_now().await;
        }
        for _ in 0..3 {
            sleep(MS * 10).await;
            assert!(channel.answer(true));
        }
    };
    let (end, ()) = tokio::join!(rig.runner.run(rig.shutdown.clone()), answers);
    assert!(matches!(end, RunnerEnd::Stopped), "{end:?}");
    assert_eq!(rig.metrics[0].drained.get(), 30);
    assert_eq!((channel.depth().queued, channel.depth().on_loan), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_runner_puts_back_what_it_was_delivering() {
    let (channel, log) = (channel(30), SinkLog::new([Act::Hold, Act::Stall]));
    let mut rig = Rig::new(&channel, &log, 10);
    rig.run_for(MS).await;
    assert_eq!(
        channel.depth().on_loan,
        10,
        "the batch that was being delivered is back, the held one is not"
    );
    drop(rig);
    assert_eq!(channel.numbers(), all(0..30));
}
