//! What people get wrong in files, as a census of published ones shows: `check` names it with its line, and an agent says the
//! same and runs what is left.

use crate::agent::Work;

/// A flow that nothing is wrong with. A line of a case with the same key takes the place of one of these.
const GOOD: &str = "\
a.sources = r
a.channels = c
a.sinks = k
a.sources.r.type = netcat
a.sources.r.bind = 127.0.0.1
a.sources.r.port = 0
a.sources.r.channels = c
a.channels.c.type = memory
a.sinks.k.type = null
a.sinks.k.channel = c
";

/// What becomes of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    /// `check` is content, with or without a word.
    Good,
    /// `check` ends with 1, and the agent runs what is left.
    Wrong,
}
use Verdict::{Good, Wrong};

/// Name, lines, what becomes of it, and what one line about it holds; nothing, if nothing is said.
const CASES: &[(&str, &str, Verdict, &[&str])] = &[
    // Keys.
    (
        "a letter left out",
        "a.channels.c.transactionCapcity = 5",
        Wrong,
        &["a.conf:11: a.channels.c.transactionCapcity: unknown property", "`transactionCapacity`"],
    ),
    (
        "letters swapped",
        "a.channels.c.transacitonCapacity = 5",
        Wrong,
        &["a.channels.c.transacitonCapacity", "`transactionCapacity`"],
    ),
    (
        "another case",
        "a.channels.c.transactioncapacity = 5",
        Wrong,
        &["a.channels.c.transactioncapacity", "`transactionCapacity`"],
    ),
    (
        "a key of a vendor's",
        "a.channels.c.channelfullcount = 5",
        Wrong,
        &["channelfullcount: unknown property"],
    ),
    (
        "bind for host",
        "a.sources.r.type = syslogtcp\na.sources.r.bind = 127.0.0.1",
        Wrong,
        &["a.conf:5: a.sources.r.bind: unknown property", "did you mean `host`"],
    ),
    (
        "host for bind",
        "a.sources.r.type = thrift\na.sources.r.host = 127.0.0.1",
        Wrong,
        &["a.sources.r.host: unknown property", "did you mean `bind`"],
    ),
    (
        "batchSize for batch-size",
        "a.sinks.k.type = avro\na.sinks.k.hostname = localhost\na.sinks.k.port = 1\na.sinks.k.batchSize = 5",
        Wrong,
        &["a.conf:13: a.sinks.k.batchSize", "did you mean `batch-size`"],
    ),
    (
        "channel of a source",
        "a.sources.r.channel = c",
        Wrong,
        &["a.sources.r.channel", "did you mean `channels`"],
    ),
    (
        "a key of another sink",
        "a.sinks.k.type = logger\na.sinks.k.sink.directory = /x",
        Wrong,
        &["a.sinks.k.sink.directory: unknown property"],
    ),
    (
        "a prefix left out",
        "a.sinks.k.type = file_roll\na.sinks.k.sink.directory = .\na.sinks.k.rollInterval = 5",
        Wrong,
        &["a.sinks.k.rollInterval", "did you mean `sink.rollInterval`"],
    ),
    (
        "a selector below channels",
        "a.sources.r.channels.selector.type = multiplexing",
        Wrong,
        &["did you mean `selector.type`"],
    ),
    ("a processor below the agent", "a.processor.type = failover", Wrong, &["is not a property of an agent"]),
    (
        "headers below a file group",
        "a.sources.r.type = TAILDIR\na.sources.r.bind = -\na.sources.r.port = -\na.sources.r.filegroups = f\n\
         a.sources.r.positionFile = @DIR@/p.json\na.sources.r.filegroups.f = @DIR@/x.*\na.sources.r.filegroups.f.headers.k = v",
        Good,
        &["a.sources.r.filegroups.f.headers.k", "write headers.f.k"],
    ),
    ("an invented key", "a.channels.c.keepAlive = 5", Wrong, &["did you mean `keep-alive`"]),
    ("a word misspelt", "a.sources.r.intercepts = i", Wrong, &["did you mean `interceptors`"]),
    ("a list misspelt", "a.souces.r.type = seq", Wrong, &["a.souces.r.type", "did you mean `sources`"]),
    (
        "a list in the singular",
        "a.sink.k.batchSize = 5",
        Wrong,
        &["a.sink.k.batchSize", "did you mean `sinks`"],
    ),
    (
        "a name misspelt",
        "a.sources.ri.port = 5",
        Wrong,
        &["a.sources.ri: has properties", "did you mean `r`"],
    ),
    ("no name", "a.sinks.type = null", Wrong, &["a.sinks.type: names no property", "a.sinks.NAME.PROPERTY"]),
    (
        "a remark without its sign",
        "This is a remark",
        Good,
        &["This: belongs to no agent", "begin a remark with `#`"],
    ),
    ("no sign between key and value", "a.channels.c.capacity 5000", Good, &[]),
    ("no value", "a.channels.c.capacity", Good, &["a.channels.c.capacity: has no value", "remove the line"]),
    (
        "the same key twice",
        "a.channels.c.capacity = 500\na.channels.c.capacity = 600",
        Good,
        &["is set on line 11 too"],
    ),
    // Values.
    ("a remark behind a number", "a.channels.c.capacity = 1000 # events", Good, &["is read as `1000`"]),
    (
        "a remark behind a truth value",
        "a.sources.r.ack-every-event = true # yes",
        Good,
        &["is read as `true`"],
    ),
    ("a remark behind a name", "a.sinks.k.channel = c # the only one", Good, &["is read as `c`"]),
    (
        "a number too large",
        "a.channels.c.capacity = 99999999999",
        Good,
        &["`99999999999` is not", "the default `100`"],
    ),
    ("commas", "a.channels = c, d\na.channels.d.type = memory", Good, &["`c, d` is read as `c d`"]),
    ("a trailing comma", "a.sources.r.channels = c,", Good, &["`c,` is read as `c`"]),
    ("a template", "a.channels.c.capacity = {{ capacity }}", Good, &["a template that was not filled in"]),
    (
        "a bare variable",
        "a.channels.c.capacity = ${CAPACITY_OF_C}",
        Good,
        &["`${CAPACITY_OF_C}` stays", "`${env:CAPACITY_OF_C}`"],
    ),
    (
        "a batch above the transaction",
        "a.sinks.k.batchSize = 1000",
        Good,
        &["lowered to 100", "raise transactionCapacity of `c`"],
    ),
    ("a password", "a.sources.r.keystorePassword = hush-hush", Wrong, &["keystorePassword", "in clear text"]),
    (
        "a password in an address",
        "a.sinks.k.url = http://me:hush-hush@host/",
        Wrong,
        &["a password in clear text"],
    ),
    // Types.
    ("capital letters", "a.sources.r.type = NETCAT", Good, &[]),
    ("the class", "a.channels.c.type = org.apache.flume.channel.MemoryChannel", Good, &[]),
    ("the alias uuid", "a.sources.r.interceptors = i\na.sources.r.interceptors.i.type = uuid", Good, &[]),
    (
        "the selector default",
        "a.sources.r.selector.type = default",
        Wrong,
        &["`default`", "did you mean `replicating`"],
    ),
    (
        "a class of one's own",
        "a.sources.r.type = org.example.Mine",
        Wrong,
        &["custom Java classes cannot be loaded"],
    ),
    ("a type misspelt", "a.sinks.k.type = nul", Wrong, &["unknown sink type `nul`", "did you mean `null`"]),
    // What does not go together.
    ("a channel that is not there", "a.sinks.k.channel = d", Wrong, &["there is no channel `d`"]),
    ("a sink that is not there", "a.sinks = k kk", Wrong, &["a.sinks: names `kk`, which has no properties"]),
    (
        "another agent's name",
        "agent.channels.c.capacity = 5",
        Wrong,
        &["a.conf:11: agent.channels.c: `agent` lists nothing", "write a.channels.c if agent `a` is meant"],
    ),
    (
        "a group that is not listed",
        "a.sinks = k l\na.sinks.l.type = null\na.sinks.l.channel = c\na.sinkgroups.g.sinks = k l",
        Good,
        &["a.sinkgroups.g: has properties", "add `g` to `a.sinkgroups`"],
    ),
    (
        "a channel that is filled and never drained",
        "a.channels = c d\na.channels.d.type = memory\na.sources.r.channels = c d",
        Good,
        &["no sink that runs reads from it: it fills up"],
    ),
    (
        "a directory for a file group",
        "a.sources.r.type = TAILDIR\na.sources.r.bind = -\na.sources.r.port = -\na.sources.r.filegroups = f\n\
         a.sources.r.positionFile = @DIR@/p.json\na.sources.r.filegroups.f = @DIR@",
        Good,
        &["a.sources.r.filegroups.f: ", "is a directory, and files are looked for", "/.*"],
    ),
    (
        "one port twice",
        "a.sources = r s\na.sources.r.port = 44017\na.sources.s.type = netcat\na.sources.s.bind = 127.0.0.1\na.sources.s.port = 44017\n\
         a.sources.s.channels = c",
        Wrong,
        &["TCP port 44017 is source `r`'s already"],
    ),
    (
        "two sinks on one channel",
        "a.sinks = k l\na.sinks.l.type = null\na.sinks.l.channel = c",
        Good,
        &["each event goes to one of them"],
    ),
    // Odd, and as good as it looks.
    ("blanks", "  a.channels.c.capacity   =   1000   ", Good, &[]),
    ("a line that goes on", "a.channels.c.capacity = \\\n  1000", Good, &[]),
    ("a remark in another language", "# \u{901a}\u{9053}", Good, &[]),
];

/// The file: a value `-` takes the line away.
fn text(lines: &str) -> String {
    let key = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let (mut text, mut more) = (GOOD.to_owned(), String::new());
    for line in lines.lines() {
        match GOOD.lines().find(|old| key(old) == key(line)) {
            Some(old) => {
                let line = if line.ends_with("= -") { String::new() } else { format!("{line}\n") };
                text = text.replace(&format!("{old}\n"), &line);
            }
            None => more += &format!("{line}\n"),
        }
    }
    text + &more
}

#[test]
fn mistakes_that_people_make_are_named_and_what_is_left_runs() {
    let work = Work::new();
    let mut wrong = Vec::new();
    for (name, lines, verdict, says) in CASES {
        work.write("a.conf", &text(lines));
        let said = work.run(&["check", "-f", "a.conf"]);
        let mut agent = work.agent(&[]);
        let code = agent.stop();
        let log = agent.log();
        let is_in = |text: &str| text.lines().any(|line| says.iter().all(|part| line.contains(part)));
        // Nothing is said beside what is wanted, where nothing is.
        let quiet = !says.is_empty() || !said.out.contains("a.conf:") && !log.contains("a.conf:");
        let codes = (said.code, code);
        if codes != (i32::from(*verdict == Wrong), 0) || !is_in(&said.out) || !is_in(&log) || !quiet {
            wrong.push(format!("{name}: {codes:?}\n{}\n{log}", said.out));
        }
        assert!(!format!("{}{log}", said.out).contains("hush"), "{name}");
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), CASES.len(), wrong.join("\n\n"));
}
