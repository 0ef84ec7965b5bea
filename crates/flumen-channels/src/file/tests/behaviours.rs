//! What Java Flume's own tests say of a file channel while it runs, by number.

use super::*;
use flumen_core::channel::{begin_put, begin_take};
use std::{collections::BTreeSet, pin::pin};

fn config(pairs: &[(&str, &str)]) -> FileConfig {
    let (config, problems) = read::<FileConfig>(&Properties::from_pairs("a.channels.c", pairs), &[]);
    config.unwrap_or_else(|| panic!("{problems:?}"))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

#[test]
fn fch_11_fch_53_numbers_that_are_not_above_0_mean_the_defaults() {
    for bad in ["0", "-1", "-3"] {
        let config = config(&[("capacity", bad), ("transactionCapacity", bad), ("checkpointInterval", bad)]);
        let limits = config.limits();
        assert_eq!((limits.capacity, limits.transaction_capacity), (1_000_000, 10_000));
        assert_eq!(config.checkpoint_interval(), Duration::from_secs(30));
    }
}

#[test]
fn fch_53_a_channel_of_one_takes_one() {
    let place = Place::new(&[("capacity", "1"), ("transactionCapacity", "1")]);
    let channel = place.opened();
    put(&channel, 0..1);
    assert!(channel.try_put(numbered(1..2).size()).unwrap().is_none());
    assert_eq!(drained(&channel), [0]);
    ended(&channel);
}

#[test]
fn fch_14_a_full_channel_says_so_with_its_name_and_new_limits_keep_what_is_in_it() {
    let place = Place::new(&[("capacity", "5"), ("transactionCapacity", "5"), ("keep-alive", "0")]);
    let channel = place.opened();
    put(&channel, 0..5);
    let error = block_on(begin_put(&channel, numbered(5..6).size())).unwrap_err();
    assert!(matches!(&error, ChannelError::Full { channel, capacity: 5, .. } if &**channel == "c"));
    assert!(error.to_string().starts_with("channel c is full"), "{error}");
    let limits = ChannelLimits { capacity: 8, transaction_capacity: 8, ..channel.limits() };
    channel.reconfigure(&limits).unwrap();
    put(&channel, 5..8);
    assert_eq!(drained(&channel), (0..8).collect::<Vec<_>>());
    ended(&channel);
}

#[test]
fn fch_15_fch_61_what_is_put_one_by_one_or_together_comes_back_once_and_then_nothing() {
    let place = Place::new(&[]);
    let channel = place.opened();
    assert!(channel.try_take(1).unwrap().is_none());
    (0..5).for_each(|n| put(&channel, n..n + 1));
    put(&channel, 5..10);
    let mut all = Batch::new();
    for _ in 0..3 {
        let taken = taken(&channel, 4);
        all.append(taken.batch().clone());
        wait(taken.commit()).unwrap();
    }
    assert_eq!(all, numbered(0..10));
    assert!(channel.try_take(1).unwrap().is_none());
    ended(&channel);
}

#[test]
fn fch_18_a_take_that_is_rolled_back_frees_no_room() {
    let place = Place::new(&[("capacity", "5"), ("transactionCapacity", "5")]);
    let channel = place.opened();
    put(&channel, 0..5);
    let loan = taken(&channel, 1);
    assert!(channel.try_put(numbered(5..6).size()).unwrap().is_none());
    drop(loan);
    assert!(channel.try_put(numbered(5..6).size()).unwrap().is_none());
    assert_eq!(drained(&channel), [0, 1, 2, 3, 4]);
    ended(&channel);
}

#[test]
fn fch_19_fix_06_a_put_that_waited_for_room_is_replayed_where_it_was_written() {
    let pairs = [("capacity", "10"), ("transactionCapacity", "10"), ("keep-alive", "10")];
    let place = Place::new(&pairs);
    let channel = place.opened();
    put(&channel, 0..10);
    block_on(async {
        let mut room = pin!(begin_put(&channel, numbered(10..11).size()));
        let waits = tokio::time::timeout(Duration::from_millis(1), room.as_mut()).await;
        assert!(waits.is_err());
        let taken = begin_take(&channel, 1).await.unwrap().unwrap();
        taken.commit().await.unwrap();
        room.await.unwrap().commit(numbered(10..11)).await.unwrap();
    });
    let again = place.reopened(&channel, Stop::PowerLoss);
    assert_eq!(drained(&again), (1..11).collect::<Vec<_>>());
    ended(&again);
}

#[test]
fn fch_24_fix_08_files_of_events_on_loan_stay() {
    let place = Place::new(&[("maxFileSize", "150")]);
    let channel = place.opened();
    (0..15).for_each(|n| put(&channel, n..n + 1));
    let mut loans = vec![taken(&channel, 10)];
    (0..3).for_each(|n| {
        put(&channel, 15 + n..16 + n);
        checkpoint(&channel).unwrap();
    });
    let n_files = place.logs("/d").len();
    assert!(n_files >= 8, "{n_files} files");
    loans.clear();
    let all: Vec<u64> = (0..18).collect();
    assert_eq!(drained(&channel), all);
    // With all of them gone their files go, too.
    (0..3).for_each(|n| {
        put(&channel, 18 + n..19 + n);
        checkpoint(&channel).unwrap();
    });
    assert!(place.logs("/d").len() < n_files);
    ended(&channel);
}

#[test]
fn fch_28_fch_32_a_channel_is_open_between_its_opening_and_its_end() {
    let place = Place::new(&[]);
    let channel = place.channel();
    let says = |channel: &FileChannel| ["Open", "Closed", "Unhealthy"].map(|name| metric(channel, name));
    assert_eq!(says(&channel), ["false", "1", "0"]);
    wait(channel.open()).unwrap();
    assert_eq!(says(&channel), ["true", "0", "0"]);
    // A second one on the same directories is not opened.
    let other = place.channel();
    assert!(wait(other.open()).is_err());
    assert_eq!(says(&other), ["false", "1", "1"]);
    assert!(other.try_take(1).is_err());
    ended(&channel);
    assert_eq!(says(&channel), ["false", "1", "0"]);
    // It is, when the first is gone.
    wait(other.open()).unwrap();
    assert_eq!(says(&other), ["true", "0", "0"]);
    ended(&other);
}

#[test]
fn fch_29_puts_and_takes_are_counted_and_those_that_fail_with_the_directories() {
    let base = tempfile::tempdir().unwrap();
    let channel = opened(base.path(), &[]);
    (0..2).for_each(|n| put(&channel, n..n + 1));
    wait(taken(&channel, 1).commit()).unwrap();
    let counts = || {
        let of = &channel.0.metrics;
        let puts = (of.put_attempt.get(), of.put_success.get(), metric(&channel, "EventPutErrorCount"));
        let takes = (of.take_success.get(), metric(&channel, "EventTakeErrorCount"));
        (puts, takes)
    };
    assert_eq!(counts(), ((2, 2, "0".into()), (1, "0".into())));
    std::fs::remove_dir_all(base.path()).unwrap();
    let room = channel.try_put(numbered(2..3).size()).unwrap().unwrap();
    let error = wait(room.commit(numbered(2..3))).unwrap_err();
    assert!(matches!(error, ChannelError::Storage { .. }), "{error}");
    let error = channel.try_take(1).unwrap_err();
    assert!(matches!(error, ChannelError::Storage { .. }), "{error}");
    assert_eq!(counts(), ((3, 2, "1".into()), (1, "1".into())));
    ended(&channel);
}

#[test]
fn fch_71_events_are_whole_when_many_read_them_from_disk_while_others_are_written() {
    const EVENTS: u64 = 1_000;
    let place = Place::new(&[("memoryBytes", "1"), ("maxFileSize", "20000")]);
    let channel = place.opened();
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| (0..EVENTS).step_by(10).for_each(|n| put(&channel, n..n + 10)));
        for _ in 0..10 {
            scope.spawn(|| {
                wait::until(|| {
                    if let Some(taken) = channel.try_take(7).unwrap() {
                        seen.lock().unwrap().extend(numbers(taken.batch()));
                        wait(taken.commit()).unwrap();
                    }
                    seen.lock().unwrap().len() as u64 == EVENTS
                })
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len() as u64, EVENTS);
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), (0..EVENTS).collect());
    ended(&channel);
}

#[test]
fn fix_12_fix_13_rollbacks_write_nothing_and_leave_nothing_behind() {
    let place = Place::new(&[("capacity", "10"), ("transactionCapacity", "10")]);
    let channel = place.opened();
    put(&channel, 0..4);
    let calls = place.disk.calls();
    drop(channel.try_put(numbered(4..10).size()).unwrap().unwrap());
    drop(taken(&channel, 2));
    assert_eq!(place.disk.calls(), calls);
    assert_eq!((channel.depth().reserved, channel.depth().on_loan), (0, 0));
    // Nor can the disk keep a rolled-back take from coming back.
    let loan = taken(&channel, 2);
    place.disk.lose_power();
    drop(loan);
    assert_eq!(channel.depth().queued, 4);
    ended(&channel);
}

#[test]
fn fix_20_a_stop_and_a_checkpoint_do_not_get_in_each_others_way() {
    for round in 0..20 {
        let place = Place::new(&[("maxFileSize", "400")]);
        let channel = place.opened();
        put(&channel, 0..40);
        let log = channel.0.open_log().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..10).for_each(|_| _ = log.checkpoint()));
            scope.spawn(|| {
                if round % 2 == 0 {
                    wait(taken(&channel, 30).commit()).unwrap();
                }
                ended(&channel);
            });
        });
        let again = place.opened();
        assert_eq!(drained(&again), (if round % 2 == 0 { 30..40 } else { 0..40 }).collect::<Vec<_>>());
        ended(&again);
    }
}

#[test]
fn fix_27_no_thread_is_left_behind() {
    let threads = || -> Vec<String> {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.starts_with("fix27-")).collect()
    };
    let place = Place::new(&[]);
    let mut context = context();
    context.common.name = "fix27".into();
    let pairs = [("checkpointDir", "/c"), ("dataDirs", "/d, /e")];
    let channel = FileChannel::new(Arc::new(place.disk), &config(&pairs), &context).unwrap();
    wait(channel.open()).unwrap();
    put(&channel, 0..100);
    assert!(threads().len() >= 3, "{:?}", threads());
    ended(&channel);
    // The one that has ended it answers first.
    assert!(wait::until(|| threads().is_empty()), "{:?}", threads());
}
