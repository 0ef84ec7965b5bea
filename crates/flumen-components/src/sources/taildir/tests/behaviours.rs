//! The numbered behaviours of Java's tests.

use super::*;
use flumen_core::world::SetClock;
use std::sync::Arc;

fn offsets(lines: &[support::Line]) -> Vec<String> {
    lines
        .iter()
        .map(|(headers, _)| headers.iter().find(|(name, _)| name == "byteoffset").unwrap().1.clone())
        .collect()
}

#[test]
fn dir_44_all_lines_are_read_and_what_is_added_later() {
    let mut tail = Tail::new();
    for n in 1..=3 {
        tail.write(&format!("web/{n}.log"), lines(&n.to_string(), 0..2));
    }
    tail.start();
    assert_eq!(tail.read(), ["1 line 0", "1 line 1", "2 line 0", "2 line 1", "3 line 0", "3 line 1"]);
    tail.write("web/3.log", lines("3", 2..4));
    assert_eq!(tail.read(), ["3 line 2", "3 line 3"]);
}

#[test]
fn dir_46_dir_49_an_empty_directory_and_empty_files_give_nothing() {
    let mut tail = Tail::new();
    tail.start();
    assert!(tail.read().is_empty());
    tail.write("web/empty.log", "");
    assert!(tail.read().is_empty());
    tail.write("web/a.log", "x\n");
    assert_eq!(tail.read(), ["x"]);
    assert!(tail.read().is_empty());
}

#[test]
fn dir_48_what_was_not_acknowledged_is_read_again_after_a_restart() {
    let mut tail = Tail::new();
    tail.set("batchSize", "2");
    tail.write("web/a.log", lines("a", 0..9));
    tail.start();
    tail.acknowledge = false;
    assert_eq!(tail.read().len(), 9);
    let first = tail.open[0];
    tail.tailer().committed(first);
    tail.acknowledge = true;
    tail.restart();
    assert_eq!(tail.read(), lines("a", 2..9).lines().collect::<Vec<_>>());
}

#[test]
fn dir_51_a_batch_never_spans_two_files() {
    let mut tail = Tail::new();
    tail.set("batchSize", "5");
    tail.write("web/a.log", lines("a", 0..8));
    tail.write("web/b.log", lines("b", 0..5));
    tail.start();
    tail.read();
    assert_eq!(tail.batches, [5, 3, 5]);
}

#[test]
fn dir_52_a_thousand_files_and_no_more_open_than_allowed() {
    let mut tail = Tail::new();
    tail.set("maxOpenFiles", "10");
    for n in 0..1_000 {
        tail.write(&format!("web/{n}.log"), "the same line\n");
    }
    tail.start();
    assert_eq!(tail.read().len(), 1_000);
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let root = tail.path("web");
    let ours =
        open.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|path| path.starts_with(&root))).count();
    assert!(ours <= 10, "{ours} open");
    for n in 0..1_000 {
        tail.write(&format!("web/{n}.log"), "more\n");
    }
    assert_eq!(tail.read().len(), 1_000);
}

#[test]
fn dir_53_positions_by_inode_and_path_are_taken_over_from_java() {
    let mut tail = Tail::new();
    for name in ["a", "b", "c", "d"] {
        tail.write(&format!("web/{name}.log"), format!("{name}1\n{name}2\n"));
    }
    let (root, ino) = (tail.path("web"), |name: &str| tail.ino(&format!("web/{name}.log")));
    let root = root.display();
    // a is half read; b has another path; c is beyond the end; d has another inode.
    let java = format!(
        "[{{\"inode\":{},\"pos\":3,\"file\":\"{root}/a.log\"}},{{\"inode\":{},\"pos\":3,\"file\":\"{root}/x.log\"}},\
         {{\"inode\":{},\"pos\":99,\"file\":\"{root}/c.log\"}},{{\"inode\":1,\"pos\":3,\"file\":\"{root}/d.log\"}}]",
        ino("a"),
        ino("b"),
        ino("c")
    );
    tail.write("pos/taildir_position.json", java);
    tail.start();
    assert_eq!(tail.read(), ["a2", "b1", "b2", "c1", "c2", "d1", "d2"]);
}

#[test]
fn dir_54_skip_to_end_is_for_the_files_of_the_first_look() {
    let mut tail = Tail::new();
    tail.set("skipToEnd", "true");
    tail.write("web/a.log", lines("a", 0..3));
    tail.start();
    assert!(tail.read().is_empty());
    tail.write("web/a.log", "after\n");
    tail.write("web/b.log", "new\n");
    assert_eq!(tail.read(), ["after", "new"]);
    tail.restart();
    tail.write("web/a.log", "last\n");
    assert_eq!(tail.read(), ["last"], "a position wins over skipToEnd");
}

#[test]
fn dir_55_byte_offsets_are_those_of_the_lines() {
    let mut tail = Tail::new();
    tail.set("byteOffsetHeader", "true");
    tail.set("batchSize", "2");
    tail.write("web/a.log", "0123456789\n0123456789\n0123456789\n");
    tail.start();
    assert_eq!(offsets(&tail.round().0), ["0", "11", "22"]);
    tail.write("web/a.log", "x\r\ny\n");
    assert_eq!(offsets(&tail.round().0), ["33", "36"]);
}

#[test]
fn dir_56_lf_and_crlf_end_a_line_and_a_lone_cr_does_not() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "a\nb\rc\nd\r\ne\n\r\n\n\r\r\n");
    tail.start();
    assert_eq!(tail.read(), ["a", "b\rc", "d", "e", "", "", "\r"]);
}

#[test]
fn dir_57_fix_68_c_5_length_counts_where_times_are_equal() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "one\n");
    tail.start();
    assert_eq!(tail.read(), ["one"]);
    let time = std::fs::metadata(tail.path("web/a.log")).unwrap().modified().unwrap();
    tail.write("web/a.log", "two\n");
    let file = std::fs::File::options().append(true).open(tail.path("web/a.log")).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(tail.read(), ["two"]);
}

#[test]
fn dir_58_dir_59_names_are_right_with_and_without_cache() {
    for cache in ["true", "false"] {
        let mut tail = Tail::new();
        tail.set("cachePatternMatching", cache);
        // Times of the disk are long ago for this clock: the cache may be used at once.
        tail.context.common.clock = Arc::new(SetClock::at(i64::MAX / 2_000_000));
        tail.start();
        assert!(tail.read().is_empty(), "an empty directory");
        for (names, expected) in [("ab", "ab"), ("", ""), ("cd", "cd")] {
            for name in names.chars() {
                tail.write(&format!("web/{name}.log"), format!("{name}\n"));
            }
            assert_eq!(tail.read().concat(), expected, "cache {cache}");
        }
        tail.delete("web/b.log");
        tail.write("web/a.log", "more\n");
        tail.write("web/other.txt", "x\n");
        assert_eq!(tail.read(), ["more"]);
        tail.stop();
        assert_eq!(tail.positions().matches("inode").count(), 3);
    }
}

#[test]
fn c_8_the_cache_saves_listings_while_the_directory_stays_the_same() {
    let mut tail = Tail::new();
    tail.context.common.clock = Arc::new(SetClock::at(i64::MAX / 2_000_000));
    tail.write("web/a.log", "x\n");
    let listings = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = listings.clone();
    tail.disk.before(move |doing| {
        count.fetch_add(usize::from(*doing == support::Doing::List), std::sync::atomic::Ordering::Relaxed);
        Ok(())
    });
    tail.start();
    for _ in 0..5 {
        tail.read();
    }
    assert_eq!(listings.load(std::sync::atomic::Ordering::Relaxed), 1);
    tail.write("web/b.log", "y\n");
    assert_eq!(tail.read(), ["y"]);
    assert_eq!(listings.load(std::sync::atomic::Ordering::Relaxed), 2);
}

#[test]
fn dir_60_a_directory_that_is_not_there_is_named() {
    let mut tail = Tail::with(&[("filegroups", "g"), ("filegroups.g", "@DIR@/nowhere/.*")]);
    let error = tail.try_start().unwrap_err();
    assert!(error.contains("nowhere") && error.contains("filegroups"), "{error}");
}

#[test]
fn dir_62_dir_63_the_regular_expression_is_for_whole_names() {
    let mut tail = Tail::with(&[
        ("filegroups", "ab c"),
        ("filegroups.ab", "@DIR@/web/[ab].log"),
        ("filegroups.c", "@DIR@/web//c.log.*"),
    ]);
    for name in ["a.log", "a.log.1", "b.log", "c.log.yyyy-MM-01", "c.log.yyyy-MM-02"] {
        tail.write(&format!("web/{name}"), format!("{name}\n"));
    }
    tail.start();
    assert_eq!(tail.read(), ["a.log", "b.log", "c.log.yyyy-MM-01", "c.log.yyyy-MM-02"]);
}

#[test]
fn dir_66_files_come_in_the_order_of_their_last_change() {
    let mut tail = Tail::new();
    for (n, seconds) in [(1, 10), (2, 20), (3, 50), (4, 40)] {
        let name = format!("web/{n}.log");
        tail.write(&name, format!("{n}\n"));
        let file = std::fs::File::options().append(true).open(tail.path(&name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }
    tail.start();
    assert_eq!(tail.read(), ["1", "2", "4", "3"]);
}

#[test]
fn dir_67_headers_are_those_of_group_and_file() {
    let mut tail = Tail::new();
    for (key, value) in
        [("fileHeader", "true"), ("fileHeaderKey", "path"), ("headers.g.a.b", "v"), ("headers.other.x", "w")]
    {
        tail.set(key, value);
    }
    tail.write("web/a.log", "x\n");
    tail.start();
    let path = tail.path("web/a.log").display().to_string();
    assert_eq!(tail.round().0[0].0, [("a.b".to_owned(), "v".to_owned()), ("path".to_owned(), path)]);
}

#[test]
fn dir_71_after_max_batch_count_batches_the_other_files_have_their_turn() {
    let mut tail = Tail::new();
    tail.set("batchSize", "1");
    tail.set("maxBatchCount", "2");
    tail.write("web/a.log", lines("a", 0..4));
    tail.write("web/b.log", lines("b", 0..4));
    tail.start();
    let bodies = |lines: Vec<support::Line>| {
        lines.into_iter().map(|(_, body)| String::from_utf8(body).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(bodies(tail.round().0), ["a line 0", "a line 1", "b line 0", "b line 1"]);
    assert_eq!(bodies(tail.round().0), ["a line 2", "a line 3", "b line 2", "b line 3"]);
}

#[test]
fn dir_72_fix_70_there_is_more_only_where_a_file_was_left_in_its_turn() {
    let mut tail = Tail::new();
    tail.set("batchSize", "1");
    tail.set("maxBatchCount", "2");
    tail.write("web/a.log", lines("a", 0..5));
    tail.write("web/b.log", lines("b", 0..3));
    tail.start();
    let more: Vec<bool> = (0..4).map(|_| tail.round().1).collect();
    assert_eq!(more, [true, true, false, false]);
}

#[test]
fn fix_69_c_6_a_file_that_grows_all_the_time_keeps_no_other_from_its_turn() {
    let mut tail = Tail::new();
    tail.write("web/busy.log", lines("busy", 0..10));
    tail.start();
    let path = tail.path("web/busy.log");
    // It grows by more than was read before each read of it.
    tail.disk.before(move |doing| {
        if matches!(doing, support::Doing::StatOpen) {
            let mut file = std::fs::File::options().append(true).open(&path)?;
            std::io::Write::write_all(&mut file, "busy again\n".repeat(10_000).as_bytes())?;
        }
        Ok(())
    });
    assert!(tail.round().1, "it has more than its turn");
    tail.write("web/quiet.log", "quiet\n");
    let (lines, _) = tail.round();
    assert!(lines.iter().any(|(_, body)| body == b"quiet"), "the other has its turn");
}

#[test]
fn a_half_line_waits_for_its_end_and_is_read_once() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "one\nha");
    tail.start();
    assert_eq!(tail.read(), ["one"]);
    for part in ["l", "f", "\r"] {
        tail.write("web/a.log", part);
        assert!(tail.read().is_empty());
    }
    tail.write("web/a.log", "\nnext\n");
    assert_eq!(tail.read(), ["half", "next"]);
}

#[test]
fn an_idle_file_is_closed_its_half_line_delivered_and_it_is_read_on_later() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "full\nhalf");
    tail.start();
    assert_eq!(tail.read(), ["full"]);
    tail.wait(119);
    assert!(tail.read().is_empty());
    tail.wait(2);
    assert_eq!(tail.read(), ["half"]);
    assert!(tail.read().is_empty());
    tail.write("web/a.log", " is over\n");
    assert_eq!(tail.read(), [" is over"]);
}

#[test]
fn lines_longer_than_the_limit_become_several_events_and_nothing_is_lost() {
    let mut tail = Tail::new();
    tail.set("maxLineLength", "16");
    let long = "x".repeat(16);
    for (n, text) in ["x", "xy", "xyz"].iter().enumerate() {
        tail.write("web/a.log", format!("{long}{text}{}", ["\n", "\r\n", "\n"][n]));
    }
    tail.write("web/a.log", format!("{long}\n{long}\r\n{long}\rhalf"));
    tail.start();
    let long = long.as_str();
    assert_eq!(tail.read(), [long, "x", long, "xy", long, "xyz", long, long, long]);
    tail.write("web/a.log", "\n");
    assert_eq!(tail.read(), ["\rhalf"]);
}

#[test]
fn a_line_longer_than_any_read_comes_whole() {
    let mut tail = Tail::new();
    let long = "0123456789abcdef".repeat(100_000);
    tail.write("web/a.log", format!("short\n{long}\n"));
    tail.write("web/a.log", &long);
    tail.start();
    assert_eq!(tail.read(), ["short", &long]);
    tail.write("web/a.log", "!\n");
    assert_eq!(tail.read(), [format!("{long}!")]);
}

/// Characters lie on every edge of what is read at a time, and some bytes are none.
#[test]
fn c_15_bytes_come_as_they_are_wherever_reads_end() {
    let mut tail = Tail::new();
    let mut text = Vec::new();
    let mut n = 0;
    while text.len() < 3_000_000 {
        let line = ["\u{20AC}", "\u{1F600}", "\u{e9}", "x"][n % 4].repeat(1 + n % 113);
        text.extend_from_slice(line.as_bytes());
        text.extend_from_slice([&b""[..], b"\xFF\xC3", b"\xE2\x82"][n % 3]);
        text.push(b'\n');
        n += 1;
    }
    tail.write("web/a.log", &text);
    tail.start();
    let mut all = Vec::new();
    loop {
        let (lines, more) = tail.round();
        for (_, body) in lines {
            all.extend(body);
            all.push(b'\n');
        }
        if !more {
            break;
        }
    }
    assert!(all == text, "{} bytes of {}", all.len(), text.len());
}

#[test]
fn many_lines_come_in_full_batches_over_all_reads() {
    let mut tail = Tail::new();
    tail.set("batchSize", "1000");
    let text = lines(&"x".repeat(700), 0..5_500);
    tail.write("web/a.log", &text);
    tail.start();
    let mut all = Vec::new();
    let mut batches = Vec::new();
    loop {
        let (lines, more) = tail.round();
        all.extend(lines.into_iter().map(|(_, body)| String::from_utf8(body).unwrap()));
        batches.extend(tail.batches.clone());
        if !more {
            break;
        }
    }
    assert_eq!(all, text.lines().collect::<Vec<_>>());
    // The first reads are too small for a whole batch.
    assert!(batches.len() <= 9, "{batches:?}");
}

#[test]
fn pipes_and_directories_whose_names_match_are_left_alone() {
    let mut tail = Tail::new();
    std::fs::create_dir(tail.path("web/dir.log")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        tail.path("web/pipe.log"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    std::os::unix::fs::symlink(tail.path("real"), tail.path("web/link.log")).unwrap();
    tail.write("real", "by a link\n");
    tail.start();
    assert_eq!(tail.read(), ["by a link"]);
}
