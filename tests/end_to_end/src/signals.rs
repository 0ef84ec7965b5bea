//! How an agent stops: the order, what is said about what is left, exit statuses, and a second signal.

use crate::{
    agent::{Agent, Lines, Work, free_port},
    flow::netcat_to_files,
    wait,
};

/// An agent whose channel holds five events that its sink cannot write, as the directory `later` is not there.
fn stuck(work: &Work, words: &[&str]) -> Agent {
    let port = free_port();
    work.write("a.conf", &format!("{}a.sinks.k.sink.directory = @DIR@/later\n", netcat_to_files(port)));
    let mut agent = work.agent(words);
    let mut client = Lines::connect(port);
    for i in 0..5 {
        assert_eq!(client.send(&format!("line {i}")).unwrap(), "OK");
    }
    agent.wait_for_log("not delivered");
    agent
}

#[test]
fn both_signals_stop_with_0_and_with_javas_status_by_flag() {
    for (signal, words, status) in [
        ("TERM", &[][..], 0),
        ("INT", &[], 0),
        ("TERM", &["--java-exit-status"], 143),
        ("INT", &["--java-exit-status"], 130),
    ] {
        let work = Work::new();
        work.make_folder("out");
        work.write(
            "a.conf",
            &format!("{}a.sinks.k.sink.directory = @DIR@/out\n", netcat_to_files(free_port())),
        );
        let mut agent = work.agent(words);
        agent.signal(signal);
        assert_eq!(agent.end(), status, "{signal} {words:?}");
        assert!(agent.log().trim_end().ends_with("stopped"), "{}", agent.log());
    }
}

#[test]
fn what_a_memory_channel_still_holds_is_said() {
    let work = Work::new();
    let mut agent = stuck(&work, &[]);
    assert_eq!(agent.stop(), 0);
    let log = agent.log();
    assert!(log.contains("are lost") && log.contains("channel=c") && log.contains("events=5"), "{log}");
}

#[test]
fn drain_lets_the_sink_empty_the_channel_after_the_source_has_stopped() {
    let work = Work::new();
    let mut agent = stuck(&work, &["--drain", "60"]);
    agent.signal("TERM");
    agent.wait_for_log("SIGTERM");
    work.make_folder("later");
    assert_eq!(agent.end(), 0);
    assert_eq!(work.lines_below("later").len(), 5);
    assert!(!agent.log().contains("are lost"), "{}", agent.log());
}

#[test]
fn a_second_signal_ends_it_at_once_but_not_the_first_one_told_twice() {
    let work = Work::new();
    let mut agent = stuck(&work, &["--drain", "600"]);
    agent.signal("TERM");
    agent.signal("TERM");
    agent.wait_for_log("SIGTERM");
    assert!(!agent.log().contains("second signal"), "{}", agent.log());
    // From a second on another signal counts.
    wait::until(|| {
        agent.signal("INT");
        agent.log().contains("second signal")
    });
    assert_eq!(agent.end(), 1);
}

#[test]
fn sigquit_shows_the_state_in_the_log_and_the_agent_goes_on() {
    let work = Work::new();
    let mut agent = stuck(&work, &[]);
    agent.signal("QUIT");
    agent.wait_for_log("CHANNEL.c running");
    let log = agent.log();
    let line = log.lines().find(|line| line.contains("CHANNEL.c running")).unwrap();
    assert!(line.contains("ChannelSize=5"), "{line}");
    assert_eq!(agent.stop(), 0);
}

/// A write beyond `ulimit -f` is a failed write, not the end.
#[test]
fn a_limit_of_file_sizes_fails_writes_and_does_not_end_the_agent() {
    let work = Work::new();
    work.make_folder("out");
    let port = free_port();
    work.write("a.conf", &format!("{}a.sinks.k.sink.directory = @DIR@/out\n", netcat_to_files(port)));
    let script = "ulimit -f 128; exec \"$0\" \"$@\"";
    let words = ["-c", script, crate::agent::program().to_str().unwrap(), "agent", "-n", "a", "-f", "a.conf"];
    let mut agent = work.start_as(std::path::Path::new("/bin/sh"), &words);
    agent.wait_for_log("agent a is running");
    let (long, mut client) = ("x".repeat(400), Lines::connect(port));
    for _ in 0..300 {
        assert_eq!(client.send(&long).unwrap(), "OK");
    }
    agent.wait_for_log("File too large");
    assert_eq!(client.send("it lives").unwrap(), "OK");
    assert_eq!(agent.stop(), 0);
}
