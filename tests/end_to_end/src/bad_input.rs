//! What is wrong in a configuration is told with file, line, key and cure; what is right still runs.

use crate::agent::{Work, free_port};
use serde_json::Value;
use std::net::TcpListener;

/// A flow that works, from line 1 to 8; what is wrong comes behind it.
const GOOD: &str = "a.sources = good bad\na.channels = c d\na.sinks = k bad\na.sources.good.type = seq\n\
    a.sources.good.totalEvents = 10\na.sources.good.channels = c\na.channels.c.type = memory\n\
    a.sinks.k.type = file_roll\na.sinks.k.channel = c\na.sinks.k.sink.directory = @DIR@/out\na.channels.d.type = memory\n";

struct Case {
    name: &'static str,
    /// Comes behind the good lines.
    more: &'static str,
    line: u64,
    key: &'static str,
    /// In what is wrong, what was meant, or the cure.
    says: &'static str,
}

const CASES: [Case; 6] = [
    Case {
        name: "missing channel",
        more: "a.sources.bad.type = seq\na.sources.bad.channels = d\na.sinks.bad.type = null\na.sinks.bad.channel = dd\n",
        line: 15,
        key: "a.sinks.bad.channel",
        says: "dd",
    },
    Case {
        name: "misspelt key",
        more: "a.sources.bad.type = seq\na.sources.bad.channels = d\na.sinks.bad.type = null\na.sinks.bad.channel = d\n\
            a.channels.d.transactionCapcity = 10\n",
        line: 16,
        key: "a.channels.d.transactionCapcity",
        says: "transactionCapacity",
    },
    Case {
        name: "wrong number",
        more: "a.sources.bad.type = seq\na.sources.bad.channels = d\na.sources.bad.batchSize = many\n\
            a.sinks.bad.type = null\na.sinks.bad.channel = d\n",
        line: 14,
        key: "a.sources.bad.batchSize",
        says: "many",
    },
    Case {
        name: "unknown type",
        more: "a.sources.bad.type = sqe\na.sources.bad.channels = d\na.sinks.bad.type = null\na.sinks.bad.channel = d\n",
        line: 12,
        key: "a.sources.bad.type",
        says: "seq",
    },
    Case {
        name: "custom class",
        more: "a.sources.bad.type = com.example.Mine\na.sources.bad.channels = d\na.sinks.bad.type = null\n\
            a.sinks.bad.channel = d\n",
        line: 12,
        key: "a.sources.bad.type",
        says: "cannot be loaded",
    },
    Case {
        name: "no channel at all",
        more: "a.sources.bad.type = seq\na.sinks.bad.type = null\na.sinks.bad.channel = d\n",
        line: 12,
        key: "a.sources.bad.channels",
        says: "is required",
    },
];

#[test]
fn each_fault_has_its_line_and_cure_and_the_rest_runs() {
    for case in CASES {
        let work = Work::new();
        work.make_folder("out");
        work.write("a.conf", &format!("{GOOD}{}", case.more));
        let said = work.run(&["check", "-n", "a", "-f", "a.conf", "--format", "json"]);
        let report: Value = serde_json::from_str(&said.out).unwrap();
        let problems = report["problems"].as_array().unwrap();
        let fits = |problem: &&Value| {
            let text = format!("{}{}{}", problem["what"], problem["nearest"], problem["cure"]);
            problem["file"] == "a.conf"
                && problem["line"] == case.line
                && problem["key"].as_str().is_some_and(|key| key.starts_with(case.key))
                && text.contains(case.says)
        };
        assert!(problems.iter().any(|problem| fits(&problem)), "{}: {}", case.name, said.out);
        let mut agent = work.agent(&[]);
        agent.wait(case.name, || work.lines_below("out").len() == 10);
        assert!(agent.log().contains(case.key), "{}: {}", case.name, agent.log());
        assert_eq!(agent.stop(), 0, "{}", case.name);
    }
}

#[test]
fn a_port_in_use_is_told_and_the_rest_runs() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let work = Work::new();
    work.make_folder("out");
    let bad = format!(
        "a.sources.bad.type = netcat\na.sources.bad.bind = 127.0.0.1\na.sources.bad.port = {port}\na.sources.bad.channels = d\n\
         a.sinks.bad.type = null\na.sinks.bad.channel = d\n"
    );
    work.write("a.conf", &format!("{GOOD}{bad}"));
    let mut agent = work.agent(&[]);
    agent.wait_for_log(&format!(
        "a.conf:14: a.sources.bad.port: cannot listen on 127.0.0.1 port {port} (choose another with a.sources.bad.port)"
    ));
    agent.wait("the good flow", || work.lines_below("out").len() == 10);
    drop(taken);
    // It tries again until the port is free.
    agent.wait_for_log(&format!("127.0.0.1:{port}"));
    crate::agent::Lines::connect(port);
    assert_eq!(agent.stop(), 0);
}

#[test]
fn a_directory_that_is_not_there_is_told_and_nothing_is_lost() {
    let work = Work::new();
    let port = free_port();
    work.write(
        "a.conf",
        &format!("{}a.sinks.k.sink.directory = @DIR@/later\n", crate::flow::netcat_to_files(port)),
    );
    let mut agent = work.agent(&[]);
    let mut client = crate::agent::Lines::connect(port);
    for i in 0..5 {
        assert_eq!(client.send(&format!("line {i}")).unwrap(), "OK");
    }
    agent.wait_for_log("a.conf:13: a.sinks.k.sink.directory: cannot make file");
    let said = work.run(&["check", "-n", "a", "-f", "a.conf"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("warning: a.conf:13: a.sinks.k.sink.directory: directory "), "{said:?}");
    assert!(said.out.contains("mkdir -p "), "{said:?}");
    assert_eq!(work.run(&["check", "-n", "a", "-f", "a.conf", "--strict"]).code, 1);
    work.make_folder("later");
    agent.wait("the lines", || work.lines_below("later").len() == 5);
    assert_eq!(work.run(&["check", "-n", "a", "-f", "a.conf", "--strict"]).code, 0);
    agent.wait_for_log("delivers again, after ");
    assert_eq!(client.send("more").unwrap(), "OK");
    agent.wait("one more", || work.lines_below("later").len() == 6);
    assert_eq!(agent.log().matches("delivers again").count(), 1, "{}", agent.log());
    assert_eq!(agent.stop(), 0);
}

#[test]
fn a_file_where_a_directory_should_be_is_an_error_of_the_check() {
    let work = Work::new();
    work.write("out", "");
    work.write("a.conf", GOOD);
    let said = work.run(&["check", "-n", "a", "-f", "a.conf"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("a.conf:10: a.sinks.k.sink.directory: "), "{said:?}");
    assert!(said.out.contains("/out is no directory; name a directory"), "{said:?}");
}

#[test]
fn where_nothing_can_run_the_exit_status_says_so() {
    let work = Work::new();
    work.write("empty.conf", "");
    work.write("other.conf", "agent1.sources = r\nagent1.channels = c\n");
    work.write("broken.conf", "a.sources = r\na.channels = c\na.sources.r.type = sqe\na.sources.r.channels = c\na.channels.c.type = memory\n");
    for (file, code, says) in [
        ("empty.conf", 1, "no properties at all"),
        ("other.conf", 1, "agent1"),
        ("broken.conf", 1, "broken.conf:3"),
        ("missing.conf", 2, "missing.conf"),
    ] {
        for command in ["agent", "check"] {
            let said = work.run(&[command, "-n", "a", "-f", file]);
            assert_eq!(said.code, code, "{command} {file}: {said:?}");
            assert!(format!("{}{}", said.out, said.err).contains(says), "{command} {file}: {said:?}");
        }
    }
}

#[test]
fn check_without_a_name_checks_all_agents_and_strict_counts_warnings() {
    let work = Work::new();
    let flow = "X.sources = r\nX.channels = c\nX.sinks = k\nX.sources.r.type = seq\nX.sources.r.channels = c\n\
        X.channels.c.type = memory\nX.sinks.k.type = null\nX.sinks.k.channel = c\n";
    let warned = format!("{}X.sinks.k.batchSize = 1000\n", flow).replace('X', "two");
    work.write("a.conf", &format!("{}{warned}", flow.replace('X', "one")));
    let said = work.run(&["check", "-f", "a.conf"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("one: good: 1 source, 1 channel, 1 sink\n"), "{said:?}");
    assert!(said.out.contains("two: good"), "{said:?}");
    let said = work.run(&["check", "-f", "a.conf", "--strict"]);
    assert_eq!(said.code, 1, "{said:?}");
    let said = work.run(&["check", "-f", "a.conf", "--strict", "-n", "one"]);
    assert_eq!(said.code, 0, "{said:?}");
    let said = work.run(&["agent", "-f", "a.conf", "--strict", "-n", "two"]);
    assert_eq!(said.code, 1, "{said:?}");
}

/// The process may open few files, so that connections cannot be accepted: it is told once, counted, and ends by itself.
#[test]
fn a_limit_of_open_files_is_told_once_counted_and_survived() {
    let work = Work::new();
    work.make_folder("out");
    let (lines, requests, monitor) = (free_port(), free_port(), free_port());
    work.write(
        "a.conf",
        &format!(
            "{}a.sources = r h\na.sinks.k.sink.directory = @DIR@/out\na.sources.h.type = http\na.sources.h.port = {requests}\n\
             a.sources.h.bind = 127.0.0.1\na.sources.h.channels = c\n",
            crate::flow::netcat_to_files(lines).replace("a.sources = r\n", "")
        ),
    );
    let (program, port) =
        (crate::agent::program().to_str().unwrap(), format!("-Dflume.monitoring.port={monitor}"));
    let script = "ulimit -n 60; exec \"$0\" \"$@\"";
    let words =
        ["-c", script, program, "agent", "-n", "a", "-f", "a.conf", "-Dflume.monitoring.type=http", &port];
    let mut agent = work.start_as(std::path::Path::new("/bin/sh"), &words);
    agent.wait_for_log("agent a is running");
    let count = |source: &str| -> u64 {
        let (_, body) = crate::agent::http(monitor, "GET", "/metrics", "");
        let report: Value = serde_json::from_str(&body).unwrap();
        report[source]["GenericProcessingFail"].as_str().unwrap().parse().unwrap()
    };
    let mut monitoring = crate::agent::Lines::connect(lines);
    assert_eq!(monitoring.send("before").unwrap(), "OK");
    for (port, name) in [(lines, "source=r"), (requests, "source=h")] {
        let held: Vec<_> =
            (0..100).map(|_| std::net::TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
        agent.wait_for_log("raise the limit of open files");
        agent.wait(name, || {
            agent_log(&work).lines().any(|line| line.contains("cannot accept") && line.contains(name))
        });
        // Those that are open go on.
        assert_eq!(monitoring.send("meanwhile").unwrap(), "OK");
        drop(held);
        agent.wait("lines after it", || {
            crate::agent::Lines::connect(lines).send("after").is_ok_and(|answer| answer == "OK")
        });
    }
    agent.wait("the counts", || count("SOURCE.r") > 0 && count("SOURCE.h") > 0);
    assert_eq!(agent.log().matches("cannot accept connections").count(), 2, "{}", agent.log());
    assert_eq!(agent.stop(), 0);
}

fn agent_log(work: &Work) -> String {
    std::fs::read_to_string(work.path("stderr.txt")).unwrap_or_default()
}
