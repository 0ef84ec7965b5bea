//! However a put ends, the figures of its source and those of its channels balance.

use super::*;
use crate::event::Headers;

/// Keeps odd numbers, twice each.
#[derive(Debug)]
struct OddTwice;

impl Interceptor for OddTwice {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        let odd: Vec<_> = numbers(batch).into_iter().filter(|n| n % 2 == 1).collect();
        let mut twice = Batch::new();
        for n in odd.into_iter().flat_map(|n| [n, n]) {
            twice.push(Headers::new(), n.to_string().into_bytes());
        }
        *batch = twice;
        Ok(())
    }
}

/// Of three numbers the first to channel 0, the second to both, the third to channel 1.
#[derive(Debug)]
struct Overlapping;

impl Selector for Overlapping {
    fn route(&self, event: Event<'_>) -> Route {
        let required = match number_of(event) % 3 {
            0 => ChannelSet::first(1),
            1 => ChannelSet::first(2),
            _ => ChannelSet::first(2).without(ChannelSet::first(1)),
        };
        Route { required, optional: ChannelSet::EMPTY }
    }
}

/// What came in, less what became of it; 0 where nothing is missing and nothing is counted twice.
fn difference(out: &ChannelProcessor, channels: &[Arc<ScriptedChannel>]) -> i64 {
    let metrics = out.metrics();
    let stored: u64 = channels.iter().map(|channel| channel.depth().stored_total).sum();
    let came = metrics.received.get() + metrics.intercepted_more.get() + metrics.copied.get();
    let went = metrics.intercepted_away.get()
        + metrics.routed_nowhere.get()
        + metrics.refused.get()
        + metrics.optional_missed.get()
        + stored;
    came as i64 - went as i64 - metrics.in_flight.get()
}

#[tokio::test(start_paused = true)]
async fn figures_balance_for_puts_that_work() {
    let channels = channels(3);
    for out in [
        processor(Everywhere(3), &channels),
        processor(ByNumber, &channels),
        processor(OptionalFrom(1, 3), &channels),
        processor_with(vec![Arc::new(OddTwice)], Everywhere(2), &channels),
    ] {
        let before: u64 = channels.iter().map(|channel| channel.depth().stored_total).sum();
        out.put(numbered(0..20)).await.unwrap();
        out.put(numbered(20..21)).await.unwrap();
        assert_eq!(difference(&out, &channels) + before as i64, 0, "{:?}", out.metrics());
        assert_eq!(out.metrics().in_flight.get(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn only_further_places_of_an_event_are_copies() {
    let channels = channels(2);
    let out = processor(Overlapping, &channels);
    out.put(numbered(0..30)).await.unwrap();
    assert_eq!(channels.iter().map(|channel| channel.depth().queued).collect::<Vec<_>>(), [20, 20]);
    assert_eq!((out.metrics().copied.get(), out.metrics().in_flight.get()), (10, 0));
    assert_eq!(difference(&out, &channels), 0, "{:?}", out.metrics());
}

#[tokio::test(start_paused = true)]
async fn figures_balance_where_optional_channels_are_full() {
    let channels = [ScriptedChannel::new("large", 1_000, 100), ScriptedChannel::new("small", 200, 100)];
    let channels = channels.map(Arc::new);
    let out = processor(OptionalFrom(1, 2), &channels);
    for n in 0..10 {
        out.put(numbered(n * 20..n * 20 + 20)).await.unwrap();
    }
    out.put(numbered(0..5)).await.unwrap();
    assert_eq!(out.metrics().optional_missed.get(), 5);
    assert_eq!(difference(&out, &channels), 0, "{:?}", out.metrics());
}

#[tokio::test(start_paused = true)]
async fn figures_balance_for_puts_that_are_refused_offered_again_or_given_up() {
    let channels = durable(2);
    channels[0].answer_late(true);
    channels[1].answer_late(true);
    let out = processor(Everywhere(2), &channels);
    // Stored in one channel only, then offered again to the other.
    let pending = out.begin(numbered(0..10)).await.unwrap();
    assert_eq!(out.metrics().in_flight.get(), 10);
    assert!(channels[0].answer(true) && channels[1].answer(false));
    let error = pending.await.unwrap_err();
    assert_eq!(difference(&out, &channels), 0, "{:?}", out.metrics());
    let again = out.retry(error).await.unwrap();
    assert!(channels[1].answer(true));
    again.await.unwrap();
    assert_eq!((difference(&out, &channels), out.metrics().in_flight.get()), (0, 0), "{:?}", out.metrics());
    // Given up, when one channel has it.
    let pending = out.begin(numbered(10..20)).await.unwrap();
    assert!(channels[0].answer(true) && channels[1].answer(false));
    drop(pending.await.unwrap_err());
    assert_eq!(out.metrics().refused.get(), 10);
    assert_eq!(difference(&out, &channels), 0, "{:?}", out.metrics());
    // Nobody waits for the answer.
    drop(out.begin(numbered(20..23)).await.unwrap());
    assert!(channels[0].answer(true) && channels[1].answer(true));
    assert_eq!(difference(&out, &channels), 0, "{:?}", out.metrics());
    assert_eq!(out.metrics().in_flight.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn figures_balance_where_a_put_is_cut_off_while_it_waits() {
    let channels = channels(1);
    channels[0].fill(&numbered(0..200));
    let out = processor(Everywhere(1), &channels);
    {
        let mut put = pin!(out.put(numbered(0..7)));
        assert!(put.as_mut().poll(&mut Context::from_waker(noop_waker_ref())).is_pending());
        assert_eq!(out.metrics().in_flight.get(), 7);
    }
    assert_eq!((out.metrics().in_flight.get(), out.metrics().refused.get()), (0, 7));
    assert_eq!(difference(&out, &channels), -200, "{:?}", out.metrics());
}
