//! The words of the command line: Flume's spellings, files beside it, and what is refused by name.

use crate::agent::{Work, program};
use std::os::unix::fs::symlink;

const FLOW: &str = "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.totalEvents = 1\n\
    a.sources.r.channels = c\na.channels.c.type = memory\na.sinks.k.type = null\na.sinks.k.channel = c\n";

#[test]
fn what_cannot_be_understood_ends_with_2_and_what_was_meant() {
    let work = Work::new();
    work.write("a.conf", FLOW);
    for (line, code, says) in [
        ("", 2, "Usage: flumen"),
        ("agnet -n a -f a.conf", 2, "agent"),
        ("agent -n a -f a.conf --no-relaod-conf", 2, "--no-reload-conf"),
        ("agent -f a.conf", 2, "add -n AGENT"),
        ("agent -n a", 2, "add -f FILE, -u URI or -z HOST:PORT"),
        ("agent -n a -f a.conf -i soon", 2, "soon"),
        ("agent -n a -prov org.example.Provider", 2, "Java classes cannot be loaded"),
        ("agent -n a -f a.conf -a org.example.Provider", 2, "--conf-user and --conf-password"),
        ("agent -n a -f a.conf --verify-host false", 2, "always checked"),
        ("avro-client -H localhost -p 1 -F x", 1, "cannot connect to localhost:1"),
        ("channel verify", 2, "DIR"),
        ("channel peek no-such-dir", 2, "no-such-dir"),
        ("channel list -f a.conf -n a --channel c", 2, "agent `a` has no file channel `c`"),
        ("tool", 1, "FCINTEGRITYTOOL"),
        ("tool FCINTEGRITYTOOL", 1, "-l DIR,DIR"),
        ("tool FCINTEGRITYTOOL -h", 1, "--eventValidator"),
        ("tool FCINTEGRITYTOOL -l x", 1, "-l x: there is no such directory"),
        (
            "tool FCINTEGRITYTOOL -l . -e org.example.Check",
            1,
            "-e org.example.Check: Java classes cannot be loaded",
        ),
        ("tool fcintegritytool -dataDirs .", 0, "Number of Corrupt Events = 0"),
        ("tool other", 1, "there is no tool `other`"),
        ("help", 0, "Commands:"),
        ("agent --help", 0, "--no-reload-conf"),
        ("agent --help", 0, "\nWhich configuration:\n"),
        ("agent --help", 0, "\nIn place of a JVM:\n"),
        ("agent --help", 0, "\nHow it runs:\n"),
        ("agent --help", 0, "  flumen agent -n a1 -c /etc/flume/conf -f"),
        ("check --help", 0, "  flumen check -f flume.conf"),
        ("version", 0, "Flumen "),
        ("completions bash", 0, "no-reload-conf"),
        ("man", 0, ".TH flumen"),
        ("man agent", 0, "java\\-exit\\-status"),
    ] {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let said = work.run(&words);
        assert_eq!(said.code, code, "{line}: {said:?}");
        assert!(format!("{}{}", said.out, said.err).contains(says), "{line}: {said:?}");
        if code == 2 && says.starts_with("add ") {
            assert_eq!(said.err.lines().count(), 1, "{line}: {said:?}");
        }
    }
}

#[test]
fn mon_11_as_flume_ng_it_takes_javas_spellings_and_prints_five_lines_of_version() {
    let work = Work::new();
    work.write("a.conf", FLOW);
    work.write("conf/flume-env.sh", "export JAVA_OPTS=\"-Xmx64m -Dfrom.env=1\"\nulimit -n 10\n");
    let java = work.path("flume-ng");
    symlink(program(), &java).unwrap();
    let said = work.run_as(&java, &["version"]);
    assert_eq!((said.code, said.out.lines().count()), (0, 5), "{said:?}");
    assert!(said.out.lines().nth(4).unwrap().starts_with("From source with checksum "), "{said:?}");
    let words = [
        "agent",
        "-Dx=1",
        "--conf",
        "conf",
        "-conf-file",
        "a.conf",
        "-name",
        "a",
        "-Xms10m",
        "-javaagent:jmx.jar",
        "--plugins-path",
        "plugins",
        "-zkBasePath",
        "/f",
    ];
    let mut agent = work.start_as(&java, &words);
    agent.wait_for_log("agent a is running");
    assert_eq!(agent.stop(), 0);
    let log = agent.log();
    assert!(log.contains("flume-env.sh:2: not understood") && log.contains("ulimit -n 10"), "{log}");
    assert!(log.contains("-javaagent:jmx.jar` is without effect"), "{log}");
    let mut dry = words.to_vec();
    dry.extend(["--dryrun", "-pwd", "hidden", "-Da.password=hidden"]);
    let said = work.run_as(&java, &dry);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("-Dfrom.env=1 -Dx=1 -Xmx67108864"), "{said:?}");
    assert!(!said.out.contains("hidden"), "{said:?}");
}

#[test]
fn flume_opts_fills_in_what_the_command_line_does_not_say() {
    let work = Work::new();
    work.write("conf/a.conf", FLOW);
    work.write("conf/flume.opts", "name=other\nconf-file=@DIR@/conf/a.conf\nno-reload-conf=true\nbogus=1\n");
    let mut agent = work.start_as(program(), &["agent", "-c", "conf", "-n", "a"]);
    agent.wait_for_log("agent a is running");
    assert_eq!(agent.stop(), 0);
    assert!(agent.log().contains("flume.opts:4: unknown option `bogus`"), "{}", agent.log());
}

#[test]
fn node_is_the_old_name_of_agent() {
    let work = Work::new();
    work.write("a.conf", FLOW);
    let mut agent = work.start_as(program(), &["node", "-n", "a", "-f", "a.conf"]);
    agent.wait_for_log("agent a is running");
    assert!(agent.log().contains("`node` is the old name"), "{}", agent.log());
    assert_eq!(agent.stop(), 0);
}
