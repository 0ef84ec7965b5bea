//! Plans from whole configurations: what is left out, what is mended, and what is said about it.

use super::*;
use crate::conf::{ConfigText, load};
use flumen_core::{
    config::{Problem, Severity},
    registry::Environment,
    world::SetClock,
};
use flumen_java::properties::Encoding;
use std::sync::Arc;

/// A small agent that is right.
const GOOD: &str = "\
a.sources = r
a.channels = c
a.sinks = k
a.sources.r.type = seq
a.sources.r.channels = c
a.channels.c.type = memory
a.sinks.k.type = null
a.sinks.k.channel = c
";

fn context() -> PlanContext {
    PlanContext {
        registry: Arc::new(crate::registry()),
        environment: Arc::new(Environment::default()),
        clock: Arc::new(SetClock::default()),
    }
}

fn plan_of(agent: &str, text: &str) -> (Plan, Vec<Problem>) {
    let text = ConfigText { name: "flume.conf".into(), bytes: text.into(), encoding: Encoding::Latin1 };
    let (entries, mut problems) = load(&[text]);
    let (plan, more) = read(&entries, agent, &context());
    problems.extend(more);
    entries.sort(&mut problems);
    (plan, problems)
}

/// The plan and what is said, for the good agent with more lines.
fn with(lines: &str) -> (Plan, Vec<String>) {
    let (plan, problems) = plan_of("a", &format!("{GOOD}{lines}"));
    (plan, problems.iter().map(|problem| format!("{}: {problem}", problem.severity)).collect())
}

fn without(line_start: &str) -> (Plan, Vec<String>) {
    let text: String =
        GOOD.lines().filter(|line| !line.starts_with(line_start)).map(|l| format!("{l}\n")).collect();
    let (plan, problems) = plan_of("a", &text);
    (plan, problems.iter().map(|problem| format!("{}: {problem}", problem.severity)).collect())
}

fn one_contains(told: &[String], parts: &[&str]) -> bool {
    told.iter().any(|line| parts.iter().all(|part| line.contains(part)))
}

#[test]
fn a_good_file_is_read_without_a_word() {
    let (plan, told) = with("");
    assert!(told.is_empty(), "{told:?}");
    assert_eq!(plan.sources["r"].channels, ["c"]);
    assert_eq!(plan.sources["r"].part.type_name, "seq");
    assert_eq!(plan.groups["k"].sinks[0].channel, "c");
    assert_eq!(plan.channel_order, ["c"]);
}

#[test]
fn cfg_43_types_go_by_class_name_and_in_any_case() {
    for (name, n_told) in [("SEQ", 0), ("Seq", 1), ("org.apache.flume.source.SequenceGeneratorSource", 0)] {
        let (plan, told) = plan_of("a", &GOOD.replace("= seq", &format!("= {name}")));
        assert_eq!((plan.sources["r"].part.type_name, told.len()), ("seq", n_told), "{told:?}");
    }
}

#[test]
fn an_agent_that_is_not_there_is_told_with_those_that_are() {
    let (plan, problems) = plan_of("b", GOOD);
    assert!(plan.is_empty());
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].severity, Severity::Error);
    let text = problems[0].to_string();
    assert!(
        text.contains("no agent of this name in flume.conf; agents there: a; choose one with -n"),
        "{text}"
    );
}

#[test]
fn an_empty_file_is_told() {
    let (plan, problems) = plan_of("a", "# nothing\n");
    assert!(plan.is_empty());
    assert!(problems[0].to_string().contains("there are no properties at all"), "{problems:?}");
}

#[test]
fn a_missing_channel_leaves_out_what_needs_it_and_says_what_is_near() {
    let (plan, told) = plan_of("a", &GOOD.replace("a.sinks.k.channel = c", "a.sinks.k.channel = d"));
    assert!(plan.groups.is_empty() && plan.sources.contains_key("r"));
    let told: Vec<_> = told.iter().map(ToString::to_string).collect();
    assert!(one_contains(&told, &["flume.conf:8: a.sinks.k.channel", "no channel `d`"]), "{told:?}");
    assert!(one_contains(&told, &["a.channels.c.type", "no sink that runs reads from it"]), "{told:?}");
}

#[test]
fn cfg_08_a_source_without_channels_is_an_error() {
    let (plan, told) = without("a.sources.r.channels");
    assert!(plan.sources.is_empty());
    assert!(one_contains(&told, &["error: flume.conf:4: a.sources.r.channels: is required"]), "{told:?}");
}

#[test]
fn cfg_03_an_agent_without_channels_has_nothing_to_run() {
    let (plan, told) = without("a.channels");
    assert!(plan.is_empty());
    assert!(one_contains(&told, &["error: a.channels: names no channels"]), "{told:?}");
    assert!(one_contains(&told, &["error: a: has nothing to run"]), "{told:?}");
}

#[test]
fn cfg_03_only_sources_or_only_sinks_is_a_plan() {
    let (plan, _) = without("a.sinks");
    assert!(!plan.is_empty());
    let (plan, _) = without("a.sources");
    assert!(!plan.is_empty());
}

#[test]
fn an_unknown_type_is_told_with_the_nearest_and_the_rest_runs() {
    let (plan, told) = plan_of("a", &GOOD.replace("= null", "= nul"));
    let told: Vec<_> = told.iter().map(ToString::to_string).collect();
    assert!(plan.sources.contains_key("r") && plan.groups.is_empty());
    assert!(
        one_contains(
            &told,
            &["flume.conf:7: a.sinks.k.type: unknown sink type `nul`", "did you mean `null`"]
        ),
        "{told:?}"
    );
    let (_, told) = plan_of("a", &GOOD.replace("= null", "= com.example.MySink"));
    let told: Vec<_> = told.iter().map(ToString::to_string).collect();
    assert!(one_contains(&told, &["custom Java classes cannot be loaded"]), "{told:?}");
}

#[test]
fn keys_of_no_component_are_told() {
    let (_, told) = with("a.souces.r.type = seq\na.sink.k.type = null\na.sources.q.type = seq\nnodot = 1\n");
    assert!(
        one_contains(&told, &["warning: flume.conf:9: a.souces.r.type", "did you mean `sources`"]),
        "{told:?}"
    );
    assert!(one_contains(&told, &["flume.conf:10: a.sink.k.type", "did you mean `sinks`"]), "{told:?}");
    assert!(one_contains(&told, &["flume.conf:11: a.sources.q", "`a.sources` does not name it"]), "{told:?}");
    assert!(one_contains(&told, &["info: flume.conf:12: nodot"]), "{told:?}");
}

#[test]
fn cfg_16_a_batch_above_the_transaction_capacity_is_lowered() {
    let (plan, told) = with("a.sources.r.batchSize = 1001\na.channels.c.transactionCapacity = 100\n");
    assert_eq!(plan.sources["r"].part.facts.batch_size, Some(100));
    assert_eq!(plan.sources["r"].part.settings.text("batchSize"), Some("100"));
    assert!(
        one_contains(
            &told,
            &[
                "warning: flume.conf:9: a.sources.r.batchSize",
                "lowered to 100",
                "raise transactionCapacity of `c`"
            ]
        ),
        "{told:?}"
    );
    let (plan, told) = with("a.sources.r.batchSize = 100\na.channels.c.transactionCapacity = 100\n");
    assert_eq!((plan.sources["r"].part.facts.batch_size, told.len()), (Some(100), 0));
}

#[test]
fn cfg_14_a_bad_number_leaves_out_its_component_alone() {
    let (plan, told) = with("a.sinks.k.batchSize = many\n");
    assert!(plan.groups.is_empty() && plan.sources.contains_key("r") && plan.channels.contains_key("c"));
    assert!(one_contains(&told, &["error: flume.conf:9: a.sinks.k.batchSize"]), "{told:?}");
}

#[test]
fn a_channel_that_nobody_uses_is_left_out() {
    let (plan, told) = with("a.channels = c d\na.channels.d.type = memory\n");
    assert!(!plan.channels.contains_key("d"));
    assert!(
        one_contains(&told, &["no source that runs writes to it and no sink that runs reads from it"]),
        "{told:?}"
    );
}

#[test]
fn one_bad_sink_never_takes_its_group_away() {
    let group =
        "a.sinks = k bad\na.sinks.bad.type = nothing\na.sinkgroups = g\na.sinkgroups.g.sinks = k bad none\n";
    let (plan, told) = with(group);
    assert_eq!(plan.groups["g"].sinks.len(), 1);
    assert!(one_contains(&told, &["a.sinkgroups.g.sinks", "sink `bad` cannot be built"]), "{told:?}");
    assert!(one_contains(&told, &["a.sinkgroups.g.sinks", "there is no sink `none`"]), "{told:?}");
}

#[test]
fn a_sink_stays_in_the_first_group_that_names_it() {
    let groups = "a.sinkgroups = g h\na.sinkgroups.g.sinks = k\na.sinkgroups.h.sinks = k\n";
    let (plan, told) = with(groups);
    assert!(
        plan.groups.contains_key("g") && !plan.groups.contains_key("h") && !plan.groups.contains_key("k")
    );
    assert!(one_contains(&told, &["in group `g` already"]), "{told:?}");
}

#[test]
fn a_group_of_an_unknown_kind_leaves_its_sinks_alone_and_running() {
    let group = "a.sinkgroups = g\na.sinkgroups.g.sinks = k\na.sinkgroups.g.processor.type = roundabout\n";
    let (plan, told) = with(group);
    assert!(plan.groups.contains_key("k"));
    assert!(one_contains(&told, &["unknown sink processor type `roundabout`"]), "{told:?}");
}

#[test]
fn everything_is_told_at_once_in_the_order_of_the_file() {
    let (_, problems) =
        plan_of("a", &format!("{GOOD}a.sources.r.x = 1\na.channels.c.y = 1\na.sinks.k.z = 1\n"));
    let lines: Vec<_> = problems.iter().map(|problem| problem.at.as_ref().unwrap().line).collect();
    assert_eq!(lines, [9, 10, 11]);
}

/// Listens, owns a directory and wants a timestamp, as its settings say: for the checks across components.
mod scripted {
    use flumen_core::{
        channel::{Channel, ChannelLimits},
        config::{Configuration, Property, View},
        event::Batch,
        processor::ChannelProcessor,
        registry::{
            BuildContext, BuildError, ChannelContext, ChannelType, Facts, Listening, SinkContext, SinkType,
            SourceContext, SourceType, Transport,
        },
        sink::{DeliverError, Delivery, Sink},
        source::{Shutdown, Source, SourceError},
    };

    #[derive(Debug)]
    pub(super) struct Setting(String);

    impl Configuration for Setting {
        const PROPERTIES: &'static [Property] =
            &[Property { key: "at", kind: "text", doc: "Where.", required: true, ..Property::NEW }];

        fn read(view: &mut View<'_>) -> Option<Self> {
            Some(Self(view.value(&Self::PROPERTIES[0])?))
        }
    }

    pub(super) struct Listener;

    impl SourceType for Listener {
        const NAMES: &'static [&'static str] = &["listener"];
        const SUMMARY: &'static str = "Listens.";
        type Config = Setting;

        fn build(_: Setting, _: &SourceContext) -> Result<Self, BuildError> {
            Ok(Self)
        }

        fn facts(config: &Setting) -> Facts {
            let (host, port) = config.0.rsplit_once(':').unwrap();
            let listens = vec![Listening {
                host: host.into(),
                port: port.parse().unwrap(),
                transport: Transport::Tcp,
                key: "at",
            }];
            Facts { listens, ..Facts::default() }
        }
    }

    impl Source for Listener {
        async fn run(&mut self, _: ChannelProcessor, _: Shutdown) -> Result<(), SourceError> {
            Ok(())
        }
    }

    pub(super) struct TimedSink;

    impl SinkType for TimedSink {
        const NAMES: &'static [&'static str] = &["timed"];
        const SUMMARY: &'static str = "Wants a timestamp.";
        type Config = Setting;

        fn build(_: Setting, _: &SinkContext) -> Result<Self, BuildError> {
            Ok(Self)
        }

        fn facts(config: &Setting) -> Facts {
            Facts {
                needs_timestamp: Some("at"),
                own_directories: vec![config.0.clone().into()],
                ..Facts::default()
            }
        }
    }

    impl Sink for TimedSink {
        async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
            Ok(Delivery::all(batch))
        }
    }

    /// A memory channel that says it owns a directory.
    #[derive(Debug)]
    pub(super) struct Owner(flumen_core::testing::ScriptedChannel);

    impl ChannelType for Owner {
        const NAMES: &'static [&'static str] = &["owner"];
        const SUMMARY: &'static str = "Owns a directory.";
        const LIVE_KEYS: &'static [&'static str] = &[];
        type Config = Setting;

        fn build(_: Setting, _: &ChannelContext) -> Result<Self, BuildError> {
            Err(BuildError::new("only for plans"))
        }

        fn limits_of(_: &Setting, _: &BuildContext) -> ChannelLimits {
            ChannelLimits {
                capacity: 100,
                transaction_capacity: 100,
                byte_slots: None,
                keep_alive: std::time::Duration::ZERO,
            }
        }

        fn facts(config: &Setting) -> Facts {
            Facts { own_directories: vec![config.0.clone().into()], ..Facts::default() }
        }
    }

    impl Channel for Owner {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn limits(&self) -> ChannelLimits {
            self.0.limits()
        }
        fn signals(&self) -> &flumen_core::channel::Signals {
            self.0.signals()
        }
        fn try_put(
            &self,
            size: flumen_core::event::BatchSize,
        ) -> Result<Option<flumen_core::channel::PutTransaction>, flumen_core::channel::ChannelError>
        {
            self.0.try_put(size)
        }
        fn try_take(
            &self,
            max_events: u32,
        ) -> Result<Option<flumen_core::channel::TakeTransaction>, flumen_core::channel::ChannelError>
        {
            self.0.try_take(max_events)
        }
        fn reconfigure(&self, limits: &ChannelLimits) -> Result<(), flumen_core::channel::NeedsRebuild> {
            self.0.reconfigure(limits)
        }
        fn depth(&self) -> flumen_core::channel::ChannelDepth {
            self.0.depth()
        }
        fn close(&self) {
            self.0.close();
        }
    }
}

/// What is said of the good agent with more lines, where scripted types exist too.
fn with_scripted(lines: &str) -> (Plan, Vec<String>) {
    let registry = crate::registry()
        .source::<scripted::Listener>()
        .sink::<scripted::TimedSink>()
        .channel::<scripted::Owner>();
    let mut context = context();
    context.registry = Arc::new(registry);
    let properties = [("flume.monitoring.port".to_owned(), "4545".to_owned())].into();
    context.environment = Arc::new(Environment { properties, ..Environment::default() });
    let text = format!("{GOOD}{lines}");
    let text = ConfigText { name: "flume.conf".into(), bytes: text.into(), encoding: Encoding::Latin1 };
    let (plan, problems) = read(&load(&[text]).0, "a", &context);
    (plan, problems.iter().map(|problem| format!("{}: {problem}", problem.severity)).collect())
}

fn listeners(first: &str, second: &str) -> String {
    let source = |name: &str, at: &str| {
        format!(
            "a.sources.{name}.type = listener\na.sources.{name}.channels = c\na.sources.{name}.at = {at}\n"
        )
    };
    format!("a.sources = r p q\n{}{}", source("p", first), source("q", second))
}

#[test]
fn of_two_sources_on_one_port_the_later_is_left_out() {
    for (first, second) in [("0.0.0.0:44", "0.0.0.0:44"), ("127.0.0.1:44", "0.0.0.0:44"), ("h:44", "h:44")] {
        let (plan, told) = with_scripted(&listeners(first, second));
        assert!(plan.sources.contains_key("p") && !plan.sources.contains_key("q"));
        assert!(
            one_contains(&told, &["error:", "a.sources.q.at", "TCP port 44 is source `p`'s already"]),
            "{told:?}"
        );
    }
    for (first, second) in [("127.0.0.1:44", "127.0.0.2:44"), ("h:0", "h:0"), ("h:44", "h:45")] {
        let (plan, _) = with_scripted(&listeners(first, second));
        assert!(plan.sources.contains_key("p") && plan.sources.contains_key("q"), "{first} {second}");
    }
}

#[test]
fn a_source_on_the_port_of_the_monitor_is_told() {
    let (_, told) = with_scripted(&listeners("h:4545", "h:1"));
    assert!(
        one_contains(&told, &["warning:", "a.sources.p.at", "port 4545 is the monitor's too"]),
        "{told:?}"
    );
}

#[test]
fn of_two_channels_in_one_directory_the_later_is_left_out_with_what_hangs_on_it() {
    let channels = |first: &str, second: &str| {
        format!(
            "a.channels = c d e\na.channels.d.type = owner\na.channels.d.at = {first}\na.channels.e.type = owner\n\
             a.channels.e.at = {second}\na.sources.r.channels = c d e\na.sinks = k l m\na.sinks.l.type = null\n\
             a.sinks.l.channel = d\na.sinks.m.type = null\na.sinks.m.channel = e\n"
        )
    };
    let (plan, told) = with_scripted(&channels("/data/inner", "/data/./inner/"));
    assert!(plan.channels.contains_key("d") && !plan.channels.contains_key("e"));
    assert_eq!(plan.sources["r"].channels, ["c", "d"]);
    assert!(!plan.groups.contains_key("m"));
    assert!(
        one_contains(&told, &["error:", "a.channels.e", "/data/./inner/ is channel `d`'s already"]),
        "{told:?}"
    );
    for other in ["/data2", "/data/inner"] {
        let (plan, _) = with_scripted(&channels("/data", other));
        assert!(plan.channels.contains_key("e") && plan.groups.contains_key("m"), "{other}");
    }
}

#[test]
fn a_directory_of_a_channel_with_a_file_in_its_way_is_told() {
    let (_, told) = with_scripted(
        "a.channels = c d\na.channels.d.type = owner\na.channels.d.at = /dev/null/inner\na.sources.r.channels = c d\n\
         a.sinks = k l\na.sinks.l.type = null\na.sinks.l.channel = d\n",
    );
    assert!(
        one_contains(&told, &["warning:", "a.channels.d", "/dev/null/inner: /dev/null is not a directory"]),
        "{told:?}"
    );
}

#[test]
fn a_sink_that_wants_a_timestamp_that_nobody_sets_is_told() {
    let sink = "a.sinks.k.type = timed\na.sinks.k.at = /logs\n";
    let (_, told) = with_scripted(sink);
    assert!(
        one_contains(&told, &["warning:", "a.sinks.k.at", "source `r` sets none", "timestamp interceptor"]),
        "{told:?}"
    );
}

#[test]
fn sources_and_interceptors_of_flume_that_set_a_timestamp_are_known() {
    let own = "a.sources.r.interceptors = i\na.sources.r.interceptors.i.type = ";
    let millis = "org.apache.flume.interceptor.RegexExtractorInterceptorMillisSerializer";
    let regex = format!(
        "{own}regex_extractor\na.sources.r.interceptors.i.regex = ^(\\\\d+)\na.sources.r.interceptors.i.serializers = s\n\
         a.sources.r.interceptors.i.serializers.s.type = {millis}\n\
         a.sources.r.interceptors.i.serializers.s.pattern = yyyy\na.sources.r.interceptors.i.serializers.s.name = timestamp\n"
    );
    for (lines, sets) in [
        (format!("{own}timestamp\n"), true),
        (format!("{own}timestamp\na.sources.r.interceptors.i.headerName = when\n"), false),
        (format!("{own}host\n"), false),
        (regex, true),
        ("a.sources.r.type = syslogtcp\na.sources.r.host = h\na.sources.r.port = 1\n".to_owned(), true),
        ("a.sources.r.type = avro\na.sources.r.bind = h\na.sources.r.port = 1\n".to_owned(), true),
        ("a.sources.r.type = http\na.sources.r.port = 1\n".to_owned(), true),
        ("a.sources.r.type = netcat\na.sources.r.bind = h\na.sources.r.port = 1\n".to_owned(), false),
    ] {
        let (plan, told) = with_scripted(&format!("a.sinks.k.type = timed\na.sinks.k.at = /logs\n{lines}"));
        assert!(plan.sources.contains_key("r"), "{lines}: {told:?}");
        assert_eq!(!one_contains(&told, &["source `r` sets none"]), sets, "{lines}: {told:?}");
    }
}

#[test]
fn two_sinks_on_one_channel_and_in_one_directory_are_told() {
    let sinks = "a.sinks = k l\na.sinks.k.type = timed\na.sinks.k.at = /logs\na.sinks.l.type = timed\na.sinks.l.at = /logs\na.sinks.l.channel = c\n";
    let (_, told) = with_scripted(sinks);
    assert!(
        one_contains(&told, &["info:", "a.sinks.l.channel", "each event goes to one of them"]),
        "{told:?}"
    );
    assert!(one_contains(&told, &["warning:", "a.sinks.l.type", "directory of sink `k`"]), "{told:?}");
    let (_, told) = with_scripted(&format!(
        "{sinks}a.sinkgroups = g\na.sinkgroups.g.sinks = k l\na.sinkgroups.g.processor.type = failover\n"
    ));
    assert!(!one_contains(&told, &["each event goes to one of them"]), "a group shares on purpose: {told:?}");
}

#[test]
fn a_type_in_another_case_works_and_what_was_understood_is_told() {
    let text = GOOD.replace("memory", "Memory").replace("= null", "= ORG.apache.flume.sink.NullSink");
    let (plan, problems) = plan_of("a", &text);
    let told: Vec<String> =
        problems.iter().map(|problem| format!("{}: {problem}", problem.severity)).collect();
    assert!(
        one_contains(&told, &["warning:", "a.channels.c.type", "`Memory` is read as `memory`"]),
        "{told:?}"
    );
    assert!(one_contains(&told, &["is read as `org.apache.flume.sink.NullSink`"]), "{told:?}");
    assert_eq!((told.len(), plan.channels["c"].type_name), (2, "memory"));
}

#[test]
fn a_selector_is_looked_at_although_the_channels_have_an_error() {
    let (_, told) = with("a.sources.r.channels = d\na.sources.r.selector.type = multiplx\n");
    assert!(one_contains(&told, &["error:", "a.sources.r.selector.type", "`multiplx`"]), "{told:?}");
    assert!(one_contains(&told, &["error:", "a.sources.r.channels"]), "{told:?}");
}

#[test]
fn a_sink_whose_events_come_back_to_it_is_told() {
    let loops = |bind: &str, host: &str, channels: &str| {
        let (_, problems) = plan_of(
            "a",
            &format!(
                "a.sources = r s\na.channels = c d\na.sinks = k l\na.sources.r.type = avro\na.sources.r.bind = {bind}\n\
                 a.sources.r.port = 4545\na.sources.r.channels = d\na.sources.s.type = thrift\n\
                 a.sources.s.bind = 0.0.0.0\na.sources.s.port = 4546\na.sources.s.channels = {channels}\n\
                 a.channels.c.type = memory\na.channels.d.type = memory\na.sinks.k.type = avro\n\
                 a.sinks.k.channel = c\na.sinks.k.hostname = {host}\na.sinks.k.port = 4545\na.sinks.l.type = thrift\n\
                 a.sinks.l.channel = d\na.sinks.l.hostname = localhost\na.sinks.l.port = 4546\n"
            ),
        );
        let about = problems.iter().filter(|problem| problem.to_string().contains("round for ever"));
        about.map(|problem| problem.key.clone()).collect::<Vec<_>>()
    };
    // c goes by way of d to s, and so back to c.
    assert_eq!(loops("0.0.0.0", "127.0.0.1", "c"), ["a.sinks.k.port", "a.sinks.l.port"]);
    assert_eq!(loops("collector", "Collector", "c"), ["a.sinks.k.port", "a.sinks.l.port"]);
    assert_eq!(loops("0.0.0.0", "elsewhere", "c"), [""; 0]);
    // From s to d and back to s: k only feeds it.
    assert_eq!(loops("0.0.0.0", "localhost", "d"), ["a.sinks.l.port"]);
}

mod changes {
    use super::*;

    fn changes(before: &str, after: &str) -> Changes {
        let (before, _) = plan_of("a", &format!("{GOOD}{before}"));
        let (after, _) = plan_of("a", &format!("{GOOD}{after}"));
        before.changes_to(&after, &crate::registry())
    }

    fn names(names: &[&str]) -> std::collections::BTreeSet<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_same_file_and_a_moved_line_change_nothing() {
        assert!(changes("", "").is_empty());
        assert!(changes("# a remark\na.sinks.k.batchSize = 5\n", "a.sinks.k.batchSize = 5\n").is_empty());
    }

    #[test]
    fn a_changed_sink_touches_nothing_else() {
        let changes = changes("", "a.sinks.k.batchSize = 5\n");
        let want =
            Changes { groups_stopped: names(&["k"]), groups_started: names(&["k"]), ..Changes::default() };
        assert_eq!(changes, want);
    }

    #[test]
    fn fix_04_a_channel_with_new_limits_is_kept_and_nothing_restarts() {
        let changes = changes("", "a.channels.c.capacity = 5000\n");
        assert_eq!(changes, Changes { channels_reconfigured: names(&["c"]), ..Changes::default() });
    }

    #[test]
    fn a_source_with_one_more_channel_restarts_alone() {
        let more = "a.channels = c d\na.channels.d.type = memory\na.sources.r.channels = c d\na.sinks = k l\na.sinks.l.type = null\na.sinks.l.channel = d\n";
        let changes = changes("", more);
        let want = Changes {
            channels_built: names(&["d"]),
            sources_stopped: names(&["r"]),
            sources_started: names(&["r"]),
            groups_started: names(&["l"]),
            ..Changes::default()
        };
        assert_eq!(changes, want);
    }

    #[test]
    fn what_is_gone_stops() {
        let (before, _) = plan_of("a", GOOD);
        let changes = before.changes_to(&Plan::default(), &crate::registry());
        assert_eq!(changes.sources_stopped, names(&["r"]));
        assert_eq!(changes.groups_stopped, names(&["k"]));
        assert_eq!(changes.channels_removed, names(&["c"]));
    }
}

#[cfg(feature = "kafka")]
#[test]
fn a_kafka_channel_may_have_one_end_here_and_wants_its_group_for_itself() {
    let servers = "a.channels.c.type = kafka\na.channels.c.kafka.bootstrap.servers = h:1\n";
    let (plan, told) = without("a.source");
    assert!(one_contains(&told, &["no source that runs writes to it"]) && !plan.is_empty());
    for half in ["a.sink", "a.source"] {
        let text: String =
            GOOD.lines().filter(|line| !line.starts_with(half)).map(|line| format!("{line}\n")).collect();
        let (plan, problems) = plan_of("a", &format!("{text}{servers}"));
        assert!(plan.channels.contains_key("c"), "{problems:?}");
        assert!(!problems.iter().any(|problem| problem.what.contains("that runs")), "{half}: {problems:?}");
    }
    let reader = "a.sources.r.type = kafka\na.sources.r.kafka.bootstrap.servers = h:1\na.sources.r.kafka.topics = flume-channel\n";
    let (_, told) = with(&format!("{servers}{reader}"));
    assert!(
        one_contains(&told, &["reads topic `flume-channel` in group `flume` as channel `c` does"]),
        "{told:?}"
    );
    let (_, told) = with(&format!("{servers}{reader}a.sources.r.kafka.consumer.group.id = own\n"));
    assert!(!one_contains(&told, &["in group"]), "{told:?}");
}
