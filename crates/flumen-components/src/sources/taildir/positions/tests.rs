//! Java's text exactly, torn files, and which of the two files counts.

use super::*;
use crate::sources::taildir::disk::RealDisk;
use std::fs;

fn row(ino: u64, pos: u64, file: &str) -> Row {
    Row::new(ino, pos, file.to_owned())
}

fn marked(ino: u64, pos: u64, file: &str) -> Row {
    Row { birth_ns: Some(7), head: Head { len: 3, hash: 99 }, tail: Some(5), ..row(ino, pos, file) }
}

#[test]
fn the_text_is_javas_with_its_escapes() {
    let rows = [row(10_225_946, 6, "/tmp/x/a=b.log"), row(10_225_947, 3, "/tmp/x/c.log")];
    let java = br#"[{"inode":10225946,"pos":6,"file":"/tmp/x/a\u003db.log"},{"inode":10225947,"pos":3,"file":"/tmp/x/c.log"}]"#;
    assert_eq!(json::write(&rows), java);
    let odd = "/<>&='\"\\\t\u{8}\n\r\u{c}\u{1}\u{2028}\u{2029}grüße🚀\u{7f}";
    let text = String::from_utf8(json::write(&[row(1, 2, odd)])).unwrap();
    let expected = r#"/\u003c\u003e\u0026\u003d\u0027\"\\\t\b\n\r\f\u0001\u2028\u2029grüße🚀"#;
    assert!(text.contains(expected), "{text}");
    assert_eq!(json::read(text.as_bytes()).rows, [row(1, 2, odd)]);
    assert!(json::write(&[]).is_empty(), "no file, no byte, as in Java");
}

#[test]
fn any_json_form_is_read_and_what_is_torn_loses_only_its_end() {
    let found = json::read(b" [ {\"pos\" : 5, \"file\":\"\\u002fa\\/b{}\", \"inode\":-1, \"more\":[{}]} ]\n");
    assert_eq!(found.rows, [row(u64::MAX, 5, "/a/b{}")]);
    assert!(found.whole);
    let whole = json::write(&[row(1, 10, "/a"), row(2, 20, "/b"), row(3, 30, "/c")]);
    for len in 1..whole.len() {
        let found = json::read(&whole[..len]);
        assert!(!found.whole, "cut at {len}");
        let n = whole[..len].iter().filter(|byte| **byte == b'}').count();
        assert_eq!(found.rows.len(), n, "cut at {len}");
    }
    for text in [
        "{nonsense",
        "nonsense",
        "[{\"inode\":1,\"file\":\"/a\"}]",
        "[{\"inode\":1,\"pos\":\"x\",\"file\":\"/a\"}]",
        "{{{{",
    ] {
        let found = json::read(text.as_bytes());
        assert!(!found.whole && found.rows.is_empty(), "{text}");
    }
    assert!(json::read(b"").whole && json::read(b"[]").whole);
}

#[test]
fn marks_come_back_and_the_end_tells_whether_they_are_whole() {
    let rows = [
        marked(1, 10, "/a"),
        Row { packed: true, seen: Some((5, -6)), gone: true, ..marked(2, 20, "/b\n\"") },
    ];
    let text = rows::write(11, 12, &rows);
    let read = rows::read(&text);
    assert_eq!((read.rows, read.belongs_to), (rows.to_vec(), vec![11, 12]));
    for len in 0..text.len() - 4 {
        let read = rows::read(&text[..len]);
        assert!(read.belongs_to.is_empty() && read.rows.len() <= 2, "cut at {len}");
    }
}

#[test]
fn after_a_kill_between_the_two_files_the_newer_positions_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/positions.json");
    let (mut positions, none) = Positions::open(&RealDisk, &path).unwrap();
    assert!(none.is_empty());
    positions.write(&RealDisk, &[marked(1, 10, "/a")]).unwrap();
    let old = fs::read(&path).unwrap();
    positions.write(&RealDisk, &[marked(1, 20, "/a")]).unwrap();
    drop(positions);
    // As if it had been killed before the second file was replaced.
    fs::write(&path, old).unwrap();
    let (positions, rows) = Positions::open(&RealDisk, &path).unwrap();
    assert_eq!(rows, [marked(1, 20, "/a")]);
    drop(positions);
    fs::remove_file(&path).unwrap();
    let (_positions, rows) = Positions::open(&RealDisk, &path).unwrap();
    assert!(rows.is_empty(), "who deletes the file wants to begin anew");
}

#[test]
fn what_java_has_written_since_counts_and_marks_only_add_to_it() {
    let marks = rows::write(1, 2, &[marked(1, 10, "/a"), marked(2, 20, "/b"), marked(3, 30, "/c")]);
    let java = json::write(&[row(1, 10, "/a"), row(2, 25, "/b"), row(3, 5, "/c"), row(4, 4, "/d")]);
    let rows = read(Path::new("p"), Some(&java), &marks);
    assert_eq!(rows[0], marked(1, 10, "/a"));
    assert_eq!(rows[1], Row { birth_ns: Some(7), ..row(2, 25, "/b") });
    assert_eq!(rows[2], row(3, 5, "/c"), "it was truncated under Java");
    assert_eq!(rows[3], row(4, 4, "/d"));
}

#[test]
fn c_14_a_torn_or_emptied_file_is_completed_from_the_marks() {
    let all = [marked(1, 10, "/a"), marked(2, 20, "/b")];
    let text = json::write(&all);
    let marks = rows::write(hash(&text), 0, &all);
    for len in 0..text.len() {
        let mut rows = read(Path::new("p"), Some(&text[..len]), &marks);
        rows.sort_by_key(|row| row.ino);
        let rows: Vec<_> = rows.iter().map(|row| (row.ino, row.pos)).collect();
        assert_eq!(rows, [(1, 10), (2, 20)], "cut at {len}");
    }
}
