//! What a replay makes of records, one by one: their order, and transactions of nothing.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fixture;

use fixture::{delivered, disk_with};
use flumen_wal::{
    data_file::Meta,
    place::Pointer,
    record::{self, Of, Stamp},
    replay::{Options, Start, replay},
};
use std::path::{Path, PathBuf};

/// What waits after these data files, by their bodies.
fn waiting(files: &[(&str, u32, Vec<u8>)]) -> Vec<String> {
    let metas: Vec<Vec<u8>> = files.iter().map(|(_, number, _)| Meta::new(*number, None).encode()).collect();
    let mut all: Vec<(PathBuf, &[u8])> = Vec::new();
    for ((dir, number, bytes), meta) in files.iter().zip(&metas) {
        all.push((Path::new(dir).join(format!("log-{number}")), bytes));
        all.push((Path::new(dir).join(format!("log-{number}.meta")), meta));
    }
    let disk = disk_with(all);
    let mut dirs: Vec<PathBuf> = files.iter().map(|(dir, ..)| PathBuf::from(dir)).collect();
    dirs.dedup();
    let mut options = Options { dirs: &dirs, key: &|_: &str| None, progress: &mut |_, _| {} };
    let recovered = replay(&disk, &mut options, Start::Nothing).unwrap();
    assert!(recovered.report.n_damaged == 0 && recovered.report.lost_events == 0, "{}", recovered.report);
    let events = delivered(&disk, &recovered);
    events.into_iter().map(|(_, body)| String::from_utf8(body).unwrap()).collect()
}

/// Writes records with the numbers that they are given.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn put(&mut self, transaction: u64, order: u64, body: &str) -> u32 {
        let at = self.0.len() as u32;
        record::put(&mut self.0, Stamp { transaction, order }, &[], body.as_bytes());
        at
    }

    fn commit(&mut self, transaction: u64, order: u64, of: Of, records: u32) {
        record::commit(&mut self.0, Stamp { transaction, order }, of, records, 0);
    }
}

#[test]
fn fch_64_commits_and_rollbacks_of_nothing_are_no_trouble() {
    let mut log = Writer::default();
    log.commit(1, 1, Of::Puts, 1);
    log.commit(2, 2, Of::Takes, 1);
    record::rollback(&mut log.0, Stamp { transaction: 3, order: 3 }, 0);
    assert_eq!(waiting(&[("/d", 1, log.0.clone())]), [""; 0]);
    log.put(4, 4, "after them");
    log.commit(4, 5, Of::Puts, 2);
    assert_eq!(waiting(&[("/d", 1, log.0)]), ["after them"]);
}

#[test]
fn fch_77_fix_06_records_count_in_write_order_over_all_directories() {
    let (mut one, mut other) = (Writer::default(), Writer::default());
    // The transaction with the lowest id is written last: it had waited for room.
    let first = one.put(20, 1, "first");
    one.commit(20, 2, Of::Puts, 2);
    other.put(21, 3, "second");
    other.commit(21, 4, Of::Puts, 2);
    record::take(&mut one.0, Stamp { transaction: 22, order: 5 }, Pointer { file: 1, offset: first });
    one.commit(22, 6, Of::Takes, 2);
    other.put(10, 7, "third");
    other.commit(10, 8, Of::Puts, 2);
    one.put(11, 9, "fourth");
    one.commit(11, 10, Of::Puts, 2);
    assert_eq!(waiting(&[("/d", 1, one.0), ("/e", 2, other.0)]), ["second", "third", "fourth"]);
}

#[test]
fn fch_55_takes_in_any_order_leave_the_others_in_theirs() {
    let mut log = Writer::default();
    let places: Vec<u32> = (0..6).map(|n| log.put(1, n + 1, &n.to_string())).collect();
    log.commit(1, 7, Of::Puts, 7);
    for (n, place) in [places[3], places[0], places[5], places[5] + 1, 1 << 20].into_iter().enumerate() {
        let (transaction, order) = (n as u64 + 2, n as u64 * 2 + 8);
        record::take(&mut log.0, Stamp { transaction, order }, Pointer { file: 1, offset: place });
        log.commit(transaction, order + 1, Of::Takes, 2);
    }
    assert_eq!(waiting(&[("/d", 1, log.0)]), ["1", "2", "4"]);
}
