//! Ends and starts: in good order, by a kill, and with what happened between them.

use super::*;

#[test]
fn dir_65_started_and_stopped_again_and_again_each_line_comes_once() {
    let mut tail = Tail::new();
    let mut all = Vec::new();
    for n in 0..5 {
        tail.start();
        tail.write("web/a.log", lines(&n.to_string(), 0..3));
        all.extend(tail.read());
        tail.stop();
    }
    assert_eq!(all.len(), 15);
}

#[test]
fn a_file_renamed_while_nobody_looked_is_read_on() {
    let mut tail = Tail::new();
    tail.write("web/a.log", lines("a", 0..3));
    tail.start();
    assert_eq!(tail.read().len(), 3);
    tail.stop();
    tail.write("web/a.log", "late\n");
    tail.rename("web/a.log", "web/a.log.1");
    tail.write("web/a.log", "new\n");
    tail.start();
    assert_eq!(tail.read(), ["late", "new"]);
}

#[test]
fn a_file_renamed_out_of_the_pattern_while_nobody_looked_is_read_to_its_end() {
    let mut tail =
        Tail::with(&[("filegroups", "g"), ("filegroups.g", "@DIR@/web/app\\.log"), ("fileHeader", "true")]);
    tail.write("web/app.log", lines("a", 0..3));
    tail.start();
    assert_eq!(tail.read().len(), 3);
    tail.stop();
    tail.write("web/app.log", "late\n");
    tail.rename("web/app.log", "web/app.log.1");
    tail.write("web/app.log", "new\n");
    tail.start();
    let (lines, _) = tail.round();
    let bodies: Vec<_> = lines.iter().map(|(_, body)| body.as_slice()).collect();
    assert_eq!(bodies, [&b"late"[..], b"new"]);
    assert!(lines[0].0[0].1.ends_with("/web/app.log"), "{:?}", lines[0].0);
}

#[test]
fn c_10_a_file_replaced_while_nobody_looked_is_read_from_its_start() {
    let mut tail = Tail::new();
    tail.write("web/a.log", lines("old", 0..3));
    tail.start();
    assert_eq!(tail.read().len(), 3);
    tail.stop();
    // The same inode with other and more content.
    tail.truncate("web/a.log");
    let text = lines("another content", 0..10);
    tail.write("web/a.log", &text);
    tail.start();
    assert_eq!(tail.read(), text.lines().collect::<Vec<_>>());
}

#[test]
fn killed_at_any_write_of_positions_no_line_is_lost() {
    for fail_at in 1..12 {
        let mut tail = Tail::new();
        tail.set("batchSize", "2");
        tail.set("writePosInterval", "1");
        tail.write("web/a.log", lines("a", 0..10));
        tail.start();
        let mut writes = 0;
        tail.disk.before(move |doing| {
            writes += i32::from(*doing == support::Doing::Replace);
            if writes >= fail_at { Err(std::io::Error::other("killed")) } else { Ok(()) }
        });
        let mut all = Vec::new();
        for n in 0..4 {
            // Killed: nothing works any more, and nothing says goodbye.
            let lines = tail.round().0;
            all.extend(lines.into_iter().map(|(_, body)| String::from_utf8(body).unwrap()));
            tail.write("web/a.log", lines_of(n));
            let now = tail.now;
            tail.tailer().write_positions(now, false);
        }
        tail.kill();
        tail.disk.healthy();
        tail.start();
        all.extend(tail.read());
        let mut expected: Vec<String> = lines("a", 0..10).lines().map(str::to_owned).collect();
        expected.extend((0..4).flat_map(|n| lines_of(n).lines().map(str::to_owned).collect::<Vec<_>>()));
        for line in &expected {
            assert!(all.contains(line), "{line} is lost, killed at write {fail_at}");
        }
        tail.stop();
    }
}

fn lines_of(n: usize) -> String {
    lines(&format!("round {n}"), 0..3)
}

#[test]
fn positions_are_written_after_the_commit_and_not_before() {
    let mut tail = Tail::new();
    tail.set("batchSize", "1");
    tail.write("web/a.log", "a\nb\nc\n");
    tail.start();
    tail.acknowledge = false;
    assert_eq!(tail.read().len(), 3);
    let now = tail.now;
    tail.tailer().write_positions(now, true);
    assert!(tail.positions().contains("\"pos\":0,"), "{}", tail.positions());
    for (n, pos) in [(0, 2), (1, 4), (2, 6)] {
        let ack = tail.open[n];
        tail.tailer().committed(ack);
        tail.tailer().write_positions(now, true);
        assert!(tail.positions().contains(&format!("\"pos\":{pos},")), "{}", tail.positions());
    }
}

#[test]
fn positions_are_written_when_their_time_has_come_and_something_has_changed() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "a\n");
    tail.start();
    let now = tail.now;
    tail.tailer().write_positions(now, false);
    tail.read();
    tail.tailer().write_positions(now, false);
    tail.wait(1);
    let now = tail.now;
    tail.tailer().write_positions(now, false);
    assert_eq!(tail.positions(), "", "not yet");
    tail.wait(2);
    let now = tail.now;
    assert!(tail.tailer().wake_at().is_some_and(|at| at <= now));
    tail.tailer().write_positions(now, false);
    assert!(tail.positions().contains("\"pos\":2,"));
    assert_eq!(tail.tailer().wake_at(), None, "nothing to do");
}

#[test]
fn a_stop_before_the_first_look_keeps_the_positions() {
    let mut tail = Tail::new();
    tail.write("web/a.log", "a\n");
    tail.start();
    tail.read();
    tail.stop();
    let before = tail.positions();
    tail.start();
    tail.stop();
    assert_eq!(tail.positions(), before);
}
