//! Copies that rotation makes: truncated originals, packed files, and files that are only alike.

use super::*;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn copytruncate_within_the_pattern_gives_each_line_once() {
    for seen_between in [false, true] {
        let mut tail = Tail::new();
        tail.write("web/a.log", lines("a", 0..5));
        tail.start();
        assert_eq!(tail.read().len(), 5);
        tail.write("web/a.log", lines("late", 0..2));
        tail.copy("web/a.log", "web/a.log.1");
        let mut all = Vec::new();
        if seen_between {
            all.extend(tail.read());
        }
        tail.truncate("web/a.log");
        tail.write("web/a.log", "new\n");
        all.extend(tail.read());
        all.extend(tail.read());
        all.sort();
        assert_eq!(all, ["late line 0", "late line 1", "new"], "seen between: {seen_between}");
        tail.wait(60);
        assert!(tail.read().is_empty());
    }
}

#[test]
fn copytruncate_with_much_new_content_gives_each_line_once() {
    let mut tail = Tail::new();
    tail.write("web/a.log", lines("a", 0..5));
    tail.start();
    assert_eq!(tail.read().len(), 5);
    tail.write("web/a.log", "late\n");
    tail.copy("web/a.log", "web/a.log.1");
    tail.truncate("web/a.log");
    let new = lines("new", 0..500);
    tail.write("web/a.log", &new);
    let mut all = tail.read();
    all.extend(tail.read());
    let mut expected: Vec<_> = new.lines().map(str::to_owned).collect();
    expected.push("late".to_owned());
    all.sort();
    expected.sort();
    assert_eq!(all, expected);
}

#[test]
fn a_copy_that_was_made_while_nobody_looked_is_read_from_where_the_original_was_left() {
    let mut tail = Tail::new();
    tail.write("web/a.log", lines("a", 0..5));
    tail.start();
    assert_eq!(tail.read().len(), 5);
    tail.stop();
    tail.write("web/a.log", "late\n");
    tail.copy("web/a.log", "web/a.log.1");
    tail.truncate("web/a.log");
    tail.write("web/a.log", "new\n");
    tail.start();
    let mut all = tail.read();
    all.sort();
    assert_eq!(all, ["late", "new"]);
}

#[test]
fn a_file_that_is_only_alike_waits_a_little_and_is_read_whole() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "banner of this program\n");
    tail.start();
    assert_eq!(tail.read(), ["banner of this program"]);
    tail.write("web/b.log", "banner of this program\n");
    assert!(tail.read().is_empty(), "it may be a copy");
    let wake = tail.tailer().wake_at().expect("it wakes by itself");
    assert!(wake <= tail.now + Duration::from_secs(5));
    tail.write("web/a.log", "a goes on\n");
    assert_eq!(tail.read(), ["a goes on"]);
    tail.wait(6);
    assert_eq!(tail.read(), ["banner of this program"]);
    tail.write("web/c.log", "banner of this program\nand something of its own\n");
    assert_eq!(tail.read(), ["banner of this program", "and something of its own"], "no copy of anything");
}

#[test]
fn acknowledgements_of_the_original_count_for_its_copy() {
    let mut tail = Tail::new();
    tail.set("batchSize", "1");
    tail.write("web/a.log", lines("long enough", 0..4));
    tail.start();
    tail.acknowledge = false;
    assert_eq!(tail.read().len(), 4);
    tail.copy("web/a.log", "web/a.log.1");
    tail.truncate("web/a.log");
    assert!(tail.read().is_empty());
    // Two of four were stored when it is killed.
    let acks: Vec<_> = tail.open.drain(..2).collect();
    for ack in acks {
        tail.tailer().committed(ack);
    }
    tail.acknowledge = true;
    tail.restart();
    assert_eq!(tail.read(), ["long enough line 2", "long enough line 3"]);
}

#[test]
fn compressed_files_are_unpacked_once_also_over_a_restart() {
    let mut tail = Tail::new();
    let text = lines("packed", 0..30_000);
    tail.write("web/a.log.gz", packed(&text));
    // Two members, and no newline at the end.
    tail.write("web/b.log.gz", packed("one\ntw"));
    tail.write("web/b.log.gz", packed("o\nthree"));
    tail.start();
    let all = tail.read();
    let (a, b): (Vec<_>, Vec<_>) = all.into_iter().partition(|line| line.starts_with("packed"));
    assert_eq!(a, text.lines().collect::<Vec<_>>());
    assert_eq!(b, ["one", "two", "three"]);
    assert!(tail.read().is_empty());
    tail.restart();
    assert!(tail.read().is_empty());
    tail.stop();
    let _ = std::fs::remove_file(tail.path("pos/taildir_position.json.marks"));
    tail.start();
    assert!(tail.read().is_empty(), "by Java's file alone, too");
}

#[test]
fn a_compressed_file_goes_on_where_it_was_left() {
    let mut tail = Tail::new();
    tail.set("batchSize", "10");
    let text = lines("packed", 0..5_000);
    tail.write("web/a.log.gz", packed(&text));
    tail.start();
    tail.acknowledge = false;
    assert_eq!(tail.read().len(), 5_000);
    let acks: Vec<_> = tail.open.drain(..100).collect();
    for ack in acks {
        tail.tailer().committed(ack);
    }
    tail.acknowledge = true;
    tail.restart();
    assert_eq!(tail.read(), text.lines().skip(1_000).collect::<Vec<_>>());
}

#[test]
fn passing_over_a_long_compressed_file_leaves_the_others_their_turn() {
    let mut tail = Tail::new();
    tail.set("batchSize", "10000");
    let text = lines(&"x".repeat(1_000), 0..50_000);
    tail.write("web/a.log.gz", packed(&text));
    tail.start();
    assert_eq!(tail.read().len(), 50_000);
    let end = format!("\"pos\":{},", text.len());
    tail.stop();
    // All but the last line was acknowledged.
    let before = text.len() - lines(&"x".repeat(1_000), 49_999..50_000).len();
    let positions = tail.positions().replace(&end, &format!("\"pos\":{before},"));
    std::fs::write(tail.position_file(), positions).unwrap();
    tail.write("web/b.log", "other\n");
    tail.start();
    let (lines, more) = tail.round();
    assert_eq!((lines.len(), more), (1, true), "it is passed over bit by bit");
    assert_eq!(tail.read().len(), 1);
}

#[test]
fn a_rotated_file_that_is_packed_is_not_read_twice() {
    let mut tail = Tail::new();
    let text = lines("line of the day", 0..100);
    tail.write("web/a.log", &text);
    tail.start();
    assert_eq!(tail.read().len(), 100);
    tail.write("web/a.log", "late\n");
    tail.rename("web/a.log", "web/a.log.1");
    tail.write("web/a.log", "new\n");
    assert_eq!(tail.read(), ["late", "new"]);
    // gzip makes the packed file first and then removes the original.
    tail.write("web/a.log.1.gz", packed(&format!("{text}late\n")));
    assert!(tail.read().is_empty());
    tail.delete("web/a.log.1");
    for _ in 0..5 {
        tail.wait(3);
        assert!(tail.read().is_empty());
    }
    tail.restart();
    assert!(tail.read().is_empty());
}

#[test]
fn a_rotated_file_that_is_packed_unread_is_read_packed() {
    let mut tail = Tail::new();
    let text = lines("line of the day", 0..100);
    tail.write("web/a.log", &text);
    tail.start();
    assert_eq!(tail.read().len(), 100);
    tail.stop();
    tail.delete("web/a.log");
    tail.write("web/a.log.1.gz", packed(&format!("{text}late\n")));
    tail.start();
    assert_eq!(tail.read(), ["late"]);
}

#[test]
fn a_compressed_file_that_is_still_written_or_damaged_holds_up_nobody() {
    let mut tail = Tail::new();
    let whole = packed(&lines("packed", 0..2_000));
    tail.write("web/a.log.gz", &whole[..whole.len() / 2]);
    tail.write("web/b.log", "other\n");
    tail.start();
    assert_eq!(tail.read(), ["other"]);
    tail.write("web/a.log.gz", &whole[whole.len() / 2..]);
    assert_eq!(tail.read().len(), 2_000);
    let mut damaged = packed(&lines("damaged", 0..2_000));
    let middle = damaged.len() / 2;
    damaged.truncate(middle);
    tail.write("web/c.log.gz", &damaged);
    assert!(tail.read().is_empty());
    tail.wait(10);
    let lines = tail.read();
    assert!(!lines.is_empty() && lines.len() < 2_000, "{}", lines.len());
    let failures = tail.context.metrics.read_fail.get();
    for _ in 0..5 {
        assert!(tail.read().is_empty());
    }
    assert_eq!(tail.context.metrics.read_fail.get(), failures, "it is not tried again and again");
}

#[test]
fn unpacking_can_be_switched_off() {
    let mut tail = Tail::new();
    tail.set("decompress", "false");
    tail.write("web/a.log.gz", packed("x\n"));
    tail.write("web/a.log.gz", "\n");
    tail.start();
    assert!(!tail.read().is_empty());
    assert!(!tail.read().contains(&"x".to_owned()));
}
