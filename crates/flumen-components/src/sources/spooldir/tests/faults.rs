//! Disks that fail: what is counted, what is tried again, and that the other files go on.

use super::*;
use std::io::{Error, ErrorKind};

fn on(doing: impl Fn(&Doing) -> bool + Send + 'static) -> impl FnMut(&Doing) -> std::io::Result<()> + Send {
    move |what| if doing(what) { Err(Error::from(ErrorKind::PermissionDenied)) } else { Ok(()) }
}

#[test]
fn dir_08_a_directory_in_which_nothing_can_be_renamed_is_refused_at_the_start() {
    let mut spooling = Spooling::new();
    spooling.disk.before(on(|doing| matches!(doing, Doing::CreateNew(_))));
    let said = spooling.try_start().unwrap_err();
    assert!(said.contains("tracker_dir") && said.contains("/spool"), "{said}");
    // A full disk is no reason: files can still be renamed.
    spooling.disk.before(|doing| match doing {
        Doing::CreateNew(_) => Err(ErrorKind::StorageFull.into()),
        _ => Ok(()),
    });
    spooling.start();
}

#[test]
fn dir_09_c_17_with_a_tracker_directory_nothing_is_written_elsewhere() {
    let mut spooling =
        Spooling::with(&[("trackingPolicy", "tracker_dir"), ("trackerDir", "@DIR@/elsewhere")]);
    let spool = spooling.path("spool");
    spooling.disk.before(on(move |doing| match doing {
        Doing::CreateNew(path) | Doing::Remove(path) => path.starts_with(&spool),
        Doing::Rename(..) => true,
        _ => false,
    }));
    spooling.write("spool/a", "x\n");
    spooling.start();
    assert_eq!(spooling.drain(), ["x"]);
    assert_eq!(spooling.names("elsewhere"), ["a.COMPLETED"]);
    assert_eq!(spooling.context.metrics.generic_fail.get(), 0);
}

#[test]
fn a_missing_directory_and_a_tracker_directory_that_cannot_be_made_are_named() {
    let mut spooling = Spooling::with(&[("spoolDir", "@DIR@/missing")]);
    assert!(spooling.try_start().unwrap_err().contains("/missing"));
    let mut spooling = Spooling::with(&[("trackerDir", "a/b")]);
    let said = spooling.try_start().unwrap_err();
    assert!(said.contains("trackerDir") && said.contains("/a/b"), "only the last part is made: {said}");
}

#[test]
fn dir_42_a_file_that_cannot_be_read_is_counted_and_read_on_later() {
    let mut spooling = Spooling::with(&[("batchSize", "2")]);
    spooling.write_at("spool/a", lines("a", 0..4), 0);
    spooling.write_at("spool/b", "b\n", 1);
    spooling.start();
    assert_eq!(spooling.batch(), ["a line 0", "a line 1"]);
    // The first piece was read as a whole; it looks for more at its end.
    spooling.disk.before(on(|doing| matches!(doing, Doing::Read(offset) if *offset >= 18)));
    spooling.restart();
    assert_eq!(spooling.drain(), ["b"], "the other one goes on");
    assert!(spooling.context.metrics.read_fail.get() >= 1);
    assert_eq!(spooling.names("spool"), ["a", "b.COMPLETED"]);
    spooling.disk.healthy();
    assert_eq!(spooling.drain(), ["a line 2", "a line 3"], "from where it was left");
    assert_eq!(spooling.names("spool"), ["a.COMPLETED", "b.COMPLETED"]);
}

#[test]
fn a_file_that_cannot_be_opened_or_renamed_waits_and_is_not_read_twice() {
    let mut spooling = Spooling::new();
    spooling.write_at("spool/a", "a\n", 0);
    spooling.write_at("spool/b", "b\n", 1);
    spooling.start();
    spooling.disk.before(on(|doing| match doing {
        Doing::Rename(from, _) => from.ends_with("a"),
        Doing::Open(path) => path.ends_with("b"),
        _ => false,
    }));
    assert_eq!(spooling.drain(), ["a"]);
    assert!(spooling.drain().is_empty());
    assert_eq!(spooling.names("spool"), ["a", "b"]);
    spooling.disk.healthy();
    assert_eq!(spooling.drain(), ["b"], "a was read already");
    assert_eq!(spooling.names("spool"), ["a.COMPLETED", "b.COMPLETED"]);
}

#[test]
fn positions_that_cannot_be_written_hold_nothing_up() {
    let mut spooling = Spooling::with(&[("batchSize", "1")]);
    spooling.write("spool/a", lines("a", 0..3));
    spooling.start();
    spooling.disk.before(on(|doing| matches!(doing, Doing::Replace | Doing::Append)));
    assert_eq!(spooling.drain().len(), 3);
    assert!(spooling.context.metrics.generic_fail.get() >= 2);
    assert_eq!(spooling.names("spool"), ["a.COMPLETED"]);
    // An append that fails is no position; the next one is.
    spooling.write("spool/b", lines("b", 0..5));
    spooling.disk.healthy();
    spooling.batch();
    spooling.disk.before(on(|doing| matches!(doing, Doing::Append)));
    spooling.batch();
    spooling.disk.healthy();
    spooling.batch();
    spooling.restart();
    assert_eq!(spooling.batch(), ["b line 3"]);
}

#[test]
fn a_directory_that_cannot_be_listed_is_looked_at_again() {
    let mut spooling = Spooling::with(&[("recursiveDirectorySearch", "true")]);
    spooling.write("spool/x/a", "a\n");
    spooling.write("spool/b", "b\n");
    spooling.start();
    spooling.disk.before(on(|doing| matches!(doing, Doing::List(path) if path.ends_with("spool"))));
    assert!(spooling.drain().is_empty());
    assert!(spooling.context.metrics.read_fail.get() >= 1);
    spooling.disk.before(on(|doing| matches!(doing, Doing::List(path) if path.ends_with("x"))));
    assert_eq!(spooling.drain(), ["b"]);
    spooling.disk.healthy();
    assert_eq!(spooling.drain(), ["a"]);
}

#[test]
fn files_that_go_between_listing_and_opening_are_passed_over() {
    let mut spooling = Spooling::new();
    spooling.write_at("spool/a", "a\n", 0);
    spooling.write_at("spool/b", "b\n", 1);
    spooling.start();
    let a = spooling.path("spool/a");
    spooling.disk.before(move |doing| {
        if matches!(doing, Doing::Open(_)) && a.exists() {
            std::fs::remove_file(&a)?;
        }
        Ok(())
    });
    assert_eq!(spooling.drain(), ["b"]);
    assert_eq!(spooling.context.metrics.read_fail.get(), 0);
}
