//! Every bit flipped and every byte cut, over small logs of every kind: what can be read is delivered, what is lost is told,
//! and after settling every further opening gives the same answer.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fixture;

use fixture::{Event, Fixture, delivered, write_facts};
use flumen_wal::{
    data_file::{Cipher, Encryption, Item, Meta, Scanner},
    disk::{Disk, Mode, simulated::SimulatedDisk},
    place::Pointer,
    record::{self, Body, Of, Stamp},
    replay::{Options, Recovered, Start, replay, settle},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

const KEY: [u8; 16] = [7; 16];
const COUNTER: [u8; 16] = [9; 16];
const PATH: &str = "/d/log-1";

/// A data file, and how it is opened.
struct Log {
    bytes: Vec<u8>,
    meta: Option<Meta>,
}

impl Log {
    fn disk(&self, bytes: &[u8]) -> SimulatedDisk {
        let disk = SimulatedDisk::new(1);
        disk.create_dir_all(Path::new("/d")).unwrap();
        let meta = self.meta.as_ref().map(|meta| ("/d/log-1.meta", meta.encode()));
        for (name, bytes) in [(PATH, bytes.to_vec())].into_iter().chain(meta) {
            disk.open(Path::new(name), Mode::Create).unwrap().write_at(0, &bytes).unwrap();
        }
        disk
    }

    fn scanner(&self) -> Scanner {
        let encryption = self.meta.as_ref().and_then(|meta| meta.encryption.as_ref());
        let cipher = encryption.map(|of| Cipher::new(&key(&of.key_alias).unwrap(), &of.parameters).unwrap());
        let cipher = cipher.map(Arc::new);
        let file = self.disk(&self.bytes).open(Path::new(PATH), Mode::Read).unwrap();
        let scanner = Scanner::new(file, 0, cipher).unwrap();
        if self.meta.is_some() { scanner } else { scanner.version_2() }
    }

    /// First byte, byte behind, and kind (the word of a debug print) of each record.
    fn records(&self) -> Vec<(usize, usize, &'static str)> {
        let mut scanner = self.scanner();
        let mut records = Vec::new();
        while let Some(item) = scanner.next_item().unwrap() {
            if let Item::Record { at, end, record, .. } = item {
                let kind = match record.body {
                    Body::Put { .. } => "put",
                    Body::Take(_) => "take",
                    Body::Rollback => "rollback",
                    Body::Commit(_) => "commit",
                };
                records.push((at as usize, end as usize, kind));
            }
        }
        records
    }

    /// What waits after the records that end at `until` or before.
    fn model(&self, until: usize) -> Vec<Event> {
        let mut scanner = self.scanner();
        let mut open: HashMap<u64, (Vec<u32>, Vec<Pointer>)> = HashMap::new();
        let mut events: BTreeMap<u32, Event> = BTreeMap::new();
        let mut queue: Vec<u32> = Vec::new();
        while let Some(item) = scanner.next_item().unwrap() {
            let Item::Record { at, end, record, .. } = item else { continue };
            if end as usize > until {
                break;
            }
            let id = record.stamp.transaction;
            match record.body {
                Body::Put { headers, body } => {
                    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                    let headers = headers.iter().map(|(name, value)| (text(name), text(value))).collect();
                    events.insert(at as u32, (headers, body.to_vec()));
                    open.entry(id).or_default().0.push(at as u32);
                }
                Body::Take(place) => open.entry(id).or_default().1.push(place),
                Body::Rollback => _ = open.remove(&id),
                Body::Commit(_) => {
                    let (puts, takes) = open.remove(&id).unwrap_or_default();
                    queue.extend(puts);
                    queue.retain(|at| takes.iter().all(|take| take.offset != *at));
                }
            }
        }
        queue.into_iter().map(|at| events[&at].clone()).collect()
    }
}

/// Our key, or one of Java's fixture.
fn key(alias: &str) -> Option<Vec<u8>> {
    static JAVA: LazyLock<BTreeMap<String, Vec<u8>>> = LazyLock::new(|| Fixture::load("encrypted").keys);
    if alias == "k" { Some(KEY.to_vec()) } else { JAVA.get(alias).cloned() }
}

fn opened(disk: &SimulatedDisk) -> Option<Recovered> {
    let dirs = [PathBuf::from("/d")];
    let mut options = Options { dirs: &dirs, key: &key, progress: &mut |_, _| {} };
    replay(disk, &mut options, Start::Nothing).ok()
}

/// What an opening delivers, twice: the second one after settling. It must be the same, and nothing is left to do.
fn opened_twice(disk: &SimulatedDisk, what: &dyn Fn() -> String) -> Option<(Vec<Event>, Recovered)> {
    let recovered = opened(disk)?;
    let events = delivered(disk, &recovered);
    write_facts(disk, Path::new("/d"), &recovered);
    settle(disk, &recovered.edits).unwrap();
    let again = opened(disk).unwrap();
    let version_2 = recovered.files.values().any(|found| found.version == 2);
    let (mut one, mut other) = (events.clone(), delivered(disk, &again));
    if !recovered.facts.is_empty() {
        // What a late commit commits comes late.
        one.sort();
        other.sort();
    }
    assert_eq!(other, one, "{}: {:?}", what(), recovered.edits);
    assert!(version_2 || again.edits.is_empty(), "{}: {:?}", what(), again.edits);
    Some((events, recovered))
}

/// A log of ours: two runs of puts, one of takes, a single put, and a roll-back of a clean stop.
fn ours(encrypted: bool, clean_stop: bool) -> Log {
    with_pads(encrypted, clean_stop, &|_| 0)
}

/// The same, with each run in blocks of 128 bytes of its own.
fn in_blocks() -> Log {
    with_pads(false, true, &|at| {
        let next = at.next_multiple_of(128);
        if next > at && next < at + 17 { next + 128 - at } else { next - at }
    })
}

/// `pad`: bytes of the no-op behind a run that ends there.
fn with_pads(encrypted: bool, clean_stop: bool, pad: &dyn Fn(u64) -> u64) -> Log {
    let mut bytes = Vec::new();
    let mut order = 100;
    let mut next = |transaction| {
        order += 1;
        Stamp { transaction, order }
    };
    let mut set = Vec::new();
    record::headers(&mut set, [(b"host".as_slice(), b"h1".as_slice())]);
    let mut offsets = Vec::new();
    for (transaction, n, watermark) in [(1, 3, 100), (2, 2, 104), (4, 1, 107)] {
        if transaction == 4 {
            for place in offsets.iter().take(2) {
                record::take(&mut bytes, next(3), Pointer { file: 1, offset: *place });
            }
            record::commit(&mut bytes, next(3), Of::Takes, 3, 107);
            let len = pad(bytes.len() as u64);
            record::pad(&mut bytes, len);
        }
        for i in 0..n {
            offsets.push(bytes.len() as u32);
            let body = format!("body {transaction}-{i} {}", "x".repeat(i * 9));
            record::put(&mut bytes, next(transaction), &set, body.as_bytes());
        }
        record::commit(&mut bytes, next(transaction), Of::Puts, n as u32 + 1, watermark);
        let len = pad(bytes.len() as u64);
        record::pad(&mut bytes, len);
    }
    if clean_stop {
        record::rollback(&mut bytes, next(5), 112);
    }
    let encryption = encrypted.then(|| Encryption {
        cipher_provider: "AESCTRNOPADDING".into(),
        key_alias: "k".into(),
        parameters: COUNTER.to_vec(),
    });
    if encrypted {
        bytes = Cipher::new(&KEY, &COUNTER).unwrap().encrypt_records(0, &bytes);
    }
    Log { bytes, meta: Some(Meta::new(1, encryption)) }
}

/// A data file that Java wrote, without its fill.
fn java(name: &str) -> Log {
    let fixture = Fixture::load(name);
    let version_2 = name.starts_with("v2");
    let meta = || Meta::decode(&fixture.files["data/log-1.meta"]).unwrap();
    let encryption = if name == "encrypted" { meta().encryption } else { None };
    let mut log = Log {
        bytes: fixture.files["data/log-1"].clone(),
        meta: (!version_2).then(|| Meta::new(1, encryption)),
    };
    let end = log.records().last().unwrap().1;
    log.bytes.truncate(end);
    log
}

fn all() -> Vec<(&'static str, Log)> {
    vec![
        ("ours", ours(false, false)),
        ("ours after a clean stop", ours(false, true)),
        ("ours encrypted", ours(true, true)),
        ("Java's", java("torn-base")),
        ("Java's with rolled-back transactions", java("rollbacks")),
        ("Java's, encrypted", java("encrypted")),
        ("ours in blocks", in_blocks()),
    ]
}

#[test]
fn a_flipped_bit_of_what_fills_a_block_costs_nothing() {
    let log = in_blocks();
    let records = log.records();
    let expected = log.model(usize::MAX);
    let is_record = |at: usize| records.iter().any(|(from, to, _)| (*from..*to).contains(&at));
    let mut n_flipped = 0;
    for bit in (0..log.bytes.len() * 8).filter(|bit| !is_record(bit / 8)) {
        n_flipped += 1;
        let mut bytes = log.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let what = || format!("bit {bit}");
        let (events, recovered) = opened_twice(&log.disk(&bytes), &what).unwrap();
        assert_eq!(events, expected, "{}", what());
        assert_eq!(recovered.report.lost_events, 0, "{}", what());
    }
    assert!(n_flipped > 1_000, "{n_flipped}");
}

#[test]
fn what_fills_a_block_is_believed_whatever_stands_behind_it() {
    let mut log = in_blocks();
    let expected = log.model(usize::MAX);
    log.bytes.truncate(log.records().last().unwrap().0);
    for behind in [0_u8, 0xff] {
        let mut bytes = log.bytes.clone();
        bytes.resize(bytes.len() + 4096, behind);
        let (events, recovered) = opened_twice(&log.disk(&bytes), &|| format!("{behind:#x}")).unwrap();
        assert_eq!((events, recovered.report.n_damaged), (expected.clone(), u64::from(behind > 0)));
    }
}

#[test]
fn a_cut_at_every_byte_leaves_what_was_committed_before_it() {
    for (name, log) in all() {
        for cut in 0..log.bytes.len() {
            let expected = log.model(cut);
            for rest in [None, Some(0_u8), Some(0x80)] {
                let mut bytes = log.bytes[..cut].to_vec();
                if let Some(byte) = rest {
                    bytes.resize(log.bytes.len() + 700, byte);
                }
                let what = || format!("{name} cut at {cut}, then {rest:?}");
                let disk = log.disk(&bytes);
                let (events, recovered) = opened_twice(&disk, &what).unwrap();
                // Java's records end with zeros: one that misses no more than these is whole, or cannot be told from a damaged one.
                let natural = rest == Some(0) && events == log.model((cut + 8).min(log.bytes.len()));
                assert!(events == expected || natural, "{}: {:?} not {expected:?}", what(), events);
                assert_eq!(recovered.report.lost_events, 0, "{}", what());
            }
        }
    }
}

#[test]
fn every_flipped_bit_of_ours_costs_one_event_at_most_and_is_told() {
    for (name, log) in all().into_iter().take(3) {
        let records = log.records();
        let everything: BTreeSet<Event> = log.model(records[4].1.max(records[6].1)).into_iter().collect();
        let expected = log.model(usize::MAX);
        let puts: BTreeSet<Event> =
            records.iter().flat_map(|(_, end, _)| log.model(*end)).chain(everything).collect();
        for bit in 0..log.bytes.len() * 8 {
            let mut bytes = log.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let (.., kind) = *records.iter().find(|(_, end, _)| bit / 8 < *end).unwrap();
            let what = || format!("{name}, bit {bit}, in a {kind}");
            let disk = log.disk(&bytes);
            let (events, recovered) = opened_twice(&disk, &what).unwrap();
            let missing = expected.iter().filter(|event| !events.contains(event)).count();
            let more = events.iter().filter(|event| !expected.contains(event)).count();
            assert!(events.iter().all(|event| puts.contains(event)), "{}", what());
            assert_eq!(recovered.report.n_damaged, 1, "{}: {:?}", what(), recovered.report);
            let (most_missing, most_more) = match kind {
                "put" => (1, 0),
                "take" => (0, 1),
                _ => (0, 0),
            };
            assert!(
                missing <= most_missing && more <= most_more,
                "{}: {missing} missing, {more} more",
                what()
            );
            assert_eq!(
                disk.files().iter().filter(|path| path.ends_with("quarantine-1")).count(),
                1,
                "{}",
                what()
            );
        }
    }
}

#[test]
fn every_flipped_bit_of_javas_opens_and_stays_so() {
    for (name, log) in [
        ("Java's", java("torn-base")),
        ("Java's with rolled-back transactions", java("rollbacks")),
        ("Java's, encrypted", java("encrypted")),
        ("version 2", java("v2-no-checkpoint")),
    ] {
        let records = log.records();
        let expected = log.model(usize::MAX);
        for bit in 0..log.bytes.len() * 8 {
            let mut bytes = log.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes.resize(bytes.len() + 50, 0x80);
            let what = || format!("{name}, bit {bit}");
            let disk = log.disk(&bytes);
            let Some((events, recovered)) = opened_twice(&disk, &what) else { panic!("{}", what()) };
            let Some((at, end, kind)) = records.iter().find(|(_, end, _)| bit / 8 < *end) else { continue };
            // What has a checksum or a form that is broken costs no more than itself.
            let told = recovered.report.n_damaged > 0;
            if told && log.meta.is_some() && *kind == "put" && bit / 8 > at + 5 + 24 && bit / 8 < end - 1 {
                let missing = expected.iter().filter(|event| !events.contains(event)).count();
                assert!(missing <= 1 && events.len() + 1 >= expected.len(), "{}: {missing} missing", what());
            }
        }
    }
}

#[test]
fn a_hole_in_front_of_what_was_written_later_drops_its_run_alone() {
    let log = ours(false, false);
    let records = log.records();
    // The second run is above every watermark when the last two are not there to say more.
    let (from, to) = (records[4].0, records[6].1);
    let until = records[9].1;
    for (len, byte) in (1..to - from).flat_map(|len| [(len, 0_u8), (len, 0x80)]) {
        let mut bytes = log.bytes[..until].to_vec();
        // The takes' commit says that 107 was durable: one that says less is put in its place.
        bytes.truncate(records[9].0);
        record::commit(&mut bytes, Stamp { transaction: 3, order: 110 }, Of::Takes, 3, 104);
        bytes[to - len..to].fill(byte);
        let disk = log.disk(&bytes);
        let what = || format!("{len} bytes of {byte:#x}");
        let (events, recovered) = opened_twice(&disk, &what).unwrap();
        assert_eq!(events.len(), 1, "{}", what());
        assert_eq!(
            (recovered.report.lost_events, recovered.report.maybe_doubled_events),
            (0, 0),
            "{}",
            what()
        );
    }
}

#[test]
fn a_stop_at_every_write_of_settling_comes_to_the_same_answer() {
    use flumen_wal::disk::simulated::Fault;
    let log = ours(false, true);
    let records = log.records();
    let mut damaged = log.bytes.clone();
    damaged[records[1].0 + 40] ^= 1;
    damaged[records[8].0 + 3] ^= 1;
    damaged.truncate(records[12].0 + 9);
    let expected = delivered(&log.disk(&damaged), &opened(&log.disk(&damaged)).unwrap());
    assert!(!expected.is_empty());
    for call in 0..12 {
        let disk = log.disk(&damaged);
        let file = disk.open(Path::new(PATH), Mode::Write).unwrap();
        file.sync().unwrap();
        disk.open(Path::new("/d/log-1.meta"), Mode::Write).unwrap().sync().unwrap();
        disk.sync_dir(Path::new("/d")).unwrap();
        let recovered = opened(&disk).unwrap();
        write_facts(&disk, Path::new("/d"), &recovered);
        disk.fail_at(disk.calls() + call, Fault::PowerLoss);
        let _ = settle(&disk, &recovered.edits);
        disk.lose_power();
        let (mut events, _) = opened_twice(&disk, &|| format!("call {call}")).unwrap();
        let mut expected = expected.clone();
        events.sort();
        expected.sort();
        assert_eq!(events, expected, "call {call}");
    }
}
