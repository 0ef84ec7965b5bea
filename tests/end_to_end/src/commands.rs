//! Commands as sources, and events by HTTP from one flow to the next: nothing is lost, and no command outlives its agent.

use crate::{
    agent::{Work, free_port},
    wait,
};
use std::path::Path;

/// exec → memory → file_roll, with this command in a shell.
fn command_to_files(command: &str) -> String {
    format!(
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = exec\na.sources.r.shell = /bin/sh -c\n\
         a.sources.r.command = {command}\na.sources.r.batchTimeout = 10\na.sources.r.channels = c\na.channels.c.type = memory\n\
         a.sinks.k.type = file_roll\na.sinks.k.channel = c\na.sinks.k.sink.rollInterval = 0\na.sinks.k.sink.directory = @DIR@/out\n"
    )
}

fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    // One that nobody has waited for does nothing any more.
    !stat.is_empty() && !stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"))
}

#[test]
fn a_command_ends_with_its_agent_also_when_that_is_killed() {
    for (signal, command) in [
        ("TERM", "sleep 1000 & echo $!; echo $$; wait"),
        // Nobody reads any more.
        ("KILL", "echo $$; while sleep 0.05; do echo; done"),
    ] {
        let work = Work::new();
        work.make_folder("out");
        work.write("a.conf", &command_to_files(command));
        let mut agent = work.agent(&[]);
        let wanted = 1 + usize::from(signal == "TERM");
        let pids = || {
            let lines = work.lines_below("out").into_iter();
            lines.filter(|line| !line.is_empty()).collect::<Vec<_>>()
        };
        agent.wait("its numbers", || pids().len() == wanted);
        agent.signal(signal);
        assert_eq!(agent.end(), if signal == "TERM" { 0 } else { -9 });
        assert!(wait::until(|| !pids().iter().any(|pid| lives(pid))), "{signal}: {:?}", pids());
    }
}

#[test]
fn events_go_by_http_from_one_flow_to_the_next() {
    let work = Work::new();
    work.make_folder("out");
    let port = free_port();
    work.write(
        "a.conf",
        &format!(
            "a.sources = make take\na.channels = c d\na.sinks = post roll\n\
             a.sources.make.type = exec\na.sources.make.command = seq 1000\na.sources.make.channels = c\n\
             a.channels.c.type = memory\na.channels.c.capacity = 10000\n\
             a.sinks.post.type = http\na.sinks.post.endpoint = http://127.0.0.1:{port}/?from=post\na.sinks.post.channel = c\n\
             a.sinks.post.rollback.2XX = false\na.sinks.post.backoff.2XX = false\n\
             a.sources.take.type = http\na.sources.take.bind = 127.0.0.1\na.sources.take.port = {port}\n\
             a.sources.take.handler = org.apache.flume.source.http.BLOBHandler\na.sources.take.channels = d\n\
             a.channels.d.type = memory\na.channels.d.capacity = 10000\n\
             a.sinks.roll.type = file_roll\na.sinks.roll.channel = d\na.sinks.roll.sink.directory = @DIR@/out\n"
        ),
    );
    let mut agent = work.agent(&[]);
    agent.wait("all numbers", || work.lines_below("out").len() >= 1_000);
    let expected: Vec<_> = (1..=1_000).map(|n| n.to_string()).collect();
    assert_eq!(work.lines_below("out"), expected);
    assert_eq!(agent.stop(), 0);
}
