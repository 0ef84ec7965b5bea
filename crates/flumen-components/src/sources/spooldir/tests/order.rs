//! Which files are read, and in which order.

use super::*;

fn five(pairs: &[(&str, &str)]) -> Spooling {
    let spooling = Spooling::with(pairs);
    for n in 0..4 {
        spooling.write(&format!("spool/file{n}"), format!("{n}\n"));
    }
    spooling.write("spool/emptylineFile", "\n");
    spooling
}

/// What is delivered, sorted, and the files that stay.
fn drained(pairs: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let all: Vec<_> = [("deletePolicy", "immediate")].into_iter().chain(pairs.iter().copied()).collect();
    let mut spooling = five(&all);
    spooling.start();
    let mut delivered = spooling.drain();
    delivered.sort();
    assert!(!spooling.has_tracker());
    (delivered, spooling.names("spool"))
}

#[test]
fn dir_01_dir_02_dir_03_dir_04_patterns_are_for_whole_names_and_to_ignore_wins() {
    let (delivered, stay) = drained(&[("includePattern", "^file2$")]);
    assert_eq!(
        (delivered, stay),
        (vec!["2".to_owned()], names(&["emptylineFile", "file0", "file1", "file3"]))
    );
    let (delivered, stay) = drained(&[("ignorePattern", "^file2$")]);
    assert_eq!((delivered, stay), (names(&["", "0", "1", "3"]), names(&["file2"])));
    let (delivered, stay) = drained(&[("includePattern", "^file2$"), ("ignorePattern", "^file[013]$")]);
    assert_eq!((delivered, stay), (names(&["2"]), names(&["emptylineFile", "file0", "file1", "file3"])));
    let (delivered, stay) = drained(&[("includePattern", "^file2$"), ("ignorePattern", "^file2$")]);
    assert_eq!((delivered.len(), stay.len()), (0, 5));
    let (delivered, _) = drained(&[("includePattern", "file")]);
    assert!(delivered.is_empty(), "a part of the name is not enough");
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn dir_11_dir_12_in_random_order_each_file_comes_once_and_the_list_is_used_up() {
    let mut spooling = Spooling::with(&[("consumeOrder", "random"), ("pollDelay", "3600000")]);
    for n in 0..10 {
        spooling.write(&format!("spool/file{n}"), format!("{n}\n"));
    }
    let listed = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = listed.clone();
    spooling.start();
    spooling.disk.before(move |doing| {
        if matches!(doing, Doing::List(_)) {
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(())
    });
    let mut delivered = spooling.batch();
    spooling.write("spool/new", "new\n");
    delivered.extend(spooling.drain());
    delivered.sort();
    assert_eq!(delivered, names(&["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "new"]));
    assert!(listed.load(std::sync::atomic::Ordering::Relaxed) < 10);
}

#[test]
fn dir_13_dir_14_files_come_by_their_times_then_by_name() {
    for (order, expected) in [("oldest", ["2", "1", "3", "4"]), ("youngest", ["3", "4", "1", "2"])] {
        let mut spooling = Spooling::with(&[("consumeOrder", order)]);
        for (name, second) in [("2", 0), ("1", 1), ("4", 2), ("3", 2)] {
            spooling.write_at(&format!("spool/file{name}"), format!("{name}\n"), second);
        }
        spooling.start();
        assert_eq!(spooling.drain(), expected, "{order}");
    }
}

/// A tree of so many files in each of 27 directories, all with times of their own.
fn tree(spooling: &Spooling, n_files: u64) -> Vec<String> {
    let mut all = Vec::new();
    for directory in 0..27_u64 {
        for n in 0..n_files {
            // Times go across the directories.
            let second = n * 27 + directory;
            let name = format!("spool/{}/{}/{}/{n}", directory / 9, directory / 3 % 3, directory % 3);
            spooling.write_at(&name, format!("{second:05}\n"), second);
            all.push(format!("{second:05}"));
        }
    }
    all.sort();
    all
}

#[test]
fn dir_16_dir_17_large_trees_are_read_once_and_in_order() {
    for (tracking, n_files) in [("rename", 37), ("tracker_dir", 10)] {
        for order in ["oldest", "youngest", "random"] {
            let pairs = [
                ("trackingPolicy", tracking),
                ("consumeOrder", order),
                ("recursiveDirectorySearch", "true"),
                ("pollDelay", "3600000"),
            ];
            let mut spooling = Spooling::with(&pairs);
            let mut expected = tree(&spooling, n_files);
            spooling.start();
            let mut delivered = spooling.drain();
            match order {
                "youngest" => expected.reverse(),
                "random" => delivered.sort(),
                _ => {}
            }
            assert_eq!(delivered, expected, "{tracking}, {order}");
            let left = spooling.names("spool");
            if tracking == "rename" {
                assert!(left.iter().all(|name| name.ends_with(".COMPLETED")));
            } else {
                assert_eq!(left.len(), 2 * expected.len(), "a marker each, and no file has another name");
                assert!(spooling.path("spool/.flumespool/0/0/0/9.COMPLETED").exists());
                spooling.restart();
                assert!(spooling.drain().is_empty(), "markers are known after a restart");
            }
        }
    }
}

#[test]
fn files_that_come_while_a_list_is_worked_through_have_their_place_in_the_order() {
    let mut spooling = Spooling::with(&[("consumeOrder", "youngest")]);
    spooling.write_at("spool/a", "a\n", 0);
    spooling.write_at("spool/b", "b\n", 1);
    spooling.start();
    assert_eq!(spooling.batch(), ["b"]);
    spooling.write_at("spool/c", "c\n", 2);
    assert_eq!(spooling.drain(), ["c", "a"]);
}

#[test]
fn what_is_no_file_and_what_java_leaves_is_not_read() {
    let mut spooling = Spooling::with(&[("recursiveDirectorySearch", "true"), ("trackerDir", "track")]);
    std::fs::create_dir_all(spooling.path("spool/directory")).unwrap();
    std::os::unix::fs::symlink("/nowhere", spooling.path("spool/link")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        spooling.path("spool/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    spooling.write("spool/flume-spooldir-perm-check-123.canary", "java was here\n");
    spooling.write("spool/track/no", "nothing in the tracker directory is read\n");
    spooling.write("spool/a", "a\n");
    spooling.start();
    assert_eq!(spooling.drain(), ["a"]);
}

#[test]
fn names_that_are_no_text_are_read_too() {
    use std::os::unix::ffi::OsStrExt;
    let mut spooling = Spooling::with(&[("basenameHeader", "true")]);
    let path = spooling.path("spool").join(std::ffi::OsStr::from_bytes(b"a\xff"));
    std::fs::write(&path, "x\n").unwrap();
    spooling.start();
    assert_eq!(spooling.events()[0].0[0].1, "a\u{fffd}");
    spooling.drain();
    assert!(!path.exists());
}
