//! Changes of the configuration while events flow.

use crate::{
    agent::{Lines, Work, free_port, http},
    flow::netcat_to_files,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

#[test]
fn sighup_adds_a_sink_under_traffic_and_no_connection_breaks_and_no_line_is_lost() {
    let work = Work::new();
    work.make_folder("one");
    work.make_folder("two");
    let port = free_port();
    let one = format!("{}a.sinks.k.sink.directory = @DIR@/one\n", netcat_to_files(port));
    work.write("a.conf", &one);
    let mut agent = work.agent(&["--no-reload-conf"]);
    let stop = Arc::new(AtomicBool::new(false));
    let sent = Arc::new(AtomicUsize::new(0));
    let client = {
        let (stop, sent) = (stop.clone(), sent.clone());
        let send = move || {
            let mut client = Lines::connect(port);
            while !stop.load(Ordering::Relaxed) {
                let n = sent.load(Ordering::Relaxed);
                assert_eq!(client.send(&format!("line {n}")).unwrap(), "OK");
                sent.fetch_add(1, Ordering::Relaxed);
            }
        };
        thread::Builder::new().spawn(send).unwrap()
    };
    agent.wait("lines", || sent.load(Ordering::Relaxed) > 100);
    let two = one.replace("a.sinks = k\n", "a.sinks = k k2\n")
        + "a.sinks.k2.type = file_roll\na.sinks.k2.channel = c\na.sinks.k2.sink.directory = @DIR@/two\n";
    work.write("a.conf", &two);
    agent.signal("HUP");
    agent.wait("lines by the new sink", || !work.lines_below("two").is_empty());
    work.write("a.conf", &one);
    agent.signal("HUP");
    let before = sent.load(Ordering::Relaxed);
    agent.wait("more lines", || sent.load(Ordering::Relaxed) > before + 100);
    stop.store(true, Ordering::Relaxed);
    client.join().unwrap();
    let all = sent.load(Ordering::Relaxed);
    agent.wait("all lines", || work.lines_below("one").len() + work.lines_below("two").len() >= all);
    let mut lines = work.lines_below("one");
    lines.extend(work.lines_below("two"));
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), all, "every line that was answered is there");
    assert_eq!(agent.stop(), 0);
}

#[test]
fn a_configuration_file_that_is_deleted_is_told_once_and_the_agent_goes_on() {
    let work = Work::new();
    work.make_folder("out");
    let port = free_port();
    let good = format!("{}a.sinks.k.sink.directory = @DIR@/out\n", netcat_to_files(port));
    let path = work.write("a.conf", &good);
    let mut agent = work.agent(&["-i", "1"]);
    let mut client = Lines::connect(port);
    for (n, changed) in [(1, "# one\n"), (2, "# two\n")] {
        std::fs::remove_file(&path).unwrap();
        let gone =
            |log: String| log.lines().filter(|line| line.contains("the running configuration stays")).count();
        agent.wait_for_log("the running configuration stays");
        // A second look, and a third, say nothing more.
        let mut looks = 0;
        agent.wait("more looks", || {
            looks += 1;
            looks > 230
        });
        assert_eq!(client.send("line").unwrap(), "OK");
        assert_eq!(gone(agent.log()), n, "{}", agent.log());
        work.write("a.conf", &format!("{changed}{good}"));
        agent.wait("the new text", || agent_log(&work).matches("the configuration has changed").count() == n);
    }
    assert_eq!(agent.stop(), 0);
}

fn agent_log(work: &Work) -> String {
    std::fs::read_to_string(work.path("stderr.txt")).unwrap_or_default()
}

#[test]
fn a_broken_edit_changes_nothing_and_says_so() {
    let work = Work::new();
    work.make_folder("out");
    let (port, monitor) = (free_port(), free_port());
    let good = format!("{}a.sinks.k.sink.directory = @DIR@/out\n", netcat_to_files(port));
    work.write("a.conf", &good);
    let words = ["-Dflume.monitoring.type=http", &format!("-Dflume.monitoring.port={monitor}")];
    let mut agent = work.agent(&words);
    let mut client = Lines::connect(port);
    assert_eq!(client.send("before").unwrap(), "OK");
    let long = format!("{}{}", "a.x1 = 1\n", "a.sinks.k.more = x\\\n".repeat(20));
    for (text, says) in [
        (&b"nonsense\n"[..], "the running one stays"),
        (b"a.sources = r\na.channels = c\n", "has nothing to run; the running one stays"),
        (b"a.sources = r\na.channels = c\\u00", "line 2"),
        (b"a.sources = ${a.x}\na.x = ${a.y}\na.y = ${a.x}\n", "refers to itself: a.x -> a.y -> a.x"),
        (b"\xff\xfea\0.\0s\0o\0", "the file is in UTF-16"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "this is a binary file"),
        (b"# nothing\n", "is empty now"),
        (long.as_bytes(), "the running one stays"),
    ] {
        let seen = agent.log().len();
        std::fs::write(work.path("a.conf"), text).unwrap();
        agent.signal("HUP");
        let log = || work.stderr().get(seen..).unwrap_or_default().to_owned();
        agent.wait(says, || log().contains(says) && log().contains("stays"));
    }
    std::fs::remove_file(work.path("a.conf")).unwrap();
    agent.signal("HUP");
    agent.wait_for_log("what was read before stays");
    assert_eq!(client.send("after").unwrap(), "OK");
    agent.wait("both lines", || work.lines_below("out") == ["before", "after"]);
    let (_, body) = http(monitor, "GET", "/metrics", "");
    let report: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(report["SOURCE.r"]["EventAcceptedCount"], "2", "{body}");
    assert_eq!(report["SOURCE.r"]["RestartCount"], "0", "{body}");
    assert_eq!(agent.stop(), 0);
}

#[test]
fn a_source_that_is_sent_to_a_port_in_use_stays_where_it_is() {
    let work = Work::new();
    work.make_folder("out");
    let (port, taken) = (free_port(), std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let good = format!("{}a.sinks.k.sink.directory = @DIR@/out\n", netcat_to_files(port));
    work.write("a.conf", &good);
    let mut agent = work.agent(&["--no-reload-conf"]);
    let mut client = Lines::connect(port);
    assert_eq!(client.send("before").unwrap(), "OK");
    let other = taken.local_addr().unwrap().port();
    work.write("a.conf", &good.replace(&port.to_string(), &other.to_string()));
    agent.signal("HUP");
    agent.wait_for_log(&format!("cannot listen on 127.0.0.1 port {other}"));
    assert_eq!(client.send("meanwhile").unwrap(), "OK", "the same connection, to the same source");
    // Free again, and read again: now it moves.
    drop(taken);
    agent.signal("HUP");
    agent.wait("the other port", || std::net::TcpStream::connect(("127.0.0.1", other)).is_ok());
    assert_eq!(Lines::connect(other).send("after").unwrap(), "OK");
    assert_eq!(agent.stop(), 0);
}
