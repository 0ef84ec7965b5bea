//! The mistakes that configurations in the wild have, each with what is said about it: file and line, key, and the nearest
//! key or what to do.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

use flumen_agent::{
    commands::Program,
    conf::{ConfigText, Origins, Sources, load},
    plan::{self, Plan, PlanContext},
};
use flumen_core::{
    config::{Problem, ProblemKind},
    registry::Environment,
    world::SetClock,
};
use flumen_java::properties::Encoding;
use std::sync::Arc;

/// A small agent that is right. What is wrong stands from line 9 on.
const GOOD: &str = "\
a.sources = r
a.channels = c
a.sinks = k
a.sources.r.type = netcat
a.sources.r.channels = c
a.channels.c.type = memory
a.sinks.k.type = null
a.sinks.k.channel = c
a.sources.r.bind = localhost
a.sources.r.port = 4444
";

fn read(text: &str) -> (Plan, Vec<Problem>) {
    let text = ConfigText { name: "flume.conf".into(), bytes: text.into(), encoding: Encoding::Latin1 };
    let (entries, mut problems) = load(&[text]);
    let context = PlanContext {
        registry: Arc::new(flumen_agent::registry()),
        environment: Arc::new(Environment::default()),
        clock: Arc::new(SetClock::default()),
    };
    let (plan, more) = plan::read(&entries, "a", &context);
    problems.extend(more);
    entries.sort(&mut problems);
    (plan, problems)
}

/// What is left of the good agent, with lines added; a line whose key is there already replaces it in its place.
fn changed(lines: &str) -> (Plan, Vec<Problem>) {
    let key = |line: &str| line.split([' ', '=']).next().unwrap_or_default().to_owned();
    let (mut text, mut more) = (GOOD.to_owned(), String::new());
    for line in lines.lines() {
        match GOOD.lines().find(|old| key(old) == key(line)) {
            Some(old) => text = text.replace(&format!("{old}\n"), &format!("{line}\n")),
            None => more += &format!("{line}\n"),
        }
    }
    read(&(text + &more))
}

/// Lines, and what one message about them must hold.
const MISTAKES: &[(&str, &[&str])] = &[
    // A key misspelt.
    (
        "a.channels.c.transactioncapacity = 5",
        &["flume.conf:11: a.channels.c.transactioncapacity: unknown", "did you mean `transactionCapacity`"],
    ),
    (
        "a.channels.c.transacitonCapacity = 5",
        &["flume.conf:11: a.channels.c.transacitonCapacity", "did you mean `transactionCapacity`"],
    ),
    (
        "a.channels.c.transactionCapcity = 5",
        &["flume.conf:11: a.channels.c.transactionCapcity", "did you mean `transactionCapacity`"],
    ),
    (
        "a.channels.c.transactionCapacacity = 5",
        &["flume.conf:11: a.channels.c.transactionCapacacity", "did you mean `transactionCapacity`"],
    ),
    ("a.channels.c.keepAlive = 5", &["flume.conf:11: a.channels.c.keepAlive", "did you mean `keep-alive`"]),
    ("a.sources.r.intercepts = i", &["flume.conf:11: a.sources.r.intercepts", "did you mean `interceptors`"]),
    ("a.souces.r.type = seq", &["flume.conf:11: a.souces.r.type", "did you mean `sources`"]),
    // The right key at the wrong component, or below the wrong prefix.
    ("a.sources.r.host = h", &["flume.conf:11: a.sources.r.host: unknown property"]),
    (
        "a.sinks.k.type = logger\na.sinks.k.sink.directory = /x",
        &["flume.conf:11: a.sinks.k.sink.directory: unknown property"],
    ),
    (
        "a.sinks.k.type = file_roll\na.sinks.k.sink.directory = /x\na.sinks.k.rollInterval = 5",
        &["flume.conf:12: a.sinks.k.rollInterval", "did you mean `sink.rollInterval`"],
    ),
    (
        "a.sources.r.channels.selector.type = multiplexing",
        &[
            "flume.conf:11: a.sources.r.channels.selector.type: unknown property",
            "did you mean `selector.type`",
        ],
    ),
    (
        "a.processor.type = failover",
        &[
            "flume.conf:11: a.processor.type: is not a property of an agent",
            "an agent has sources, channels, sinks, sinkgroups, configfilters",
        ],
    ),
    ("a.sink.k.batchSize = 5", &["flume.conf:11: a.sink.k.batchSize", "did you mean `sinks`"]),
    ("a.source.r.port = 5", &["flume.conf:11: a.source.r.port", "did you mean `sources`"]),
    (
        "a.sources.ri.port = 5",
        &[
            "flume.conf:11: a.sources.ri: has properties, but `a.sources` does not name it",
            "did you mean `r`",
        ],
    ),
    (
        "a.sinks.type = null",
        &["flume.conf:11: a.sinks.type: names no property of a component", "write a.sinks.NAME.PROPERTY"],
    ),
    // Names that fit nothing.
    ("a.channels = c d", &["flume.conf:2: a.channels: names `d`, which has no properties"]),
    ("a.sinks = k kk", &["flume.conf:3: a.sinks: names `kk`, which has no properties"]),
    (
        "a.sinks = k l\nagent.sinks.l.type = null",
        &["flume.conf:3: a.sinks: names `l`", "agent `agent` has properties of this name"],
    ),
    ("a.sources.r.channels = ch", &["flume.conf:5: a.sources.r.channels: there is no channel `ch`"]),
    ("a.sinks.k.channel = d", &["flume.conf:8: a.sinks.k.channel: there is no channel `d`"]),
    (
        "a.sinkgroups.g.sinks = k",
        &["flume.conf:11: a.sinkgroups.g: has properties, but `a.sinkgroups` does not name it"],
    ),
    (
        "a.sources.r.interceptors = i\na.sources.r.interceptors.j.type = host",
        &["flume.conf:12: a.sources.r.interceptors.j.type: `interceptors` does not name `j`"],
    ),
    (
        "a.sources.r.channels =",
        &["flume.conf:5: a.sources.r.channels: has no value", "give it a value, or remove the line"],
    ),
    // Types.
    (
        "a.sources.r.type = org.example.MySource",
        &["flume.conf:4: a.sources.r.type: unknown source type", "custom Java classes cannot be loaded"],
    ),
    (
        "a.sinks.k.type = nul",
        &["flume.conf:7: a.sinks.k.type: unknown sink type `nul`", "did you mean `null`"],
    ),
    (
        "a.sources.r.selector.type = default",
        &["flume.conf:11: a.sources.r.selector.type: unknown channel selector type `default`", "replicating"],
    ),
    // Values.
    (
        "a.channels.c.capacity = 1000 # events",
        &["flume.conf:11: a.channels.c.capacity: `1000 # events` is read as `1000`"],
    ),
    (
        "a.sources.r.ack-every-event = true # yes",
        &["flume.conf:11: a.sources.r.ack-every-event", "is read as `true`"],
    ),
    ("a.sources.r.channels = c # the only one", &["flume.conf:5: a.sources.r.channels", "is read as `c`"]),
    (
        "a.sinks.k.channel = c # the only one",
        &["flume.conf:8: a.sinks.k.channel: `c # the only one` is read as `c`", "a line of its own"],
    ),
    (
        "a.sinks.k.type = null # nothing",
        &["flume.conf:7: a.sinks.k.type: `null # nothing` is read as `null`"],
    ),
    (
        "a.channels = c, d\na.channels.d.type = memory",
        &["flume.conf:2: a.channels: `c, d` is read as `c d`", "separate names by blanks"],
    ),
    ("a.sources.r.channels = c,", &["flume.conf:5: a.sources.r.channels: `c,` is read as `c`"]),
    ("a.sources.r.port = 99999", &["flume.conf:10: a.sources.r.port: `99999` is not"]),
    (
        "a.channels.c.capacity = 99999999999",
        &["flume.conf:11: a.channels.c.capacity: `99999999999` is not", "the default `100` is used"],
    ),
    (
        "a.sources.r.port = {{ port }}",
        &["flume.conf:10: a.sources.r.port: holds `{{…}}`", "a template that was not filled in"],
    ),
    ("a.sources.r.port = <%= @port %>", &["flume.conf:10: a.sources.r.port: holds `<%…%>`"]),
    (
        "a.channels.c.capacity = 5000\na.channels.c.capacity = 6000",
        &["flume.conf:12: a.channels.c.capacity: is set on line 11 too; the later one counts"],
    ),
    (
        "a.sinks.k.batchSize = 1000",
        &["flume.conf:11: a.sinks.k.batchSize", "lowered to 100", "raise transactionCapacity of `c`"],
    ),
    // What does not go together.
    (
        "a.channels = c d\na.channels.d.type = memory\na.sources.r.channels = c d",
        &["flume.conf:11: a.channels.d.type: no sink that runs reads from it: it fills up"],
    ),
    (
        "a.sources = r s\na.sources.s.type = netcat\na.sources.s.bind = localhost\na.sources.s.port = 4444\na.sources.s.channels = c",
        &["flume.conf:13: a.sources.s.port: TCP port 4444 is source `r`'s already", "choose another port"],
    ),
    (
        "a.sinks = k l\na.sinks.l.type = null\na.sinks.l.channel = c",
        &[
            "flume.conf:12: a.sinks.l.channel: takes from channel `c` as sink `k` does",
            "a channel of its own",
        ],
    ),
    ("This is a remark", &["flume.conf:11: This: belongs to no agent"]),
];

#[test]
fn every_mistake_is_told_with_its_place_and_a_way_out() {
    let mut wrong = Vec::new();
    for (lines, parts) in MISTAKES {
        let (_, problems) = changed(lines);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        if !told.iter().any(|told| parts.iter().all(|part| told.contains(part))) {
            wrong.push(format!("{lines}\n  wanted {parts:?}\n  told   {told:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Keys left out, and what is said.
#[test]
fn what_is_missing_is_told_at_its_component() {
    for (line, parts) in [
        ("a.sinks.k.channel", ["flume.conf:7: a.sinks.k.channel: is required", ""]),
        ("a.sources.r.channels", ["flume.conf:4: a.sources.r.channels: is required", ""]),
        ("a.sources.r.type", ["flume.conf:4: a.sources.r.type: is required", ""]),
        ("a.sources.r.port", ["flume.conf:4: a.sources.r.port: is required", ""]),
    ] {
        let text: String = GOOD.lines().filter(|l| !l.starts_with(line)).map(|l| format!("{l}\n")).collect();
        let told: Vec<String> = read(&text).1.iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|told| parts.iter().all(|part| told.contains(part))), "{line}: {told:?}");
    }
    let text = GOOD.replace("a.sources.r.channels", "a.sources.r.channel");
    let told: Vec<String> = read(&text).1.iter().map(ToString::to_string).collect();
    let cured = |told: &String| told.contains("a.sources.r.channels: is required; a source has `channels`");
    assert!(told.iter().any(cured), "{told:?}");
    let text = GOOD.replace("a.sinks.k.channel ", "a.sinks.k.channels ");
    let told: Vec<String> = read(&text).1.iter().map(ToString::to_string).collect();
    let cured = |told: &String| told.contains("a.sinks.k.channel: is required; a sink has `channel`");
    assert!(told.iter().any(cured), "{told:?}");
}

/// Odd, and as good as it looks.
#[test]
fn what_is_only_odd_is_read_without_a_word() {
    for lines in [
        "a.sources.r.type = NETCAT",
        "a.channels.c.type = org.apache.flume.channel.MemoryChannel",
        "a.sinks.k.type = NULL",
        "a.channels.c.capacity = +1000",
        "  a.channels.c.capacity   =   1000   ",
        "a.channels.c.capacity : 1000",
        "a.channels.c.capacity 1000",
        "a.channels.c.capacity = \\\n   1000",
        "! a remark",
        "b.sources = x",
    ] {
        let (plan, problems) = changed(lines);
        assert_eq!(problems, [], "{lines}");
        assert!(plan.sources.contains_key("r") && plan.groups.contains_key("k"), "{lines}");
    }
}

#[test]
fn keys_that_nobody_reads_are_marked_as_such() {
    for (lines, unknown) in [
        ("a.channels.c.transactionCapcity = 5", true),
        ("a.channels.c.montime = 5", true),
        ("a.souces.r.type = seq", true),
        ("a.sources.r1.type = seq", true),
        ("a.sinks.type = null", true),
        ("a.sources.old.type = seq", false),
        ("a.channels.c.capacity = 1000 # events", false),
    ] {
        let kinds: Vec<ProblemKind> = changed(lines).1.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds.contains(&ProblemKind::UnknownKey), unknown, "{lines}");
    }
}

#[test]
fn secrets_in_clear_text_are_told_and_never_shown() {
    for lines in [
        "a.sources.r.type = http\na.sources.r.keystorePassword = hush-hush",
        "a.sources.r.type = http\na.sources.r.keystore-password = hush-hush",
        "a.sinks.k.url = http://me:hush-hush@host/x",
    ] {
        let told: Vec<String> = changed(lines).1.iter().map(ToString::to_string).collect();
        let one = |told: &String| {
            told.contains("flume.conf:11: a.s")
                && told.contains("in clear text")
                && told.contains("${env:NAME}")
        };
        assert!(told.iter().any(one), "{lines}: {told:?}");
        assert!(!told.iter().any(|told| told.contains("hush")), "{lines}: {told:?}");
    }
}

#[tokio::test]
async fn secrets_that_come_from_lookups_and_filters_are_where_they_belong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flume.conf");
    let lines = "a.configfilters = f\na.configfilters.f.type = env\na.sources.r.type = http\n\
                 a.sources.r.keystorePassword = ${env:WHAT_OPENS_IT}\na.sinks.k.url = http://me:${f['WHAT_OPENS_IT']}@h/\n";
    std::fs::write(&path, format!("{GOOD}{lines}")).unwrap();
    let variables = [("WHAT_OPENS_IT".to_owned(), "hush-hush".to_owned())].into();
    let environment = Arc::new(Environment { variables, ..Environment::default() });
    let program = Program { registry: Arc::new(flumen_agent::registry()), environment: environment.clone() };
    let sources = Sources { files: vec![path], environment, ..Sources::default() };
    let (_, problems) = program.read_plan(&mut Origins::new(sources, "a"), "a").await.unwrap();
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|told| told.contains("a.sinks.k.url: unknown property")), "{told:?}");
    assert!(!told.iter().any(|told| told.contains("clear text") || told.contains("hush")), "{told:?}");
}

#[test]
fn cfg_01_all_lists_are_read() {
    let (plan, problems) = read(
        "h.sources = s1 s2\nh.channels = c1 c2\nh.sinks = k1 k2\nh.sinkgroups = g1\n\
         h.sources.s1.type = seq\nh.sources.s1.channels = c1\nh.sources.s2.type = seq\nh.sources.s2.channels = c2\n\
         h.channels.c1.type = memory\nh.channels.c2.type = memory\nh.sinks.k1.type = null\nh.sinks.k1.channel = c1\n\
         h.sinks.k2.type = null\nh.sinks.k2.channel = c2\nh.sinkgroups.g1.sinks = k1 k2\n\
         h.sinkgroups.g1.processor.type = load_balance\n"
            .replace("h.", "a.")
            .as_str(),
    );
    assert_eq!(problems, []);
    assert!(plan.sources.keys().eq(["s1", "s2"]) && plan.channels.keys().eq(["c1", "c2"]));
    let sinks: Vec<&str> = plan.groups["g1"].sinks.iter().map(|sink| sink.name.as_str()).collect();
    assert_eq!((sinks, plan.groups.len()), (vec!["k1", "k2"], 1));
}

/// A source with several ports is not asked for a single one.
#[test]
fn cfg_04_several_ports_need_no_single_one() {
    let text = GOOD
        .replace("r.type = netcat", "r.type = multiport_syslogtcp")
        .replace("a.sources.r.bind = localhost", "a.sources.r.host = localhost")
        .replace("a.sources.r.port = 4444", "a.sources.r.ports = 10001 10002 10003");
    let (plan, problems) = read(&text);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told, [] as [String; 0]);
    let ports: Vec<u16> = plan.sources["r"].part.facts.listens.iter().map(|own| own.port).collect();
    assert_eq!(ports, [10001, 10002, 10003]);
}

#[test]
fn keys_without_agent_name_or_value_are_told_once_each() {
    for line in ["foo = 1", ".x = 1", "foo", ".x", "a. = 2", "a.sinks.k.batchSize =", "= 1"] {
        let (plan, problems) = changed(line);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{line}: {told:?}");
        assert!(told[0].starts_with("flume.conf:11: "), "{line}: {told:?}");
        assert!(plan.sources.contains_key("r") && plan.groups.contains_key("k"), "{line}");
    }
}

/// Five agents in one file, four of them wrong in ways of their own.
#[test]
fn cfg_30_what_is_wrong_with_one_agent_is_not_told_of_another() {
    let good = "H.sources = s1\nH.channels = c1\nH.sinks = k1\nH.sources.s1.type = seq\nH.sources.s1.channels = c1\n\
                H.channels.c1.type = memory\nH.sinks.k1.type = null\nH.sinks.k1.channel = c1\n";
    let faults: [(&str, &[&str]); 5] = [
        ("", &[]),
        ("H.channels =\n", &["H.channels: has no value"]),
        (
            "H.channels.c1.type =\nH.channels.c1.capacity = 5\n",
            &["H.channels.c1.type: has no value", "H.channels.c1.type: is required"],
        ),
        (
            "H.sources = s1 s2\nH.sinks = k1 k2\nH.sinks.k1.type =\n",
            &["H.sources: names `s2`", "H.sinks: names `k2`", "H.sinks.k1.type: has no value"],
        ),
        (
            "H.sources.s1 = seq\nH.sinks.k1.type = nosuch\n",
            &["H.sources.s1: names no property", "unknown sink type `nosuch`"],
        ),
    ];
    let mut text = String::new();
    for (i, (more, _)) in faults.iter().enumerate() {
        let host = format!("host{}", i + 1);
        let replaced: Vec<&str> = more.lines().filter_map(|line| line.split(' ').next()).collect();
        let kept =
            good.lines().filter(|line| !replaced.contains(&line.split(' ').next().unwrap_or_default()));
        kept.chain(more.lines()).for_each(|line| text += &format!("{}\n", line.replace('H', &host)));
    }
    let text = ConfigText { name: "flume.conf".into(), bytes: text.into(), encoding: Encoding::Latin1 };
    let (entries, of_the_text) = load(&[text]);
    let context = PlanContext {
        registry: Arc::new(flumen_agent::registry()),
        environment: Arc::new(Environment::default()),
        clock: Arc::new(SetClock::default()),
    };
    assert_eq!(plan::agents(&entries), ["host1", "host2", "host3", "host4", "host5"]);
    for (i, (_, want)) in faults.iter().enumerate() {
        let host = format!("host{}", i + 1);
        let (plan, mut problems) = plan::read(&entries, &host, &context);
        problems.extend(of_the_text.iter().filter(|problem| problem.key.starts_with(&host)).cloned());
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        for part in *want {
            assert!(
                told.iter().any(|told| told.contains(&part.replace('H', &host))),
                "{host}: {part} in {told:#?}"
            );
        }
        assert_eq!(want.is_empty(), told.is_empty(), "{host}: {told:#?}");
        assert!(problems.iter().all(|problem| problem.key.starts_with(&host)), "{host}: {told:#?}");
        assert_eq!(plan.is_empty(), matches!(i, 1 | 2), "{host}");
    }
}
