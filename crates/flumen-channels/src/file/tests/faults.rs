//! Disks that are full, gone, or rotten under a channel.

use super::*;

const MIB: u64 = 1 << 20;

#[test]
fn fch_65_fix_23_below_the_least_free_space_puts_are_refused_and_takes_go_on() {
    let place = Place::new(&[]);
    let channel = place.opened();
    put(&channel, 0..10);
    place.stop(&channel, Stop::Clean);
    // It opens on a disk that is nearly full: what is in it can be taken.
    place.disk.set_free_space(Some(MIB - 1));
    let channel = place.opened();
    let refused = channel.try_put(numbered(10..11).size()).unwrap_err();
    assert!(refused.to_string().contains("bytes are free"), "{refused}");
    assert_eq!(metric(&channel, "EventPutErrorCount"), "1");
    wait(taken(&channel, 5).commit()).unwrap();
    // And goes on by itself when there is space.
    place.disk.set_free_space(Some(3 * MIB));
    let freed = channel.signals().freed.count();
    assert!(wait::until(|| channel.try_put(numbered(10..11).size()).is_ok()));
    assert!(channel.signals().freed.count() > freed);
    put(&channel, 10..11);
    assert_eq!(drained(&channel), (5..11).collect::<Vec<_>>());
    ended(&channel);
}

#[test]
fn fch_68_what_is_written_counts_against_the_free_space_until_it_is_asked_for_again() {
    let place = Place::new(&[]);
    place.disk.set_free_space(Some(MIB + 4_000));
    let log = place.opened();
    let log_of = |channel: &FileChannel| channel.0.open_log().unwrap();
    // Looking is what the keeper does twice a second. This one comes before, or the space is really gone.
    log_of(&log).tend(false);
    let mut n = 0;
    while let Ok(Some(room)) = log.try_put(numbered(n..n + 10).size()) {
        if wait(room.commit(numbered(n..n + 10))).is_err() {
            break;
        }
        n += 10;
    }
    assert!((10..100).contains(&n), "{n} events of some 70 bytes with 4000 bytes of room");
    place.disk.set_free_space(Some(MIB + 100_000));
    log_of(&log).tend(false);
    put(&log, n..n + 10);
    ended(&log);
}

#[test]
fn fch_31_fix_25_a_checkpoint_that_fails_is_counted_and_the_next_one_works() {
    let base = tempfile::tempdir().unwrap();
    let channel = opened(base.path(), &[("checkpointInterval", "1")]);
    put(&channel, 0..1);
    assert_eq!(metric(&channel, "CheckpointWriteErrorCount"), "0");
    let (dir, aside) = (base.path().join("checkpoint"), base.path().join("aside"));
    std::fs::rename(&dir, &aside).unwrap();
    assert!(wait::until(|| metric(&channel, "CheckpointWriteErrorCount") != "0"));
    std::fs::rename(&aside, &dir).unwrap();
    let written = || std::fs::read(dir.join("flumen-checkpoint-0")).ok();
    put(&channel, 1..2);
    let before = written();
    assert!(wait::until(|| written() != before), "the one after the failed one");
    ended(&channel);
}

#[test]
fn fix_09_a_put_that_fails_gives_its_room_back_and_a_take_its_events() {
    use flumen_wal::disk::simulated::Fault;
    let place = Place::new(&[("capacity", "10"), ("transactionCapacity", "10")]);
    let channel = place.opened();
    put(&channel, 0..3);
    let loan = taken(&channel, 2);
    let room = channel.try_put(numbered(3..8).size()).unwrap().unwrap();
    place.disk.fail_at(place.disk.calls(), Fault::Error);
    assert!(wait(room.commit(numbered(3..8))).is_err());
    assert!(wait(loan.commit()).is_err());
    let depth = channel.depth();
    assert_eq!((depth.queued, depth.on_loan, depth.reserved), (3, 0, 0));
    // Refused until it is opened anew, takes too, although the disk is well again.
    assert!(channel.try_take(1).is_err() && channel.try_put(numbered(0..1).size()).is_err());
    assert!(channel.failure().is_some());
    wait(channel.open()).unwrap();
    assert!(channel.failure().is_none());
    let left = drained(&channel);
    assert!(left == [0, 1, 2] || left == [0, 1, 2, 3, 4, 5, 6, 7], "{left:?}");
    put(&channel, 8..9);
    ended(&channel);
}

#[test]
fn fch_32_fch_74_fix_22_a_rotten_record_is_no_event_and_no_reason_to_stay_closed() {
    let place = Place::new(&[]);
    let channel = place.opened();
    let mut batch = Batch::new();
    for byte in [b'a', b'b', b'c'] {
        batch.push(Headers::new(), vec![byte; 2_500]);
    }
    store(&channel, batch.clone());
    // After this the log is known to be durable up to here.
    put(&channel, 0..1);
    place.stop(&channel, Stop::Clean);
    let log = &place.logs("/d")[0];
    place.disk.damage(&Path::new("/d").join(log), |bytes| {
        let at = bytes.iter().position(|byte| *byte == b'b').unwrap() + 1_000;
        bytes[at..at + 2].fill(b'x');
    });
    for path in ["/c/flumen-checkpoint-0", "/c/flumen-checkpoint-1"] {
        place.disk.damage(Path::new(path), Vec::clear);
    }
    let channel = place.opened();
    assert_eq!(metric(&channel, "EventLostCount"), "1");
    assert_eq!(metric(&channel, "Unhealthy"), "0");
    let left = drain(&channel);
    let bodies: Vec<&[u8]> = left.iter().map(|event| event.body).collect();
    assert_eq!(bodies, [&[b'a'; 2_500][..], &[b'c'; 2_500], b"0"]);
    ended(&channel);
}

#[test]
fn a_record_that_rots_while_it_waits_is_told_when_its_turn_comes() {
    let place = Place::new(&[("memoryBytes", "1")]);
    let channel = place.opened();
    put(&channel, 0..50);
    // Opened by its checkpoint: nothing is read before its turn comes, and while it runs it might have been read already.
    place.stop(&channel, Stop::Clean);
    let log = &place.logs("/d")[0];
    place.disk.damage(&Path::new("/d").join(log), |bytes| {
        let at = bytes.windows(2).rposition(|two| two == b"37").unwrap();
        bytes[at] ^= 1;
    });
    let channel = place.opened();
    assert_eq!(metric(&channel, "EventLostCount"), "0");
    let left = drained(&channel);
    assert_eq!(left, (0..50).filter(|n| *n != 37).collect::<Vec<_>>());
    assert_eq!(metric(&channel, "EventLostCount"), "1");
    ended(&channel);
}

/// One event of a mebibyte.
fn large() -> Batch {
    let mut batch = Batch::new();
    batch.push(Headers::new(), vec![7; 1 << 20]);
    batch
}

#[tokio::test(start_paused = true)]
async fn a_put_waits_where_it_would_outrun_a_sink_that_is_taking_and_not_for_long() {
    const MS: Duration = Duration::from_millis(1);
    let place = Place::new(&[("memoryBytes", "16777216")]);
    let channel = place.opened();
    let try_put = || channel.try_put(large().size()).unwrap();
    for _ in 0..15 {
        store(&channel, large());
    }
    assert!(try_put().is_some(), "nobody takes");
    let lent = taken(&channel, 1);
    let freed = channel.signals().freed.listen();
    assert!(try_put().is_none(), "the sink is given a moment");
    tokio::time::timeout(60 * MS, freed).await.expect("who waits is woken");
    assert!(try_put().is_some(), "the sink keeps no pace");
    drop(lent);
    tokio::time::advance(2_000 * MS).await;
    // Taken for good, there is room in memory.
    for _ in 0..3 {
        wait(taken(&channel, 1).commit()).unwrap();
    }
    let lent = taken(&channel, 1);
    assert!(try_put().is_some());
    drop(lent);
    ended(&channel);
}

#[tokio::test(start_paused = true)]
async fn who_has_no_time_to_wait_is_not_made_to() {
    let place = Place::new(&[("memoryBytes", "16777216"), ("keep-alive", "0")]);
    let channel = place.opened();
    for _ in 0..15 {
        store(&channel, large());
    }
    let lent = taken(&channel, 1);
    assert!(channel.try_put(large().size()).unwrap().is_some());
    drop(lent);
    ended(&channel);
}
