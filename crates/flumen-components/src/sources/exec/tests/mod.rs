//! Commands run as Java runs them, and end with the source.

use super::*;
use crate::testing::{LIMIT, bodies, channel, processor, source_context, until};
use flumen_core::{
    channel::Channel,
    config::{Settings, read},
    source::Source,
    testing::ScriptedChannel,
};
use tokio::time::timeout;

mod faults;
mod suite;

fn source(pairs: &[(&str, &str)]) -> ExecSource {
    let (config, problems) = read::<ExecConfig>(&Settings::from_pairs("a.sources.r", pairs), &[]);
    ExecSource::build(config.unwrap_or_else(|| panic!("{problems:?}")), &source_context()).unwrap()
}

/// Runs a source until `watch` is over, and stops it.
async fn running<T>(
    source: &mut ExecSource,
    channel: &Arc<ScriptedChannel>,
    watch: impl Future<Output = T>,
) -> T {
    let (stop, shutdown) = Shutdown::new();
    let watch = async {
        let result = watch.await;
        stop.request();
        result
    };
    let run = timeout(LIMIT * 2, source.run(processor(&[channel]), shutdown));
    let (end, result) = tokio::join!(run, watch);
    end.expect("it stops").unwrap();
    result
}

/// The lines of a command that ends.
async fn lines_of(pairs: &[(&str, &str)]) -> Vec<String> {
    let channel = channel(1_000_000, 1_000);
    let mut source = source(pairs);
    let metrics = source.metrics.clone();
    metrics.last_status.set(-7);
    running(&mut source, &channel, until("the command to end", || metrics.last_status.get() == 0)).await;
    bodies(&channel.contents())
}

#[tokio::test]
async fn a_command_without_shell_is_split_at_blanks_and_nothing_else() {
    let found = lines_of(&[("command", "  printf %s\\n one  'two | \"three $HOME ")]).await;
    assert_eq!(found, ["one", "'two", "|", "\"three", "$HOME"]);
}

#[tokio::test]
async fn sys_39_a_shell_gets_the_whole_command_as_one_argument() {
    let shell = async |command: &str| lines_of(&[("shell", "/bin/bash -c"), ("command", command)]).await;
    assert_eq!(shell("printf 'c\\nb\\na\\n' | sort | head -2").await, ["a", "b"]);
    assert_eq!(shell("echo `echo inner` $(echo too)").await, ["inner too"]);
    assert_eq!(shell("for i in 1 2 3; do echo $((i * i)); done").await, ["1", "4", "9"]);
    assert_eq!(shell("echo \"a 'b'\" 'c \"d\"' e\\ f").await, ["a 'b' c \"d\" e f"]);
    assert_eq!(shell("if true; then echo  two  blanks; fi; printf half").await, ["two blanks", "half"]);
}

#[tokio::test]
async fn sys_40_lines_are_counted() {
    let channel = channel(100, 100);
    let mut source = source(&[("command", "seq 5"), ("batchTimeout", "10")]);
    let (stop, shutdown) = Shutdown::new();
    let out = processor(&[&channel]);
    let watch = async {
        until("five lines", || channel.depth().queued == 5).await;
        stop.request();
    };
    let (end, ()) = tokio::join!(source.run(out.clone(), shutdown), watch);
    end.unwrap();
    assert_eq!((out.metrics().received.get(), out.metrics().accepted.get()), (5, 5));
    assert_eq!((source.metrics.starts.get(), source.metrics.failures.get()), (1, 0));
}

#[tokio::test]
async fn sys_41_fix_89_a_slow_command_waits_for_the_time_and_not_for_a_full_batch() {
    let channel = channel(100, 100);
    let pairs = [
        ("shell", "/bin/sh -c"),
        ("command", "seq 3; exec sleep 1000"),
        ("batchSize", "50000"),
        ("batchTimeout", "750"),
    ];
    let begun = Instant::now();
    running(&mut source(&pairs), &channel, until("three lines", || channel.depth().queued == 3)).await;
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(750), "{took:?}");
}

#[tokio::test]
async fn full_batches_do_not_wait() {
    let channel = channel(100, 100);
    let command = ("command", "seq 5; exec sleep 1000");
    let mut source =
        source(&[("shell", "/bin/sh -c"), command, ("batchSize", "2"), ("batchTimeout", "3600000")]);
    running(&mut source, &channel, until("four lines", || channel.depth().queued == 4)).await;
    assert_eq!(bodies(&channel.contents()), ["1", "2", "3", "4", "5"], "the last one comes with the stop");
}

#[tokio::test]
async fn sys_42_a_command_that_has_ended_is_run_again() {
    let channel = channel(100, 100);
    let mut source = source(&[("command", "echo flume"), ("restart", "true"), ("restartThrottle", "10")]);
    let begun = Instant::now();
    running(&mut source, &channel, until("five lines", || channel.depth().queued >= 5)).await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(bodies(&channel.contents()).iter().all(|body| body == "flume"));
    assert!(source.metrics.starts.get() >= 5);
}

#[tokio::test]
async fn the_throttle_is_kept_and_a_stop_ends_it() {
    let channel = channel(100, 100);
    let mut source = source(&[("command", "echo x"), ("restart", "true"), ("restartThrottle", "3600000")]);
    let metrics = source.metrics.clone();
    running(&mut source, &channel, until("a line", || channel.depth().queued == 1)).await;
    assert_eq!(metrics.starts.get(), 1);
}

#[tokio::test]
async fn the_charset_decides_what_a_line_is_and_bodies_keep_their_bytes() {
    let channel = channel(100, 100);
    let pairs =
        [("command", "printf a\\0\\n\\0\\n\\1\\n\\0"), ("charset", "UTF-16LE"), ("batchTimeout", "1")];
    running(&mut source(&pairs), &channel, until("two lines", || channel.depth().queued == 2)).await;
    assert_eq!(bodies(&channel.contents()), ["a\0", "\n\u{1}"]);
}

#[test]
fn c_18_who_follows_files_is_told_of_taildir() {
    for (command, told) in [
        ("tail -F /var/log/x", true),
        ("/usr/bin/tail -n 0 -f /var/log/x", true),
        ("exec tail --follow=name x", true),
        ("tail -n 5 x", false),
        ("cat -f tail", false),
        ("detail -F x", false),
    ] {
        let settings = Settings::from_pairs("a.sources.r", &[("command", command)]);
        let facts = ExecSource::facts(&read::<ExecConfig>(&settings, &[]).0.unwrap());
        assert_eq!(facts.advice.len(), usize::from(told), "{command}");
    }
}

#[test]
fn defaults_are_javas_and_mistakes_are_named() {
    let read =
        |pairs: &[(&str, &str)]| read::<ExecConfig>(&Settings::from_pairs("a.sources.r", pairs), &[]).0;
    let found = read(&[("command", "x")]).unwrap();
    assert_eq!((found.batch_size, found.batch_timeout.0, found.restart_throttle.0), (20, 3_000, 10_000));
    assert!(!found.restart && !found.log_std_err && found.shell.is_none());
    assert!(read(&[]).is_none() && read(&[("command", "x"), ("charset", "none")]).is_none());
    for (pairs, says) in [
        ([("command", " "), ("batchSize", "1")], "a.sources.r.command"),
        ([("command", "x"), ("shell", " ")], "a.sources.r.shell"),
    ] {
        let error = ExecSource::build(read(&pairs).unwrap(), &source_context()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
