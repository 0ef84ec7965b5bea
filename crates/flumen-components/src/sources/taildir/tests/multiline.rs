//! Events of several lines.

use super::*;

fn stacks() -> Tail {
    let mut tail = Tail::new();
    tail.set("multiline.start", r"^\d\d:");
    tail
}

#[test]
fn c_11_lines_that_belong_together_are_one_event() {
    let mut tail = stacks();
    tail.write("web/a.log", "10:00 error\n\tat x\n\r\n\tat y\r\n10:01 fine\n10:02 error\n  more\n");
    tail.start();
    assert_eq!(tail.read(), ["10:00 error\n\tat x\n\r\n\tat y", "10:01 fine"]);
    tail.write("web/a.log", "  and more\n");
    assert!(tail.read().is_empty(), "the last one may go on");
    tail.write("web/a.log", "10:03\n");
    assert_eq!(tail.read(), ["10:02 error\n  more\n  and more"]);
}

#[test]
fn an_event_is_over_when_no_line_comes_in_time() {
    let mut tail = stacks();
    tail.set("byteOffsetHeader", "true");
    tail.write("web/a.log", "10:00 error\n\tat x\nhalf");
    tail.start();
    assert!(tail.read().is_empty());
    let wake = tail.tailer().wake_at().expect("it wakes by itself");
    assert_eq!(wake - tail.now, Duration::from_secs(2));
    tail.wait(1);
    tail.write("web/a.log", " line\n");
    assert!(tail.read().is_empty(), "it has gone on");
    tail.wait(1);
    assert!(tail.read().is_empty());
    tail.wait(1);
    assert_eq!(tail.read(), ["10:00 error\n\tat x\nhalf line"]);
    tail.restart();
    assert!(tail.read().is_empty());
}

#[test]
fn events_have_limits_of_lines_and_bytes() {
    let mut tail = stacks();
    tail.set("multiline.maxLines", "3");
    tail.set("maxLineLength", "20");
    tail.write("web/a.log", "10:00\na\nb\nc\nd\n10:01 aaaaaaa\nbbbbbbbbbb\n10:02\n");
    tail.start();
    assert_eq!(tail.read(), ["10:00\na\nb", "c\nd", "10:01 aaaaaaa", "bbbbbbbbbb"]);
    tail.wait(3);
    assert_eq!(tail.read(), ["10:02"]);
}

#[test]
fn lines_before_the_first_start_are_an_event_and_a_closed_file_ends_one() {
    let mut tail = stacks();
    tail.write("web/a.log", "\tat x\n\tat y\n10:00 error\n\tat z\nhalf");
    tail.start();
    assert_eq!(tail.read(), ["\tat x\n\tat y"]);
    tail.delete("web/a.log");
    tail.read();
    tail.wait(11);
    assert_eq!(tail.read(), ["10:00 error\n\tat z\nhalf"]);
}

#[test]
fn an_event_that_was_not_over_is_read_whole_after_a_restart() {
    let mut tail = stacks();
    tail.write("web/a.log", "10:00 error\n\tat x\n");
    tail.start();
    assert!(tail.read().is_empty());
    tail.restart();
    tail.write("web/a.log", "\tat y\n10:01\n");
    assert_eq!(tail.read(), ["10:00 error\n\tat x\n\tat y"]);
}
