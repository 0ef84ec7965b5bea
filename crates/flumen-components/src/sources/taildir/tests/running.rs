//! The whole source with its thread, and channels that refuse.

use super::*;
use crate::testing::{LIMIT, bodies, channel, processor, until};
use flumen_core::{
    channel::Channel,
    testing::{Once, ScriptedChannel},
};
use std::sync::Arc;

/// Runs a source while `work` watches, and stops it then.
async fn running(tail: &Tail, channel: &Arc<ScriptedChannel>, work: impl AsyncFnOnce()) {
    let mut source = tail.source();
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        work().await;
        stop.request();
    };
    let (end, ()) =
        tokio::join!(timeout(LIMIT, Source::run(&mut source, processor(&[channel]), shutdown)), work);
    end.expect("it stops").unwrap();
}

fn stored(channel: &Arc<ScriptedChannel>) -> Vec<String> {
    bodies(&channel.contents())
}

#[tokio::test]
async fn what_is_written_comes_soon_and_positions_are_there_at_the_end() {
    let mut tail = Tail::new();
    tail.set("backoffSleepIncrement", "10");
    tail.write("web/a.log", "one\n");
    let channel = channel(1_000, 100);
    running(&tail, &channel, async || {
        until("the first line", || channel.depth().queued == 1).await;
        tail.write("web/a.log", "two\n");
        until("the second line", || channel.depth().queued == 2).await;
    })
    .await;
    assert_eq!(stored(&channel), ["one", "two"]);
    assert!(tail.positions().contains("\"pos\":8,"), "{}", tail.positions());
}

#[tokio::test]
async fn a_change_ends_the_pause_early() {
    let mut tail = Tail::new();
    tail.set("backoffSleepIncrement", "3600000");
    tail.set("maxBackoffSleep", "3600000");
    let channel = channel(1_000, 100);
    running(&tail, &channel, async || {
        for n in 1..=5 {
            // New files, growing ones and renamed ones.
            tail.write("web/a.log", "line\n");
            until("the line", || channel.depth().queued == 2 * n - 1).await;
            tail.write(&format!("web/{n}.log"), format!("first of {n}\n"));
            until("the line of a new file", || channel.depth().queued == 2 * n).await;
        }
    })
    .await;
}

#[tokio::test]
async fn without_watching_the_pause_is_what_it_says() {
    let mut tail = Tail::new();
    tail.set("watchDirectories", "false");
    tail.set("backoffSleepIncrement", "50");
    tail.set("maxBackoffSleep", "50");
    tail.write("web/a.log", "line\n");
    let channel = channel(1_000, 100);
    running(&tail, &channel, async || {
        until("the line", || channel.depth().queued == 1).await;
        let before = Instant::now();
        for n in 2..5 {
            tail.write("web/a.log", "line\n");
            until("the next line", || channel.depth().queued == n).await;
        }
        assert!(before.elapsed() >= Duration::from_millis(100), "two whole pauses at least");
    })
    .await;
}

#[tokio::test]
async fn positions_are_written_while_it_runs() {
    let mut tail = Tail::new();
    tail.set("writePosInterval", "5");
    tail.write("web/a.log", "one\n");
    let channel = channel(1_000, 100);
    running(&tail, &channel, async || {
        until("positions", || tail.positions().contains("\"pos\":4,")).await;
    })
    .await;
}

#[tokio::test]
async fn dir_70_a_refused_batch_comes_again_and_nothing_overtakes_it() {
    for once in [Once::PutFails, Once::PutCommitFails, Once::PutFull] {
        let mut tail = Tail::new();
        tail.set("batchSize", "10");
        let text = lines("a", 0..100);
        tail.write("web/a.log", &text);
        let channel = channel(1_000, 100);
        channel.once(once);
        running(&tail, &channel, async || until("all lines", || channel.depth().queued == 100).await).await;
        let mut all = stored(&channel);
        if once == Once::PutCommitFails {
            // Those behind it were on their way already.
            all.sort_by_key(|line| line.rsplit(' ').next().unwrap().parse::<u32>().unwrap());
        }
        assert_eq!(all, text.lines().collect::<Vec<_>>(), "{once:?}");
        assert!(tail.positions().contains(&format!("\"pos\":{},", text.len())));
    }
}

#[tokio::test]
async fn while_a_commit_is_not_answered_the_position_waits_and_the_others_go_on() {
    let mut tail = Tail::new();
    tail.set("batchSize", "1");
    tail.set("writePosInterval", "1");
    tail.write("web/a.log", lines("a", 0..20));
    let channel = channel(1_000, 100);
    channel.answer_late(true);
    running(&tail, &channel, async || {
        let mut answered = 0;
        // The first stays open; eight are at most.
        until("eight open puts", || {
            channel.depth().reserved + channel.depth().queued >= 8 || channel.depth().reserved == 0
        })
        .await;
        assert!(!tail.positions().contains("\"pos\":9,"), "{}", tail.positions());
        until("all answered", || {
            answered += usize::from(channel.answer(true));
            answered == 20
        })
        .await;
    })
    .await;
    assert_eq!(stored(&channel).len(), 20);
    assert!(tail.positions().contains(&format!("\"pos\":{},", lines("a", 0..20).len())));
}

#[tokio::test]
async fn stopped_while_the_channel_is_full_nothing_is_acknowledged_and_the_next_run_delivers() {
    let mut tail = Tail::new();
    tail.write("web/a.log", lines("a", 0..5));
    let full = channel(0, 100);
    running(&tail, &full, async || {
        until("a refused put", || full.missed() > 0).await;
    })
    .await;
    assert!(!tail.positions().contains("\"pos\":45"), "{}", tail.positions());
    let channel = channel(1_000, 100);
    running(&tail, &channel, async || until("all lines", || channel.depth().queued == 5).await).await;
    assert_eq!(stored(&channel), lines("a", 0..5).lines().collect::<Vec<_>>());
    tail.start();
    assert!(tail.read().is_empty());
}

#[tokio::test]
async fn events_of_several_lines_come_when_their_time_is_over_without_a_change() {
    let mut tail = Tail::new();
    tail.set("multiline.start", "^x");
    tail.set("multiline.timeout", "10");
    tail.write("web/a.log", "x\ny\n");
    let channel = channel(1_000, 100);
    running(&tail, &channel, async || until("the event", || channel.depth().queued == 1).await).await;
    assert_eq!(stored(&channel), ["x\ny"]);
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    for (settings, expected) in
        [(&[("filegroups", "")][..], "filegroups"), (&[("filegroups", "g")], "filegroups.g")]
    {
        let tail = Tail::with(settings);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tail.source())).unwrap_err();
        let text = panicked.downcast_ref::<String>().unwrap();
        assert!(text.contains(expected), "{text}");
    }
    for bad in ["no-slash", "/dir/", "/dir/(", "/dir/["] {
        assert!(group::parse(bad).is_err(), "{bad}");
    }
    assert_eq!(position_file("~/x", "/home/u"), PathBuf::from("/home/u/x"));
}
