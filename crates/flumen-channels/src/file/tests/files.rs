//! Data files: how large they become, which names are avoided, and when they go.

use super::*;
use std::collections::BTreeMap;

#[test]
fn fch_43_empty_data_files_and_left_over_metas_are_passed_over() {
    let place = Place::new(&[("dataDirs", "/d, /e")]);
    let channel = place.opened();
    put(&channel, 0..100);
    place.stop(&channel, Stop::Clean);
    for dir in ["/d", "/e"] {
        for n in 1000..1003 {
            for name in [format!("log-{n}"), format!("log-{n}.meta.tmp"), "log-1.meta.old".into()] {
                let path = Path::new(dir).join(name);
                place.disk.open(&path, flumen_wal::disk::Mode::Replace).unwrap().sync().unwrap();
            }
        }
    }
    let again = place.opened();
    put(&again, 100..200);
    let again = place.reopened(&again, Stop::ProcessEnds);
    assert_eq!(drained(&again), (0..200).collect::<Vec<_>>());
    ended(&again);
}

#[test]
fn fch_62_fix_17_files_roll_before_they_exceed_their_limit_each_with_its_meta() {
    let place = Place::new(&[("dataDirs", "/d,/e,/f"), ("maxFileSize", "1000")]);
    let channel = place.opened();
    for n in 0..1000 {
        put(&channel, n..n + 1);
        if n % 100 == 0 {
            drop(taken(&channel, 1));
        }
    }
    let mut n_files = 0;
    for dir in ["/d", "/e", "/f"] {
        let logs = place.logs(dir);
        for name in &logs {
            let len = place.disk.content(&Path::new(dir).join(name)).unwrap().len();
            assert!(len <= 1000, "{name} has {len} bytes");
            assert!(place.disk.content(&Path::new(dir).join(format!("{name}.meta"))).is_some(), "{name}");
        }
        n_files += logs.len();
    }
    assert!(n_files > 93, "{n_files} files: as many as Java writes without commits, at least");
    // What was written with a larger limit is read with a smaller one.
    place.stop(&channel, Stop::Clean);
    let smaller = Place { disk: place.disk, pairs: vec![("dataDirs", "/d,/e,/f"), ("maxFileSize", "300")] };
    let again = smaller.opened();
    assert_eq!(drained(&again), (0..1000).collect::<Vec<_>>());
    ended(&again);
}

#[test]
fn a_meta_without_its_data_file_neither_stops_nor_confuses() {
    let place = Place::new(&[("maxFileSize", "500")]);
    let channel = place.opened();
    put(&channel, 0..20);
    place.stop(&channel, Stop::Clean);
    let meta = place.disk.content(Path::new("/d/log-1.meta")).unwrap();
    let youngest = place.logs("/d").len();
    // One of long ago, those of the files that are made next, and bytes that are none.
    let orphans = [
        (900, meta.clone()),
        (youngest + 1, meta.clone()),
        (youngest + 2, b"?".to_vec()),
        (youngest + 3, meta),
    ];
    for (number, bytes) in &orphans {
        let file =
            place.disk.open(Path::new(&format!("/d/log-{number}.meta")), flumen_wal::disk::Mode::Replace);
        file.unwrap().write_at(0, bytes).unwrap();
    }
    let mut channel = place.opened();
    for stop in STOPS {
        assert_eq!(metric(&channel, "EventLostCount"), "0", "{stop:?}");
        let n = channel.depth().queued;
        put(&channel, n..n + 20);
        channel = place.reopened(&channel, stop);
    }
    assert_eq!(drained(&channel), (0..80).collect::<Vec<_>>());
    ended(&channel);
}

#[test]
fn a_large_run_has_whole_blocks_of_its_file_and_is_read_back_with_what_is_between() {
    let place = Place::new(&[("memoryBytes", "1")]);
    let channel = place.opened();
    put(&channel, 0..3);
    // More than one reading brings.
    for n in 0..5 {
        put(&channel, n * 10_000 + 3..(n + 1) * 10_000 + 3);
    }
    put(&channel, 50_003..50_006);
    let len = |name: &str| place.disk.content(&Path::new("/d").join(name)).unwrap().len();
    let logs = place.logs("/d");
    assert_eq!(logs.len(), 1);
    let n_small = len(&logs[0]) % 4096;
    assert!((1..1_000).contains(&n_small), "{n_small} bytes behind the blocks");
    // Not recovered, it is one stretch; recovered, it is one a run.
    let mut first = Vec::new();
    while first.len() < 30_000 {
        let taken = taken(&channel, 5_000);
        first.extend(numbers(taken.batch()));
        wait(taken.commit()).unwrap();
    }
    let again = place.reopened(&channel, Stop::ProcessEnds);
    first.extend(drained(&again));
    assert!(first == (0..50_006).collect::<Vec<_>>(), "{} events", first.len());
    ended(&again);
}

#[test]
fn fch_70_what_has_the_name_of_a_data_file_is_not_written_over() {
    let place = Place::new(&[]);
    place.disk.create_dir_all(Path::new("/d/log-1")).unwrap();
    place.disk.create_dir_all(Path::new("/d/log-3")).unwrap();
    let path = Path::new("/d/log-2");
    let theirs = place.disk.open(path, flumen_wal::disk::Mode::Create).unwrap();
    theirs.write_at(0, b"nothing of ours").unwrap();
    let channel = place.opened();
    put(&channel, 0..3);
    let again = place.reopened(&channel, Stop::ProcessEnds);
    assert_eq!(drained(&again), [0, 1, 2]);
    assert_eq!(place.disk.content(path).unwrap(), b"nothing of ours");
    ended(&again);
}

#[test]
fn fix_18_a_checkpoint_changes_no_byte_of_a_data_file() {
    let place = Place::new(&[("maxFileSize", "500")]);
    let channel = place.opened();
    put(&channel, 0..100);
    wait(taken(&channel, 1).commit()).unwrap();
    let contents = || -> BTreeMap<PathBuf, Vec<u8>> {
        let files = place.disk.files().into_iter().filter(|path| path.starts_with("/d"));
        files.map(|path| (path.clone(), place.disk.content(&path).unwrap())).collect()
    };
    let before = contents();
    for n in 0..3 {
        put(&channel, 100 + n..101 + n);
        checkpoint(&channel).unwrap();
    }
    let after = contents();
    let youngest =
        before.keys().filter(|path| path.extension().is_none()).max_by_key(|path| path_number(path));
    for (path, bytes) in &before {
        assert!(after[path].starts_with(bytes), "{path:?} has changed");
        assert!(after[path] == *bytes || Some(path) == youngest, "{path:?} has grown");
    }
    ended(&channel);
}

fn path_number(path: &Path) -> u32 {
    path.to_str().unwrap().rsplit('-').next().unwrap().parse().unwrap()
}

#[test]
fn fix_14_without_a_new_checkpoint_no_data_file_goes() {
    use flumen_wal::disk::simulated::Fault;
    let place = Place::new(&[("maxFileSize", "300")]);
    let channel = place.opened();
    put(&channel, 0..40);
    checkpoint(&channel).unwrap();
    assert_eq!(drained(&channel).len(), 40);
    let before = place.logs("/d");
    for _ in 0..10 {
        put(&channel, 50..51);
        place.disk.fail_at(place.disk.calls() + 2, Fault::Error);
        assert!(checkpoint(&channel).is_err());
        place.disk.forget_faults();
    }
    let all = place.logs("/d");
    assert!(before.iter().all(|name| all.contains(name)), "{before:?} {all:?}");
    ended(&channel);
}

#[test]
fn fix_28_a_file_that_cannot_be_removed_costs_no_event() {
    use flumen_wal::disk::simulated::Fault;
    let place = Place::new(&[("maxFileSize", "300")]);
    let channel = place.opened();
    put(&channel, 0..10);
    (0..30).for_each(|n| put(&channel, 10 + n..11 + n));
    wait(taken(&channel, 30).commit()).unwrap();
    checkpoint(&channel).unwrap();
    put(&channel, 40..41);
    let before = place.logs("/d").len();
    // Behind the five calls of the checkpoint comes the first removal.
    place.disk.fail_at(place.disk.calls() + 5, Fault::Error);
    assert!(checkpoint(&channel).is_err());
    assert_eq!(place.logs("/d").len(), before);
    let loan = taken(&channel, 5);
    put(&channel, 41..42);
    checkpoint(&channel).unwrap();
    assert!(place.logs("/d").len() < before);
    wait(loan.commit()).unwrap();
    assert_eq!(drained(&channel), (35..42).collect::<Vec<_>>());
    ended(&channel);
}
