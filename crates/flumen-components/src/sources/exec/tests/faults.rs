//! Commands that fail, flood, stay silent, or do not want to end; and channels that refuse.

use super::*;
use crate::testing::{Kept, logged};
use flumen_core::{channel::begin_take, testing::Once};
use rustix::process::{Pid, test_kill_process};
use tracing::Level;

fn is_alive(pid: i32) -> bool {
    // A process that nobody has waited for yet does nothing any more.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let zombie = stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"));
    !zombie && test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}

/// The numbers of the processes that a command writes, one a line.
fn pids(channel: &ScriptedChannel) -> Vec<i32> {
    bodies(&channel.contents()).iter().map(|body| body.parse().unwrap()).collect()
}

#[tokio::test]
async fn sys_43_a_stop_ends_the_command_and_all_that_it_started() {
    for command in [
        "echo $$; exec sleep 1000",
        "sleep 1000 & echo $!; sleep 1000 & echo $!; echo $$; wait",
        // It does not want to.
        "trap '' TERM; echo $$; while :; do sleep 1; done",
        // What it has started lives longer than it.
        "sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & wait",
    ] {
        let channel = channel(100, 100);
        let mut source = source(&[("shell", "/bin/sh -c"), ("command", command), ("batchTimeout", "10")]);
        let wanted = 1 + 2 * usize::from(command.contains("$!"));
        let stopped = running(&mut source, &channel, async {
            until("its numbers", || pids(&channel).len() == wanted).await;
            Instant::now()
        })
        .await;
        until("all to be gone", || pids(&channel).iter().all(|pid| !is_alive(*pid))).await;
        // One that does as it is told is gone at once; the others are told twice.
        let limit_s = if command == "echo $$; exec sleep 1000" { 1 } else { 5 };
        assert!(stopped.elapsed() < Duration::from_secs(limit_s), "{command}");
        assert_eq!(source.metrics.failures.get(), 0, "it was told to end");
    }
}

#[tokio::test]
async fn the_stop_itself_takes_less_than_a_second_and_takes_the_last_words() {
    let channel = channel(100, 100);
    let command = "trap 'echo bye; exit 0' TERM; echo hello; while :; do sleep 0.05; done";
    let mut source = source(&[("shell", "/bin/sh -c"), ("command", command), ("batchTimeout", "1")]);
    let stopped = running(&mut source, &channel, async {
        until("a line", || channel.depth().queued == 1).await;
        Instant::now()
    })
    .await;
    assert!(stopped.elapsed() < Duration::from_millis(900), "{:?}", stopped.elapsed());
    assert_eq!(bodies(&channel.contents()), ["hello", "bye"]);
}

#[tokio::test]
async fn a_source_that_is_dropped_leaves_no_process() {
    let channel = channel(100, 100);
    let command = "sleep 1000 & echo $!; echo $$; wait";
    let mut source = source(&[("shell", "/bin/sh -c"), ("command", command), ("batchTimeout", "1")]);
    let (_stop, shutdown) = Shutdown::new();
    tokio::select! {
        _ = source.run(processor(&[&channel]), shutdown) => panic!("it does not end by itself"),
        () = until("its numbers", || pids(&channel).len() == 2) => {}
    }
    until("all to be gone", || pids(&channel).iter().all(|pid| !is_alive(*pid))).await;
}

#[test]
fn a_failed_command_is_told_and_counted_with_its_status() {
    for (command, status) in [("exit 3", 3), ("kill -9 $$", 137), ("echo x; exec >&-; exit 4", 4)] {
        let said = logged(async {
            let channel = channel(100, 100);
            let mut source = source(&[("shell", "/bin/sh -c"), ("command", command)]);
            let metrics = source.metrics.clone();
            running(&mut source, &channel, until("its end", || metrics.failures.get() == 1)).await;
            assert_eq!(metrics.last_status.get(), status, "{command}");
        });
        assert!(
            said.contains("the command has failed") && said.contains(&format!("status={status}")),
            "{said}"
        );
        assert!(!said.contains("exit"), "the command itself may hold secrets: {said}");
    }
}

#[tokio::test]
async fn a_command_that_closes_its_output_and_lives_on_is_ended() {
    let channel = channel(100, 100);
    let command = "echo $$; exec >&-; sleep 1000";
    let mut source = source(&[("shell", "/bin/sh -c"), ("command", command), ("restart", "true")]);
    let metrics = source.metrics.clone();
    running(&mut source, &channel, until("its end", || metrics.last_status.get() == 143)).await;
    assert!(!is_alive(pids(&channel)[0]));
}

#[tokio::test]
async fn a_command_that_is_not_there_is_named_and_tried_again_if_it_may_be() {
    let channel = channel(100, 100);
    let missing = ("command", "/nonexistent/program secret");
    let (_stop, shutdown) = Shutdown::new();
    let mut once = source(&[missing]);
    let error = once.run(processor(&[&channel]), shutdown).await.unwrap_err().to_string();
    assert!(error.contains("/nonexistent/program") && !error.contains("secret"), "{error}");
    let mut again = source(&[missing, ("restart", "true"), ("restartThrottle", "1")]);
    let metrics = again.metrics.clone();
    running(&mut again, &channel, until("further tries", || metrics.failures.get() >= 3)).await;
}

/// Five seconds of standard error at full speed: the lines of standard output come all the same, and the log stays small.
#[test]
fn a_flood_on_standard_error_stops_nothing() {
    for log in ["true", "false"] {
        let kept = Kept { most: Level::INFO, target: "flumen_components::sources::exec::stderr" };
        let said = kept.while_running(async {
            let channel = channel(100, 100);
            let command = "for i in 1 2 3; do yes noise | head -c 3000000 >&2; echo $i; done; printf end >&2";
            let mut source = source(&[
                ("shell", "/bin/sh -c"),
                ("command", command),
                ("logStdErr", log),
                ("batchTimeout", "1"),
            ]);
            let metrics = source.metrics.clone();
            metrics.last_status.set(-7);
            running(&mut source, &channel, until("its end", || metrics.last_status.get() == 0)).await;
            assert_eq!(bodies(&channel.contents()), ["1", "2", "3"]);
        });
        match log {
            "true" => {
                assert!(said[0].contains("noise") && said[0].contains("number=1"), "{}", said[0]);
                assert!(said.iter().any(|line| line.contains("were not logged")), "{}", said.len());
                assert!(said.len() < 5_000, "{}", said.len());
            }
            _ => assert!(said.is_empty()),
        }
    }
}

/// A megabyte without any newline, and then what is longer than the limit.
#[tokio::test]
async fn lines_longer_than_any_buffer_come_whole_or_in_pieces() {
    let channel = channel(1_000, 100);
    let command = "head -c 1000000 /dev/zero | tr '\\0' x; echo; head -c 250000 /dev/zero | tr '\\0' y";
    let pairs = [("shell", "/bin/sh -c"), ("command", command)];
    let limit = [("maxLineLength", "1000000"), ("batchTimeout", "1")];
    running(&mut source(&[pairs, limit].concat()), &channel, until("two", || channel.depth().queued == 2))
        .await;
    let found: Vec<usize> = channel.contents().iter().map(|event| event.body.len()).collect();
    assert_eq!(found, [1_000_000, 250_000]);
    let limit = [("maxLineLength", "100000"), ("batchTimeout", "1")];
    running(
        &mut source(&[pairs, limit].concat()),
        &channel,
        until("pieces", || channel.depth().queued == 15),
    )
    .await;
}

#[tokio::test]
async fn fix_88_what_a_channel_refuses_is_offered_again_in_order_and_the_command_waits() {
    let channel = channel(10, 5);
    channel.once(Once::PutFails);
    let pairs = [("command", "seq 100000"), ("batchSize", "5"), ("batchTimeout", "1")];
    let mut source = source(&pairs);
    running(&mut source, &channel, async {
        let mut next = 1;
        while next <= 100 {
            until("lines", || channel.depth().queued > 0).await;
            let taken = begin_take(&*channel, 5).await.unwrap().expect("there are lines");
            for body in bodies(taken.batch()) {
                assert_eq!(body, next.to_string());
                next += 1;
            }
            taken.commit().await.unwrap();
        }
    })
    .await;
}

#[test]
fn what_the_channel_holds_not_at_the_stop_is_told() {
    let said = logged(async {
        let channel = channel(10, 5);
        let mut source = source(&[("command", "seq 200"), ("batchSize", "5")]);
        let (out, (stop, shutdown)) = (processor(&[&channel]), Shutdown::new());
        let watch = async {
            until("a full channel", || channel.depth().queued == 10).await;
            stop.request();
        };
        let (end, ()) = tokio::join!(timeout(LIMIT, source.run(out.clone(), shutdown)), watch);
        end.expect("a full channel does not keep it").unwrap();
        assert!(out.metrics().generic_fail.get() > 0);
    });
    // One write of the command brings all of them; whether a batch was offered before the stop or not, each line is told once.
    let count = |line: &str| {
        let (_, behind) = line.split_once("messages=").or_else(|| line.split_once("lines="))?;
        let digits: String = behind.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<usize>().ok()
    };
    let lost = said.lines().filter(|line| line.contains("lost: ")).filter_map(count).sum::<usize>();
    assert_eq!(lost, 190, "{said}");
    assert!(said.lines().count() < 200, "{said}");
}
