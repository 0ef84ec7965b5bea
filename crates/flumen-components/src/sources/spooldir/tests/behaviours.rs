//! What Java Flume's own tests ask of the source.

use super::*;

#[test]
fn dir_05_dir_26_dir_38_dir_39_dir_40_empty_files_are_one_empty_event_each() {
    let mut spooling = Spooling::with(&[("basenameHeader", "true"), ("batchSize", "10")]);
    for n in 0..4 {
        spooling.write_at(&format!("spool/file{n}"), lines("f", 0..n), n as u64);
    }
    spooling.write_at("spool/newline", "\n", 9);
    spooling.start();
    assert_eq!(spooling.batch(), [""]);
    let expected = ["f line 0", "f line 0", "f line 1", "f line 0", "f line 1", "f line 2", ""];
    assert_eq!(spooling.drain(), expected);
    assert!(spooling.drain().is_empty(), "looking again adds nothing");
    // Many in a row, in order, each with its name; and one at the end.
    for n in 0..10 {
        spooling.write_at(&format!("spool/empty{n}"), "", 100 + n);
    }
    spooling.write_at("spool/last", "no newline", 200);
    spooling.write_at("spool/over", "", 201);
    for n in 0..10 {
        let name = ("basename".to_owned(), format!("empty{n}"));
        assert_eq!(spooling.events(), [(vec![name], Vec::new())]);
    }
    assert_eq!(spooling.drain(), ["no newline", ""]);
    assert!(spooling.names("spool").iter().all(|name| name.ends_with(".COMPLETED")));
    assert_eq!(spooling.context.metrics.generic_fail.get(), 0);
}

#[test]
fn dir_06_the_tracker_is_there_while_a_file_is_read() {
    let mut spooling = Spooling::with(&[("batchSize", "2")]);
    spooling.write("spool/a", lines("a", 0..5));
    spooling.start();
    assert_eq!(spooling.batch().len(), 2);
    assert!(spooling.has_tracker());
    spooling.drain();
    assert!(!spooling.has_tracker());
}

#[test]
fn dir_07_fix_66_deleted_files_leave_nothing_behind() {
    let mut spooling = Spooling::with(&[("deletePolicy", "IMMEDIATE"), ("batchSize", "1")]);
    for n in 0..5 {
        spooling.write(&format!("spool/file{n}"), lines("f", 0..n));
    }
    spooling.start();
    assert_eq!(spooling.drain().len(), 1 + 1 + 2 + 3 + 4);
    assert!(spooling.names("spool").is_empty());
    assert!(!spooling.has_tracker());
    // A new file of a name that was used is read from its start.
    spooling.write("spool/file4", "new\n");
    assert_eq!(spooling.drain(), ["new"]);
}

#[test]
fn dir_20_dir_28_a_file_is_named_as_done_when_what_is_behind_it_is_asked_for() {
    let mut spooling = Spooling::new();
    spooling.start();
    assert!(spooling.batch().is_empty());
    spooling.write_at("spool/a", "a\n", 0);
    assert_eq!(spooling.batch(), ["a"]);
    assert_eq!(spooling.names("spool"), ["a"]);
    assert!(spooling.batch().is_empty(), "nothing new");
    assert_eq!(spooling.names("spool"), ["a.COMPLETED"]);
    spooling.write_at("spool/b", "b\n", 1);
    assert_eq!(spooling.batch(), ["b"]);
}

#[test]
fn dir_24_what_was_not_acknowledged_is_read_again_after_a_restart() {
    let mut spooling = Spooling::with(&[("batchSize", "4")]);
    let text = lines("a", 0..12);
    spooling.write("spool/a", &text);
    let all: Vec<&str> = text.lines().collect();
    spooling.start();
    assert_eq!(spooling.batch_left_open(), all[..4]);
    spooling.restart();
    assert_eq!(spooling.batch(), all[..4]);
    assert_eq!(spooling.batch_left_open(), all[4..8]);
    assert_eq!(spooling.batch_left_open(), all[8..], "several batches are on their way");
    spooling.restart();
    assert_eq!(spooling.batch(), all[4..8]);
    assert_eq!(spooling.batch(), all[8..]);
    assert!(spooling.drain().is_empty());
}

#[test]
fn dir_27_dir_30_a_batch_never_spans_two_files() {
    let mut spooling = Spooling::with(&[("batchSize", "5"), ("basenameHeader", "true")]);
    spooling.write_at("spool/a", lines("a", 0..8), 0);
    spooling.start();
    assert_eq!(spooling.events().len(), 5);
    spooling.write_at("spool/b", lines("b", 0..8), 1);
    let events = spooling.events();
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|(headers, _)| headers[0].1 == "a"), "the header names the file of the event");
    let events = spooling.events();
    assert_eq!(events.len(), 5);
    assert!(events.iter().all(|(headers, _)| headers[0].1 == "b"));
    assert_eq!(spooling.names("spool"), ["a.COMPLETED", "b"]);
}

#[test]
fn dir_29_a_long_line_becomes_several_events_also_across_batches() {
    for batch_size in ["3", "5", "100"] {
        let mut spooling = Spooling::with(&[("bufferMaxLineLength", "12"), ("batchSize", batch_size)]);
        spooling
            .write("spool/a", "file1line8\nreallyreallyreallyreallyLongLineHerefile1line9\nfile1line10\n");
        spooling.start();
        let really = "reallyreally";
        let expected = ["file1line8", really, really, "LongLineHere", "file1line9", "file1line10"];
        assert_eq!(spooling.drain(), expected, "{batch_size}");
    }
    // The old name does not count for other deserializers, and counts more than the new one.
    let pairs = [("bufferMaxLineLength", "2"), ("deserializer.maxLineLength", "4")];
    let mut spooling = Spooling::with(&pairs);
    spooling.write("spool/a", "abc\n");
    spooling.start();
    assert_eq!(spooling.drain(), ["ab", "c"]);
    let blob = [("bufferMaxLineLength", "2"), ("deserializer", "BLOB")];
    let mut spooling = Spooling::with(&blob);
    spooling.write("spool/a", "abc\n");
    spooling.start();
    assert_eq!(spooling.drain(), ["abc\n"]);
}

#[test]
fn dir_31_orders_are_known_in_any_case_and_others_refused() {
    for order in ["oLdESt", "yoUnGest", "rAnDom"] {
        assert!(Spooling::with(&[("consumeOrder", order)]).try_source().is_ok(), "{order}");
    }
    let said = Spooling::with(&[("consumeOrder", "undefined")]).try_source().unwrap_err().to_string();
    assert!(said.contains("consumeOrder") && said.contains("`oldest`"), "{said}");
}

#[test]
fn dir_32_headers_are_path_and_name_of_the_file() {
    let pairs = [("fileHeader", "true"), ("fileHeaderKey", "X"), ("basenameHeader", "true")];
    let mut spooling = Spooling::with(&pairs);
    spooling.write("spool/a", "x\n");
    spooling.start();
    let path = spooling.path("spool/a").display().to_string();
    let expected = vec![("basename".to_owned(), "a".to_owned()), ("X".to_owned(), path)];
    assert_eq!(spooling.events(), [(expected, b"x".to_vec())]);
}

#[test]
fn dir_34_directories_below_are_searched_where_that_is_asked_for() {
    for (recursive, expected) in [("true", &["one", "two"][..]), ("false", &[])] {
        let mut spooling = Spooling::with(&[("recursiveDirectorySearch", recursive)]);
        spooling.write("spool/x/y/z/a", "one\ntwo\n");
        spooling.write("spool/.hidden/b", "no\n");
        spooling.start();
        assert_eq!(spooling.drain(), expected);
    }
}

#[test]
fn dir_36_changed_settings_go_on_where_the_old_ones_were() {
    let mut spooling = Spooling::with(&[("fileHeader", "true")]);
    for n in 0..20 {
        spooling.write(&format!("spool/file{n}"), format!("content {n}\n"));
        spooling.set("fileHeaderKey", &format!("key{n}"));
        spooling.start();
        let events = spooling.events();
        assert_eq!(events[0].1, format!("content {n}").as_bytes());
        assert_eq!(events[0].0[0].0, format!("key{n}"));
        assert!(spooling.drain().is_empty());
        spooling.kill();
    }
}

#[test]
fn deserializers_are_found_by_name_and_class_and_their_settings_checked() {
    for name in ["line", "AVRO", "org.apache.flume.serialization.LineDeserializer$Builder"] {
        assert!(Spooling::with(&[("deserializer", name)]).try_source().is_ok(), "{name}");
    }
    let said = Spooling::with(&[("deserializer", "nope")]).try_source().unwrap_err().to_string();
    assert!(said.contains("`nope`") && said.contains("LINE") && said.contains("BLOB"), "{said}");
    let bad = Spooling::with(&[("deserializer.maxLineLength", "none")]).try_source().unwrap_err().to_string();
    assert!(bad.contains("a.sources.r.deserializer.maxLineLength"), "{bad}");
    for (key, value) in
        [("fileSuffix", ""), ("fileSuffix", "/x"), ("spoolDir", " "), ("inputCharset", "nope")]
    {
        let said = Spooling::with(&[(key, value)]).try_source().unwrap_err().to_string();
        assert!(said.contains(key), "{said}");
    }
}
