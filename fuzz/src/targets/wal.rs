//! What lies on the disks of a file channel: records, metas, checkpoints, and whole directories with the tools that look into them.

use flumen_wal::{
    checkpoint::{Checkpoint, NAMES},
    data_file::Meta,
    disk::{Disk, Mode, simulated::SimulatedDisk},
    java_checkpoint,
    record::{self, Body, resync, v2},
    replay,
    tools::{self, Places, integrity},
};
use std::path::{Path, PathBuf};

/// Between the parts of an input.
const SEPARATOR: &[u8] = b"\n---\n";

/// A record of version 3, framed and not, and of version 2.
pub(super) fn record(input: &[u8]) {
    for decoded in [record::decode(input), record::check(input)].into_iter().flatten() {
        if let Body::Put { headers, body } = decoded.body {
            let total: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
            assert!(total + body.len() <= input.len(), "an event is no longer than its record");
        }
    }
    if let Some(len) = record::len_by_itself(input) {
        assert!(len <= input.len());
    }
    if let Ok((decoded, n)) = v2::decode(input) {
        assert!(n <= input.len());
        if let Body::Put { headers, .. } = decoded.body {
            assert!(headers.iter().count() <= input.len());
        }
    }
    let _ = v2::file_header(input);
    let found = resync::candidate(input, 0, &[0; 24]);
    assert!(found.is_none_or(|at| at + resync::PROBE_LEN <= input.len()));
}

/// `log-N.meta`: what is read is written as it was, or means the same.
pub(super) fn meta(input: &[u8]) {
    if let Some(meta) = Meta::decode(input) {
        assert_eq!(Meta::decode(&meta.encode()), Some(meta));
    }
}

/// Our checkpoint, with the checksum that the bytes have.
pub(super) fn checkpoint(input: &[u8]) {
    let mut bytes = input.to_vec();
    bytes.extend_from_slice(&crc32c::crc32c(input).to_le_bytes());
    for bytes in [input, &bytes] {
        let disk = disk_with(&[(format!("/c/{}", NAMES[0]), bytes)]);
        let read = Checkpoint::read_all(&disk, Path::new("/c")).expect("a simulated disk reads");
        for checkpoint in read {
            assert!(checkpoint.runs.len() * 20 <= bytes.len());
            let _ = checkpoint.oldest_file();
        }
    }
}

/// Java's checkpoint: the ring, its meta, puts and takes that are open, one after another.
pub(super) fn java_checkpoint(input: &[u8]) {
    let parts = split(input);
    let part = |at: usize| parts.get(at).copied();
    let ring = part(0).unwrap_or_default();
    if let Ok(found) = java_checkpoint::decode(ring, part(1), part(2), part(3)) {
        assert!(found.queue.len() * 8 <= ring.len(), "no more events than slots");
    }
    let _ = java_checkpoint::decode_ring(ring, part(1));
    if let Some(open) = java_checkpoint::decode_inflight(part(2).unwrap_or(ring)) {
        let n: usize = open.iter().map(|(_, pointers)| pointers.len()).sum();
        assert!(n * 8 <= input.len(), "no more pointers than there are");
    }
}

/// Files of a channel, each with its name in the first line: what the tools make of them, and that settling is done once.
pub(super) fn directory(input: &[u8]) {
    let files: Vec<(String, &[u8])> = split(input)
        .into_iter()
        .take(16)
        .filter_map(|part| {
            let end = part.iter().position(|byte| *byte == b'\n')?;
            let name = std::str::from_utf8(&part[..end]).ok().filter(|name| is_plain(name))?;
            Some((format!("/{name}"), &part[end + 1..]))
        })
        .collect();
    let disk = disk_with(&files);
    let before = contents(&disk);
    let places = Places {
        checkpoint_dir: Some("/c".into()),
        backup_dir: Some("/b".into()),
        data_dirs: vec!["/d".into(), "/e".into()],
        keys: None,
    };
    let known = tools::known(&disk, &places).expect("a simulated disk reads");
    let listed = tools::list(&disk, &places.data_dirs).expect("a simulated disk reads");
    assert!(listed.len() <= files.len());
    let _ = tools::verify(&disk, &places, &mut |_, _| {});
    let found = tools::waiting(&disk, &places, known.as_ref(), &mut |_, _| {});
    if let Ok(found) = &found {
        let mut n = 0_u64;
        let lost = tools::events(&disk, found, &mut |_| {
            n += 1;
            Ok(true)
        });
        let counted: u64 = found.runs.iter().map(|run| u64::from(run.count)).sum();
        assert!(n + lost.expect("a simulated disk reads") <= counted, "no more events than are counted");
    }
    assert_eq!(contents(&disk), before, "looking changes nothing");
    if let Ok(found) = &found {
        replay::settle(&disk, &found.edits).expect("a simulated disk writes");
        let _ = tools::waiting(&disk, &places, None, &mut |_, _| {});
    }
    let once = integrity::run(&disk, &places.data_dirs, &mut |_, _| {}).expect("nobody has the directories");
    let again = integrity::run(&disk, &places.data_dirs, &mut |_, _| {}).expect("nobody has the directories");
    assert_eq!(again.puts, once.puts, "repairing loses nothing that can be read");
}

/// Names in the four directories, and no way out of them.
fn is_plain(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    matches!(parts.as_slice(), ["c" | "b" | "d" | "e", file] if !file.is_empty() && *file != "." && *file != "..")
}

fn split(input: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = input;
    while let Some(at) = rest.windows(SEPARATOR.len()).position(|part| part == SEPARATOR) {
        parts.push(&rest[..at]);
        rest = &rest[at + SEPARATOR.len()..];
    }
    parts.push(rest);
    parts
}

fn disk_with(files: &[(String, &[u8])]) -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    for dir in ["/c", "/b", "/d", "/e"] {
        disk.create_dir_all(Path::new(dir)).expect("a simulated disk has directories");
    }
    for (name, bytes) in files {
        let file = disk.open(Path::new(name), Mode::Replace).expect("a simulated disk has files");
        file.write_at(0, bytes).expect("a simulated disk writes");
    }
    disk
}

fn contents(disk: &SimulatedDisk) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    disk.files().into_iter().map(|path| (path.clone(), disk.content(&path))).collect()
}
