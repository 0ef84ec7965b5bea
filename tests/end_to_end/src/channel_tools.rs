//! `flumen channel` and Java's integrity tool over directories of file channels: those that Java Flume left, and damaged ones.

use crate::agent::{Said, Work, program, root};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command},
    time::SystemTime,
};

const FIXTURES: &str = "tests/parity/fixtures/file-channel";
/// Data directories that an event lies in which cannot be told from the recorded answer: `crates/flumen-wal/tests` looks at them.
const SPECIAL: [&str; 3] = ["data-file-lost", "encrypted-opened-plain", "same-id-twice"];

/// A channel's directories as Java Flume left them, and a configuration that names them.
fn unpack(work: &Work, name: &str) -> PathBuf {
    let archive = root().join(FIXTURES).join(format!("{name}.tar.gz"));
    let folder = work.make_folder("fixtures");
    let status = Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(&folder).status().unwrap();
    assert!(status.success(), "{name}");
    let folder = folder.join(name);
    let keys = fs::read_to_string(folder.join("channel.properties")).unwrap();
    let keys = keys.replace("@DIR@", &folder.display().to_string());
    let mut text = "a.channels = c\na.channels.c.type = file\na.sinks = k\na.sinks.k.type = null\na.sinks.k.channel = c\n".to_owned();
    for line in keys.lines().filter(|line| line.contains('=')) {
        text += &format!("a.channels.c.{line}\n");
    }
    fs::write(folder.join("flume.conf"), text).unwrap();
    folder
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(root().join(FIXTURES)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".tar.gz")?.to_owned())).collect();
    names.sort();
    names
}

/// Every file and directory below a folder with its time of change and its bytes.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let of = entry.metadata().unwrap();
        let bytes = if of.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
        if of.is_dir() {
            all.extend(tree(&entry.path()));
        }
        all.insert(entry.path(), (of.modified().unwrap(), bytes));
    }
    all
}

/// Runs an action of `flumen channel` on the channel of a fixture's configuration.
fn channel(work: &Work, action: &str, folder: &Path, more: &[&str]) -> Said {
    let conf = folder.join("flume.conf").display().to_string();
    let mut words = vec!["channel", action, "-n", "a", "-f", &conf, "--channel", "c"];
    words.extend(more);
    work.run(&words)
}

/// The lines of an export or of a fixture, comparable: values and not texts, sorted, as takes that were open come back in an
/// order that nothing tells.
fn events(lines: &str) -> Vec<String> {
    let event = |line: &str| {
        let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
        let headers = event["headers"].as_object_mut().unwrap();
        headers.values_mut().filter(|value| value.is_null()).for_each(|value| *value = "".into());
        event.to_string()
    };
    let mut events: Vec<String> = lines.lines().map(event).collect();
    events.sort();
    events
}

#[test]
fn every_directory_of_javas_is_read_without_a_change_and_repaired_without_a_loss() {
    let work = Work::new();
    let mut wrong = Vec::new();
    for name in names() {
        let folder = unpack(&work, &name);
        let text = |file: &str| fs::read_to_string(folder.join(file));
        let before = tree(&folder);
        let export = channel(&work, "export", &folder, &[]);
        let verify = channel(&work, "verify", &folder, &["--format", "json"]);
        let list = channel(&work, "list", &folder, &["--format", "json"]);
        let peek = channel(&work, "peek", &folder, &["--events", "3"]);
        if tree(&folder) != before {
            wrong.push(format!("{name}: reading has changed something"));
        }
        let codes = [export.code, verify.code, list.code, peek.code];
        if name == "encrypted-opened-plain" {
            assert_eq!(codes, [2; 4], "{export:?}");
            assert!(export.err.contains("key `key-0`"), "{export:?}");
            continue;
        }
        if codes.iter().any(|code| *code != codes[0] || *code > 1) || verify.code < export.code {
            wrong.push(format!("{name}: {codes:?} {verify:?}"));
            continue;
        }
        let right = text("right.jsonl").or_else(|_| text("expected.jsonl")).unwrap();
        let special = SPECIAL.contains(&name.as_str()) || name.starts_with("two-agents");
        // Java refuses what its own tool made of this directory.
        if !special && name != "tool-torn-zero" && events(&export.out) != events(&right) {
            wrong.push(format!(
                "{name}: {} events and not {}",
                events(&export.out).len(),
                events(&right).len()
            ));
        }
        for said in [&verify, &list] {
            let value: serde_json::Value = serde_json::from_str(&said.out).unwrap();
            if value["events"].as_u64() != Some(export.out.lines().count() as u64) {
                wrong.push(format!("{name}: {}", said.out));
            }
        }
        let repair = channel(&work, "repair", &folder, &[]);
        let again = channel(&work, "export", &folder, &[]);
        if repair.code > 1 || again.code != 0 || events(&again.out) != events(&export.out) {
            wrong.push(format!("{name}: after repair {} {repair:?} {}", again.code, again.err));
        }
        fs::remove_dir_all(&folder).unwrap();
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_folder_above_is_enough_and_a_body_a_line_can_go_to_a_file() {
    let work = Work::new();
    let folder = unpack(&work, "three-dirs").display().to_string();
    let list = work.run(&["channel", "list", &folder]);
    assert_eq!(list.code, 0, "{list:?}");
    assert!(list.out.contains("Java Flume's checkpoint counts"), "{list:?}");
    let bodies = work.path("bodies.txt").display().to_string();
    let words = ["channel", "export", &folder, "--format", "text", "--output", &bodies];
    let export = work.run(&words);
    assert_eq!((export.code, export.out.as_str()), (0, ""), "{export:?}");
    let peek = work.run(&["channel", "peek", &folder, "--events", "2", "--format", "json"]);
    assert_eq!((peek.code, peek.out.lines().count()), (0, 2), "{peek:?}");
    let n_lines = fs::read(&bodies).unwrap().iter().filter(|byte| **byte == b'\n').count();
    // A body may have line ends of its own.
    let n_events = work.run(&["channel", "export", &folder]).out.lines().count();
    assert!(n_events > 0 && n_lines >= n_events, "{n_lines} lines of {n_events} events");
    assert!(list.out.contains(&format!("{n_events} events with")), "{list:?}");
    let again = work.run(&words);
    assert_eq!(again.code, 2, "a file that is there stays: {again:?}");
    assert!(again.err.contains("bodies.txt: it is there already"), "{again:?}");
    let two = unpack(&work, "dual").display().to_string();
    let both = work.run(&["channel", "repair", &folder, &two]);
    assert!(both.code == 2 && both.err.contains("the checkpoints of two channels"), "{both:?}");
    let without = work.run(&["channel", "repair", &format!("{folder}/data")]);
    assert!(without.code == 2 && without.err.contains("--checkpoint-dir"), "{without:?}");
}

/// A process that is ended when it is dropped.
struct User(Child);

impl Drop for User {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_directory_that_somebody_uses_is_left_alone_and_the_process_is_named() {
    let work = Work::new();
    let folder = unpack(&work, "clean-backlog");
    let log = folder.join("data/log-1");
    let user = User(Command::new("tail").args(["-f", log.to_str().unwrap()]).spawn().unwrap());
    let pid = user.0.id();
    let open = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let is_open = crate::wait::until(|| {
        open().any(|descriptor| {
            fs::read_link(descriptor.path()).is_ok_and(|path| path == fs::canonicalize(&log).unwrap())
        })
    });
    assert!(is_open);
    let before = tree(&folder);
    for action in ["list", "verify", "peek", "export", "repair"] {
        let said = channel(&work, action, &folder, &[]);
        assert_eq!(said.code, 2, "{action}: {said:?}");
        assert!(said.err.contains(&format!("process {pid} (tail)")), "{action}: {said:?}");
    }
    let dirs = folder.join("data").display().to_string();
    let said = work.run(&["tool", "FCINTEGRITYTOOL", "-l", &dirs]);
    assert!(said.code == 1 && said.err.contains("(tail)"), "{said:?}");
    drop(user);
    let mut after = tree(&folder);
    for dir in ["data", "cp"] {
        // Repairing begins with the lock; a lock file that is left behind harms nobody.
        after.remove(&folder.join(dir).join("in_use.lock"));
    }
    let bytes = |tree: &BTreeMap<PathBuf, (SystemTime, Vec<u8>)>| {
        tree.iter().map(|(path, (_, bytes))| (path.clone(), bytes.clone())).collect::<Vec<_>>()
    };
    assert_eq!(bytes(&after), bytes(&before));
}

/// Flips a byte in the middle of put records of a data file, and says how many were hit.
fn damage(file: &Path, bodies: &[&[u8]]) -> usize {
    let mut bytes = fs::read(file).unwrap();
    let mut n = 0;
    for body in bodies {
        if let Some(at) = bytes.windows(body.len()).position(|part| part == *body) {
            bytes[at + body.len() / 2] ^= 0xff;
            n += 1;
        }
    }
    fs::write(file, bytes).unwrap();
    n
}

fn mon_13(from_java: bool, with_checkpoint: bool) {
    let work = Work::new();
    // Events in several files, without an end: Java's own directory, or the same after Flumen has opened it.
    let folder = unpack(&work, "many-files");
    let all = channel(&work, "export", &folder, &[]);
    assert_eq!(all.code, 0, "{all:?}");
    let events: Vec<serde_json::Value> =
        all.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    if !from_java {
        assert_eq!(channel(&work, "repair", &folder, &[]).code, 0);
    }
    let bodies = work.path("bodies").display().to_string();
    let said = channel(&work, "export", &folder, &["--format", "text", "--output", &bodies]);
    assert_eq!(said.code, 0, "{said:?}");
    let lines = fs::read(&bodies).unwrap();
    let lines: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').filter(|line| line.len() > 4).collect();
    let data = folder.join("data");
    let mut files: Vec<PathBuf> = fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none())
        .collect();
    files.sort();
    let hit: Vec<(&PathBuf, usize)> =
        files.iter().map(|file| (file, damage(file, &[lines[1], lines[lines.len() / 2]]))).collect();
    let n: usize = hit.iter().map(|(_, n)| n).sum();
    assert!(n >= 2, "{hit:?}");
    if !with_checkpoint {
        for entry in fs::read_dir(folder.join("cp")).unwrap().flatten().filter(|entry| entry.path().is_file())
        {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let java = work.path("flume-ng");
    symlink(program(), &java).unwrap();
    let tool = work.run_as(&java, &["tool", "fcintegritytool", "-l", &data.display().to_string()]);
    assert_eq!(tool.code, 0, "{tool:?}");
    assert!(tool.out.contains(&format!("Number of Corrupt Events = {n}\n")), "{tool:?}");
    for (file, n) in &hit {
        assert_eq!(file.with_extension("bak").exists(), *n > 0, "{}", file.display());
    }
    let again = work.run_as(&java, &["tool", "fcintegritytool", "-l", &data.display().to_string()]);
    assert!(again.code == 0 && again.out.contains("Number of Corrupt Events = 0\n"), "{again:?}");
    for _ in 0..2 {
        let left = channel(&work, "export", &folder, &[]);
        assert_eq!(left.out.lines().count(), events.len() - n, "{}", left.err);
        let lines: Vec<serde_json::Value> =
            left.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut due = events.iter();
        assert!(
            lines.iter().all(|line| due.any(|event| event == line)),
            "those that are left, in their order"
        );
        let repair = channel(&work, "repair", &folder, &[]);
        assert!(repair.code <= 1, "{repair:?}");
    }
}

#[test]
fn mon_13_the_integrity_tool_leaves_out_what_is_damaged_and_keeps_copies() {
    for from_java in [true, false] {
        for with_checkpoint in [true, false] {
            mon_13(from_java, with_checkpoint);
        }
    }
}

#[test]
fn encrypted_files_are_no_damage_to_the_integrity_tool() {
    let work = Work::new();
    let folder = unpack(&work, "encrypted");
    let before = tree(&folder);
    let dirs = folder.join("data").display().to_string();
    let said = work.run(&["tool", "FCINTEGRITYTOOL", "-l", &dirs]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("encrypted with the key `key-0`"), "{said:?}");
    let mut after = tree(&folder);
    // The time of the directory changes with the lock file.
    for tree in [&mut after, &mut before.clone()] {
        tree.remove(&folder.join("data"));
    }
    assert!(after.iter().all(|(path, of)| before.get(path) == Some(of)));
}

#[test]
fn hostile_directories_end_with_words_and_never_hang() {
    let work = Work::new();
    let dir = work.make_folder("d");
    let log = dir.join("log-1");
    assert!(Command::new("mkfifo").arg(&log).status().unwrap().success());
    assert!(Command::new("mkfifo").arg(dir.join("log-2.meta")).status().unwrap().success());
    fs::write(dir.join("log-2"), [0x7f, 0x7f, 0xff, 0xff, 0xff, 1]).unwrap();
    fs::create_dir(dir.join("log-3")).unwrap();
    fs::create_dir(dir.join("log-4.meta")).unwrap();
    // A long record in a file that is as long and has no bytes.
    fs::write(dir.join("log-4"), [0x7f, 0x0f, 0xff, 0xff, 0x00]).unwrap();
    File::options().write(true).open(dir.join("log-4")).unwrap().set_len(300 << 20).unwrap();
    fs::write(dir.join("log-99999999999999999999"), "x").unwrap();
    let cp = work.make_folder("cp");
    fs::write(cp.join("flumen-checkpoint-0"), b"FLMCKPT1\xff\xff\xff\xff\xff\xff\xff\xff").unwrap();
    fs::write(cp.join("checkpoint"), [0xff; 9000]).unwrap();
    let dirs = [dir.display().to_string(), cp.display().to_string()];
    for action in ["list", "verify", "peek", "export", "repair"] {
        let said = work.run(&["channel", action, &dirs[0], &dirs[1]]);
        assert_eq!(said.code, 1, "{action}: {said:?}");
    }
    let said = work.run(&["tool", "FCINTEGRITYTOOL", "-l", &dirs[0]]);
    assert!(said.out.contains("Number of Put Events Processed = 0"), "{said:?}");
}
