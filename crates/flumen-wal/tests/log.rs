//! A log used from outside, on a simulated disk.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fixture;

use fixture::opened;
use flumen_wal::{
    disk::simulated::SimulatedDisk,
    log::{Keys, LogSettings},
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
