//! Copies that are shorter than what was read, copies under names that do not match, and what is told of lines that are nowhere.

use super::*;
use crate::testing::{LIMIT, bodies, channel, logged, processor, until};
use flumen_core::channel::{Channel, begin_take};

/// The copy is made, more is read of the original, and then that is emptied.
#[test]
fn a_copy_that_has_less_than_was_read_gives_no_line_twice() {
    for (n_before, n_after, half) in [(3, 2, ""), (3, 2, "half a li"), (200, 1, ""), (50_000, 3_000, "half")]
    {
        for is_seen_between in [false, true] {
            let mut tail = Tail::new();
            tail.set("batchSize", "100");
            tail.write("web/a.log", lines("a", 0..n_before) + half);
            tail.start();
            assert_eq!(tail.read().len(), n_before);
            tail.copy("web/a.log", "web/a.log.1");
            if is_seen_between {
                assert!(tail.read().is_empty(), "it may be a copy");
            }
            tail.write("web/a.log", format!("{}\n", &"ne"[..2]) + &lines("late", 1..n_after));
            assert_eq!(tail.read().len(), n_after, "{n_before} {half}");
            tail.truncate("web/a.log");
            tail.write("web/a.log", "new\n");
            let mut all = tail.read();
            for _ in 0..5 {
                tail.wait(3);
                all.extend(tail.read());
            }
            assert_eq!(all, ["new"], "{n_before} {half} {is_seen_between}");
            tail.restart();
            assert!(tail.read().is_empty());
        }
    }
}

/// It has the same first lines as content that is gone, and is none of it.
#[test]
fn a_file_that_begins_as_one_that_was_emptied_is_read_whole() {
    for banner in [2, 100] {
        let mut tail = Tail::new();
        tail.write("web/a.log", lines("banner", 0..banner) + &lines("a", 0..1_000));
        tail.start();
        assert_eq!(tail.read().len(), banner + 1_000);
        tail.truncate("web/a.log");
        let own = lines("banner", 0..banner) + &lines("of its own", 0..300);
        tail.write("web/b.log", &own);
        let mut all = tail.read();
        tail.wait(6);
        all.extend(tail.read());
        assert_eq!(all, own.lines().collect::<Vec<_>>(), "{banner}");
    }
}

#[test]
fn what_is_left_of_an_emptied_file_is_read_from_a_copy_whose_name_does_not_match() {
    for is_down in [false, true] {
        let mut tail = Tail::with(&[
            ("filegroups", "g"),
            ("filegroups.g", "@DIR@/web/app\\.log"),
            ("fileHeader", "true"),
        ]);
        tail.write("web/app.log", lines("a", 0..50));
        // It is shorter than what was read, and an older one.
        tail.copy("web/app.log", "web/app.log.old");
        tail.write("web/app.log", lines("b", 0..5));
        tail.start();
        assert_eq!(tail.read().len(), 55);
        if is_down {
            tail.stop();
        }
        tail.write("web/app.log", "late\n");
        tail.copy("web/app.log", "web/app.log.1");
        tail.truncate("web/app.log");
        tail.write("web/app.log", "new\n");
        if is_down {
            tail.start();
        }
        let (mut found, _) = tail.round();
        found.extend(tail.round().0);
        let header = ("file".to_owned(), tail.path("web/app.log").display().to_string());
        let mut all: Vec<_> = found.iter().map(|(_, body)| String::from_utf8_lossy(body)).collect();
        all.sort();
        assert_eq!(all, ["late", "new"], "down: {is_down}");
        assert!(found.iter().all(|(headers, _)| headers.contains(&header)));
        tail.wait(20);
        assert!(tail.read().is_empty());
        tail.restart();
        assert!(tail.read().is_empty());
    }
}

#[test]
fn what_was_moved_away_unread_while_nobody_looked_is_told_once() {
    let said = logged(async {
        let mut tail = Tail::new();
        tail.set("batchSize", "10");
        tail.write("web/a.log", lines("unread", 0..30));
        tail.write("web/b.log", lines("read", 0..5));
        tail.start();
        tail.acknowledge = false;
        assert_eq!(tail.read().len(), 35);
        let acks: Vec<_> = tail.open.drain(..).collect();
        for ack in acks.into_iter().skip(1) {
            tail.tailer().committed(ack);
        }
        tail.stop();
        let text = tail.positions();
        std::fs::create_dir(tail.path("elsewhere")).unwrap();
        tail.rename("web/a.log", "elsewhere/a.log");
        tail.rename("web/b.log", "elsewhere/b.log");
        // Half of the first was acknowledged when it was stopped.
        let (read, half) = (format!("\"pos\":{},", lines("unread", 0..30).len()), "\"pos\":150,");
        assert!(text.contains(&read), "{text}");
        std::fs::write(tail.position_file(), text.replace(&read, half)).unwrap();
        tail.start();
        for _ in 0..5 {
            assert!(tail.read().is_empty());
            tail.wait(5);
        }
        assert!(tail.context.metrics.read_fail.get() > 0);
    });
    let told: Vec<&str> = said.lines().filter(|line| line.contains("are lost")).collect();
    assert_eq!(told.len(), 2, "{said}");
    assert!(told[0].contains("a.log") && told[0].contains("position=150"), "{said}");
}

#[test]
fn what_is_moved_away_while_it_is_not_open_is_told() {
    let said = logged(async {
        let mut tail = Tail::new();
        tail.write("web/a.log", "one\n");
        tail.start();
        assert_eq!(tail.read(), ["one"]);
        tail.wait(200);
        // Closed as idle.
        assert!(tail.read().is_empty());
        tail.write("web/a.log", "two\n");
        let now = tail.now;
        tail.tailer().scan(now);
        tail.delete("web/a.log");
        assert!(tail.read().is_empty());
        tail.wait(11);
        tail.read();
        tail.wait(11);
        tail.read();
    });
    assert_eq!(said.matches("are lost").count(), 1, "{said}");
}

/// Rotated twice out of the pattern, while no channel takes anything.
#[tokio::test]
async fn files_that_come_and_are_renamed_while_the_channel_is_full_are_read() {
    let mut tail = Tail::with(&[("filegroups", "g"), ("filegroups.g", "@DIR@/web/app\\.log")]);
    tail.set("batchSize", "1");
    tail.write("web/app.log", lines("a", 0..50));
    let channel = channel(5, 5);
    let mut source = tail.source();
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        until("a full channel", || channel.missed() > 0).await;
        tail.rename("web/app.log", "web/app.log.1");
        tail.write("web/app.log", lines("b", 0..5));
        let missed = channel.missed();
        // Looked for meanwhile, as often as it is offered again.
        until("two more offers", || channel.missed() > missed + 1).await;
        tail.rename("web/app.log", "web/app.log.2");
        tail.write("web/app.log", lines("c", 0..5));
        let mut all = Vec::new();
        while all.len() < 60 {
            until("lines", || channel.depth().queued > 0).await;
            let taken = begin_take(&*channel, 5).await.unwrap().expect("there are lines");
            all.extend(bodies(taken.batch()));
            taken.commit().await.unwrap();
        }
        stop.request();
        all
    };
    let (end, mut all) =
        tokio::join!(timeout(LIMIT, Source::run(&mut source, processor(&[&channel]), shutdown)), work);
    end.expect("it stops").unwrap();
    let text = lines("a", 0..50) + &lines("b", 0..5) + &lines("c", 0..5);
    let mut expected: Vec<_> = text.lines().collect();
    all.sort();
    expected.sort_unstable();
    assert_eq!(all, expected);
}
