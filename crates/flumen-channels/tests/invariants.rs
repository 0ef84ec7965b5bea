//! The invariants that channels keep, each under its number. Number 5 has a sweep of its own, `abort_sweep.rs`.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

use flumen_channels::memory::MemoryChannel;
use flumen_core::{
    channel::{Channel, ChannelError, ChannelLimits},
    testing::{ChannelSuite, numbered, numbers},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

fn limits(capacity: u64, byte_slots: Option<u64>) -> ChannelLimits {
    let transaction_capacity = u32::try_from(capacity).unwrap();
    ChannelLimits { capacity, transaction_capacity, byte_slots, keep_alive: Duration::from_millis(20) }
}

fn channel(limits: &ChannelLimits) -> Arc<dyn Channel> {
    Arc::new(MemoryChannel::new("c".into(), limits.clone(), Arc::default()))
}

fn store(channel: &dyn Channel, range: std::ops::Range<u64>) -> Result<bool, ChannelError> {
    let batch = numbered(range);
    let Some(room) = channel.try_put(batch.size())? else { return Ok(false) };
    room.commit(batch).try_answer().unwrap().map(|()| true)
}

fn queued(channel: &dyn Channel) -> Vec<u64> {
    channel
        .try_take(channel.limits().transaction_capacity)
        .unwrap()
        .map_or(Vec::new(), |taken| numbers(taken.batch()))
}

#[test]
fn invariant_02_a_put_is_stored_whole_or_not_at_all() {
    let channel = channel(&limits(10, None));
    assert!(store(&*channel, 0..6).unwrap());
    assert!(!store(&*channel, 6..12).unwrap(), "6 do not fit, though 4 would");
    assert!(store(&*channel, 12..23).is_err());
    assert_eq!(queued(&*channel), (0..6).collect::<Vec<_>>());
}

#[test]
fn invariant_03_what_was_taken_and_not_committed_is_in_its_old_place() {
    let channel = channel(&limits(100, None));
    for start in (0..60).step_by(20) {
        store(&*channel, start..start + 20).unwrap();
    }
    let mut leases: Vec<_> = (0..6).map(|_| channel.try_take(7).unwrap()).collect();
    store(&*channel, 60..70).unwrap();
    for which in [4, 0, 5, 2, 1, 3] {
        drop(leases[which].take());
    }
    assert_eq!(queued(&*channel), (0..70).collect::<Vec<_>>());
}

/// The suite watches the sum from a thread of its own while producers and consumers run, and compares it with a model after
/// each random transaction.
#[test]
fn invariant_04_queued_on_loan_and_reserved_never_exceed_the_capacity() {
    ChannelSuite::new(channel).random_runs(20, 1_000).run();
    let channel = channel(&limits(10, Some(12)));
    let room = channel.try_put(numbered(0..4).size()).unwrap().unwrap();
    store(&*channel, 4..8).unwrap();
    let taken = channel.try_take(3).unwrap().unwrap();
    assert!(!store(&*channel, 10..13).unwrap(), "4 reserved, 1 queued and 3 on loan leave room for 2");
    assert!(store(&*channel, 10..12).unwrap());
    drop((room, taken));
}

#[test]
fn invariant_06_rollback_works_after_close_in_a_panic_and_without_a_runtime() {
    let channel = channel(&limits(10, None));
    store(&*channel, 0..5).unwrap();
    let open = (channel.try_put(numbered(0..3).size()).unwrap(), channel.try_take(2).unwrap());
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _open = (channel.try_put(numbered(0..2).size()).unwrap(), channel.try_take(2).unwrap());
        panic!("with transactions open");
    }));
    assert!(unwound.is_err());
    channel.close();
    drop(open);
    let depth = channel.depth();
    assert_eq!((depth.queued, depth.on_loan, depth.reserved), (5, 0, 0));
}

#[test]
fn invariant_12_a_transaction_has_a_maximum_also_for_bytes() {
    let channel = channel(&limits(10, Some(5)));
    for refused in
        [channel.try_put(numbered(0..11).size()).err(), channel.try_put(numbered(0..6).size()).err()]
    {
        assert!(refused.is_some_and(|error| error.is_permanent()));
    }
    assert!(matches!(channel.try_take(11), Err(ChannelError::TooLarge { limit: 10, .. })));
}
