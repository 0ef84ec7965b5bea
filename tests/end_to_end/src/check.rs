//! `flumen check` knows what does not go together, although each part is right by itself: as lines, as JSON, and with `--strict`.

use crate::agent::{Said, Work};
use serde_json::Value;

/// A flow that nothing is wrong with. A line of a case with the same key takes the place of one of these.
const GOOD: &str = "\
a.sources = r
a.channels = c
a.sinks = k
a.sources.r.type = netcat
a.sources.r.bind = 127.0.0.1
a.sources.r.port = 44001
a.sources.r.channels = c
a.channels.c.type = memory
a.sinks.k.type = null
a.sinks.k.channel = c
";

struct Case {
    name: &'static str,
    lines: &'static str,
    severity: &'static str,
    line: u64,
    key: &'static str,
    /// In what is wrong, what was meant, or the cure.
    says: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "a batch above the transaction capacity",
        lines: "a.sinks.k.batchSize = 1000",
        severity: "warning",
        line: 11,
        key: "a.sinks.k.batchSize",
        says: &["lowered to 100", "raise transactionCapacity of `c`"],
    },
    Case {
        name: "a sink in two groups",
        lines: "a.sinks = k l m\na.sinks.l.type = null\na.sinks.l.channel = c\na.sinks.m.type = null\na.sinks.m.channel = c\n\
            a.sinkgroups = g h\na.sinkgroups.g.sinks = k l\na.sinkgroups.g.processor.type = load_balance\n\
            a.sinkgroups.h.sinks = l m\na.sinkgroups.h.processor.type = load_balance",
        severity: "error",
        line: 18,
        key: "a.sinkgroups.h.sinks",
        says: &["sink `l` is in group `g` already", "name it in one of the two"],
    },
    Case {
        name: "two sources on one port",
        lines: "a.sources = r s\na.sources.s.type = netcat\na.sources.s.bind = 0.0.0.0\na.sources.s.port = 44001\n\
            a.sources.s.channels = c",
        severity: "error",
        line: 13,
        key: "a.sources.s.port",
        says: &["TCP port 44001 is source `r`'s already", "another port"],
    },
    Case {
        name: "two file channels on one directory",
        lines: "a.channels = c d\na.sources.r.channels = c d\na.channels.c.type = file\na.channels.c.checkpointDir = /x/c\n\
            a.channels.c.dataDirs = /x/1,/x/2\na.channels.d.type = file\na.channels.d.checkpointDir = /x/d\n\
            a.channels.d.dataDirs = /x/3, /x/2/",
        severity: "error",
        line: 13,
        key: "a.channels.d.type",
        says: &["/x/2/ is channel `c`'s already", "directories of its own"],
    },
    Case {
        name: "two file channels in the default directories",
        lines: "a.channels = c d\na.sources.r.channels = c d\na.channels.c.type = file\na.channels.d.type = file",
        severity: "error",
        line: 11,
        key: "a.channels.d.type",
        says: &["/.flume/file-channel/checkpoint is channel `c`'s already", "directories of its own"],
    },
    Case {
        name: "roll defaults that make small files",
        lines: "a.sinks.k.type = file_roll\na.sinks.k.sink.directory = .",
        severity: "info",
        line: 9,
        key: "a.sinks.k.sink.rollInterval",
        says: &["begins a file every 30 s", "2880 files a day"],
    },
    Case {
        name: "two sinks in one directory",
        lines: "a.channels = c d\na.sources.r.channels = c d\na.channels.d.type = memory\na.sinks = k l\n\
            a.sinks.k.type = file_roll\na.sinks.k.sink.directory = .\na.sinks.l.type = file_roll\n\
            a.sinks.l.sink.directory = ./\na.sinks.l.channel = d",
        severity: "warning",
        line: 13,
        key: "a.sinks.l.type",
        says: &["writes into the directory of sink `k`"],
    },
    Case {
        name: "a channel that nobody reads",
        lines: "a.channels = c d\na.sources.r.channels = c d\na.channels.d.type = memory",
        severity: "warning",
        line: 11,
        key: "a.channels.d.type",
        says: &["no sink that runs reads from it: it fills up"],
    },
    Case {
        name: "a channel that nobody writes",
        lines: "a.channels = c d\na.sinks = k l\na.channels.d.type = memory\na.sinks.l.type = null\na.sinks.l.channel = d",
        severity: "warning",
        line: 11,
        key: "a.channels.d.type",
        says: &["no source that runs writes to it"],
    },
    Case {
        name: "a channel that is there for nobody",
        lines: "a.channels = c d\na.channels.d.type = memory",
        severity: "warning",
        line: 11,
        key: "a.channels.d.type",
        says: &["no source that runs writes to it and no sink that runs reads from it"],
    },
    Case {
        name: "a selector that names an unknown channel",
        lines: "a.sources.r.selector.type = multiplexing\na.sources.r.selector.mapping.x = cc\na.sources.r.selector.default = c",
        severity: "error",
        line: 12,
        key: "a.sources.r.selector.mapping.x",
        says: &["`cc` is not among the channels of the source (c)"],
    },
    Case {
        name: "a selector that names a channel with an error",
        lines: "a.channels = c d\na.sources.r.channels = c d\na.channels.d.type = memory\na.channels.d.capacity = 5\n\
            a.sources.r.selector.type = multiplexing\na.sources.r.selector.mapping.x = d\na.sources.r.selector.default = c",
        severity: "error",
        line: 14,
        key: "a.sources.r.selector.mapping.x",
        says: &["`d` is not among", "`channels` names `d`, but that channel does not run"],
    },
    Case {
        name: "an optional channel that is required",
        lines: "a.sources.r.selector.type = multiplexing\na.sources.r.selector.mapping.x = c\na.sources.r.selector.optional.x = c",
        severity: "warning",
        line: 13,
        key: "a.sources.r.selector.optional.x",
        says: &["`c` is required for this value already"],
    },
    Case {
        name: "an optional channel that there is not",
        lines: "a.sources.r.selector.optional = d",
        severity: "error",
        line: 11,
        key: "a.sources.r.selector.optional",
        says: &["d"],
    },
    Case {
        name: "a secret in clear text",
        lines: "a.sources.r.type = http\na.sources.r.ssl = true\na.sources.r.keystore = /k.jks\na.sources.r.keystorePassword = hush-hush",
        severity: "warning",
        line: 13,
        key: "a.sources.r.keystorePassword",
        says: &["a secret stands here in clear text", "${env:NAME}"],
    },
    Case {
        name: "a secret inside a URL",
        lines: "a.sources.r.interceptors = i\na.sources.r.interceptors.i.type = static\na.sources.r.interceptors.i.key = from\n\
            a.sources.r.interceptors.i.value = http://me:hush-hush@host/",
        severity: "warning",
        line: 14,
        key: "a.sources.r.interceptors.i.value",
        says: &["a password in clear text"],
    },
    Case {
        name: "two sinks on one channel",
        lines: "a.sinks = k l\na.sinks.l.type = null\na.sinks.l.channel = c",
        severity: "info",
        line: 12,
        key: "a.sinks.l.channel",
        says: &["as sink `k` does: each event goes to one of them", "a channel of its own"],
    },
    Case {
        name: "a near miss of a key that matters",
        lines: "a.channels.c.transactionCapcity = 50",
        severity: "error",
        line: 11,
        key: "a.channels.c.transactionCapcity",
        says: &["unknown property", "transactionCapacity"],
    },
    Case {
        name: "a channel with an error of its own",
        lines: "a.channels.c.capacity = 50",
        severity: "error",
        line: 7,
        key: "a.sources.r.channels",
        says: &["channel `c` has an error of its own and does not run, so nothing goes there"],
    },
    Case {
        name: "an error that only building finds",
        lines: "a.sources.r.type = http\na.sources.r.ssl = true\na.sources.r.keystore = ${e[HOME]}\na.configfilters = e\n\
            a.configfilters.e.type = env",
        severity: "error",
        line: 4,
        key: "a.sources.r",
        says: &["TLS needs the password of \"***\": set a.sources.r.keystore-password"],
    },
    Case {
        name: "a channel that is not listed",
        lines: "a.channels = c\na.channels.d.type = memory\na.sinks.k.channel = d",
        severity: "error",
        line: 10,
        key: "a.sinks.k.channel",
        says: &["channel `d` has properties and is not in the list", "add `d` (a.conf:11) to `a.channels`"],
    },
];

impl Case {
    fn text(&self) -> String {
        let key = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        let (mut text, mut more) = (GOOD.to_owned(), String::new());
        for line in self.lines.lines() {
            match GOOD.lines().find(|old| key(old) == key(line)) {
                Some(old) => text = text.replace(&format!("{old}\n"), &format!("{line}\n")),
                None => more += &format!("{line}\n"),
            }
        }
        text + &more
    }

    /// Whether one of the problems is the one that is wanted.
    fn is_told(&self, problems: &[Value]) -> bool {
        problems.iter().any(|problem| {
            let text = |field: &str| problem[field].as_str().unwrap_or_default().to_owned();
            let all = [text("what"), text("nearest"), text("cure")].join("; ");
            (text("severity"), text("file"), text("key"))
                == (self.severity.into(), "a.conf".into(), self.key.into())
                && problem["line"] == self.line
                && self.says.iter().all(|part| all.contains(part))
        })
    }

    fn is_line(&self, said: &Said) -> bool {
        let start = format!("{}: a.conf:{}: {}: ", self.severity, self.line, self.key);
        said.out
            .lines()
            .any(|line| line.starts_with(&start) && self.says.iter().all(|part| line.contains(part)))
    }
}

#[test]
fn what_does_not_go_together_is_told_with_line_key_and_cure() {
    let work = Work::new();
    let mut wrong = Vec::new();
    for case in CASES {
        work.write("a.conf", &case.text());
        let status = i32::from(case.severity == "error");
        let strict = i32::from(case.severity != "info");
        let json = work.run(&["check", "-f", "a.conf", "--format", "json"]);
        let report: Value = serde_json::from_str(&json.out).unwrap();
        let told = report["problems"].as_array().is_some_and(|problems| case.is_told(problems));
        let text = work.run(&["check", "-n", "a", "-f", "a.conf"]);
        let loud = work.run(&["check", "-f", "a.conf", "--strict"]);
        let verdict = (report["verdict"].as_str(), report["exit_status"].as_i64());
        let want = (Some(if status == 0 { "good" } else { "wrong" }), Some(i64::from(status)));
        let codes = (json.code, text.code, loud.code);
        if !told || !case.is_line(&text) || codes != (status, status, strict) || verdict != want {
            wrong.push(format!("{}: {codes:?} {verdict:?}\n{}\n{}", case.name, text.out, json.out));
        }
        assert!(!format!("{}{}", json.out, text.out).contains("hush"), "{}", case.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_flow_that_nothing_is_wrong_with_is_good() {
    let work = Work::new();
    work.write("a.conf", GOOD);
    let said = work.run(&["check", "-f", "a.conf", "--strict"]);
    assert_eq!((said.code, said.out.as_str()), (0, "a: good: 1 source, 1 channel, 1 sink\n"), "{said:?}");
}

#[test]
fn a_near_miss_is_a_loud_warning_for_an_agent_that_runs() {
    let work = Work::new();
    work.write("a.conf", &format!("{GOOD}a.channels.c.transactionCapcity = 50\n").replace("44001", "0"));
    let mut agent = work.agent(&[]);
    let log = agent.log();
    let told = |line: &str| {
        line.contains("WARN") && line.contains("a.conf:11") && line.contains("`transactionCapacity`")
    };
    assert!(log.lines().any(told), "{log}");
    assert_eq!(agent.stop(), 0);
}

#[test]
fn what_cannot_be_read_is_2_and_says_why() {
    let work = Work::new();
    work.write("circle.conf", "a.sources = ${a.x}\na.x = ${a.y}\na.y = ${a.x}\n");
    std::fs::write(work.path("utf16.conf"), b"\xff\xfea\0.\0s\0o\0").unwrap();
    std::fs::write(work.path("binary.conf"), b"\x7fELF\x02\x01\x01\0\0\0").unwrap();
    work.make_folder("folder");
    work.write("cut.conf", "a.sources = r\na.channels = c\\u00");
    for (file, says) in [
        ("circle.conf", "circle.conf:3: a.y: refers to itself: a.x -> a.y -> a.x"),
        ("utf16.conf", "the file is in UTF-16"),
        ("binary.conf", "this is a binary file"),
        ("cut.conf", "cut.conf: line 2"),
        ("gone.conf", "cannot read configuration file gone.conf"),
        ("folder", "cannot read configuration file folder"),
    ] {
        for words in [&["check", "-f", file][..], &["agent", "-n", "a", "-f", file]] {
            let said = work.run(words);
            assert_eq!(said.code, 2, "{words:?}: {said:?}");
            assert!(format!("{}{}", said.out, said.err).contains(says), "{words:?}: {said:?}");
        }
        let json = work.run(&["check", "-f", file, "--format", "json"]);
        let report: Value = serde_json::from_str(&json.out).unwrap();
        assert_eq!((json.code, report["verdict"].as_str()), (2, Some("unreadable")), "{file}: {json:?}");
        assert!(report["error"].as_str().is_some_and(|error| error.contains(says)), "{file}: {json:?}");
    }
}
