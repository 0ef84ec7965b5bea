//! What Java Flume's own tests say of the memory channel, by number, and what its rewriting could break.

use super::*;
use flumen_core::{
    channel::{begin_put, begin_take},
    config::{Configuration, Settings, Severity, read},
    event::{Batch, Headers},
    registry::{Environment, ExtraMetrics, Registry},
    testing::ChannelSuite,
    world::SetClock,
};
use std::{future::Future, pin::pin, time::Duration};
use tokio::time::Instant;

fn context() -> ChannelContext {
    ChannelContext {
        common: BuildContext {
            agent: "a".into(),
            name: "c".into(),
            clock: Arc::new(SetClock::default()),
            seed: 1,
            environment: Arc::new(Environment::default()),
            registry: Arc::new(Registry::new()),
            extra: ExtraMetrics::default(),
        },
        metrics: Arc::default(),
    }
}

fn limits(pairs: &[(&str, &str)]) -> ChannelLimits {
    let (config, problems) = read::<MemoryConfig>(&Settings::from_pairs("a.channels.c", pairs), &[]);
    config.unwrap_or_else(|| panic!("{problems:?}")).limits(&Environment::default())
}

/// A channel as the registry builds it from these properties.
fn channel(pairs: &[(&str, &str)]) -> Arc<dyn Channel> {
    let registry = crate::register(Registry::new());
    let entry = registry.find_channel("memory").unwrap();
    (entry.build)(&Settings::from_pairs("a.channels.c", pairs), &context()).unwrap()
}

fn bodies<B: AsRef<[u8]>>(bodies: impl IntoIterator<Item = B>) -> Batch {
    let mut batch = Batch::new();
    for body in bodies {
        batch.push(Headers::new(), body.as_ref().to_vec());
    }
    batch
}

/// Events whose bodies are these numbers.
fn numbers(range: std::ops::Range<u32>) -> Batch {
    bodies(range.map(|n| n.to_string()))
}

fn read_numbers(batch: &Batch) -> Vec<u32> {
    batch.iter().map(|event| std::str::from_utf8(event.body).unwrap().parse().unwrap()).collect()
}

/// `n` events of 405 bytes, which take 5 slots each.
fn large(n: usize) -> Batch {
    bodies((0..n).map(|_| [b'x'; 405]))
}

fn try_store(channel: &dyn Channel, batch: Batch) -> Result<bool, ChannelError> {
    let Some(room) = channel.try_put(batch.size())? else { return Ok(false) };
    room.commit(batch).try_answer().expect("a memory channel answers at once")?;
    Ok(true)
}

fn store(channel: &dyn Channel, batch: Batch) {
    assert!(try_store(channel, batch).unwrap(), "there is no room");
}

fn take(channel: &dyn Channel, n: u32) -> TakeTransaction {
    channel.try_take(n).unwrap().expect("there is something to take")
}

fn take_all(channel: &dyn Channel) -> Vec<u32> {
    let mut all = Vec::new();
    while let Some(taken) = channel.try_take(channel.limits().transaction_capacity).unwrap() {
        all.extend(read_numbers(taken.batch()));
        committed(taken);
    }
    all
}

fn committed(taken: TakeTransaction) {
    taken.commit().try_answer().unwrap().unwrap();
}

async fn is_full(channel: &dyn Channel, batch: Batch) -> bool {
    matches!(begin_put(channel, batch.size()).await, Err(ChannelError::Full { .. }))
}

#[test]
fn both_names_lead_to_the_channel() {
    let registry = crate::register(Registry::new());
    for name in ["memory", "MEMORY", "org.apache.flume.channel.MemoryChannel"] {
        assert!(registry.find_channel(name).is_some(), "{name}");
    }
}

#[test]
fn properties_have_the_defaults_of_java() {
    let limits = limits(&[]);
    assert_eq!((limits.capacity, limits.transaction_capacity), (100, 100));
    assert_eq!(limits.keep_alive, Duration::from_secs(3));
    let keys: Vec<_> =
        MemoryConfig::PROPERTIES.iter().map(|property| (property.key, property.default)).collect();
    let expected = [
        ("capacity", Some("100")),
        ("transactionCapacity", Some("100")),
        ("byteCapacity", None),
        ("byteCapacityBufferPercentage", Some("20")),
        ("keep-alive", Some("3")),
    ];
    assert_eq!(keys, expected);
    assert_eq!(MemoryChannel::LIVE_KEYS, expected.map(|(key, _)| key), "all limits change in place");
}

#[test]
fn the_default_byte_capacity_is_a_share_of_the_heap_or_of_the_memory() {
    let config = read::<MemoryConfig>(&Settings::new("a.channels.c"), &[]).0.unwrap();
    let slots = |max_heap_bytes, memory_bytes| {
        config.limits(&Environment { max_heap_bytes, memory_bytes, ..Environment::default() }).byte_slots
    };
    // 80 % for bodies and headers, 80 % of these for bodies, in slots of 100 bytes.
    assert_eq!(slots(Some(1_000_000), Some(50_000_000)), Some(6_400));
    assert_eq!(slots(None, Some(50_000_000)), Some(320_000));
    assert!(slots(None, None).unwrap() > 1_000_000);
}

#[test]
fn byte_capacity_is_counted_in_slots_as_java_does() {
    let slots = |bytes, buffer| {
        limits(&[("byteCapacity", bytes), ("byteCapacityBufferPercentage", buffer)]).byte_slots.unwrap()
    };
    let most = u64::from(u32::MAX / 2);
    let cases = [
        ("2000", "20", 16),
        ("1000", "20", 8),
        ("3300", "20", 26),
        ("2000", "0", 20),
        ("199", "0", 1),
        ("0", "20", most),
        ("99", "0", most),
        ("-5", "20", most),
        ("9223372036854775807", "0", most),
        ("2000", "100", most),
        ("2000", "150", most),
    ];
    for (bytes, buffer, expected) in cases {
        assert_eq!(slots(bytes, buffer), expected, "{bytes} bytes, {buffer} %");
    }
}

#[test]
fn mem_18_numbers_that_are_bad_or_not_above_0_mean_the_defaults_with_a_warning() {
    for bad in ["-3", "0", "many", "", "99999999999"] {
        let settings = Settings::from_pairs(
            "a.channels.c",
            &[
                ("capacity", bad),
                ("transactionCapacity", bad),
                ("byteCapacity", "much"),
                ("byteCapacityBufferPercentage", "some"),
                ("keep-alive", "soon"),
            ],
        );
        let (config, problems) = read::<MemoryConfig>(&settings, &[]);
        assert_eq!(config.unwrap().limits(&Environment::default()), limits(&[]), "{bad}");
        assert_eq!(problems.len(), 5, "{problems:?}");
        assert!(problems.iter().all(|problem| problem.severity == Severity::Warning), "{problems:?}");
    }
    let settings = Settings::from_pairs("a.channels.c", &[("keep-alive", "-1")]);
    let (config, problems) = read::<MemoryConfig>(&settings, &[]);
    assert_eq!(config.unwrap().limits(&Environment::default()).keep_alive, Duration::ZERO);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["flume.conf:1: a.channels.c.keep-alive: `-1` is below 0 and means 0: a put does not wait for room"]
    );
}

#[test]
fn a_byte_capacity_that_means_no_limit_or_never_fits_is_told() {
    let told = |bytes: &str, most: &str| {
        let pairs = [("byteCapacity", bytes), ("transactionCapacity", most)];
        let problems = read::<MemoryConfig>(&Settings::from_pairs("a.channels.c", &pairs), &[]).1;
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert!(told("50", "10").contains("so means no limit"), "{}", told("50", "10"));
    assert!(told("1000", "10").contains("8 slots of 100 bytes"), "{}", told("1000", "10"));
    assert_eq!((told("1250", "10"), told("0", "100"), told("-1", "100")), Default::default());
}

#[test]
fn a_transaction_capacity_above_the_capacity_is_refused() {
    let settings = Settings::from_pairs("a.channels.c", &[("capacity", "50")]);
    let (config, problems) = read::<MemoryConfig>(&settings, &[]);
    assert!(config.is_none());
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].severity, Severity::Error);
    let message = problems[0].to_string();
    assert!(message.contains("a.channels.c.transactionCapacity") && message.contains("100"), "{message}");
    assert!(message.contains("`capacity` (50)"), "{message}");
    assert!(
        (crate::register(Registry::new()).find_channel("memory").unwrap().build)(&settings, &context())
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn mem_03_a_sixth_event_is_refused_after_the_keep_alive_and_the_five_stay() {
    let channel = channel(&[("capacity", "5"), ("transactionCapacity", "5")]);
    store(&*channel, numbers(0..5));
    let before = Instant::now();
    let refused = begin_put(&*channel, numbers(5..6).size()).await.unwrap_err();
    assert_eq!(before.elapsed(), Duration::from_secs(3));
    let message = refused.to_string();
    assert!(
        message.contains("channel c is full") && message.contains("raise capacity (5 events)"),
        "{message}"
    );
    assert_eq!(channel.depth().reserved, 0);
    assert_eq!(take_all(&*channel), [0, 1, 2, 3, 4]);
}

#[test]
fn mem_04_a_full_channel_that_grows_by_one_takes_one_more() {
    let channel = channel(&[("capacity", "5"), ("transactionCapacity", "5")]);
    store(&*channel, numbers(0..5));
    channel.reconfigure(&limits(&[("capacity", "6"), ("transactionCapacity", "6")])).unwrap();
    store(&*channel, numbers(5..6));
    assert!(!try_store(&*channel, numbers(6..7)).unwrap());
    assert_eq!(take_all(&*channel), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn mem_05_a_shrink_below_what_is_there_drops_nothing() {
    let channel = channel(&[("capacity", "6"), ("transactionCapacity", "6")]);
    store(&*channel, numbers(0..6));
    channel.reconfigure(&limits(&[("capacity", "2"), ("transactionCapacity", "2")])).unwrap();
    assert_eq!(channel.limits().capacity, 6, "it is put off");
    for n in 0..6 {
        assert!(!try_store(&*channel, numbers(9..10)).unwrap() || n == 5, "no room yet after {n}");
        let taken = take(&*channel, 1);
        assert_eq!(read_numbers(taken.batch()), [n]);
        committed(taken);
    }
    assert_eq!(channel.limits().capacity, 2, "now it holds");
    assert_eq!(take_all(&*channel), [9]);
}

#[test]
fn mem_06_more_puts_than_transaction_capacity_are_refused_before_the_commit() {
    let channel = channel(&[("capacity", "5"), ("transactionCapacity", "2")]);
    let refused = channel.try_put(numbers(0..3).size()).unwrap_err();
    assert!(refused.is_permanent());
    assert!(refused.to_string().contains("transactionCapacity (2)"), "{refused}");
    assert!(matches!(channel.try_take(3), Err(ChannelError::TooLarge { limit: 2, .. })));
}

#[tokio::test(start_paused = true)]
async fn mem_07_a_put_of_allowed_size_fails_for_want_of_capacity() {
    let channel = channel(&[("capacity", "5"), ("transactionCapacity", "3")]);
    store(&*channel, numbers(0..3));
    assert!(is_full(&*channel, numbers(3..6)).await);
    assert_eq!(take_all(&*channel), [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_told_in_bytes_with_the_keys_that_limit_it() {
    let channel = channel(&[("capacity", "5"), ("transactionCapacity", "5"), ("byteCapacity", "2000")]);
    store(&*channel, large(3));
    let Err(full) = begin_put(&*channel, large(1).size()).await else { panic!("there was room") };
    assert_eq!(
        full.to_string(),
        "channel c is full: no room for 1 event (405 bytes) within 3 s; its sinks are slower than its sources: see why they \
         are, or raise capacity (5 events) or byteCapacity (which leaves 1.6 kB for bodies)"
    );
    let Err(too_large) = begin_put(&*channel, large(4).size()).await else { panic!("there was room") };
    assert_eq!(
        too_large.to_string(),
        "channel c: 2000 bytes (each body rounded up to the next 100) are more than byteCapacity less \
         byteCapacityBufferPercentage (1600) allows: raise it, or use smaller batches"
    );
}

#[test]
fn mem_08_a_take_commit_frees_its_room() {
    let channel = channel(&[("capacity", "3"), ("transactionCapacity", "3")]);
    store(&*channel, numbers(0..3));
    let taken = take(&*channel, 2);
    assert!(!try_store(&*channel, numbers(3..5)).unwrap(), "what is on loan still has its room");
    committed(taken);
    store(&*channel, numbers(3..5));
    assert_eq!(take_all(&*channel), [2, 3, 4]);
}

#[test]
fn mem_09_a_put_that_is_rolled_back_keeps_no_room() {
    let channel = channel(&[("capacity", "3"), ("transactionCapacity", "3")]);
    drop(channel.try_put(numbers(0..3).size()).unwrap().unwrap());
    store(&*channel, numbers(3..6));
    assert_eq!(take_all(&*channel), [3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn mem_10_bodies_count_in_slots_of_100_bytes() {
    let channel = channel(&[("byteCapacity", "2000"), ("byteCapacityBufferPercentage", "20")]);
    store(&*channel, large(3));
    assert!(is_full(&*channel, large(2)).await, "15 of 16 slots are taken, 10 are wanted");
    assert!(is_full(&*channel, large(1)).await);
    store(&*channel, numbers(0..1));
    assert!(is_full(&*channel, numbers(0..1)).await, "an event takes one slot at least");
}

#[test]
fn mem_11_fix_01_a_rolled_back_put_gives_back_exactly_its_slots() {
    let channel = channel(&[("byteCapacity", "1000")]);
    assert_eq!(channel.limits().byte_slots, Some(8));
    for _ in 0..20 {
        drop(channel.try_put(bodies([""]).size()).unwrap().unwrap());
    }
    store(&*channel, bodies([""; 8]));
    assert!(!try_store(&*channel, bodies([""])).unwrap());
}

#[test]
fn mem_12_large_puts_that_are_rolled_back_leave_the_byte_budget() {
    let channel = channel(&[("byteCapacity", "2000")]);
    drop(channel.try_put(large(3).size()).unwrap().unwrap());
    store(&*channel, large(3));
}

#[test]
fn mem_13_taken_events_give_back_their_bytes_and_no_more() {
    let channel = channel(&[("byteCapacity", "2000")]);
    store(&*channel, large(3));
    committed(take(&*channel, 2));
    store(&*channel, large(2));
    assert!(!try_store(&*channel, large(1)).unwrap());
    let depth = channel.depth();
    assert_eq!((depth.queued, depth.bytes), (3, 3 * 405));
}

#[test]
fn mem_16_a_byte_capacity_that_grows_adds_the_difference() {
    let channel = channel(&[("byteCapacity", "2000")]);
    store(&*channel, large(3));
    for (bytes, slots, too_many) in [("3300", 26, 15), ("4000", 32, 25)] {
        channel.reconfigure(&limits(&[("byteCapacity", bytes)])).unwrap();
        assert_eq!(channel.limits().byte_slots, Some(slots));
        assert!(channel.try_put(large(too_many).size()).is_err(), "{too_many} events never fit into {bytes}");
        store(&*channel, large(1));
    }
    store(&*channel, large(1));
    assert!(!try_store(&*channel, large(1)).unwrap(), "30 of 32 slots are taken");
    channel.reconfigure(&limits(&[("byteCapacity", "1000")])).unwrap();
    assert_eq!(channel.depth().queued, 6);
    committed(take(&*channel, 5));
    assert!(!try_store(&*channel, large(1)).unwrap(), "8 slots now, 5 of them taken");
}

#[test]
fn mem_17_fix_02_an_empty_body_takes_one_slot() {
    let channel = channel(&[("byteCapacity", "2000")]);
    store(&*channel, bodies(["", ""]));
    store(&*channel, large(2));
    store(&*channel, bodies(["", "", "", ""]));
    assert!(!try_store(&*channel, bodies([""])).unwrap(), "6 + 10 of 16 slots are taken");
    let taken = take(&*channel, 2);
    assert!(taken.batch().iter().all(|event| event.body.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn mem_22_events_come_back_in_order_and_then_nothing_after_the_keep_alive() {
    let channel = channel(&[("keep-alive", "1"), ("capacity", "100"), ("transactionCapacity", "50")]);
    store(&*channel, numbers(0..10));
    let taken = begin_take(&*channel, 50).await.unwrap().unwrap();
    assert_eq!(read_numbers(taken.batch()), (0..10).collect::<Vec<_>>());
    let before = Instant::now();
    assert!(begin_take(&*channel, 1).await.unwrap().is_none());
    assert_eq!(before.elapsed(), Duration::from_secs(1));
}

#[test]
fn mem_23_a_put_that_is_rolled_back_cannot_be_taken() {
    let channel = channel(&[]);
    drop(channel.try_put(numbers(0..10).size()).unwrap().unwrap());
    assert!(channel.try_take(1).unwrap().is_none());
}

#[test]
fn mem_24_a_take_that_is_rolled_back_comes_again_in_the_same_order() {
    let channel = channel(&[]);
    store(&*channel, numbers(0..10));
    for _ in 0..3 {
        let taken = take(&*channel, 11);
        assert_eq!(read_numbers(taken.batch()), (0..10).collect::<Vec<_>>());
    }
    assert_eq!(take_all(&*channel), (0..10).collect::<Vec<_>>());
}

#[test]
fn leases_that_come_back_in_any_order_keep_the_order_of_events() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let channel = channel(&[]);
        store(&*channel, numbers(0..20));
        store(&*channel, numbers(20..23));
        store(&*channel, numbers(23..40));
        let mut leases: Vec<_> = (0..3).map(|_| Some(take(&*channel, 11))).collect();
        for which in order {
            drop(leases[which].take());
        }
        assert_eq!(take_all(&*channel), (0..40).collect::<Vec<_>>(), "{order:?}");
    }
}

#[test]
fn a_lease_with_a_gap_is_cut_when_it_comes_back() {
    let channel = channel(&[]);
    store(&*channel, numbers(0..10));
    let first = take(&*channel, 2);
    let second = take(&*channel, 3);
    drop(first);
    let around = take(&*channel, 4);
    assert_eq!(read_numbers(around.batch()), [0, 1, 5, 6]);
    drop(second);
    drop(around);
    assert_eq!(take_all(&*channel), (0..10).collect::<Vec<_>>());
}

#[test]
fn a_take_joins_batches_and_cuts_the_last_one_without_copying_a_body() {
    let channel = channel(&[]);
    let batches = [numbers(0..3), numbers(3..4), numbers(4..9)];
    let pointers: Vec<_> =
        batches.iter().flat_map(|batch| batch.iter().map(|event| event.body.as_ptr())).collect();
    batches.into_iter().for_each(|batch| store(&*channel, batch));
    let first = take(&*channel, 6);
    let second = take(&*channel, 6);
    assert_eq!(read_numbers(first.batch()), [0, 1, 2, 3, 4, 5]);
    assert_eq!(read_numbers(second.batch()), [6, 7, 8]);
    let taken: Vec<_> = [&first, &second]
        .into_iter()
        .flat_map(|taken| taken.batch().iter().map(|e| e.body.as_ptr()))
        .collect();
    assert_eq!(taken, pointers);
}

#[test]
fn a_large_batch_that_is_taken_in_small_parts_is_not_kept_whole_by_them() {
    let channel = channel(&[]);
    store(&*channel, numbers(0..100));
    let part = take(&*channel, 10);
    assert_eq!(part.batch().pinned_bytes(), part.batch().size().bytes);
    committed(part);
    let rest = take(&*channel, 100);
    assert_eq!(read_numbers(rest.batch()), (10..100).collect::<Vec<_>>());
    assert_eq!(rest.batch().pinned_bytes(), rest.batch().size().bytes);
}

#[test]
fn commit_first_forgets_a_part_and_the_rest_keeps_its_place() {
    let channel = channel(&[("capacity", "10"), ("transactionCapacity", "10")]);
    store(&*channel, numbers(0..4));
    store(&*channel, numbers(4..10));
    let taken = take(&*channel, 7);
    taken.commit_first(5).try_answer().unwrap().unwrap();
    let depth = channel.depth();
    assert_eq!((depth.queued, depth.on_loan, depth.bytes), (5, 0, 5));
    store(&*channel, numbers(10..15));
    take(&*channel, 1).commit_first(0).try_answer().unwrap().unwrap();
    take(&*channel, 1).commit_first(9).try_answer().unwrap().unwrap();
    assert_eq!(take_all(&*channel), (6..15).collect::<Vec<_>>());
}

#[test]
fn room_that_a_smaller_batch_leaves_is_given_back() {
    let channel = channel(&[("capacity", "10"), ("transactionCapacity", "10")]);
    let room = channel.try_put(numbers(0..10).size()).unwrap().unwrap();
    assert_eq!(channel.depth().reserved, 10);
    room.commit(numbers(0..4)).try_answer().unwrap().unwrap();
    assert_eq!(channel.depth().reserved, 0);
    store(&*channel, numbers(4..10));
    let room = channel.try_put(BatchSize::default()).unwrap().unwrap();
    room.commit(Batch::new()).try_answer().unwrap().unwrap();
    assert_eq!(take_all(&*channel), (0..10).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn depth_tells_the_age_of_the_oldest_event_also_of_one_on_loan() {
    let channel = channel(&[]);
    assert_eq!(channel.depth(), ChannelDepth::default());
    let born = Instant::now();
    store(&*channel, numbers(0..2));
    tokio::time::advance(Duration::from_secs(1)).await;
    store(&*channel, numbers(2..4));
    let first = take(&*channel, 1);
    let rest = take(&*channel, 3);
    assert_eq!(channel.depth().oldest, Some(born));
    assert_eq!((channel.depth().queued, channel.depth().on_loan), (0, 4));
    committed(first);
    rest.commit_first(1).try_answer().unwrap().unwrap();
    assert_eq!(channel.depth().oldest, Some(born + Duration::from_secs(1)));
    take_all(&*channel);
    let gone = ChannelDepth { stored_total: 4, removed_total: 4, ..ChannelDepth::default() };
    assert_eq!(channel.depth(), gone);
}

#[test]
fn after_close_puts_and_takes_are_refused_and_open_ones_can_end() {
    let channel = channel(&[]);
    store(&*channel, numbers(0..4));
    let (taken, back) = (take(&*channel, 2), take(&*channel, 1));
    let (room, unused) = (
        channel.try_put(numbers(4..6).size()).unwrap().unwrap(),
        channel.try_put(numbers(6..9).size()).unwrap(),
    );
    channel.close();
    assert!(matches!(channel.try_put(numbers(0..1).size()), Err(ChannelError::Closed { .. })));
    assert!(matches!(channel.try_take(1), Err(ChannelError::Closed { .. })));
    room.commit(numbers(4..6)).try_answer().unwrap().unwrap();
    committed(taken);
    drop((back, unused));
    let depth = channel.depth();
    assert_eq!((depth.queued, depth.on_loan, depth.reserved), (4, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn close_ends_those_that_wait() {
    let channel = channel(&[("capacity", "1"), ("transactionCapacity", "1"), ("keep-alive", "1000")]);
    store(&*channel, numbers(0..1));
    let before = Instant::now();
    let (put, ()) = tokio::join!(begin_put(&*channel, numbers(1..2).size()), async { channel.close() });
    assert!(matches!(put, Err(ChannelError::Closed { .. })));
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn growing_wakes_a_put_that_waits() {
    let channel = channel(&[("capacity", "1"), ("transactionCapacity", "1")]);
    store(&*channel, numbers(0..1));
    let grown = limits(&[("capacity", "2"), ("transactionCapacity", "1")]);
    let (put, ()) = tokio::join!(begin_put(&*channel, numbers(1..2).size()), async {
        channel.reconfigure(&grown).unwrap()
    });
    assert!(put.is_ok());
}

#[tokio::test(start_paused = true)]
async fn each_attempt_is_counted_once_however_often_it_was_tried() {
    let context = context();
    let limits = limits(&[("capacity", "4"), ("transactionCapacity", "4")]);
    let channel = MemoryChannel::new("c".into(), limits, context.metrics.clone());
    store(&channel, numbers(0..4));
    let waiting = pin!(begin_put(&channel, numbers(4..7).size()));
    let wakes = async {
        for _ in 0..5 {
            channel.signals().freed.raise();
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::join!(waiting, wakes).0.is_err());
    take(&channel, 2).commit_first(1).try_answer().unwrap().unwrap();
    take_all(&channel);
    let metrics = &context.metrics;
    assert_eq!((metrics.put_attempt.get(), metrics.put_success.get()), (7, 4));
    assert_eq!((metrics.take_attempt.get(), metrics.take_success.get()), (2 + 3 + 1, 4));
}

#[tokio::test(start_paused = true)]
async fn signals_are_raised_once_a_batch() {
    let channel = channel(&[]);
    let signals = channel.signals();
    store(&*channel, numbers(0..50));
    assert_eq!((signals.stored.count(), signals.freed.count()), (1, 0));
    let mut woken = pin!(signals.freed.listen());
    assert!(futures_poll(woken.as_mut()).await.is_none());
    committed(take(&*channel, 50));
    assert_eq!((signals.stored.count(), signals.freed.count()), (1, 1));
    assert!(futures_poll(woken).await.is_some());
}

async fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    tokio::select! { biased; output = future => Some(output), () = async {} => None }
}

#[test]
fn fix_04_new_limits_keep_what_is_in_the_channel_and_on_loan() {
    let channel = channel(&[]);
    store(&*channel, numbers(0..20));
    let taken = take(&*channel, 5);
    channel.reconfigure(&limits(&[("capacity", "200"), ("keep-alive", "9")])).unwrap();
    assert_eq!(channel.limits().keep_alive, Duration::from_secs(9));
    drop(taken);
    assert_eq!(take_all(&*channel), (0..20).collect::<Vec<_>>());
}

#[test]
fn fix_05_a_batch_above_the_transaction_capacity_is_stored_in_no_part() {
    let channel = channel(&[("transactionCapacity", "10")]);
    for _ in 0..3 {
        assert!(try_store(&*channel, numbers(0..11)).unwrap_err().is_permanent());
    }
    assert_eq!(channel.depth(), ChannelDepth::default());
}

#[test]
fn the_contract_of_channels_holds() {
    let open = |limits: &ChannelLimits| -> Arc<dyn Channel> {
        Arc::new(MemoryChannel::new("c".into(), limits.clone(), Arc::default()))
    };
    ChannelSuite::new(open).random_runs(200, 1).run();
}

#[test]
fn mem_20_a_hundred_threads_leave_exactly_what_they_committed() {
    let channel = &*channel(&[("capacity", "5000"), ("transactionCapacity", "5000"), ("keep-alive", "1")]);
    let put = |thread: u32| {
        move || {
            let mut stored = Vec::new();
            for n in 0..10 {
                let first = thread * 1_000 + n * 10;
                let batch = numbers(first..first + 1 + (thread + n) % 5);
                let room = channel.try_put(batch.size()).unwrap().expect("5000 have room");
                if !(thread * 7 + n).is_multiple_of(3) {
                    stored.extend(read_numbers(&batch));
                    room.commit(batch).try_answer().unwrap().unwrap();
                }
            }
            stored
        }
    };
    let mut stored: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..100).map(|thread| scope.spawn(put(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let taken = take(channel, 5_000);
    let mut there = read_numbers(taken.batch());
    there.sort_unstable();
    stored.sort_unstable();
    assert_eq!(there, stored);
}

#[test]
fn a_panic_within_the_channel_breaks_it_for_good_and_nothing_else_panics() {
    let channel = MemoryChannel::new("c".into(), limits(&[]), Arc::default());
    let size = numbers(0..2).size();
    let put = channel.try_put(size).unwrap().unwrap();
    let given_up = channel.try_put(size).unwrap().unwrap();
    channel.try_put(size).unwrap().unwrap().commit(numbers(0..2)).try_answer().unwrap().unwrap();
    channel.try_put(size).unwrap().unwrap().commit(numbers(2..4)).try_answer().unwrap().unwrap();
    let (taken, returned) = (channel.try_take(2).unwrap().unwrap(), channel.try_take(2).unwrap().unwrap());
    assert!(!channel.is_broken());

    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _held = channel.0.store.lock();
        panic!("a fault while the store is locked");
    }));
    assert!(panicked.is_err() && channel.is_broken());

    let broken = |error: ChannelError| matches!(error, ChannelError::Broken { .. });
    assert!(broken(channel.try_put(size).unwrap_err()) && broken(channel.try_take(1).unwrap_err()));
    assert!(broken(put.commit(numbers(4..6)).try_answer().unwrap().unwrap_err()));
    assert!(broken(taken.commit().try_answer().unwrap().unwrap_err()));
    // Rolling back, reporting and closing must work at the end of the agent.
    drop((given_up, returned));
    assert_eq!(channel.depth().on_loan, 4);
    assert_eq!(channel.limits(), limits(&[]));
    channel.close();
}
