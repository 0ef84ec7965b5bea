//! A disk that is nearly full, and data files that go and come back, cannot be read, or have another key: nothing that waits in
//! them is thrown away.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

use flumen_wal::{
    disk::{Disk, Mode, read_whole, simulated::SimulatedDisk},
    log::{EventBytes, Hooks, Keys, Log, LogError, LogSettings, OpenError, OpenOptions, Opened, open},
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

const LIMIT: Duration = Duration::from_secs(20);

fn open_log(disk: &SimulatedDisk, dirs: &[&str], minimum_free_bytes: u64) -> Result<Opened, OpenError> {
    open_with(disk, dirs, minimum_free_bytes, None)
}

fn open_with(
    disk: &SimulatedDisk,
    dirs: &[&str],
    minimum_free_bytes: u64,
    encryption: Option<Keys>,
) -> Result<Opened, OpenError> {
    let settings = LogSettings {
        checkpoint_dir: "/c".into(),
        data_dirs: dirs.iter().map(PathBuf::from).collect(),
        max_file_bytes: 1 << 20,
        minimum_free_bytes,
        memory_bytes: 1 << 20,
        writes_in_flight: 2,
        blocks: None,
        name: "c".into(),
        encryption,
        version_2: Vec::new(),
    };
    let mut options =
        OpenOptions { backup_dir: None, adopt: false, since: 0, clock_ms: 0, progress: &mut |_, _| {} };
    let hooks = || Hooks { readable: Box::new(|| {}), failed: Box::new(|| {}), lost: Box::new(|_| {}) };
    open(Arc::new(disk.clone()), settings, &mut options, hooks())
}

fn put(log: &Log, body: &[u8]) -> Result<(), LogError> {
    assert!(log.reserve(1, body.len() as u64, 10_000)?, "room");
    let (answer, answered) = mpsc::sync_channel(1);
    let events = [EventBytes { headers: &[], body }];
    log.put(&events, 1, 0, Box::new(move |result| answer.send(result).unwrap()));
    answered.recv_timeout(LIMIT).unwrap()
}

/// Takes all that waits, one by one.
fn drain(log: &Log) -> usize {
    let (start, mut n) = (Instant::now(), 0);
    while log.depth().queued > 0 {
        assert!(start.elapsed() < LIMIT, "events within {LIMIT:?}");
        let Some(loan) = log.take(1).unwrap() else {
            std::thread::yield_now();
            continue;
        };
        let (answer, answered) = mpsc::sync_channel(1);
        log.commit(loan, 1, Box::new(move |result| answer.send(result).unwrap()));
        answered.recv_timeout(LIMIT).unwrap().unwrap();
        n += 1;
    }
    n
}

/// Two directories on one file system, with events in both.
fn filled(disk: &SimulatedDisk) {
    let log = open_log(disk, &["/d1", "/d2"], 0).unwrap().log;
    (0..200).for_each(|_| put(&log, b"event").unwrap());
    log.close(true).unwrap();
}

/// Takes a directory away, as a disk that is not mounted, and gives back what was in it.
fn unmount(disk: &SimulatedDisk, dir: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let in_it: Vec<_> = disk.files().into_iter().filter(|path| path.starts_with(dir)).collect();
    let files = in_it.into_iter().map(|path| {
        let bytes = read_whole(disk, &path, 1 << 21).unwrap();
        (path, bytes)
    });
    let files = files.collect();
    disk.remove_all(Path::new(dir)).unwrap();
    files
}

#[test]
fn a_directory_that_is_not_mounted_keeps_the_log_closed_until_it_is_back() {
    let disk = SimulatedDisk::new(1);
    filled(&disk);
    let files = unmount(&disk, "/d2");
    for _ in 0..2 {
        let error = open_log(&disk, &["/d1", "/d2"], 0).unwrap_err();
        assert!(matches!(&error, OpenError::WithoutFiles { dir, .. } if dir == Path::new("/d2")), "{error}");
        let text = error.to_string();
        assert!(text.contains("/d2 has none") && text.contains("from /c"), "{text}");
    }
    for (path, bytes) in files {
        disk.open(&path, Mode::Create).unwrap().write_at(0, &bytes).unwrap();
    }
    let opened = open_log(&disk, &["/d1", "/d2"], 0).unwrap();
    assert!(opened.report.is_clean(), "{}", opened.report);
    assert_eq!(drain(&opened.log), 200);
}

#[test]
fn without_its_checkpoints_a_log_goes_on_with_the_directories_that_are_left() {
    let disk = SimulatedDisk::new(1);
    filled(&disk);
    let lost = unmount(&disk, "/d2").len();
    assert!(lost > 0);
    disk.remove_all(Path::new("/c")).unwrap();
    let n = drain(&open_log(&disk, &["/d1", "/d2"], 0).unwrap().log);
    assert!(n > 0 && n < 200, "{n}");
}

#[test]
fn an_empty_directory_in_which_nothing_waits_is_no_obstacle() {
    let disk = SimulatedDisk::new(1);
    filled(&disk);
    let opened = open_log(&disk, &["/d1", "/d2", "/new"], 0).unwrap();
    assert_eq!(drain(&opened.log), 200);
    opened.log.close(true).unwrap();
    unmount(&disk, "/d2");
    assert!(open_log(&disk, &["/d1", "/d2"], 0).is_ok());
}

#[test]
fn directories_on_one_disk_leave_together_what_must_stay_free() {
    let disk = SimulatedDisk::new(1);
    let log = open_log(&disk, &["/d1", "/d2", "/d3"], 1 << 20).unwrap().log;
    disk.set_free_space(Some(3 << 20));
    log.tend(false);
    let body = vec![b'x'; 8 << 10];
    let mut n = 0;
    let refused = loop {
        match put(&log, &body) {
            Ok(()) => n += 1,
            Err(error) => break error,
        }
        assert!(n < 1000, "2 MiB are full at last");
    };
    assert!(matches!(refused, LogError::NoSpace { .. }), "{refused}");
    assert!(n > 200, "{n}: what may be used is used");
    assert!(disk.free_space(Path::new("/d1")).unwrap().bytes >= 1 << 20, "all directories count");
    assert_eq!(drain(&log), n, "takes go on");
}

#[test]
fn a_put_whose_room_was_used_by_others_is_refused_at_its_commit() {
    let disk = SimulatedDisk::new(1);
    let log = open_log(&disk, &["/d1"], 1 << 20).unwrap().log;
    let body = vec![b'x'; 100 << 10];
    assert!(log.reserve(1, body.len() as u64, 10).unwrap());
    disk.set_free_space(Some((1 << 20) + (50 << 10)));
    log.tend(false);
    let (answer, answered) = mpsc::sync_channel(1);
    let events = [EventBytes { headers: &[], body: &body }];
    log.put(&events, 1, 0, Box::new(move |result| answer.send(result).unwrap()));
    let refused = answered.recv_timeout(LIMIT).unwrap().unwrap_err();
    assert!(matches!(refused, LogError::NoSpace { .. }), "{refused}");
    assert_eq!(log.depth().reserved, 0, "its room is free");
    assert!(log.failure().is_none(), "and the log goes on");
    put(&log, b"a small one").unwrap();
}

#[test]
fn a_full_disk_hands_nothing_out_that_it_could_not_take_for_good() {
    let disk = SimulatedDisk::new(1);
    let log = open_log(&disk, &["/d1"], 0).unwrap().log;
    put(&log, b"event").unwrap();
    disk.set_free_space(Some(1000));
    log.tend(false);
    assert!(matches!(log.take(1), Err(LogError::NoSpace { .. })));
    disk.set_free_space(None);
    log.tend(false);
    assert_eq!(drain(&log), 1);
}

/// Data files, by name.
fn data_files(disk: &SimulatedDisk) -> Vec<String> {
    let names = disk.files().into_iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    names.filter(|name| name.starts_with("log-") && !name.contains(".meta")).collect()
}

#[test]
fn a_full_log_that_was_drained_lets_its_files_go_and_takes_puts_again() {
    for n_dirs in [1, 2] {
        let disk = SimulatedDisk::new(1);
        let log = open_log(&disk, &["/d1", "/d2"][..n_dirs], 1 << 20).unwrap().log;
        disk.set_free_space(Some(5 << 20));
        log.tend(false);
        let body = vec![b'x'; 8 << 10];
        let mut n = 0;
        while put(&log, &body).is_ok() {
            n += 1;
        }
        log.checkpoint().unwrap();
        assert!(!log.make_room(), "everything waits");
        assert_eq!(drain(&log), n);
        let before = data_files(&disk).len();
        let mut rounds = 0;
        while log.make_room() {
            log.checkpoint().unwrap();
            rounds += 1;
            assert!(rounds <= 2, "two checkpoints are enough");
        }
        assert!(before > 0 && data_files(&disk).is_empty(), "{:?}", data_files(&disk));
        disk.set_free_space(Some(5 << 20));
        assert!(log.tend(true), "space has come free");
        put(&log, &body).unwrap();
        log.close(true).unwrap();
        assert_eq!(drain(&open_log(&disk, &["/d1", "/d2"][..n_dirs], 0).unwrap().log), 1);
    }
}

#[test]
fn an_idle_log_lets_drained_files_go() {
    let disk = SimulatedDisk::new(1);
    let log = open_log(&disk, &["/d1"], 0).unwrap().log;
    let body = vec![b'x'; 100 << 10];
    for _ in 0..40 {
        put(&log, &body).unwrap();
    }
    log.checkpoint().unwrap();
    assert!(data_files(&disk).len() > 3);
    assert_eq!(drain(&log), 40);
    (0..2).for_each(|_| log.checkpoint().unwrap());
    assert_eq!(data_files(&disk).len(), 1, "the one that is written: {:?}", data_files(&disk));
    let checkpoints = || disk.content(Path::new("/c/flumen-checkpoint-0"));
    let before = checkpoints();
    (0..2).for_each(|_| log.checkpoint().unwrap());
    assert_eq!(checkpoints(), before, "nothing is left to be done");
}

/// Gives back what a directory had in it.
fn mount(disk: &SimulatedDisk, files: Vec<(PathBuf, Vec<u8>)>) {
    for (path, bytes) in files {
        disk.create_dir_all(path.parent().unwrap()).unwrap();
        disk.open(&path, Mode::Create).unwrap().write_at(0, &bytes).unwrap();
    }
}

#[test]
fn events_of_a_directory_that_was_left_out_for_a_while_come_back_with_it() {
    let disk = SimulatedDisk::new(1);
    filled(&disk);
    let d2 = unmount(&disk, "/d2");
    let mut n = 0;
    for _ in 0..3 {
        let opened = open_log(&disk, &["/d1"], 0).unwrap();
        assert_eq!(opened.report.lost_events > 0, n == 0, "told once: {}", opened.report);
        n += drain(&opened.log);
        put(&opened.log, b"new").unwrap();
        opened.log.close(true).unwrap();
    }
    mount(&disk, d2);
    let opened = open_log(&disk, &["/d1", "/d2"], 0).unwrap();
    n += drain(&opened.log);
    assert_eq!(n, 203, "everything once");
    opened.log.close(true).unwrap();
    assert_eq!(drain(&open_log(&disk, &["/d1", "/d2"], 0).unwrap().log), 0);
}

fn keys(byte: u8) -> Option<Keys> {
    Some(Keys {
        cipher_provider: "AESCTRNOPADDING".into(),
        active_key: "k".into(),
        key: Arc::new(move |_| Some(vec![byte; 16])),
        random: Arc::new(|bytes| {
            bytes.fill(1);
            Ok(())
        }),
    })
}

#[test]
fn a_wrong_key_keeps_the_log_closed_also_where_a_checkpoint_says_what_waits() {
    let disk = SimulatedDisk::new(1);
    let log = open_with(&disk, &["/d1"], 0, keys(1)).unwrap().log;
    (0..100).for_each(|_| put(&log, b"event").unwrap());
    log.close(true).unwrap();
    for _ in 0..2 {
        let error = open_with(&disk, &["/d1"], 0, keys(2)).unwrap_err();
        assert!(error.to_string().contains("another key under its name"), "{error}");
    }
    assert_eq!(drain(&open_with(&disk, &["/d1"], 0, keys(1)).unwrap().log), 100);
}

#[test]
fn a_file_with_events_that_could_not_be_read_is_put_aside_and_not_removed() {
    let disk = SimulatedDisk::new(1);
    filled(&disk);
    let names = data_files(&disk);
    let damaged = Path::new("/d2").join(names.iter().max().unwrap());
    disk.damage(&damaged, |bytes| bytes[20..60].fill(0xff));
    let opened = open_log(&disk, &["/d1", "/d2"], 0).unwrap();
    let n = drain(&opened.log);
    assert!(n > 190 && n < 200, "{n}");
    put(&opened.log, b"elsewhere").unwrap();
    opened.log.close(true).unwrap();
    let log = open_log(&disk, &["/d1", "/d2"], 0).unwrap().log;
    assert_eq!(drain(&log), 1);
    (0..3).for_each(|_| log.checkpoint().unwrap());
    let all = disk.files();
    let aside = all.iter().filter(|path| path.to_str().unwrap().contains("damaged-log-")).count();
    assert!(aside > 0 || all.iter().any(|path| path.to_str().unwrap().contains("quarantine")), "{all:?}");
}
