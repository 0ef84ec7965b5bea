//! What both disks promise, and how the simulated one fails.

use super::{
    Disk, Mode, OsDisk, read_whole,
    simulated::{Fault, SimulatedDisk},
    write_whole,
};
use crate::log::{LOCK_FILE, hold};
use nix::fcntl::{FcntlArg, fcntl};
use std::{io, path::Path};

fn rules(disk: &dyn Disk, base: &Path) {
    let dir = base.join("a/b");
    disk.create_dir_all(&dir).unwrap();
    disk.create_dir_all(&dir).unwrap();
    let path = dir.join("log-1");
    assert_eq!(disk.open(&path, Mode::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
    let file = disk.open(&path, Mode::Create).unwrap();
    assert_eq!(disk.open(&path, Mode::Create).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    file.write_at(0, b"hello").unwrap();
    file.write_at(7, b"world").unwrap();
    file.sync().unwrap();
    assert_eq!(read_whole(disk, &path, 100).unwrap(), b"hello\0\0world");
    assert_eq!(read_whole(disk, &path, 11).unwrap_err().kind(), io::ErrorKind::InvalidData);
    let mut bytes = [1; 4];
    assert_eq!(file.read_at(10, &mut bytes).unwrap(), 2);
    assert_eq!((bytes, file.read_at(12, &mut [0; 4]).unwrap()), (*b"ld\x01\x01", 0));
    file.set_len(5).unwrap();
    let reader = disk.open(&path, Mode::Read).unwrap();
    assert_eq!(reader.len().unwrap(), 5);
    assert!(reader.write_at(0, b"x").is_err());

    write_whole(disk, &dir.join("log-0"), &dir.join("log-0.tmp"), b"other").unwrap();
    let names: Vec<_> = disk.list(&dir).unwrap().into_iter().map(|entry| (entry.name, entry.len)).collect();
    assert_eq!(names, [("log-0".to_owned(), 5), ("log-1".to_owned(), 5)]);
    assert!(disk.list(base).unwrap()[0].is_dir);
    disk.rename(&path, &dir.join("log-0")).unwrap();
    assert_eq!(read_whole(disk, &dir.join("log-0"), 5).unwrap(), b"hello");
    disk.remove(&dir.join("log-0")).unwrap();
    assert!(disk.remove(&dir.join("log-0")).is_err());

    let held = disk.lock(&dir.join("in_use.lock")).unwrap().unwrap();
    assert!(disk.lock(&dir.join("in_use.lock")).unwrap().is_none());
    assert!(held.is_current());
    drop(held);
    assert!(disk.lock(&dir.join("in_use.lock")).unwrap().is_some());
    assert!(disk.free_space(&dir).unwrap().bytes > 0);
    disk.sync_dir(&dir).unwrap();
    disk.remove_all(&base.join("a")).unwrap();
    assert!(disk.list(&dir).is_err());
}

#[test]
fn the_real_and_the_simulated_disk_do_the_same() {
    let base = tempfile::tempdir().unwrap();
    rules(&OsDisk, base.path());
    let simulated = SimulatedDisk::new(1);
    simulated.create_dir_all(Path::new("/x")).unwrap();
    rules(&simulated, Path::new("/x"));
}

/// A buffer of four blocks.
fn blocks() -> (Vec<u8>, usize) {
    let mut bytes: Vec<u8> = Vec::with_capacity(5 * 4096);
    let start = bytes.as_ptr().align_offset(4096);
    bytes.resize(start + 4 * 4096, 7);
    (bytes, start)
}

#[test]
fn whole_blocks_go_past_the_cache_and_the_real_disk_takes_any_other_bytes_too() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("log-1");
    OsDisk.open(&path, Mode::Create).unwrap().write_at(0, b"before").unwrap();
    let file = OsDisk.open(&path, Mode::Direct).unwrap();
    let (bytes, start) = blocks();
    let (one, other) = bytes[start..].split_at(3 * 4096);
    file.write_all_at(4096, &[one, &[], other]).unwrap();
    file.sync().unwrap();
    let expected = |written: u8, n: usize| {
        let mut all = b"before".to_vec();
        all.resize(4096, 0);
        all.resize(4096 + n, written);
        all
    };
    assert_eq!(read_whole(&OsDisk, &path, 1 << 20).unwrap(), expected(7, 4 * 4096));
    // As where the blocks of the disk are larger than ours.
    file.write_all_at(4096, &[&vec![9; 3 * 4096][..], &[9; 4097]]).unwrap();
    file.sync().unwrap();
    assert_eq!(read_whole(&OsDisk, &path, 1 << 20).unwrap(), expected(9, 4 * 4096 + 1));
}

#[test]
fn the_simulated_disk_refuses_direct_writes_that_are_no_whole_blocks() {
    let disk = SimulatedDisk::new(1);
    disk.create_dir_all(Path::new("/x")).unwrap();
    disk.open(Path::new("/x/f"), Mode::Create).unwrap();
    let file = disk.open(Path::new("/x/f"), Mode::Direct).unwrap();
    let (bytes, start) = blocks();
    file.write_at(512, &bytes[start..start + 1024]).unwrap();
    assert!(file.write_at(100, &bytes[start..start + 512]).is_err());
    assert!(file.write_at(0, &bytes[start..start + 100]).is_err());
    assert!(file.write_at(0, &bytes[start + 8..start + 520]).is_err());
}

#[test]
fn a_lock_file_that_was_removed_is_told() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("in_use.lock");
    let lock = OsDisk.lock(&path).unwrap().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(!lock.is_current());
}

#[test]
fn a_process_that_has_a_file_open_is_seen_with_its_id() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("log-1");
    std::fs::write(&path, "x").unwrap();
    assert!(OsDisk.holders(&[base.path()]).seen.is_empty());
    let mut child = std::process::Command::new("cat")
        .stdin(std::process::Stdio::piped())
        .stdout(std::fs::OpenOptions::new().append(true).open(&path).unwrap())
        .spawn()
        .unwrap();
    let seen = OsDisk.holders(&[base.path()]).seen;
    assert_eq!(seen.iter().map(|holder| holder.pid).collect::<Vec<_>>(), [child.id()]);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn who_holds_the_lock_is_named_where_it_is_another_process() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join(LOCK_FILE);
    let refused = || hold(&OsDisk, &[base.path()]).unwrap_err().to_string();
    let own = OsDisk.lock(&path).unwrap();
    assert!(refused().contains("is locked by another channel or program: "), "{}", refused());
    drop(own);
    // A child that has inherited the description holds its lock.
    let file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    fcntl(&file, FcntlArg::F_OFD_SETLK(&super::os::WHOLE)).unwrap();
    let stdin = std::process::Stdio::piped();
    let mut child = std::process::Command::new("cat").stdin(stdin).stdout(file).spawn().unwrap();
    let said = refused();
    assert!(said.contains(&format!("is locked by process {} (cat): ", child.id())), "{said}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(hold(&OsDisk, &[base.path()]).is_ok());
}

fn written(seed: u64, synced: bool, named: bool) -> (SimulatedDisk, Option<Vec<u8>>) {
    let disk = SimulatedDisk::new(seed);
    disk.create_dir_all(Path::new("/d")).unwrap();
    let file = disk.open(Path::new("/d/f"), Mode::Create).unwrap();
    file.write_at(0, &[1; 2000]).unwrap();
    if synced {
        file.sync().unwrap();
    }
    if named {
        disk.sync_dir(Path::new("/d")).unwrap();
    }
    disk.lose_power();
    assert!(file.sync().is_err(), "a file of before the power loss is gone");
    let content = disk.content(Path::new("/d/f"));
    (disk, content)
}

#[test]
fn what_is_synced_survives_a_power_loss_and_what_is_not_may_not() {
    assert!((0..100).all(|seed| written(seed, true, true).1 == Some(vec![1; 2000])));
    assert!((0..100).any(|seed| written(seed, true, false).1.is_none()));
    assert!((0..100).any(|seed| written(seed, true, false).1.is_some()));
    let torn = |content: &Vec<u8>| content.len() >= 1024 && content.contains(&0) && content.contains(&1);
    assert!((0..100).any(|seed| written(seed, false, true).1.is_some_and(|content| torn(&content))));
}

#[test]
fn a_failed_write_back_is_told_once_a_description_and_its_bytes_are_gone() {
    let disk = SimulatedDisk::new(1);
    disk.create_dir_all(Path::new("/d")).unwrap();
    let one = disk.open(Path::new("/d/f"), Mode::Create).unwrap();
    disk.sync_dir(Path::new("/d")).unwrap();
    let other = disk.open(Path::new("/d/f"), Mode::Write).unwrap();
    one.write_at(0, b"one").unwrap();
    disk.fail_at(disk.calls(), Fault::Error);
    assert!(one.sync().is_err());
    assert!(other.sync().is_err(), "opened before the failure");
    assert!(one.sync().is_ok() && other.sync().is_ok(), "told once");
    assert_eq!(disk.content(Path::new("/d/f")).unwrap(), b"one");
    disk.lose_power();
    assert_eq!(disk.content(Path::new("/d/f")).unwrap(), b"");
}

#[test]
fn a_full_disk_and_a_failed_call_leave_a_part() {
    let disk = SimulatedDisk::new(1);
    disk.create_dir_all(Path::new("/d")).unwrap();
    let file = disk.open(Path::new("/d/f"), Mode::Create).unwrap();
    disk.set_free_space(Some(10));
    assert_eq!(file.write_at(0, &[1; 15]).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!((file.len().unwrap(), disk.free_space(Path::new("/d")).unwrap().bytes), (10, 0));
    disk.set_free_space(None);
    disk.fail_at(disk.calls() + 1, Fault::PowerLoss);
    file.write_at(0, b"x").unwrap();
    assert!(file.write_at(0, b"y").is_err() && disk.is_off() && file.len().is_err());
    disk.lose_power();
    assert!(!disk.is_off());
}
