//! A long replay says how far it is, in bytes that grow to what there is to read.

#![allow(clippy::unwrap_used, reason = "tests")]

use flumen_wal::{
    data_file::Meta,
    disk::{Disk, Mode, simulated::SimulatedDisk},
    record::{self, Of, Stamp},
    tools::{self, Places},
};
use std::path::Path;

#[test]
fn a_replay_tells_how_far_it_is() {
    let disk = SimulatedDisk::new(1);
    let body = vec![b'x'; 1 << 20];
    for (file, dir) in [(1_u32, "/d"), (2, "/e")] {
        let mut bytes = Vec::new();
        for order in 0..30 {
            let stamp = Stamp { transaction: u64::from(file), order: u64::from(file) * 100 + order };
            record::put(&mut bytes, stamp, b"", &body);
        }
        let stamp = Stamp { transaction: u64::from(file), order: u64::from(file) * 100 + 30 };
        record::commit(&mut bytes, stamp, Of::Puts, 31, 0);
        disk.create_dir_all(Path::new(dir)).unwrap();
        for (name, bytes) in [("log", bytes), ("meta", Meta::new(file, None).encode())] {
            let name =
                if name == "log" { format!("{dir}/log-{file}") } else { format!("{dir}/log-{file}.meta") };
            disk.open(Path::new(&name), Mode::Create).unwrap().write_at(0, &bytes).unwrap();
        }
    }
    let places = Places { data_dirs: vec!["/d".into(), "/e".into()], ..Places::default() };
    let mut told = Vec::new();
    let found = tools::waiting(&disk, &places, None, &mut |done, total| told.push((done, total))).unwrap();
    assert_eq!(found.report.puts, 60);
    assert!(told.len() >= 3, "every 16 MiB of 60: {told:?}");
    assert!(
        told.is_sorted() && told.iter().all(|(done, total)| done <= total && *total > 60 << 20),
        "{told:?}"
    );
}
