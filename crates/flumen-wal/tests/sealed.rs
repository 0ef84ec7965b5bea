//! `AESGCM`: what was put comes back, what was changed is told and never delivered, a wrong key opens nothing, keys can change.

#![allow(clippy::unwrap_used, reason = "tests")]

use flumen_wal::{
    data_file::{self, Cipher, Meta},
    disk::{Disk, simulated::SimulatedDisk},
    log::{self, EventBytes, Hooks, Keys, Log, LogSettings, OpenError, OpenOptions},
    replay::{Recovered, ReplayError},
    tools::{self, Places},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
        mpsc,
    },
};

fn keys(active: &str, known: &[(&str, u8)]) -> Keys {
    let known: BTreeMap<String, Vec<u8>> =
        known.iter().map(|(alias, byte)| ((*alias).to_owned(), vec![*byte; 32])).collect();
    static NEXT: AtomicU8 = AtomicU8::new(1);
    Keys {
        cipher_provider: "aesgcm".to_owned(),
        active_key: active.to_owned(),
        key: Arc::new(move |alias| known.get(alias).cloned()),
        random: Arc::new(|bytes| {
            bytes.fill(NEXT.fetch_add(1, Ordering::Relaxed));
            Ok(())
        }),
    }
}

fn open(disk: &SimulatedDisk, keys: Option<Keys>) -> Result<log::Opened, OpenError> {
    let settings = LogSettings {
        checkpoint_dir: "/c".into(),
        data_dirs: vec!["/d".into()],
        max_file_bytes: 1_000,
        minimum_free_bytes: 0,
        memory_bytes: 1 << 20,
        writes_in_flight: 2,
        blocks: None,
        name: "c".to_owned(),
        encryption: keys,
        version_2: Vec::new(),
    };
    let mut options =
        OpenOptions { backup_dir: None, adopt: false, since: 0, clock_ms: 1, progress: &mut |_, _| {} };
    let hooks = Hooks { readable: Box::new(|| {}), failed: Box::new(|| {}), lost: Box::new(|_| {}) };
    log::open(Arc::new(disk.clone()), settings, &mut options, hooks)
}

fn put(log: &Log, bodies: &[String]) {
    let events: Vec<EventBytes<'_>> =
        bodies.iter().map(|body| EventBytes { headers: b"", body: body.as_bytes() }).collect();
    let n = bodies.len() as u32;
    assert!(log.reserve(n, 0, 1_000_000).unwrap());
    let (answer, answered) = mpsc::sync_channel(1);
    log.put(&events, n, 0, Box::new(move |result| answer.send(result).unwrap()));
    answered.recv().unwrap().unwrap();
}

fn take(log: &Log, n: u32) {
    let loan = log.take(n).unwrap().unwrap();
    assert_eq!(loan.n_events(), n);
    let (answer, answered) = mpsc::sync_channel(1);
    log.commit(loan, n, Box::new(move |result| answer.send(result).unwrap()));
    answered.recv().unwrap().unwrap();
}

fn bodies(from: usize, n: usize) -> Vec<String> {
    (from..from + n).map(|i| format!("the body of event {i}")).collect()
}

/// Twelve events in four transactions over several files, of which two are taken.
fn filled(keys: Keys) -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    let log = open(&disk, Some(keys)).unwrap().log;
    (0..4).for_each(|i| put(&log, &bodies(i * 3, 3)));
    take(&log, 2);
    log.close(false).unwrap();
    disk
}

fn recovered(disk: &SimulatedDisk, keys: Option<Keys>) -> Result<(Recovered, Vec<String>), ReplayError> {
    let places = Places { data_dirs: vec!["/d".into()], keys, ..Places::default() };
    let recovered = tools::waiting(disk, &places, None, &mut |_, _| {})?;
    let mut events = Vec::new();
    let lost = tools::events(disk, &recovered, &mut |event| {
        events.push(String::from_utf8_lossy(event.body).into_owned());
        Ok(true)
    });
    assert_eq!(lost.unwrap(), 0);
    Ok((recovered, events))
}

fn copy(disk: &SimulatedDisk) -> SimulatedDisk {
    let other = SimulatedDisk::new(1);
    other.create_dir_all(Path::new("/d")).unwrap();
    other.create_dir_all(Path::new("/c")).unwrap();
    for path in disk.files() {
        let bytes = disk.content(&path).unwrap();
        let file = other.open(&path, flumen_wal::disk::Mode::Create).unwrap();
        file.write_at(0, &bytes).unwrap();
        file.sync().unwrap();
    }
    other.sync_dir(Path::new("/d")).unwrap();
    other
}

#[test]
fn what_was_put_comes_back_and_is_nowhere_in_clear() {
    let keys = keys("k", &[("k", 7)]);
    let disk = filled(keys.clone());
    let files: Vec<PathBuf> = disk.files();
    assert!(files.iter().filter(|path| path.extension().is_none()).count() > 1, "several files: {files:?}");
    for path in &files {
        let bytes = disk.content(path).unwrap();
        assert!(!bytes.windows(4).any(|part| part == b"body"), "{}", path.display());
    }
    let (found, events) = recovered(&disk, Some(keys.clone())).unwrap();
    assert_eq!(events, bodies(2, 10));
    assert!(found.report.is_clean(), "{}", found.report);
    // Through the log, with reading ahead, and with a checkpoint that names places.
    let log = open(&disk, Some(keys.clone())).unwrap().log;
    assert_eq!(log.depth().queued, 10);
    log.checkpoint().unwrap();
    put(&log, &bodies(12, 3));
    log.close(true).unwrap();
    let log = open(&disk, Some(keys)).unwrap().log;
    assert_eq!(log.depth().queued, 13);
    let mut seen = Vec::new();
    while log.depth().queued > 0 {
        let Some(loan) = log.take(5).unwrap() else {
            std::thread::yield_now();
            continue;
        };
        for piece in loan.pieces() {
            let copy = piece.copy.as_ref().unwrap();
            let text = |at: &flumen_wal::queue::EventAt| {
                let body = at.body as usize..(at.body + at.body_len) as usize;
                String::from_utf8(copy.bytes()[body].to_vec()).unwrap()
            };
            seen.extend(copy.events().iter().map(text));
        }
        let (n, (answer, answered)) = (loan.n_events(), mpsc::sync_channel(1));
        log.commit(loan, n, Box::new(move |result| answer.send(result).unwrap()));
        answered.recv().unwrap().unwrap();
    }
    assert_eq!(seen, bodies(2, 13));
    log.close(true).unwrap();
}

#[test]
fn a_changed_byte_is_told_with_its_file_and_nothing_changed_is_delivered() {
    let keys = keys("k", &[("k", 7)]);
    let disk = filled(keys.clone());
    let right = bodies(2, 10);
    let all: Vec<String> = bodies(0, 12);
    let mut told = 0;
    for path in disk.files().into_iter().filter(|path| path.starts_with("/d")) {
        let is_meta = path.extension().is_some();
        for at in 0..disk.content(&path).unwrap().len() {
            for flip in [0x01, 0x80, 0xff] {
                let disk = copy(&disk);
                disk.damage(&path, |bytes| bytes[at] ^= flip);
                let what = || format!("{} at {at} ^ {flip:#x}", path.display());
                let (found, events) = match recovered(&disk, Some(keys.clone())) {
                    Ok(found) => found,
                    Err(ReplayError::MissingKey { file, .. } | ReplayError::UnknownCipher { file, .. })
                        if is_meta =>
                    {
                        // The names of the key and of the cipher stand in the meta.
                        assert_eq!(file.with_extension("meta"), path, "{}", what());
                        continue;
                    }
                    Err(error) => panic!("{}: {error}", what()),
                };
                assert!(events.iter().all(|event| all.contains(event)), "{}: {events:?}", what());
                let report = &found.report;
                let named = report.damaged.iter().map(|one| &one.file).chain(&report.unreadable_files);
                let file = path.with_extension("");
                let is_named = named.into_iter().any(|one| *one == file);
                told += usize::from(is_named);
                assert!(is_named || events == right, "{}: {} of 10, {report}", what(), events.len());
                assert!(is_named || is_meta || found.edits.is_empty(), "{}: {report}", what());
            }
        }
    }
    assert!(told > 1_000, "{told}");
}

#[test]
fn a_record_in_another_place_is_damage() {
    let keys = keys("k", &[("k", 7)]);
    let disk = filled(keys.clone());
    // The first two records are as long as each other.
    disk.damage(Path::new("/d/log-1"), |bytes| {
        let len = 5 + u32::from_be_bytes(bytes[1..5].try_into().unwrap()) as usize;
        let (one, two) = bytes.split_at_mut(len);
        assert_eq!(one[..5], two[..5]);
        one.swap_with_slice(&mut two[..len]);
    });
    let (found, events) = recovered(&disk, Some(keys)).unwrap();
    assert_eq!(events, bodies(2, 10));
    assert!(!found.report.is_clean(), "{}", found.report);
}

#[test]
fn a_wrong_key_opens_nothing_and_changes_nothing() {
    let disk = filled(keys("k", &[("k", 7)]));
    let before: Vec<_> = disk.files().into_iter().map(|path| disk.content(&path)).collect();
    let wrong = recovered(&disk, Some(keys("k", &[("k", 8)]))).unwrap_err();
    assert!(matches!(&wrong, ReplayError::WrongKey { file } if file == Path::new("/d/log-1")), "{wrong}");
    let missing = recovered(&disk, Some(keys("k", &[("other", 7)]))).unwrap_err();
    assert!(matches!(&missing, ReplayError::MissingKey { alias, .. } if alias == "k"), "{missing}");
    assert!(matches!(recovered(&disk, None).unwrap_err(), ReplayError::MissingKey { .. }));
    assert_eq!(disk.files().into_iter().map(|path| disk.content(&path)).collect::<Vec<_>>(), before);
}

#[test]
fn after_a_change_of_the_active_key_old_files_are_read_with_the_old_one() {
    let disk = filled(keys("old", &[("old", 1)]));
    let both = keys("new", &[("old", 1), ("new", 2)]);
    let log = open(&disk, Some(both.clone())).unwrap().log;
    put(&log, &bodies(12, 3));
    log.close(true).unwrap();
    assert_eq!(recovered(&disk, Some(both)).unwrap().1, bodies(2, 13));
    let without = recovered(&disk, Some(keys("new", &[("new", 2)]))).unwrap_err();
    assert!(matches!(&without, ReplayError::MissingKey { alias, .. } if alias == "old"), "{without}");
    let aliases: Vec<String> = disk
        .files()
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "meta"))
        .map(|path| Meta::decode(&disk.content(path).unwrap()).unwrap().encryption.unwrap().key_alias)
        .collect();
    assert!(aliases.contains(&"old".to_owned()) && aliases.contains(&"new".to_owned()), "{aliases:?}");
}

#[test]
fn each_file_has_a_key_of_its_own() {
    let random = |bytes: &mut [u8]| {
        bytes.fill(3);
        Ok(())
    };
    // Even with the same salt, which a random one is not.
    let (one, cipher) = Cipher::for_new("AESGCM", "k", 1, &[7; 32], &random).unwrap();
    let (other, second) = Cipher::for_new("AESGCM", "k", 2, &[7; 32], &random).unwrap();
    assert_ne!(one.parameters, other.parameters);
    let mut record = Vec::new();
    let stamp = flumen_wal::record::Stamp { transaction: 1, order: 2 };
    flumen_wal::record::rollback(&mut record, stamp, 0);
    let (first, moved) = (cipher.encrypt_records(0, &record), cipher.encrypt_records(100, &record));
    assert_eq!(first.len(), record.len() + 16);
    assert_ne!(first[5..29], moved[5..29], "no key stream comes twice");
    assert_ne!(first[5..29], second.encrypt_records(0, &record)[5..29]);
    let mut plain = Vec::new();
    assert!(cipher.open(0, &first[5..], &mut plain));
    assert_eq!(plain, record[5..]);
    assert!(!cipher.open(1, &first[5..], &mut plain), "another place");
    assert!(!second.open(0, &first[5..], &mut plain), "another file");
    assert!(!cipher.open(0, &first[5..20], &mut plain), "too short");
    assert!(data_file::is_known_cipher("AesGcm") && !data_file::is_known_cipher("AES"));
}
