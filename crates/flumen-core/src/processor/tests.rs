//! The put side: all rooms before any commit, nothing twice, and everything is told.

mod balance;

use super::*;
use crate::{
    channel::{Channel, ChannelError, begin_take},
    event::{Event, Text},
    intercept::InterceptError,
    route::Route,
    testing::{Everywhere, Once, ScriptedChannel, number_of, numbered, numbers},
};
use futures_util::task::noop_waker_ref;
use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::Context,
    time::Duration,
};

fn channels(n: usize) -> Vec<Arc<ScriptedChannel>> {
    (0..n).map(|i| Arc::new(ScriptedChannel::new(&format!("ch{i}"), 200, 100))).collect()
}

fn durable(n: usize) -> Vec<Arc<ScriptedChannel>> {
    (0..n).map(|i| Arc::new(ScriptedChannel::new(&format!("ch{i}"), 200, 100).durable())).collect()
}

fn processor_with(
    interceptors: Vec<Arc<dyn Interceptor>>,
    selector: impl Selector,
    channels: &[Arc<ScriptedChannel>],
) -> ChannelProcessor {
    let order: Vec<usize> = (0..channels.len()).collect();
    let channels = channels.iter().map(|channel| channel.clone() as Arc<dyn Channel>).collect();
    ChannelProcessor::new(interceptors, Arc::new(selector), channels, &order, Arc::default())
}

fn processor(selector: impl Selector, channels: &[Arc<ScriptedChannel>]) -> ChannelProcessor {
    processor_with(Vec::new(), selector, channels)
}

/// The first channels are required, those from a number on optional.
#[derive(Debug)]
struct OptionalFrom(usize, usize);

impl Selector for OptionalFrom {
    fn route(&self, _event: Event<'_>) -> Route {
        let Self(from, n) = *self;
        Route { required: ChannelSet::first(from), optional: (from..n).collect() }
    }
    fn fixed(&self) -> Option<Route> {
        let Self(from, n) = *self;
        Some(Route { required: ChannelSet::first(from), optional: (from..n).collect() })
    }
}

/// Odd numbers to channel 0, even ones to 1 and perhaps to 2, multiples of 10 nowhere.
#[derive(Debug)]
struct ByNumber;

impl Selector for ByNumber {
    fn route(&self, event: Event<'_>) -> Route {
        match number_of(event) {
            n if n % 10 == 0 => Route::default(),
            n if n % 2 == 1 => Route { required: [0].into_iter().collect(), optional: ChannelSet::EMPTY },
            _ => Route { required: [1].into_iter().collect(), optional: [1, 2].into_iter().collect() },
        }
    }
}

/// Counts its calls in a header, and refuses as often as it is told.
#[derive(Debug, Default)]
struct Counting {
    calls: AtomicUsize,
    refusals: AtomicUsize,
}

impl Interceptor for Counting {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        if self.refusals.load(Ordering::Relaxed) > 0 {
            self.refusals.fetch_sub(1, Ordering::Relaxed);
            return Err(InterceptError { interceptor: "i".to_owned(), reason: "not now".to_owned() });
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        batch.edit_headers(|headers| {
            let before = headers.get("calls").map_or(0, |calls| calls.parse().unwrap());
            headers.set(Text::from_static("calls"), (before + 1).to_string().into());
        });
        Ok(())
    }
}

/// Keeps those below a number, and doubles them or not.
#[derive(Debug)]
struct Below(u64, bool);

impl Interceptor for Below {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        batch.expand(|event, emit| {
            if number_of(event) < self.0 {
                emit.keep();
                if self.1 {
                    emit.keep();
                }
            }
        });
        Ok(())
    }
}

fn calls(channel: &ScriptedChannel) -> Vec<String> {
    channel.contents().iter().map(|event| event.headers.get("calls").unwrap().to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn cps_01_what_a_channel_says_reaches_the_source() {
    let channels = channels(1);
    channels[0].once(Once::PutFails);
    let out = processor(Everywhere(1), &channels);
    let error = out.put(numbered(0..3)).await.unwrap_err();
    assert!(matches!(error.channel_error(), Some(ChannelError::Storage { .. })), "{error:?}");
    assert_eq!(error.to_string(), "channel ch0: storage failed: the script says so");
    assert_eq!(numbers(&error.batch), [0, 1, 2]);
    assert_eq!(out.metrics().channel_write_fail.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn cps_03_required_and_optional_channels_get_each_event_once() {
    let channels = channels(4);
    let out = processor(OptionalFrom(2, 4), &channels);
    out.put(numbered(0..1)).await.unwrap();
    out.put(numbered(1..101)).await.unwrap();
    for channel in &channels {
        assert_eq!(channel.numbers(), (0..101).collect::<Vec<_>>(), "{channel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn cps_04_a_put_that_worked_leaves_nothing_open() {
    let channels = channels(1);
    processor(Everywhere(1), &channels).put(numbered(0..1)).await.unwrap();
    let depth = channels[0].depth();
    assert_eq!((depth.queued, depth.reserved), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn cps_05_a_take_from_an_empty_channel_gives_nothing_and_leaves_nothing_open() {
    let channels = channels(1);
    assert!(begin_take(&*channels[0], 1).await.unwrap().is_none());
    assert_eq!(channels[0].depth().on_loan, 0);
}

#[tokio::test(start_paused = true)]
async fn cps_06_cps_07_cps_10_events_come_back_in_the_order_of_their_puts() {
    let channels = channels(1);
    let out = processor(Everywhere(1), &channels);
    for n in 0..7 {
        out.put(numbered(n..n + 1)).await.unwrap();
    }
    for round in 1..10 {
        out.put(numbered(round * 7..round * 7 + 7)).await.unwrap();
    }
    for round in 0..10 {
        let taken = begin_take(&*channels[0], 7).await.unwrap().unwrap();
        assert_eq!(numbers(taken.batch()), (round * 7..round * 7 + 7).collect::<Vec<_>>());
        taken.commit().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn cps_08_a_panic_within_a_transaction_rolls_it_back_and_goes_on() {
    let channels = channels(1);
    channels[0].fill(&numbered(0..5));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let _room = channels[0].try_put(numbered(5..8).size()).unwrap().unwrap();
        let _taken = channels[0].try_take(2).unwrap().unwrap();
        panic!("the work fails");
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"the work fails"));
    let depth = channels[0].depth();
    assert_eq!((depth.queued, depth.on_loan, depth.reserved), (5, 0, 0));
    assert_eq!(channels[0].numbers(), [0, 1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_full_second_channel_leaves_no_copy_in_the_first() {
    let channels = channels(2);
    channels[1].fill(&numbered(100..300));
    let counting = Arc::new(Counting::default());
    let out = processor_with(vec![counting], Everywhere(2), &channels);
    let before = Instant::now();
    let error = out.put(numbered(0..3)).await.unwrap_err();
    assert_eq!(before.elapsed(), Duration::from_secs(3), "the keep-alive of the full channel");
    assert!(matches!(error.channel_error(), Some(ChannelError::Full { .. })));
    assert_eq!((channels[0].depth().queued, channels[0].depth().reserved), (0, 0));
    assert_eq!((numbers(&error.batch), error.n_received()), (vec![0, 1, 2], 3));
    assert!(error.committed.is_empty());
    channels[1].try_take(100).unwrap().unwrap().commit().await.unwrap();
    out.retry(error).await.unwrap().await.unwrap();
    assert_eq!(channels[0].numbers(), [0, 1, 2]);
    assert_eq!(calls(&channels[0]), ["1", "1", "1"], "intercepted once");
    let metrics = out.metrics();
    assert_eq!((metrics.received.get(), metrics.accepted.get(), metrics.channel_write_fail.get()), (3, 3, 1));
}

#[tokio::test(start_paused = true)]
async fn retry_skips_the_channels_that_have_committed() {
    let channels = durable(3);
    channels[1].once(Once::PutCommitFails);
    let counting = Arc::new(Counting::default());
    let out = processor_with(vec![counting.clone()], OptionalFrom(2, 3), &channels);
    let error = out.put(numbered(0..4)).await.unwrap_err();
    assert!(error.committed.contains(0) && !error.committed.contains(1));
    assert_eq!(numbers(&error.batch), [0, 1, 2, 3]);
    channels[1].once(Once::PutCommitFails);
    let error = out.retry(error).await.unwrap().await.unwrap_err();
    out.retry(error).await.unwrap().await.unwrap();
    for channel in &channels {
        assert_eq!(channel.numbers(), [0, 1, 2, 3], "{channel:?}");
    }
    assert_eq!(counting.calls.load(Ordering::Relaxed), 1);
    assert_eq!((out.metrics().received.get(), out.metrics().accepted.get()), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_by_an_interceptor_is_retried_from_there() {
    let channels = channels(1);
    let (first, second) = (Arc::new(Counting::default()), Arc::new(Counting::default()));
    second.refusals.store(2, Ordering::Relaxed);
    let out = processor_with(vec![first.clone(), second], Everywhere(1), &channels);
    let error = out.put(numbered(0..2)).await.unwrap_err();
    assert!(error.channel_error().is_none());
    assert_eq!(error.to_string(), "interceptor i: not now");
    let error = out.retry(error).await.unwrap_err();
    out.retry(error).await.unwrap().await.unwrap();
    assert_eq!(calls(&channels[0]), ["2", "2"], "each interceptor has worked once");
    assert_eq!(out.metrics().generic_fail.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_optional_channel_never_delays_and_is_counted() {
    let channels = durable(5);
    channels[1].fill(&numbered(100..300));
    channels[2].once(Once::PutFails);
    channels[3].once(Once::PutCommitFails);
    channels[4].answer_late(true);
    let out = processor(OptionalFrom(1, 5), &channels);
    let before = Instant::now();
    out.put(numbered(0..3)).await.unwrap();
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(channels[0].numbers(), [0, 1, 2]);
    assert_eq!(out.metrics().optional_missed.get(), 9, "full, broken, and failed at the commit");
    assert_eq!(channels[1].missed(), 3, "the full channel knows of the attempt");
    assert!(channels[4].answer(true));
    assert_eq!(channels[4].numbers(), [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn several_puts_are_open_in_order() {
    let channels = durable(1);
    channels[0].answer_late(true);
    let out = processor(Everywhere(1), &channels);
    let first = out.begin(numbered(0..2)).await.unwrap();
    let second = out.begin(numbered(2..4)).await.unwrap();
    let third = out.begin(numbered(4..6)).await.unwrap();
    assert_eq!(out.metrics().accepted.get(), 0);
    assert!(channels[0].answer(true) && channels[0].answer(false) && channels[0].answer(true));
    first.await.unwrap();
    let error = second.await.unwrap_err();
    assert_eq!(numbers(&error.batch), [2, 3]);
    third.await.unwrap();
    assert_eq!(channels[0].numbers(), [0, 1, 4, 5]);
    assert_eq!(out.metrics().accepted.get(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_put_whose_answer_nobody_awaits_is_stored_all_the_same() {
    let channels = durable(1);
    channels[0].answer_late(true);
    let out = processor(Everywhere(1), &channels);
    drop(out.begin(numbered(0..2)).await.unwrap());
    assert!(channels[0].answer(true));
    assert_eq!(channels[0].numbers(), [0, 1]);
    assert_eq!(out.metrics().accepted.get(), 0, "and was never acknowledged");
}

#[tokio::test(start_paused = true)]
async fn events_go_their_own_ways_and_those_without_one_are_counted() {
    let channels = channels(3);
    let out = processor(ByNumber, &channels);
    out.put(numbered(0..12)).await.unwrap();
    assert_eq!(channels[0].numbers(), [1, 3, 5, 7, 9, 11]);
    assert_eq!(channels[1].numbers(), [2, 4, 6, 8], "required and optional at once is required");
    assert_eq!(channels[2].numbers(), [2, 4, 6, 8]);
    assert_eq!(out.metrics().routed_nowhere.get(), 2);
    out.put(numbered(20..21)).await.unwrap();
    assert_eq!((out.metrics().routed_nowhere.get(), out.metrics().accepted.get()), (3, 13));
    out.put(numbered(21..22)).await.unwrap();
    assert_eq!(channels[0].numbers().last(), Some(&21));
}

#[tokio::test(start_paused = true)]
async fn a_split_put_reserves_all_parts_first_too() {
    let channels = channels(3);
    channels[1].fill(&numbered(100..300));
    let out = processor(ByNumber, &channels);
    let error = out.put(numbered(1..9)).await.unwrap_err();
    assert_eq!(numbers(&error.batch), (1..9).collect::<Vec<_>>());
    assert_eq!(channels.iter().map(|channel| channel.depth().queued).collect::<Vec<_>>(), [0, 200, 0]);
    assert_eq!(channels.iter().map(|channel| channel.depth().reserved).sum::<u64>(), 0);
}

#[tokio::test(start_paused = true)]
async fn room_is_reserved_in_the_order_of_the_agents_channels() {
    let channels = channels(2);
    channels[1].fill(&numbered(100..300));
    let all = channels.iter().map(|channel| channel.clone() as Arc<dyn Channel>).collect();
    let out = ChannelProcessor::new(Vec::new(), Arc::new(Everywhere(2)), all, &[1, 0], Arc::default());
    let mut put = pin!(out.put(numbered(0..3)));
    assert!(put.as_mut().poll(&mut Context::from_waker(noop_waker_ref())).is_pending());
    assert_eq!(
        channels[0].depth().reserved,
        0,
        "the full one comes first, so nothing is held while it waits"
    );
}

#[tokio::test(start_paused = true)]
async fn a_put_that_is_dropped_while_it_waits_holds_nothing() {
    let channels = channels(2);
    channels[1].fill(&numbered(100..300));
    let out = processor(Everywhere(2), &channels);
    for polls in 1..5 {
        let mut put = Box::pin(out.put(numbered(0..3)));
        for _ in 0..polls {
            assert!(put.as_mut().poll(&mut Context::from_waker(noop_waker_ref())).is_pending());
            assert_eq!(channels[0].depth().reserved, 3, "the first room is held meanwhile");
            channels[1].signals().freed.raise();
        }
        drop(put);
        assert_eq!((channels[0].depth().reserved, channels[0].depth().queued), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn what_interceptors_drop_and_add_is_counted_and_acknowledged() {
    let channels = channels(1);
    let out =
        processor_with(vec![Arc::new(Below(3, false)), Arc::new(Below(9, true))], Everywhere(1), &channels);
    out.put(numbered(0..5)).await.unwrap();
    assert_eq!(channels[0].numbers(), [0, 0, 1, 1, 2, 2]);
    out.put(numbered(5..9)).await.unwrap();
    out.put(Batch::new()).await.unwrap();
    assert_eq!(channels[0].numbers().len(), 6, "nothing was left of these");
    let metrics = out.metrics();
    assert_eq!((metrics.received.get(), metrics.accepted.get()), (9, 9));
    assert_eq!((metrics.intercepted_away.get(), metrics.intercepted_more.get()), (6, 3));
}

#[tokio::test(start_paused = true)]
async fn fix_05_a_batch_that_grew_beyond_the_transaction_capacity_is_stored_nowhere() {
    let channels =
        [Arc::new(ScriptedChannel::new("wide", 200, 200)), Arc::new(ScriptedChannel::new("tight", 200, 100))];
    let out = processor_with(vec![Arc::new(Below(999, true))], Everywhere(2), &channels);
    assert_eq!(out.max_batch_events(), 100);
    let error = out.put(numbered(0..60)).await.unwrap_err();
    assert!(error.channel_error().is_some_and(ChannelError::is_permanent), "{error}");
    assert_eq!((channels[0].depth().stored_total, channels[0].depth().reserved), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_short_event_does_not_keep_its_large_read_buffer_in_the_channel() {
    let channels = channels(1);
    let mut batch = Batch::new();
    let (segment, set) =
        (batch.add_segment(vec![b'1'; 65_536].into()), batch.add_headers(Default::default()));
    batch.push_slice(set, segment, 10..12);
    processor(Everywhere(1), &channels).put(batch).await.unwrap();
    assert_eq!(channels[0].contents().pinned_bytes(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_put_is_what_it_waits_for_room_and_for_the_answer() {
    let channels = durable(1);
    let out = processor(Everywhere(1), &channels);
    out.put(numbered(0..1)).await.unwrap();
    assert_eq!((out.metrics().put_time.count(), out.metrics().put_time.sum_us()), (1, 0));
    channels[0].answer_late(true);
    let pending = out.begin(numbered(1..2)).await.unwrap();
    tokio::time::advance(Duration::from_millis(7)).await;
    assert!(channels[0].answer(true));
    pending.await.unwrap();
    assert_eq!(out.metrics().put_time.sum_us(), 7_000, "until the answer");

    let channels = self::channels(1);
    channels[0].fill(&numbered(100..300));
    let out = processor(Everywhere(1), &channels);
    let (put, ()) = tokio::join!(out.put(numbered(0..3)), async {
        tokio::time::advance(Duration::from_millis(5)).await;
        channels[0].try_take(100).unwrap().unwrap().commit().await.unwrap();
    });
    put.unwrap();
    assert_eq!(out.metrics().put_time.sum_us(), 5_000, "until there was room");
}
