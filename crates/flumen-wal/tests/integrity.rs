//! The integrity tool over small files of Java's form: damaged lengths and bodies, torn ends, files that are none of its business.

#![allow(clippy::unwrap_used, reason = "tests")]

use flumen_wal::{
    checkpoint::Checkpoint,
    data_file::{Meta, file_name, meta_name},
    disk::{Disk, Mode, simulated::SimulatedDisk},
    log::Known,
    place::{Pointer, Run},
    record::{self, Of, Stamp},
    tools::{
        self, Places,
        integrity::{self, Left},
    },
};
use std::path::{Path, PathBuf};

fn write(disk: &SimulatedDisk, path: &str, bytes: &[u8]) {
    disk.open(Path::new(path), Mode::Replace).unwrap().write_at(0, bytes).unwrap();
}

/// A file with six events and their commit, and some fill. Gives where each record begins.
fn file(disk: &SimulatedDisk, number: u32) -> Vec<usize> {
    let mut bytes = Vec::new();
    let mut starts = Vec::new();
    for i in 0..6 {
        starts.push(bytes.len());
        let stamp = Stamp { transaction: u64::from(number), order: u64::from(number) * 10 + i };
        record::put(&mut bytes, stamp, b"", format!("event {i} of file {number}").as_bytes());
    }
    starts.push(bytes.len());
    let stamp = Stamp { transaction: u64::from(number), order: u64::from(number) * 10 + 6 };
    record::commit(&mut bytes, stamp, Of::Puts, 7, 0);
    starts.push(bytes.len());
    bytes.resize(bytes.len() + 500, 0x80);
    disk.create_dir_all(Path::new("/d")).unwrap();
    write(disk, &format!("/d/{}", file_name(number)), &bytes);
    write(disk, &format!("/d/{}", meta_name(number)), &Meta::new(number, None).encode());
    starts
}

fn run(disk: &SimulatedDisk) -> integrity::Integrity {
    integrity::run(disk, &[PathBuf::from("/d")], &mut |_, _| {}).unwrap()
}

fn events(disk: &SimulatedDisk, places: &Places) -> Vec<String> {
    let known = tools::known(disk, places).unwrap();
    let found = tools::waiting(disk, places, known.as_ref(), &mut |_, _| {}).unwrap();
    let mut events = Vec::new();
    let lost = tools::events(disk, &found, &mut |event| {
        events.push(String::from_utf8(event.body.to_vec()).unwrap());
        Ok(true)
    });
    assert_eq!(lost.unwrap(), 0);
    events
}

fn left(files: &[(u32, &[u64])]) -> Vec<String> {
    let of = |(number, without): &(u32, &[u64])| {
        let kept = (0..6).filter(|i| !without.contains(i)).collect::<Vec<_>>();
        kept.into_iter().map(|i| format!("event {i} of file {number}")).collect::<Vec<_>>()
    };
    files.iter().flat_map(of).collect()
}

#[test]
fn reading_goes_on_behind_a_damaged_length_and_copies_never_overwrite_each_other() {
    let disk = SimulatedDisk::new(1);
    let one = file(&disk, 1);
    file(&disk, 2);
    let whole = disk.content(Path::new("/d/log-1")).unwrap();
    disk.damage(Path::new("/d/log-1"), |bytes| bytes[one[1] + 2] = 0x55);
    disk.damage(Path::new("/d/log-1"), |bytes| bytes[one[4] + 50] ^= 1);
    let done = run(&disk);
    assert_eq!((done.corrupt, done.puts, done.records), (2, 10, 14));
    assert_eq!(done.copies, [PathBuf::from("/d/log-1.bak")]);
    assert_ne!(
        disk.content(Path::new("/d/log-1.bak")).unwrap(),
        disk.content(Path::new("/d/log-1")).unwrap()
    );
    let changed = disk.content(Path::new("/d/log-1")).unwrap();
    assert_eq!(changed.len(), whole.len());
    assert_eq!((changed[one[1]], changed[one[4]]), (0, 0));
    let places = Places { data_dirs: vec!["/d".into()], ..Places::default() };
    assert_eq!(events(&disk, &places), left(&[(1, &[1, 4]), (2, &[])]));
    let again = run(&disk);
    assert_eq!((again.corrupt, again.copies.len()), (0, 0));
    disk.damage(Path::new("/d/log-1"), |bytes| bytes[one[2] + 50] ^= 1);
    assert_eq!(run(&disk).copies, [PathBuf::from("/d/log-1.bak-2")]);
    assert_eq!(events(&disk, &places), left(&[(1, &[1, 2, 4]), (2, &[])]));
    assert!(disk.content(Path::new("/d/in_use.lock")).is_none(), "no lock file is left behind");
}

#[test]
fn a_torn_end_becomes_fill() {
    for torn in [0x80, 0x00] {
        let disk = SimulatedDisk::new(1);
        let starts = file(&disk, 1);
        let commit = starts[6];
        disk.damage(Path::new("/d/log-1"), |bytes| bytes[commit + 9..].fill(torn));
        let done = run(&disk);
        assert_eq!((done.corrupt, done.puts), (1, 6), "{torn}");
        let bytes = disk.content(Path::new("/d/log-1")).unwrap();
        assert!(bytes[commit..].iter().all(|byte| *byte == 0x80), "{torn}");
    }
}

#[test]
fn what_it_cannot_judge_is_left_alone_with_the_reason() {
    let disk = SimulatedDisk::new(1);
    file(&disk, 1);
    write(&disk, "/d/log-2", &[0x55; 300]);
    write(&disk, "/d/log-3", &[1; 300]);
    let random = |bytes: &mut [u8]| {
        bytes.fill(1);
        Ok(())
    };
    let (sealed, _) = flumen_wal::data_file::Cipher::for_new("AESGCM", "k", 3, &[1; 16], &random).unwrap();
    write(&disk, "/d/log-3.meta", &Meta::new(3, Some(sealed)).encode());
    let mut head = Vec::new();
    for number in [2_u32, 4] {
        head.extend_from_slice(&number.to_be_bytes());
    }
    head.resize(24, 0);
    write(&disk, "/d/log-4", &head);
    let before: Vec<_> = disk.files().into_iter().map(|path| disk.content(&path)).collect();
    let done = run(&disk);
    let reasons: Vec<&Left> = done.left.iter().map(|(_, left)| left).collect();
    assert_eq!(reasons, [&Left::Foreign, &Left::Encrypted("k".to_owned()), &Left::Version2]);
    assert_eq!(disk.files().into_iter().map(|path| disk.content(&path)).collect::<Vec<_>>(), before);
}

#[test]
fn a_checkpoint_of_ours_does_not_count_after_a_repair() {
    let disk = SimulatedDisk::new(1);
    let starts = file(&disk, 1);
    disk.create_dir_all(Path::new("/c")).unwrap();
    let end = starts[7] as u64;
    let run_of_all = Run { start: Pointer { file: 1, offset: 0 }, count: 6, bytes: 6 * 17 };
    let checkpoint = Checkpoint {
        sequence: 1,
        order: 16,
        transaction: 1,
        file: 1,
        positions: vec![(1, end)],
        runs: vec![run_of_all],
        ..Checkpoint::default()
    };
    checkpoint.write(&disk, Path::new("/c")).unwrap();
    let places =
        Places { checkpoint_dir: Some("/c".into()), data_dirs: vec!["/d".into()], ..Places::default() };
    assert!(tools::known(&disk, &places).unwrap().is_some_and(|known| known.ours().is_some()));
    disk.damage(Path::new("/d/log-1"), |bytes| bytes[starts[3] + 50] ^= 1);
    run(&disk);
    let known: Known = tools::known(&disk, &places).unwrap().unwrap();
    assert!(known.rewritten && known.ours().is_none(), "its runs count an event that is there no more");
    assert_eq!(events(&disk, &places), left(&[(1, &[3])]));
}
