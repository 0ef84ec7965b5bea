//! Files that something is wrong with: they are put aside and named, and the others go on (C12).

use super::*;
use std::fs;

#[test]
fn dir_22_dir_23_c_12_a_name_that_was_used_before_does_not_stop_the_others() {
    for before in ["same\n", "other\n"] {
        let mut spooling = Spooling::new();
        spooling.write_at("spool/a", "same\n", 0);
        spooling.write_at("spool/a.COMPLETED", before, 0);
        spooling.write_at("spool/b", "b\n", 1);
        spooling.start();
        assert_eq!(spooling.drain(), ["same", "b"]);
        let expected = [("a.COMPLETED", before), ("a.reused-1.COMPLETED", "same\n"), ("b.COMPLETED", "b\n")];
        assert_eq!(spooling.files("spool"), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert_eq!(spooling.context.metrics.generic_fail.get(), 1);
        // And once more.
        spooling.write("spool/a", "third\n");
        assert_eq!(spooling.drain(), ["third"]);
        assert!(spooling.names("spool").contains(&"a.reused-2.COMPLETED".to_owned()));
    }
}

#[test]
fn c_12_a_file_that_is_written_to_is_put_aside_and_not_deleted() {
    for policy in ["never", "immediate"] {
        let mut spooling = Spooling::with(&[("deletePolicy", policy), ("batchSize", "2")]);
        spooling.write_at("spool/a", lines("a", 0..4), 0);
        spooling.write_at("spool/b", "b\n", 9);
        spooling.start();
        assert_eq!(spooling.batch(), ["a line 0", "a line 1"]);
        spooling.write("spool/a", "more\n");
        assert_eq!(spooling.drain(), ["a line 2", "a line 3", "more", "b"]);
        let names = spooling.names("spool");
        assert!(names.contains(&"a.changed-1.COMPLETED".to_owned()), "{names:?}");
        assert_eq!(names.len(), if policy == "never" { 2 } else { 1 }, "{names:?}");
        spooling.restart();
        assert!(spooling.drain().is_empty(), "what is aside is never read again");
    }
}

#[test]
fn c_12_where_nothing_may_be_renamed_a_marker_says_what_was_wrong() {
    let mut spooling = Spooling::with(&[("trackingPolicy", "tracker_dir"), ("batchSize", "2")]);
    spooling.write("spool/a", lines("a", 0..4));
    spooling.start();
    spooling.batch();
    spooling.write("spool/a", "more\n");
    assert_eq!(spooling.drain(), ["a line 2", "a line 3", "more"]);
    let marker = fs::read_to_string(spooling.path("spool/.flumespool/a.COMPLETED")).unwrap();
    assert!(marker.starts_with("changed: it was written to"), "{marker}");
    assert_eq!(fs::read_to_string(spooling.path("spool/a")).unwrap().lines().count(), 5);
    spooling.restart();
    assert!(spooling.drain().is_empty());
}

#[test]
fn fix_65_bytes_that_are_no_text_stop_their_file_and_no_other() {
    let mut spooling = Spooling::new();
    spooling.write_at("spool/a", b"good\nbad \xff here\nnever read\n", 0);
    spooling.write_at("spool/b", "b\n", 1);
    spooling.start();
    assert_eq!(spooling.drain(), ["good", "b"], "what is before them is delivered");
    assert_eq!(spooling.names("spool"), ["a.failed-1.COMPLETED", "b.COMPLETED"]);
    for (policy, expected) in [("replace", "bad \u{fffd} here"), ("ignore", "bad  here")] {
        let mut spooling = Spooling::with(&[("decodeErrorPolicy", policy)]);
        spooling.write("spool/a", b"good\nbad \xff here\nlast\n");
        spooling.start();
        assert_eq!(spooling.drain(), ["good", expected, "last"]);
    }
}

#[test]
fn a_file_that_is_no_avro_is_put_aside_and_the_message_names_it() {
    let said = crate::testing::logged(async {
        let mut spooling = Spooling::with(&[("deserializer", "AVRO")]);
        spooling.write("spool/text", "no Avro\n");
        spooling.start();
        assert!(spooling.drain().is_empty());
        assert_eq!(spooling.names("spool"), ["text.failed-1.COMPLETED"]);
    });
    assert!(
        said.contains("spool/text") && said.contains("no Avro data file") && said.contains("failed-1"),
        "{said}"
    );
}

#[test]
fn a_file_that_goes_or_is_replaced_meanwhile_is_named_and_the_new_one_read() {
    let mut spooling = Spooling::with(&[("batchSize", "2")]);
    spooling.write_at("spool/a", lines("a", 0..3), 0);
    spooling.write_at("spool/b", lines("b", 0..3), 1);
    spooling.start();
    assert_eq!(spooling.batch(), ["a line 0", "a line 1"]);
    fs::remove_file(spooling.path("spool/a")).unwrap();
    assert_eq!(spooling.batch(), ["a line 2"], "it is open");
    assert_eq!(spooling.batch(), ["b line 0", "b line 1"]);
    fs::rename(spooling.path("spool/b"), spooling.path("b-elsewhere")).unwrap();
    spooling.write("spool/b", "new b\n");
    assert_eq!(spooling.drain(), ["b line 2", "new b"]);
    assert_eq!(spooling.names("spool"), ["b.COMPLETED"]);
    assert_eq!(spooling.context.metrics.generic_fail.get(), 2);
}

#[test]
fn c_13_a_file_that_nobody_touches_is_never_taken_for_changed() {
    let mut spooling = Spooling::with(&[("batchSize", "1")]);
    for n in 0..50 {
        spooling.write(&format!("spool/{n}"), lines("x", 0..3));
    }
    spooling.start();
    assert_eq!(spooling.drain().len(), 150);
    assert_eq!(spooling.context.metrics.generic_fail.get(), 0);
    assert!(spooling.names("spool").iter().all(|name| !name.contains("changed")));
}
