//! Names, contents and rolling, on a real disk.

use super::*;
use crate::testing::{RecordedEvent, batch_of, fixture, json_lines};
use flumen_core::sink::BlockingSink;

/// Runs what a folder of recorded results says, and compares the files with Java's.
fn compare_with_java(name: &str, pairs: &[(&str, &str)], known_difference: impl Fn(String) -> String) {
    let recorded = fixture(&format!("sinks/{name}"));
    let directory = tempfile::tempdir().unwrap();
    // The clock of the recorded run, as the first file's name tells it.
    let clock = Arc::new(SetClock::at(1_796_060_477_000));
    let mut sink = rolling(directory.path(), pairs, &clock);
    let batch_size = config(directory.path(), pairs).batch_size as usize;
    let start = Instant::now();
    let mut now = start;
    let mut events: Vec<RecordedEvent> = json_lines(&format!("sinks/{name}/expected.jsonl"));
    let mut text = files(&recorded.join("out"))
        .into_iter()
        .flat_map(|(name, _)| fs::read(recorded.join("out").join(name)).unwrap())
        .collect::<Vec<u8>>();
    for event in &mut events {
        event.sort_headers(&text);
        let end = [b"} ".to_vec(), event.body()].concat();
        if let Some(at) = text.windows(end.len()).position(|part| part == end) {
            text.drain(..at + end.len());
        }
    }
    let mut events = events.iter();
    for line in fs::read_to_string(recorded.join("batches.txt")).unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["sleep", ms] => {
                now += MS * ms.parse::<u32>().unwrap();
                clock.set(1_796_060_477_000 + i64::try_from((now - start).as_millis()).unwrap());
            }
            ["process"] => sink.on_deadline_at(now).unwrap(),
            [_, _, _, n] => {
                let mut batch = Batch::new();
                events.by_ref().take(n.parse().unwrap()).for_each(|event| event.push(&mut batch));
                while !batch.is_empty() {
                    let part = batch.split_front(batch_size);
                    assert_eq!(sink.deliver_at(&part, now).unwrap(), Delivery::all(&part));
                }
            }
            _ => panic!("{line}"),
        }
    }
    assert!(events.next().is_none(), "all events were delivered");
    sink.close().unwrap();
    let (ours, javas) = (files(directory.path()), files(&recorded.join("out")));
    assert_eq!(ours.len(), javas.len());
    for ((_, our), (name, java)) in ours.iter().zip(&javas) {
        let java = known_difference(java.clone());
        let lines = our.split('\n').zip(java.split('\n'));
        lines.for_each(|(our, java)| assert_eq!(our, java, "{name}"));
        assert!(*our == java, "{name} is longer or shorter than Java's");
    }
    let shape =
        |name: &str| name.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect::<String>();
    let shapes = |files: &[(String, String)]| files.iter().map(|(name, _)| shape(name)).collect::<Vec<_>>();
    assert_eq!(shapes(&ours), shapes(&javas));
    let counts = |files: &[(String, String)]| {
        files.iter().map(|(name, _)| name.rsplit('-').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(counts(&ours), counts(&javas));
}

fn same(text: String) -> String {
    text
}

#[test]
fn ser_41_javas_text_files_are_reproduced() {
    compare_with_java("roll-text", &[("sink.rollInterval", "0")], same);
    let no_newline = [("sink.rollInterval", "0"), ("sink.serializer.appendNewline", "false")];
    compare_with_java("roll-text-no-newline", &no_newline, same);
    compare_with_java("roll-batch", &[("sink.rollInterval", "0"), ("sink.batchSize", "4")], same);
}

#[test]
fn javas_files_with_headers_are_reproduced_but_for_null_values() {
    let pairs = [("sink.rollInterval", "0"), ("sink.serializer", "header_and_text")];
    compare_with_java("roll-header-and-text", &pairs, |text| text.replace("=null", "="));
    let pairs = [
        ("sink.rollInterval", "0"),
        ("sink.serializer", "org.apache.flume.serialization.HeaderAndBodyTextEventSerializer$Builder"),
        ("sink.serializer.appendNewline", "false"),
    ];
    compare_with_java("roll-header-and-text-no-newline", &pairs, same);
}

#[test]
fn ser_40_files_are_rolled_once_an_interval_also_idle_ones() {
    let pairs = [
        ("sink.rollInterval", "1"),
        ("sink.pathManager.prefix", "pre-"),
        ("sink.pathManager.extension", "log"),
    ];
    compare_with_java("roll-interval", &pairs, same);
}

#[test]
fn ser_40_each_batch_is_in_the_file_when_it_is_delivered() {
    let directory = tempfile::tempdir().unwrap();
    let mut sink = rolling(directory.path(), &[("sink.rollInterval", "1")], &Arc::new(SetClock::at(5)));
    let start = Instant::now();
    for n in 0..4_u32 {
        sink.deliver_at(&batch_of(&[&n.to_string()]), start + 500 * MS * n).unwrap();
        let written: String = files(directory.path()).into_iter().map(|(_, text)| text).collect();
        assert!(written.contains(&format!("{n}\n")), "{written}");
    }
    let expected = [("5-1".to_owned(), "0\n1\n".to_owned()), ("5-2".to_owned(), "2\n3\n".to_owned())];
    assert_eq!(files(directory.path()), expected);
}

#[test]
fn ser_43_rolltime_names_tell_the_second_and_count_within_it() {
    let pairs = [
        ("sink.rollInterval", "1"),
        ("sink.pathManager", "rolltime"),
        ("sink.pathManager.prefix", "p_"),
        ("sink.pathManager.extension", ".txt"),
    ];
    compare_with_java("roll-rolltime", &pairs, same);
    let directory = tempfile::tempdir().unwrap();
    let pairs = [
        ("sink.pathManager", "RollTime"),
        ("sink.pathManager.prefix", "test4-"),
        ("sink.pathManager.extension", "txt"),
    ];
    let clock = Arc::new(SetClock::at(1_700_000_000_000));
    let mut names = Names::new(&config(directory.path(), &pairs), &Zone::utc(), clock.clone()).unwrap();
    let mut next = || names.next().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!([next(), next()], ["test4-20231114221320-1.txt", "test4-20231114221320-2.txt"]);
    clock.set(1_700_000_001_999);
    assert_eq!([next(), next()], ["test4-20231114221321-1.txt", "test4-20231114221321-2.txt"]);
}

#[test]
fn a_restarted_sink_never_writes_into_files_that_are_there() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(SetClock::at(7));
    for (n, manager) in ["DEFAULT", "DEFAULT", "ROLLTIME", "ROLLTIME"].iter().enumerate() {
        let mut sink = rolling(directory.path(), &[("sink.pathManager", manager)], &clock);
        sink.deliver_at(&batch_of(&[&n.to_string()]), Instant::now()).unwrap();
    }
    let expected = [("19700101000000-1", "2\n"), ("19700101000000-2", "3\n"), ("7-1", "0\n"), ("7-2", "1\n")];
    assert_eq!(files(directory.path()), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
}

#[test]
fn a_prefix_that_begins_with_a_slash_stays_in_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let pairs = [("sink.pathManager.prefix", "/x")];
    let mut names =
        Names::new(&config(directory.path(), &pairs), &Zone::utc(), Arc::new(SetClock::at(1))).unwrap();
    assert!(names.next().starts_with(directory.path()));
}

#[test]
fn intervals_that_were_slept_through_make_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut sink = rolling(directory.path(), &[("sink.rollInterval", "10")], &Arc::new(SetClock::at(1)));
    let start = Instant::now();
    sink.on_deadline_at(start).unwrap();
    assert_eq!(sink.next_deadline(), Some(start + Duration::from_secs(10)));
    sink.on_deadline_at(start + Duration::from_secs(57)).unwrap();
    assert_eq!(files(directory.path()).len(), 2);
    assert_eq!(sink.next_deadline(), Some(start + Duration::from_secs(60)), "the beat is kept");
}

#[test]
fn zero_and_negative_intervals_mean_one_file_for_ever() {
    let directory = tempfile::tempdir().unwrap();
    for text in ["0", "-1"] {
        assert_eq!(
            config(directory.path(), &[("sink.rollInterval", text)]).roll_interval,
            RollInterval(None)
        );
    }
    let by_default = config(directory.path(), &[]);
    assert_eq!(by_default.roll_interval, RollInterval(Some(Duration::from_secs(30))));
    assert_eq!((by_default.batch_size, by_default.fsync), (100, Fsync::Auto));
    assert_eq!((by_default.path_manager, by_default.serializer.as_str()), (PathManager::Default, "TEXT"));
}

#[test]
fn unknown_serializers_path_managers_and_serializer_settings_are_told_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let (none, problems) = settings(directory.path(), &[("sink.pathManager", "nope")]);
    assert!(none.is_none());
    assert!(problems[0].to_string().contains("`ROLLTIME`"), "{problems:?}");
    let build = |pairs: &[(&str, &str)]| {
        FileRollSink::build(config(directory.path(), pairs), &sink_context(0, false)).map(|_| ())
    };
    let said = build(&[("sink.serializer", "nope")]).unwrap_err().to_string();
    assert!(said.contains("`nope`") && said.contains("header_and_text"), "{said}");
    assert!(build(&[("sink.serializer.appendNewLine", "false")]).is_ok(), "an unknown key is a warning");
    assert!(files(directory.path()).is_empty(), "building opens nothing");
}

#[test]
fn keys_of_other_releases_are_noted() {
    let directory = tempfile::tempdir().unwrap();
    let (_, problems) =
        settings(directory.path(), &[("batchSize", "10"), ("serializer.appendNewline", "false")]);
    assert!(problems.iter().any(|problem| problem.to_string().contains("sink.batchSize")), "{problems:?}");
    assert!(problems.iter().any(|problem| problem.to_string().contains("sink.serializer.")), "{problems:?}");
}

/// The whole sink, with its thread.
#[tokio::test]
async fn ser_39_a_sink_without_events_starts_and_stops_cleanly() {
    let directory = tempfile::tempdir().unwrap();
    let mut sink = FileRollSink::build(config(directory.path(), &[]), &sink_context(77, false)).unwrap();
    let due = sink.next_deadline().expect("the first file is wanted at once, as Java makes it");
    assert!(due <= Instant::now());
    sink.on_deadline().await.unwrap();
    assert_eq!(files(directory.path()), [("77-1".to_owned(), String::new())]);
    sink.close().await.unwrap();
    let mut never_run = FileRollSink::build(config(directory.path(), &[]), &sink_context(78, false)).unwrap();
    never_run.close().await.unwrap();
    assert_eq!(files(directory.path()).len(), 1);
}

#[tokio::test]
async fn a_durable_channel_makes_the_sink_sync_each_batch() {
    let directory = tempfile::tempdir().unwrap();
    for (fsync, durable, held) in [
        ("auto", true, true),
        ("auto", false, false),
        ("batch", false, true),
        ("none", true, false),
        ("roll", true, false),
    ] {
        let config = config(directory.path(), &[("sink.fsync", fsync)]);
        let mut sink = FileRollSink::build(config, &sink_context(78, durable)).unwrap();
        let delivery = sink.deliver(&batch_of(&["x"])).await.unwrap();
        assert_eq!(delivery.held, held, "{fsync}, durable channel: {durable}");
        if held {
            sink.on_deadline().await.unwrap();
            assert_eq!(sink.settled().unwrap(), 1);
        }
        sink.close().await.unwrap();
    }
}
