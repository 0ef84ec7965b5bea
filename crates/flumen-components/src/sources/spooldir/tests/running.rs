//! The whole source with its thread, and channels that refuse.

use super::*;
use crate::testing::{LIMIT, bodies, channel, processor, until};
use flumen_core::{
    channel::Channel,
    testing::{Once, ScriptedChannel},
};
use std::sync::Arc;

/// Runs a source while `work` watches, and stops it then.
async fn running(spooling: &Spooling, channel: &Arc<ScriptedChannel>, work: impl AsyncFnOnce()) {
    let mut source = spooling.source();
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        work().await;
        stop.request();
    };
    let run = timeout(LIMIT, Source::run(&mut source, processor(&[channel]), shutdown));
    let (end, ()) = tokio::join!(run, work);
    end.expect("it stops").unwrap();
}

fn stored(channel: &Arc<ScriptedChannel>) -> Vec<String> {
    bodies(&channel.contents())
}

#[tokio::test]
async fn dir_35_started_and_stopped_again_and_again_each_line_comes_once() {
    let mut spooling = Spooling::with(&[("pollDelay", "5"), ("batchSize", "2")]);
    let channel = channel(1_000, 100);
    for n in 0..10 {
        spooling.write_at(&format!("spool/{n}"), lines(&n.to_string(), 0..7), n);
        running(&spooling, &channel, async || {
            until("some lines", || channel.depth().queued > 7 * n).await;
        })
        .await;
    }
    spooling.set("batchSize", "100");
    running(&spooling, &channel, async || until("all lines", || channel.depth().queued == 70).await).await;
    let expected: Vec<String> = (0..10)
        .flat_map(|n| lines(&n.to_string(), 0..7).lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert_eq!(stored(&channel), expected);
    assert!(spooling.names("spool").iter().all(|name| name.ends_with(".COMPLETED")));
}

#[tokio::test]
async fn dir_37_fix_64_c_16_a_full_channel_is_waited_for() {
    let spooling = Spooling::with(&[("batchSize", "2"), ("maxBackoff", "5")]);
    spooling.write("spool/a", lines("a", 0..8));
    let channel = channel(2, 2);
    let mut all = Vec::new();
    running(&spooling, &channel, async || {
        until("a refusal", || channel.missed() > 0).await;
        while all.len() < 8 {
            until("two events", || channel.depth().queued == 2).await;
            let taken = channel.try_take(2).unwrap().unwrap();
            all.extend(bodies(taken.batch()));
            taken.commit().await.unwrap();
        }
    })
    .await;
    assert_eq!(all.join("\n") + "\n", lines("a", 0..8));
    assert_eq!(spooling.names("spool"), ["a.COMPLETED"]);
}

#[tokio::test]
async fn dir_41_a_refused_batch_comes_again_and_nothing_overtakes_it() {
    for once in [Once::PutFails, Once::PutCommitFails, Once::PutFull] {
        let spooling = Spooling::with(&[("batchSize", "10"), ("maxBackoff", "5")]);
        spooling.write("spool/a", lines("a", 0..100));
        let channel = channel(1_000, 100);
        channel.once(once);
        running(&spooling, &channel, async || until("all lines", || channel.depth().queued == 100).await)
            .await;
        let mut all = stored(&channel);
        if once == Once::PutCommitFails {
            // Those behind it were on their way already.
            all.sort_by_key(|line| line.rsplit(' ').next().unwrap().parse::<u32>().unwrap());
        }
        assert_eq!(all.join("\n") + "\n", lines("a", 0..100), "{once:?}");
        assert_eq!(spooling.names("spool"), ["a.COMPLETED"]);
    }
}

#[tokio::test]
async fn fix_62_fix_63_many_small_and_empty_files_come_in_order_while_others_are_stored() {
    let spooling = Spooling::with(&[("pollDelay", "5")]);
    for n in 0..200 {
        let text = if n % 3 == 0 { String::new() } else { format!("{n}\n") };
        spooling.write_at(&format!("spool/{n:03}"), text, n);
    }
    let channel = channel(1_000, 100);
    running(&spooling, &channel, async || until("all events", || channel.depth().queued == 200).await).await;
    let expected: Vec<String> =
        (0..200).map(|n| if n % 3 == 0 { String::new() } else { n.to_string() }).collect();
    assert_eq!(stored(&channel), expected);
    assert!(!spooling.has_tracker());
}

#[tokio::test]
async fn fix_63_a_second_source_with_the_same_tracker_waits_for_the_first_to_end() {
    let spooling = Spooling::with(&[("pollDelay", "5")]);
    spooling.write("spool/a", "a\n");
    let channel = channel(1_000, 100);
    let mut second = None;
    running(&spooling, &channel, async || {
        until("a line", || channel.depth().queued == 1).await;
        let mut spool = spooling.spool_of_another_source();
        let opened =
            tokio::task::spawn_blocking(move || spool.open().map(|()| spool).map_err(|(what, _)| what));
        spooling.write("spool/b", "b\n");
        until("another line", || channel.depth().queued == 2).await;
        assert!(!opened.is_finished(), "it waits");
        second = Some(opened);
    })
    .await;
    let mut spool = timeout(LIMIT, second.unwrap()).await.unwrap().unwrap().unwrap();
    assert!(spool.next(Instant::now(), true).is_none(), "nothing is read twice");
}

#[tokio::test]
async fn while_a_commit_is_not_answered_the_position_waits_and_the_others_go_on() {
    let spooling = Spooling::with(&[("batchSize", "1"), ("pollDelay", "5")]);
    spooling.write_at("spool/a", lines("a", 0..5), 0);
    spooling.write_at("spool/b", lines("b", 0..15), 1);
    let channel = channel(1_000, 100);
    channel.answer_late(true);
    running(&spooling, &channel, async || {
        let mut answered = 0;
        until("open puts", || {
            channel.depth().reserved + channel.depth().queued >= 8 || channel.depth().reserved == 0
        })
        .await;
        assert_eq!(spooling.names("spool"), ["a", "b"], "nothing is done before it is stored");
        assert!(!spooling.has_tracker());
        until("all answered", || {
            answered += usize::from(channel.answer(true));
            answered == 20
        })
        .await;
    })
    .await;
    assert_eq!(stored(&channel).len(), 20);
    assert_eq!(spooling.names("spool"), ["a.COMPLETED", "b.COMPLETED"]);
}
