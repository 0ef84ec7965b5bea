//! A log used from outside, on a simulated disk.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fixture;

use fixture::{disk_with, opened};
use flumen_wal::{
    data_file::Meta,
    disk::simulated::{Fault, SimulatedDisk},
    log::{Keys, LogSettings},
    record::{self, Of, Stamp},
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

#[test]
fn a_run_over_hundreds_of_encrypted_files_is_read_again_as_their_metas_say() {
    let counter = AtomicU32::new(1);
    let keys = Keys {
        cipher_provider: "AESCTRNOPADDING".into(),
        active_key: "k".into(),
        key: Arc::new(|_| Some(vec![3; 16])),
        random: Arc::new(move |bytes: &mut [u8]| {
            bytes.fill(counter.fetch_add(1, Ordering::Relaxed) as u8);
            Ok(())
        }),
    };
    let plain = opened::plain(Path::new("/c"), &["/d"]);
    let settings = LogSettings { encryption: Some(keys), max_file_bytes: 150, ..plain };
    let disk = SimulatedDisk::new(1);
    let log = opened::opened(&disk, &settings, None).unwrap().log;
    let bodies: Vec<String> = (0..300).map(|n| format!("event {n}")).collect();
    let all: Vec<&[u8]> = bodies.iter().map(|body| body.as_bytes()).collect();
    assert!(opened::put(&log, &all));
    assert!(disk.files().len() > 2 * 100, "{} files", disk.files().len());
    drop(log);
    disk.lose_power();
    let opened = opened::opened(&disk, &settings, None).unwrap();
    let waiting: Vec<Vec<u8>> = opened::waiting(&opened.log).into_iter().map(|(_, body)| body).collect();
    assert_eq!(waiting, all);
    assert_eq!(opened.report.lost_events, 0);
}

/// What recovery decides is written before what is damaged is settled. A stop in between makes no loss of what was never whole.
#[test]
fn a_stop_between_the_decisions_of_recovery_and_its_edits_tells_no_loss() {
    let mut bytes = Vec::new();
    let mut order = 100;
    let mut stamp = |transaction| {
        order += 1;
        Stamp { transaction, order }
    };
    record::put(&mut bytes, stamp(1), &[], b"stored");
    record::commit(&mut bytes, stamp(1), Of::Puts, 2, 100);
    // One of two is damaged, and nothing says that they were acknowledged.
    record::put(&mut bytes, stamp(2), &[], b"kept");
    let damaged = bytes.len() + 35;
    record::put(&mut bytes, stamp(2), &[], b"this is damaged");
    record::commit(&mut bytes, stamp(2), Of::Puts, 3, 100);
    bytes[damaged] ^= 1;
    // The commit of the last one was never written.
    record::put(&mut bytes, stamp(3), &[], b"unfinished");
    let meta = Meta::new(1, None).encode();
    let settings = opened::plain(Path::new("/c"), &["/d"]);
    let mut n_stopped = 0;
    for call in 0..40 {
        let files = [("/d/log-1", &bytes[..]), ("/d/log-1.meta", &meta)];
        let disk = disk_with(files.map(|(path, bytes)| (path.into(), bytes)));
        disk.fail_at(disk.calls() + call, Fault::PowerLoss);
        n_stopped += u32::from(opened::opened(&disk, &settings, None).is_err());
        disk.forget_faults();
        disk.lose_power();
        let again = opened::opened(&disk, &settings, None).unwrap();
        assert_eq!(again.report.lost_events, 0, "call {call}: {}", again.report);
        let bodies: Vec<Vec<u8>> = opened::waiting(&again.log).into_iter().map(|(_, body)| body).collect();
        assert_eq!(bodies, [&b"stored"[..], b"kept"], "call {call}");
    }
    assert!(n_stopped > 10, "{n_stopped}");
}
