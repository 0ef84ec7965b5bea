//! How the program ends when something within it does not: a fault of a channel, a file that never answers.

use crate::agent::{Lines, Work, free_port, program_of};
use std::{fs, process::Command};

#[test]
fn a_channel_that_a_panic_has_broken_ends_the_agent_with_70() {
    let work = Work::new();
    let port = free_port();
    work.write(
        "a.conf",
        &format!(
            "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = netcat\na.sources.r.bind = 127.0.0.1\n\
             a.sources.r.port = {port}\na.sources.r.channels = c\na.channels.c.type = brittle\na.sinks.k.type = null\n\
             a.sinks.k.channel = c\n"
        ),
    );
    let brittle = program_of("end_to_end", "brittle");
    let mut agent = work.start_as(&brittle, &["agent", "-n", "a", "-f", "a.conf"]);
    agent.wait_for_log("agent a is running");
    let mut client = Lines::connect(port);
    assert_eq!(client.send("first").unwrap(), "OK");
    // The second take breaks it; the answer to this line may come or not.
    let _ = client.send("second");
    let _ = client.send("third");
    assert_eq!(agent.end(), 70, "{}", agent.log());
    let log = agent.log();
    assert!(log.contains("channel c is broken by a fault of the program: the agent stops"), "{log}");
}

/// Opening a pipe that nobody writes to waits for ever, as a file of a network disk may.
#[test]
fn a_file_that_never_answers_does_not_hold_the_end() {
    let work = Work::new();
    let pipe = work.path("a.conf");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut agent = work.start(&[]);
    let status = format!("/proc/{}/status", agent.pid());
    let catches_term = |text: String| {
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim).unwrap_or("0");
        u64::from_str_radix(mask, 16).unwrap() & (1 << 14) != 0
    };
    agent.wait("a handler of SIGTERM", || fs::read_to_string(&status).is_ok_and(catches_term));
    assert_eq!(agent.stop(), 0, "{}", agent.log());
    assert!(agent.log().contains("SIGTERM"), "{}", agent.log());
}
