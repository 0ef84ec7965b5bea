//! The source against a cluster within the process.

use super::*;
use crate::{
    datum,
    testing::{LIMIT, Mock, channel, config, processor, read_config, source_context, told, until},
};
use flumen_core::{channel::Channel, event::Batch, testing::ScriptedChannel};
use std::ops::Range;

fn source(mock: &Mock, pairs: &[(&str, &str)], context: &SourceContext) -> KafkaSource {
    let mut all =
        vec![("kafka.bootstrap.servers", &*mock.servers), ("kafka.consumer.auto.offset.reset", "earliest")];
    if !pairs.iter().any(|(key, _)| key.starts_with("kafka.topics")) {
        all.push(("kafka.topics", "t"));
    }
    all.extend_from_slice(pairs);
    KafkaSource::build(config("a.sources.r", &all), context).unwrap()
}

/// Runs a source until `is_over`; its numbers.
async fn run(
    mock: &Mock,
    pairs: &[(&str, &str)],
    channel: &Arc<ScriptedChannel>,
    mut is_over: impl FnMut(&SourceContext) -> bool,
) -> SourceContext {
    let context = source_context();
    let mut source = source(mock, pairs, &context);
    let (stop, shutdown) = Shutdown::new();
    let over = async {
        until("the end of a source's work", || is_over(&context)).await;
        stop.request();
    };
    let out = processor(channel, &context.metrics);
    let (end, ()) = tokio::join!(timeout(LIMIT, Source::run(&mut source, out, shutdown)), over);
    end.unwrap().unwrap();
    context
}

fn bodies(channel: &ScriptedChannel) -> Vec<String> {
    channel.contents().iter().map(|event| String::from_utf8_lossy(event.body).into_owned()).collect()
}

fn write(mock: &Mock, range: Range<u64>) {
    for n in range {
        mock.write("t", 0, None, n.to_string().as_bytes(), &[]);
    }
    mock.written();
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_02_kss_08_a_new_source_of_the_group_goes_on_behind_what_was_committed() {
    let mock = Mock::new(&[("t", 1)]);
    write(&mock, 0..12);
    let first = channel(100);
    run(&mock, &[("batchDurationMillis", "50")], &first, |_| first.depth().queued >= 12).await;
    assert_eq!(mock.committed("flume", "t", 0), Some(12));
    write(&mock, 12..15);
    let second = channel(100);
    run(&mock, &[("batchDurationMillis", "50")], &second, |_| second.depth().queued >= 3).await;
    assert_eq!((first.numbers(), second.numbers()), ((0..12).collect::<Vec<_>>(), vec![12, 13, 14]));
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_03_kss_04_batches_are_as_large_as_is_said_and_kss_07_do_not_wait_for_ever() {
    let mock = Mock::new(&[("t", 1)]);
    write(&mock, 0..5);
    let channel = channel(100);
    let context = run(&mock, &[("batchSize", "2"), ("batchDurationMillis", "250")], &channel, |_| {
        channel.depth().queued >= 5
    })
    .await;
    // Two full ones, and one that was not in time.
    assert_eq!((context.metrics.batch_accepted.get(), channel.numbers()), (3, vec![0, 1, 2, 3, 4]));
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_09_kss_12_what_a_channel_refuses_is_offered_again_and_not_committed() {
    let mock = Mock::new(&[("t", 1)]);
    write(&mock, 0..3);
    let channel = channel(2);
    let pairs = [("batchSize", "3"), ("batchDurationMillis", "50"), ("backoffSleepIncrement", "20")];
    // Three do not fit into a channel for two.
    let context = run(&mock, &pairs, &channel, |context| context.metrics.channel_write_fail.get() >= 2).await;
    assert_eq!((mock.committed("flume", "t", 0), channel.depth().queued), (None, 0));
    assert_eq!(context.metrics.read_fail.get(), 0);
    let larger = crate::testing::channel(3);
    run(&mock, &pairs, &larger, |_| larger.depth().queued >= 3).await;
    assert_eq!((mock.committed("flume", "t", 0), larger.numbers()), (Some(3), vec![0, 1, 2]));
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_11_kss_23_kss_24_headers_come_from_the_record() {
    let mock = Mock::new(&[("t", 2)]);
    mock.write("t", 1, Some("k"), b"with", &[("FLUME_CORRELATOR", "1"), ("FLUME_CORRELATOR", "12345")]);
    mock.written();
    mock.write("t", 1, None, b"without", &[]);
    mock.written();
    let headers = |channel: &ScriptedChannel, at: usize| -> Vec<(String, String)> {
        let contents = channel.contents();
        let event = contents.get(at).unwrap();
        let mut all: Vec<_> = event.headers.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        all.sort();
        all
    };
    let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    };
    let one = channel(10);
    let quick = ("batchDurationMillis", "50");
    run(&mock, &[quick, ("header.correlator", "FLUME_CORRELATOR")], &one, |_| one.depth().queued >= 2).await;
    let common = [("offset", "0"), ("partition", "1"), ("timestamp", "1234567"), ("topic", "t")];
    let mut expected = pairs(&common);
    expected.extend(pairs(&[("correlator", "12345"), ("key", "k")]));
    expected.sort();
    assert_eq!(headers(&one, 0), expected);
    let without = [("offset", "1"), ("partition", "1"), ("timestamp", "1234567"), ("topic", "t")];
    assert_eq!(
        (headers(&one, 1), bodies(&one)),
        (pairs(&without), vec!["with".to_owned(), "without".to_owned()])
    );

    for (group, setting, name) in
        [("g1", ("topicHeader", "X"), Some("X")), ("g2", ("setTopicHeader", "false"), None)]
    {
        let channel = channel(10);
        run(&mock, &[quick, setting, ("kafka.consumer.group.id", group)], &channel, |_| {
            channel.depth().queued >= 2
        })
        .await;
        let names: Vec<String> = headers(&channel, 1).into_iter().map(|(name, _)| name).collect();
        let mut expected = vec!["offset", "partition", "timestamp"];
        expected.extend(name);
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_17_whole_events_keep_the_headers_that_they_have_and_what_is_none_is_left_out() {
    let mock = Mock::new(&[("t", 1)]);
    let mut batch = Batch::new();
    batch.push([("timestamp", "7"), ("topic", "own"), ("x", "y")].into_iter().collect(), "body");
    let mut value = Vec::new();
    datum::encode(batch.get(0).unwrap(), &mut value);
    mock.write("t", 0, None, b"\xff no event", &[]);
    mock.write("t", 0, Some("k"), &value, &[]);
    mock.write("t", 0, None, b"", &[]);
    mock.written();
    let channel = channel(10);
    let pairs = [("useFlumeEventFormat", "true"), ("batchDurationMillis", "50")];
    let context = run(&mock, &pairs, &channel, |context| {
        context.metrics.read_fail.get() >= 2 && channel.depth().queued >= 1
    })
    .await;
    let contents = channel.contents();
    let event = contents.get(0).unwrap();
    let get = |name: &str| event.headers.get(name).map(|text| text.to_string()).unwrap_or_default();
    assert_eq!(
        (get("timestamp"), get("topic"), get("x")),
        ("7".to_owned(), "own".to_owned(), "y".to_owned())
    );
    assert_eq!(
        (get("partition"), get("offset"), get("key")),
        ("0".to_owned(), "1".to_owned(), "k".to_owned())
    );
    assert_eq!((event.body, context.metrics.read_fail.get(), contents.len()), (&b"body"[..], 2, 1));
    assert_eq!(mock.committed("flume", "t", 0), Some(3), "what is no event is done with");
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_14_topics_are_found_by_a_pattern_and_kss_05_a_topic_without_records_is_waited_for() {
    let mock = Mock::new(&[("topic", 1), ("topic0", 1), ("topic9", 1), ("topic10", 1)]);
    for topic in ["topic", "topic0", "topic9", "topic10"] {
        mock.write(topic, 0, None, topic.as_bytes(), &[]);
    }
    mock.written();
    let both = channel(10);
    let pairs = [("kafka.topics.regex", "^topic[0-9]$"), ("batchDurationMillis", "50")];
    run(&mock, &pairs, &both, |_| both.depth().queued >= 2).await;
    let mut found = bodies(&both);
    found.sort();
    assert_eq!(found, ["topic0", "topic9"]);
    let none = channel(10);
    let pairs = [("kafka.topics", "empty"), ("kafka.consumer.group.id", "other")];
    let context = source_context();
    let mut source = source(&mock, &pairs, &context);
    let (stop, shutdown) = Shutdown::new();
    let out = processor(&none, &context.metrics);
    let empty = source.counts.reader.clone();
    let waits = async {
        until("looks that bring nothing", || empty.empty.get() >= 3).await;
        stop.request();
    };
    let (end, ()) = tokio::join!(timeout(LIMIT, Source::run(&mut source, out, shutdown)), waits);
    end.unwrap().unwrap();
    assert_eq!(none.depth().queued, 0);
}

#[test]
fn kss_16_old_names_are_read_and_kss_13_a_pattern_wins() {
    let read = |pairs: &[(&str, &str)]| {
        let config: KafkaSourceConfig = config("a.sources.r", pairs);
        (
            config.consumer.get("group.id").unwrap().to_owned(),
            config.keys.topics.map(|topics| topics.0),
            config.pattern.is_some(),
        )
    };
    let topics = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    assert_eq!(read(&[("topic", "x"), ("groupId", "g")]), ("g".to_owned(), topics(&["x"]), false));
    let both = [("kafka.topics", "a, b"), ("groupId", "g"), ("kafka.consumer.group.id", "new")];
    assert_eq!(read(&both), ("new".to_owned(), topics(&["a", "b"]), false));
    assert_eq!(read(&[("kafka.topics", "a")]).0, "flume");
    assert!(read(&[("kafka.topics", "a"), ("kafka.topics.regex", "b.*")]).2);
}

#[test]
fn kss_19_kss_22_only_new_records_are_read_where_nothing_is_committed_and_nothing_is_kept_from_before() {
    let with: KafkaSourceConfig =
        config("a.sources.r", &[("topic", "t"), ("kafka.consumer.auto.offset.reset", "earliest")]);
    assert_eq!(with.consumer.get("auto.offset.reset"), Some("earliest"));
    let without: KafkaSourceConfig = config("a.sources.r", &[("topic", "t")]);
    assert_eq!(without.consumer.get("auto.offset.reset"), Some("latest"));
    // KSS-10: whatever is said, the source commits by itself.
    let auto: KafkaSourceConfig =
        config("a.sources.r", &[("topic", "t"), ("kafka.consumer.enable.auto.commit", "true")]);
    assert_eq!(auto.consumer.get("enable.auto.commit"), Some("false"));
}

#[test]
fn what_cannot_be_is_told_at_the_check() {
    for (pairs, why) in [
        (&[][..], "kafka.topics: is required"),
        (&[("topic", "a b")], "is no name of a topic"),
        (&[("kafka.topics.regex", "(")], "is no regular expression"),
        (
            &[("topic", "t"), ("kafka.consumer.partition.assignment.strategy", "x.StickyAssignor")],
            "is not there",
        ),
    ] {
        let (read, problems) = read_config::<KafkaSourceConfig>("a.sources.r", pairs);
        assert!(
            read.is_none() && told(&problems).iter().any(|told| told.contains(why)),
            "{pairs:?}: {problems:?}"
        );
    }
    let (read, _) = flumen_core::config::read::<KafkaSourceConfig>(
        &flumen_core::config::Settings::from_pairs("a.sources.r", &[("topic", "t")]),
        &[],
    );
    assert!(read.is_none(), "brokers or ZooKeeper are needed");
}
