//! What Java Flume's own tests say of a file channel that is stopped, or falls, and is opened again.

use super::*;

#[test]
fn fch_12_fix_07_takes_that_are_open_at_a_checkpoint_come_again() {
    for stop in STOPS {
        let place = Place::new(&[]);
        let channel = place.opened();
        put(&channel, 0..5);
        let loans = [taken(&channel, 1), taken(&channel, 1), taken(&channel, 1)];
        let [first, ..] = loans;
        drop(first);
        checkpoint(&channel).unwrap();
        let again = place.reopened(&channel, stop);
        assert_eq!(drained(&again), [0, 1, 2, 3, 4], "{stop:?}");
        ended(&again);
    }
}

#[test]
fn fch_13_fch_23_fix_09_puts_that_cross_a_checkpoint_are_there_once() {
    for stop in STOPS {
        for n_checkpoints in 0..2 {
            let place = Place::new(&[("capacity", "6"), ("transactionCapacity", "3")]);
            let channel = place.opened();
            let rooms = [(); 2].map(|()| channel.try_put(numbered(0..3).size()).unwrap().unwrap());
            checkpoint(&channel).unwrap();
            for (room, range) in rooms.into_iter().zip([0..3, 3..6]) {
                wait(room.commit(numbered(range))).unwrap();
            }
            (0..n_checkpoints).for_each(|_| checkpoint(&channel).unwrap());
            let again = place.reopened(&channel, stop);
            assert_eq!(drained(&again), [0, 1, 2, 3, 4, 5], "{stop:?}");
            ended(&again);
        }
    }
}

#[test]
fn fch_17_transactions_without_events_are_no_trouble_after_a_restart() {
    for stop in STOPS {
        let place = Place::new(&[]);
        let channel = place.opened();
        wait(channel.try_put(Batch::new().size()).unwrap().unwrap().commit(Batch::new())).unwrap();
        drop(channel.try_put(Batch::new().size()).unwrap());
        let again = place.reopened(&channel, stop);
        assert!(again.try_take(1).unwrap().is_none());
        put(&again, 0..1);
        assert_eq!(drained(&again), [0]);
        ended(&again);
    }
}

#[test]
fn fch_22_a_take_that_crosses_a_checkpoint_is_done() {
    for stop in STOPS {
        let place = Place::new(&[]);
        let channel = place.opened();
        put(&channel, 0..5);
        let loan = taken(&channel, 2);
        checkpoint(&channel).unwrap();
        wait(loan.commit()).unwrap();
        let again = place.reopened(&channel, stop);
        assert_eq!(drained(&again), [2, 3, 4], "{stop:?}");
        ended(&again);
    }
}

/// Everything that can be done to a checkpoint, with every setting that says how to replay, and a changed capacity.
#[test]
fn fch_02_fch_05_fch_36_fch_37_fch_40_fix_15_without_its_checkpoints_and_with_any_setting_all_comes_back() {
    let names = ["/c/flumen-checkpoint-0", "/c/flumen-checkpoint-1"];
    let harms: [(&str, fn(&mut Vec<u8>)); 3] =
        [("emptied", Vec::clear), ("cut", |bytes| bytes.truncate(20)), ("rotten", |bytes| bytes[30] ^= 1)];
    let settings: [&[(&'static str, &'static str)]; 6] = [
        &[],
        &[("use-log-replay-v1", "true")],
        &[("use-fast-replay", "true")],
        &[("use-log-replay-v1", "true"), ("use-fast-replay", "true")],
        &[("useDualCheckpoints", "true"), ("backupCheckpointDir", "/b")],
        &[("capacity", "19"), ("transactionCapacity", "19")],
    ];
    let mut n = 0;
    for stop in STOPS {
        for harmed in [&names[..0], &names[..1], &names[1..], &names[..]] {
            for (what, harm) in harms {
                let place = Place::new(&[("capacity", "20"), ("transactionCapacity", "20")]);
                let channel = place.opened();
                put(&channel, 0..10);
                checkpoint(&channel).unwrap();
                wait(taken(&channel, 2).commit()).unwrap();
                put(&channel, 10..20);
                checkpoint(&channel).unwrap();
                place.stop(&channel, stop);
                for path in harmed {
                    place.disk.damage(Path::new(path), harm);
                }
                let again = Place { disk: place.disk, pairs: settings[n % settings.len()].to_vec() };
                n += 1;
                let channel = again.opened();
                assert_eq!(drained(&channel), (2..20).collect::<Vec<_>>(), "{stop:?}, {harmed:?} {what}");
                assert_eq!(metric(&channel, "EventLostCount"), "0");
                ended(&channel);
            }
        }
    }
}

#[test]
fn fch_05_a_capacity_below_what_waits_drops_nothing() {
    let place = Place::new(&[("capacity", "10"), ("transactionCapacity", "10")]);
    let channel = place.opened();
    put(&channel, 0..10);
    place.stop(&channel, Stop::Clean);
    for capacity in ["9", "11"] {
        let pairs = vec![("capacity", capacity), ("transactionCapacity", "5")];
        let other = Place { disk: place.disk.clone(), pairs };
        let channel = other.opened();
        assert_eq!(channel.depth().queued, 10);
        let fits = channel.try_put(numbered(10..11).size()).unwrap().is_some();
        assert_eq!(fits, capacity == "11");
        ended(&channel);
    }
    let channel = place.opened();
    assert_eq!(drained(&channel), (0..10).collect::<Vec<_>>());
    ended(&channel);
}

#[test]
fn fch_49_fch_50_a_put_that_was_rolled_back_is_not_there_after_a_restart() {
    for stop in STOPS {
        let place = Place::new(&[]);
        let channel = place.opened();
        put(&channel, 0..50);
        drop(channel.try_put(numbered(900..901).size()).unwrap().unwrap());
        let channel = place.reopened(&channel, stop);
        put(&channel, 50..100);
        let loan = taken(&channel, 99);
        drop(channel.try_put(numbered(901..902).size()).unwrap().unwrap());
        wait(loan.commit_first(49)).unwrap();
        wait(taken(&channel, 50).commit()).unwrap();
        let again = place.reopened(&channel, stop);
        assert_eq!(drained(&again), [99], "{stop:?}");
        ended(&again);
    }
}

#[test]
fn fch_63_what_is_committed_counts_and_nothing_else() {
    for stop in STOPS {
        let place = Place::new(&[]);
        let channel = place.opened();
        put(&channel, 0..1);
        drop(channel.try_put(numbered(1..2).size()).unwrap().unwrap());
        let again = place.reopened(&channel, stop);
        drop(taken(&again, 1));
        let again = place.reopened(&again, stop);
        wait(taken(&again, 1).commit()).unwrap();
        let again = place.reopened(&again, stop);
        assert!(again.try_take(1).unwrap().is_none() && again.depth().queued == 0);
        ended(&again);
    }
}

#[test]
fn fch_69_a_checkpoint_is_written_at_the_end_unless_it_is_not_wanted() {
    for wanted in ["true", "false"] {
        let place = Place::new(&[("checkpointOnClose", wanted)]);
        let channel = place.opened();
        let both = || {
            ["/c/flumen-checkpoint-0", "/c/flumen-checkpoint-1"]
                .map(|path| place.disk.content(Path::new(path)))
        };
        put(&channel, 0..1);
        let before = both();
        ended(&channel);
        assert_eq!(both() != before, wanted == "true");
    }
}

#[test]
fn fch_80_ids_go_on_above_all_that_were_there() {
    let place = Place::new(&[]);
    let mut last = (0, 0);
    for (round, stop) in STOPS.into_iter().cycle().take(6).enumerate() {
        let channel = place.opened();
        put(&channel, 0..2);
        if round % 2 == 0 {
            wait(taken(&channel, 1).commit()).unwrap();
        }
        place.stop(&channel, stop);
        let youngest = place.logs("/d").into_iter().max_by_key(|name| name[4..].parse::<u32>().unwrap());
        let bytes = place.disk.content(&Path::new("/d").join(youngest.unwrap())).unwrap();
        let ids = ids_of(bytes);
        assert!(!ids.is_empty() && ids.is_sorted_by_key(|(order, _)| *order));
        assert!(ids.iter().all(|(order, transaction)| *order > last.0 && *transaction > last.1), "{ids:?}");
        last = (ids[ids.len() - 1].0, ids[ids.len() - 1].1);
    }
}

#[test]
fn fch_80_ids_begin_above_the_clock_and_never_go_back_with_it() {
    let place = Place::new(&[]);
    let mut last = 0;
    for clock_ms in [1_700_000_000_000, 1_600_000_000_000, 1_800_000_000_000] {
        let pairs = [("checkpointDir", "/c"), ("dataDirs", "/d")];
        let channel = channel_at(Arc::new(place.disk.clone()), &pairs, clock_ms);
        wait(channel.open()).unwrap();
        put(&channel, 0..1);
        ended(&channel);
        let youngest = place.logs("/d").into_iter().max_by_key(|name| name[4..].parse::<u32>().unwrap());
        let (order, transaction) =
            ids_of(place.disk.content(&Path::new("/d").join(youngest.unwrap())).unwrap())[0];
        let clock = clock_ms.unsigned_abs();
        assert!(order > last.max(clock) && transaction > clock, "{order} {transaction} {clock}");
        last = order;
    }
}

/// A checkpoint of another channel, and one of the same channel at another time.
#[test]
fn a_checkpoint_that_is_not_of_these_data_files_costs_nothing() {
    let pairs = [("checkpointDir", "/c"), ("dataDirs", "/d"), ("maxFileSize", "300")];
    let made = |clock_ms: i64, n: u64, n_taken: u32| {
        let disk = SimulatedDisk::new(1);
        let channel = channel_at(Arc::new(disk.clone()), &pairs, clock_ms);
        wait(channel.open()).unwrap();
        (0..n).for_each(|n| put(&channel, n..n + 1));
        wait(taken(&channel, n_taken).commit()).unwrap();
        ended(&channel);
        disk
    };
    let with_checkpoints_of = |disk: &SimulatedDisk, other: &SimulatedDisk| {
        for path in ["/c/flumen-checkpoint-0", "/c/flumen-checkpoint-1"].map(Path::new) {
            disk.damage(path, |bytes| *bytes = other.content(path).unwrap());
        }
        let channel = channel_at(Arc::new(disk.clone()), &pairs, 0);
        wait(channel.open()).unwrap();
        let left = drained(&channel);
        ended(&channel);
        left
    };
    for other_clock in [1_000_000, 3_000_000] {
        for n_other in [1, 30, 90] {
            let (disk, other) = (made(2_000_000, 30, 3), made(other_clock, n_other, 1));
            let left = with_checkpoints_of(&disk, &other);
            assert_eq!(left, (3..30).collect::<Vec<_>>(), "{other_clock} {n_other}");
        }
    }
}

/// Write-order ids and transaction ids of the records of a data file.
fn ids_of(bytes: Vec<u8>) -> Vec<(u64, u64)> {
    use flumen_wal::{
        data_file::{Item, Scanner},
        disk::Mode,
    };
    let disk = SimulatedDisk::new(1);
    disk.create_dir_all(Path::new("/x")).unwrap();
    let path = Path::new("/x/log-1");
    disk.open(path, Mode::Create).unwrap().write_at(0, &bytes).unwrap();
    let mut scanner = Scanner::new(disk.open(path, Mode::Read).unwrap(), 0, None).unwrap();
    let mut ids = Vec::new();
    while let Some(item) = scanner.next_item().unwrap() {
        if let Item::Record { record, .. } = item {
            ids.push((record.stamp.order, record.stamp.transaction));
        }
    }
    ids
}
