//! Files that are renamed, truncated, deleted and made anew while they are tailed.

use super::*;

#[test]
fn c_1_c_2_a_file_renamed_within_the_pattern_is_read_on() {
    let mut tail = Tail::new();
    tail.write("web/app.log", lines("old", 0..3));
    tail.start();
    assert_eq!(tail.read().len(), 3);
    for round in 0..4 {
        tail.write("web/app.log", "late\n");
        for n in (0..round).rev() {
            tail.rename(&format!("web/app.log.{n}"), &format!("web/app.log.{}", n + 1));
        }
        tail.rename("web/app.log", "web/app.log.0");
        tail.write("web/app.log", format!("new {round}\n"));
        assert_eq!(tail.read(), ["late".to_owned(), format!("new {round}")]);
    }
    tail.stop();
    assert_eq!(tail.positions().matches("inode").count(), 5);
}

#[test]
fn a_file_renamed_out_of_the_pattern_is_read_to_its_end() {
    for idle in [false, true] {
        let mut tail = Tail::with(&[("filegroups", "g"), ("filegroups.g", "@DIR@/web/app\\.log")]);
        tail.write("web/app.log", "old\n");
        tail.start();
        assert_eq!(tail.read(), ["old"]);
        if idle {
            // It is closed, and must be found by its inode.
            tail.wait(200);
            assert!(tail.read().is_empty());
        }
        tail.write("web/app.log", "late\n");
        tail.rename("web/app.log", "web/app.log.1");
        tail.write("web/app.log", "new\n");
        assert_eq!(tail.read(), ["late", "new"], "idle {idle}");
        // Its writer has not noticed yet.
        tail.write("web/app.log.1", "very late\nhalf");
        assert_eq!(tail.read(), ["very late"]);
        tail.wait(11);
        assert_eq!(tail.read(), ["half"]);
        assert!(tail.read().is_empty());
        tail.write("web/app.log.1", "not ours any more\n");
        assert!(tail.read().is_empty());
    }
}

#[test]
fn c_4_the_handle_of_a_deleted_file_is_let_go() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "one\n");
    tail.start();
    assert_eq!(tail.read(), ["one"]);
    tail.write("web/a.log", "two\nthree");
    tail.delete("web/a.log");
    assert_eq!(tail.read(), ["two"], "what was written before is not lost");
    tail.wait(11);
    assert_eq!(tail.read(), ["three"]);
    tail.read();
    let root = tail.path("web");
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let ours =
        open.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|path| path.starts_with(&root))).count();
    assert_eq!(ours, 0);
    tail.write("web/a.log", "anew\n");
    assert_eq!(tail.read(), ["anew"]);
}

#[test]
fn a_file_made_anew_with_the_same_content_is_read_again() {
    let mut tail = Tail::new();
    tail.start();
    for _ in 0..3 {
        tail.write("web/a.log", lines("the same", 0..20));
        assert_eq!(tail.read().len(), 20);
        tail.delete("web/a.log");
        assert!(tail.read().is_empty());
        tail.wait(20);
        assert!(tail.read().is_empty());
    }
}

#[test]
fn a_truncated_file_is_read_from_its_start() {
    let mut tail = Tail::new();
    tail.write("web/a.log", lines("old", 0..5));
    tail.start();
    assert_eq!(tail.read().len(), 5);
    tail.truncate("web/a.log");
    assert!(tail.read().is_empty());
    tail.write("web/a.log", lines("old", 0..2));
    assert_eq!(tail.read(), ["old line 0", "old line 1"]);
}

#[test]
fn a_file_that_was_truncated_and_has_grown_beyond_its_position_is_noticed() {
    for grown in [56, 57, 100, 5_000, 700_000] {
        let mut tail = Tail::new();
        tail.write("web/a.log", lines("old", 0..5));
        tail.start();
        assert_eq!(tail.read().len(), 5);
        tail.truncate("web/a.log");
        let text = lines("new content", 0..grown / 20 + 1);
        tail.write("web/a.log", &text);
        assert_eq!(tail.read(), text.lines().collect::<Vec<_>>(), "{grown}");
        tail.write("web/a.log", "on\n");
        assert_eq!(tail.read(), ["on"]);
    }
}

#[test]
fn c_3_a_file_that_did_not_shrink_keeps_its_position() {
    let mut tail = Tail::new();
    tail.write("web/app.log", lines("old", 0..50));
    tail.start();
    assert_eq!(tail.read().len(), 50);
    // A short new file takes the path between two looks, again and again.
    for n in 0..20 {
        tail.rename("web/app.log", &format!("web/app.log.{n}"));
        tail.write("web/app.log", format!("new {n}\n"));
        assert_eq!(tail.read(), [format!("new {n}")]);
    }
}

#[test]
fn c_10_a_reused_inode_is_another_file() {
    let mut tail = Tail::new();
    tail.write("web/a.log", lines("old", 0..3));
    tail.start();
    assert_eq!(tail.read().len(), 3);
    tail.wait(200);
    // Closed as idle, so the inode is free when the file goes.
    assert!(tail.read().is_empty());
    let ino = tail.ino("web/a.log");
    let mut reused = false;
    for n in 0..50 {
        tail.delete("web/a.log");
        let text = lines(&format!("another {n}"), 0..30);
        tail.write("web/a.log", &text);
        reused |= tail.ino("web/a.log") == ino;
        assert_eq!(tail.read(), text.lines().collect::<Vec<_>>(), "round {n}");
        tail.wait(200);
        tail.read();
    }
    // Not every file system gives inodes again so soon; where it does, this was shown.
    let _ = reused;
}

#[test]
fn a_file_moved_to_another_group_or_directory_is_read_on_there() {
    let mut tail = Tail::with(&[
        ("filegroups", "new old"),
        ("filegroups.new", "@DIR@/web/.*"),
        ("filegroups.old", "@DIR@/old/.*"),
        ("headers.old.kind", "old"),
        ("fileHeader", "true"),
    ]);
    std::fs::create_dir(tail.path("old")).unwrap();
    tail.write("web/a", "one\n");
    tail.start();
    assert_eq!(tail.read(), ["one"]);
    tail.write("web/a", "two\n");
    tail.rename("web/a", "old/a");
    let (lines, _) = tail.round();
    assert_eq!(lines.len(), 1);
    let path = tail.path("old/a").display().to_string();
    assert_eq!(lines[0].0, [("kind".to_owned(), "old".to_owned()), ("file".to_owned(), path)]);
}
