//! The program killed again and again while events flow: it starts anew, and its files hold whole lines up to the last.

use crate::{
    agent::{Agent, Lines, Work, free_port},
    flow::netcat_to_files,
    wait,
};
use std::collections::BTreeSet;

const KILLS: usize = 5;

#[test]
fn after_each_kill_it_starts_again_and_goes_on() {
    let work = Work::new();
    work.make_folder("out");
    let port = free_port();
    work.write("a.conf", &format!("{}a.sinks.k.sink.directory = @DIR@/out\n", netcat_to_files(port)));
    for round in 0..KILLS {
        let mut agent = work.agent(&[]);
        let mut client = Lines::connect(port);
        for i in 0..50 {
            assert_eq!(client.send(&format!("round {round} line {i}")).unwrap(), "OK");
        }
        let first = format!("round {round} line 0");
        agent.wait("this round's first line", || work.lines_below("out").contains(&first));
        agent.signal("KILL");
        assert_eq!(agent.end(), -9);
    }
    let lines = work.lines_below("out");
    for round in 0..KILLS {
        let own: Vec<_> = lines.iter().filter(|line| line.starts_with(&format!("round {round} "))).collect();
        // What was in memory is gone, by design; what is there came in order, each line once.
        for (i, line) in own.iter().enumerate() {
            assert!(format!("round {round} line {i}").starts_with(line.as_str()), "{line}");
        }
    }
}

/// A flow of this name from a source to a sink, with a file channel between them.
fn durable_flow(name: &str, source: &str, sink: &str) -> String {
    let mut text = format!("a.sources.{name}.channels = {name}\na.sinks.{name}.channel = {name}\n");
    for (part, keys) in [("sources", source), ("sinks", sink)] {
        for key in keys.split(", ") {
            text += &format!("a.{part}.{name}.{key}\n");
        }
    }
    text + &format!(
        "a.channels.{name}.type = file\na.channels.{name}.checkpointDir = @DIR@/{name}/checkpoint\n\
         a.channels.{name}.dataDirs = @DIR@/{name}/data\na.channels.{name}.capacity = 100000\n"
    )
}

/// Sends the next line until it is acknowledged, over new connections where it must.
fn send_on(client: &mut Option<Lines>, port: u16, line: &str) {
    let sent = wait::until(|| {
        let open = client.get_or_insert_with(|| Lines::connect(port));
        let answered = open.send(line).is_ok_and(|answer| answer == "OK");
        if !answered {
            *client = None;
        }
        answered
    });
    assert!(sent, "`{line}` was never acknowledged");
}

#[test]
fn no_acknowledged_event_is_lost_between_two_tiers_that_are_killed_again_and_again() {
    let works = [Work::new(), Work::new()];
    let names = "a.sources = avro thrift\na.channels = avro thrift\na.sinks = avro thrift\n";
    let mut configurations = [names.to_owned(), names.to_owned()];
    let mut ports = Vec::new();
    for protocol in ["avro", "thrift"] {
        let (lines, between) = (free_port(), free_port());
        let address = format!("bind = 127.0.0.1, port = {lines}");
        let to = format!("type = {protocol}, hostname = 127.0.0.1, port = {between}, batch-size = 7");
        configurations[0] += &durable_flow(protocol, &format!("type = netcat, {address}"), &to);
        let from = format!("type = {protocol}, bind = 127.0.0.1, port = {between}");
        let files = format!("type = file_roll, sink.directory = @DIR@/{protocol}-out, sink.rollInterval = 0");
        configurations[1] += &durable_flow(protocol, &from, &files);
        works[1].make_folder(&format!("{protocol}-out"));
        ports.push((protocol, lines));
    }
    let mut agents: Vec<Agent> = Vec::new();
    for (work, text) in works.iter().zip(&configurations) {
        work.write("a.conf", text);
        agents.push(work.agent(&[]));
    }
    let arrived = |protocol: &str| -> BTreeSet<String> {
        works[1].lines_below(&format!("{protocol}-out")).into_iter().collect()
    };
    let mut n_lines = 0;
    for round in 0..2 * KILLS {
        let mut clients = [None, None];
        for _ in 0..30 {
            for ((protocol, port), client) in ports.iter().zip(&mut clients) {
                send_on(client, *port, &format!("{protocol} {n_lines}"));
            }
            n_lines += 1;
        }
        // The sender's tier and the receiver's in turn, at whatever they are doing.
        let agent = &mut agents[round % 2];
        agent.signal("KILL");
        assert_eq!(agent.end(), -9);
        *agent = works[round % 2].agent(&[]);
    }
    for (protocol, _) in ports {
        let sent: BTreeSet<String> = (0..n_lines).map(|n| format!("{protocol} {n}")).collect();
        agents[1].wait("every acknowledged line", || sent.is_subset(&arrived(protocol)));
        // A kill may leave half a line at the end of a file, and what was not committed is there twice.
        let others = arrived(protocol).into_iter().filter(|line| !sent.contains(line));
        for line in others {
            assert!(sent.iter().any(|whole| whole.starts_with(&line)), "altered: {line}");
        }
    }
}
