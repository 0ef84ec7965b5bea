//! Metas and checkpoints, ours and Java's, with every bit flipped and every byte cut: the data files alone say what waits.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fixture;

use fixture::{Event, Fixture, disk_with, opened};
use flumen_wal::{
    disk::simulated::SimulatedDisk,
    log::LogSettings,
    replay::{Options, Recovered, ReplayError, Start, replay},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Files of a log of ours: two directories, some files each, takes over both, two checkpoints, and something behind them.
fn ours(settings: &LogSettings) -> (BTreeMap<PathBuf, Vec<u8>>, Vec<Event>) {
    let disk = SimulatedDisk::new(1);
    let log = opened::opened(&disk, settings, None).unwrap().log;
    for n in 0..80_u8 {
        let body = [b'a' + n % 26, n, b'x', b'y'];
        assert!(opened::put(&log, &[&body, &body[..1]]));
        if n % 20 == 13 {
            assert!(opened::take(&log, 9));
            log.checkpoint().unwrap();
        }
    }
    drop(log);
    let files: BTreeMap<PathBuf, Vec<u8>> =
        disk.files().into_iter().map(|path| (path.clone(), disk.content(&path).unwrap())).collect();
    let again = of(&files);
    let log = opened::opened(&again, settings, None).unwrap().log;
    let waiting = opened::waiting(&log);
    assert_eq!(waiting.len(), 160 - 4 * 9);
    (files, waiting)
}

fn of(files: &BTreeMap<PathBuf, Vec<u8>>) -> SimulatedDisk {
    disk_with(files.iter().map(|(path, bytes)| (path.clone(), bytes.as_slice())))
}

/// Every flip and every cut of some bytes.
fn harms(bytes: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    let flips = (0..bytes.len() * 8).map(|bit| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        (format!("bit {bit}"), flipped)
    });
    flips.chain((0..bytes.len()).map(|len| (format!("cut at {len}"), bytes[..len].to_vec())))
}

#[test]
fn no_bit_and_no_cut_of_our_checkpoints_or_metas_costs_an_event() {
    let settings = opened::plain(Path::new("/c"), &["/d", "/e"]);
    let (files, right) = ours(&settings);
    let small = |path: &Path| path.extension().is_some() || path.starts_with("/c");
    let mut metas = 0;
    for (path, bytes) in files.iter().filter(|(path, bytes)| small(path) && !bytes.is_empty()) {
        // All metas are alike: two are enough.
        let is_meta = path.extension().is_some();
        metas += usize::from(is_meta);
        if is_meta && metas > 2 {
            continue;
        }
        for (harm, harmed) in harms(bytes) {
            let disk = of(&files);
            disk.damage(path, |bytes| *bytes = harmed);
            let opened = opened::opened(&disk, &settings, None).unwrap();
            let events = opened::waiting(&opened.log);
            assert!(events == right, "{}, {harm}: {} not {}", path.display(), events.len(), right.len());
            assert_eq!((opened.report.lost_events, opened.report.n_damaged), (0, 0), "{harm}");
        }
    }
    assert!(metas > 2);
}

/// What an opening delivers, as a log does it: from Java's checkpoint where it is believed.
fn adopted(fixture: &Fixture) -> Result<(Vec<Event>, Recovered), ReplayError> {
    let key = |alias: &str| fixture.keys.get(alias).cloned();
    let mut options = Options { dirs: &fixture.dirs, key: &key, progress: &mut |_, _| {} };
    let checkpoint = fixture.java_checkpoint();
    let start = checkpoint.as_ref().map_or(Start::Nothing, Start::Java);
    let recovered = replay(&fixture.disk, &mut options, start)?;
    Ok((fixture.delivered(&recovered), recovered))
}

fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    events.sort();
    events
}

/// Java's checkpoint has no checksum, and is believed where it is not contradicted.
#[test]
fn fch_39_fch_41_fch_42_fch_59_fix_10_fix_11_fix_16_no_bit_and_no_cut_of_javas_small_files_costs_an_event() {
    let names = [
        "killed-open-both-checkpointed",
        "crossing-take-commit-checkpointed",
        "dual",
        "two-dirs",
        "many-files",
        "interleaved",
        "encrypted",
        "v2-checkpoint-mid",
    ];
    let mut wrong = Vec::new();
    for name in names {
        let fixture = Fixture::load(name);
        let right = sorted(adopted(&fixture).unwrap().0);
        for (file, bytes) in fixture.files.iter().filter(|(file, _)| is_small(file)) {
            let mut n_flips = 0;
            for (harm, harmed) in harms(bytes) {
                // The ring and its counters are mostly zeros: of those every 37th.
                n_flips += 1;
                if bytes.len() > 1_000 && n_flips % 37 != 0 && !matters(bytes, &harmed) {
                    continue;
                }
                let changed = fixture.changed(file, |bytes| *bytes = harmed);
                let is_cipher = !changed.keys.is_empty() && file.starts_with("data/");
                match adopted(&changed) {
                    // How it is decrypted stands nowhere else: what cannot be read is told.
                    Ok((_, recovered)) if is_cipher && !recovered.report.unreadable_files.is_empty() => {
                        assert!(recovered.report.lost_events > 0 && !recovered.foreign_files.is_empty());
                    }
                    Err(error) if is_cipher => assert!(error.to_string().contains("log-1"), "{error}"),
                    Ok((events, recovered)) => {
                        let events = sorted(events);
                        if events != right || recovered.report.lost_events > 0 {
                            let report = &recovered.report;
                            wrong.push(format!(
                                "{name} {file} {harm}: {} not {}, {report}",
                                events.len(),
                                right.len()
                            ));
                        }
                    }
                    Err(error) => wrong.push(format!("{name} {file} {harm}: {error}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

fn is_small(file: &str) -> bool {
    let of_checkpoint = file.starts_with("cp/") || file.starts_with("backup/");
    (of_checkpoint || file.ends_with(".meta"))
        && !file.ends_with("in_use.lock")
        && !file.ends_with("backupComplete")
}

/// Whether one of the slots is hit that say something.
fn matters(bytes: &[u8], harmed: &[u8]) -> bool {
    let slot = bytes.iter().zip(harmed).position(|(one, other)| one != other).unwrap_or(harmed.len()) / 8;
    let bytes = bytes.get(slot * 8..slot * 8 + 8).unwrap_or_default();
    harmed.len() > slot * 8 && (slot < 5 || bytes.iter().any(|byte| *byte != 0))
}
