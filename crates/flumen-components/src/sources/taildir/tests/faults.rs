//! Disks that fail, and files that change between any two steps.

use super::{support::Doing, *};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

#[test]
fn c_7_a_file_deleted_between_listing_and_opening_stops_nobody() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "a\n");
    tail.write("web/b.log", "b\n");
    tail.start();
    let (a, path) = (tail.path("web/a.log"), tail.path("web/a.log"));
    tail.disk.before(move |doing| {
        if *doing == Doing::Open(a.clone()) {
            let _ = std::fs::remove_file(&path);
        }
        Ok(())
    });
    assert_eq!(tail.read(), ["b"]);
    assert_eq!(tail.context.metrics.read_fail.get(), 0);
}

#[test]
fn dir_68_a_file_that_cannot_be_read_is_counted_and_the_others_go_on() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "a\n");
    tail.write("web/b.log", "b\n");
    tail.start();
    let a = tail.path("web/a.log");
    tail.disk.before(move |doing| match doing {
        Doing::Open(path) if *path == a => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Ok(()),
    });
    let (lines, more) = tail.round();
    assert_eq!((lines.len(), more), (1, false), "no more: the pause comes");
    assert_eq!(tail.context.metrics.read_fail.get(), 1);
    tail.disk.healthy();
    assert_eq!(tail.read(), ["a"]);
}

#[test]
fn a_directory_that_cannot_be_listed_is_counted_and_its_files_keep_their_places() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "a\n");
    tail.start();
    assert_eq!(tail.read(), ["a"]);
    tail.disk.before(|doing| if *doing == Doing::List { Err(io::Error::other("stale")) } else { Ok(()) });
    tail.write("web/a.log", "b\n");
    for _ in 0..3 {
        tail.wait(30);
        assert!(tail.read().is_empty());
    }
    assert_eq!(tail.context.metrics.read_fail.get(), 3);
    tail.disk.healthy();
    assert_eq!(tail.read(), ["b"]);
}

#[test]
fn dir_69_positions_that_cannot_be_written_are_counted_and_reading_goes_on() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "a\n");
    tail.start();
    tail.disk.before(|doing| if *doing == Doing::Replace { Err(io::Error::other("full")) } else { Ok(()) });
    assert_eq!(tail.read(), ["a"]);
    let now = tail.now;
    tail.tailer().write_positions(now, true);
    assert_eq!(tail.context.metrics.generic_fail.get(), 1);
    tail.write("web/a.log", "b\n");
    assert_eq!(tail.read(), ["b"]);
    tail.disk.healthy();
    tail.restart();
    assert!(tail.read().is_empty());
}

/// What rotation does, at each step of a run in turn.
fn at_every_step(rotate: impl Fn(&std::path::Path) + Clone + Send + 'static, pattern: &str) {
    for step in 1.. {
        let mut tail = Tail::with(&[("filegroups", "g"), ("filegroups.g", &format!("@DIR@/web/{pattern}"))]);
        tail.write("web/app.log", lines("first content", 0..5));
        tail.start();
        let steps = Arc::new(AtomicUsize::new(0));
        let (count, rotate, web) = (steps.clone(), rotate.clone(), tail.path("web"));
        tail.disk.before(move |_| {
            if count.fetch_add(1, Ordering::Relaxed) + 1 == step {
                rotate(&web);
            }
            Ok(())
        });
        let mut all = tail.read();
        tail.write("web/other.log", "unrelated\n");
        tail.write("web/app.log", "last\n");
        all.extend(tail.read());
        all.extend(tail.read());
        tail.wait(7);
        all.extend(tail.read());
        tail.wait(20);
        all.extend(tail.read());
        if steps.load(Ordering::Relaxed) < step {
            assert!(step > 20, "there are many steps");
            return;
        }
        tail.disk.healthy();
        all.extend(tail.read());
        tail.wait(20);
        all.extend(tail.read());
        all.retain(|line| line != "unrelated");
        all.sort();
        let mut expected: Vec<String> = lines("first content", 0..5).lines().map(str::to_owned).collect();
        expected.extend(["last".to_owned(), "late".to_owned(), "new".to_owned()]);
        expected.sort();
        assert_eq!(all, expected, "rotated at step {step}");
    }
}

fn append(path: std::path::PathBuf, text: &str) {
    use std::io::Write;
    std::fs::File::options()
        .append(true)
        .create(true)
        .open(path)
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
}

fn rename(web: &std::path::Path) {
    append(web.join("app.log"), "late\n");
    std::fs::rename(web.join("app.log"), web.join("app.log.1")).unwrap();
    append(web.join("app.log"), "new\n");
}

fn copy_and_truncate(web: &std::path::Path) {
    append(web.join("app.log"), "late\n");
    std::fs::copy(web.join("app.log"), web.join("app.log.1")).unwrap();
    std::fs::File::options().write(true).open(web.join("app.log")).unwrap().set_len(0).unwrap();
    append(web.join("app.log"), "new\n");
}

#[test]
fn renamed_at_any_moment_within_the_pattern_each_line_comes_once() {
    at_every_step(rename, ".*");
}

#[test]
fn copied_and_truncated_at_any_moment_within_the_pattern_no_line_is_lost() {
    at_every_step(copy_and_truncate, ".*");
}

/// A line is added at each step of the time in which an idle file is closed.
#[test]
fn c_9_what_is_written_while_an_idle_file_is_closed_comes_once() {
    for step in 1.. {
        let mut tail = Tail::new();
        tail.set("idleTimeout", "1000");
        tail.write("web/a.log", "first\n");
        tail.start();
        let mut all = tail.read();
        tail.wait(2);
        let steps = Arc::new(AtomicUsize::new(0));
        let (count, path) = (steps.clone(), tail.path("web/a.log"));
        tail.disk.before(move |_| {
            if count.fetch_add(1, Ordering::Relaxed) + 1 == step {
                append(path.clone(), "meanwhile\n");
            }
            Ok(())
        });
        all.extend(tail.read());
        tail.wait(2);
        all.extend(tail.read());
        let reached = steps.load(Ordering::Relaxed) >= step;
        tail.disk.healthy();
        all.extend(tail.read());
        if !reached {
            assert!(step > 3, "{step} steps");
            return;
        }
        assert_eq!(all, ["first", "meanwhile"], "at step {step}");
    }
}
