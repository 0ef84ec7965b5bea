//! The appenders of Java Flume, plain and load-balancing, in a program that logs by log4j 1.2: into our Avro source.

use crate::{
    collector::Collector,
    tool::Tool,
    wait::{free_port, until},
};
use flumen_core::event::{Batch, Event};
use interop::missing;
use std::{
    fs,
    net::TcpListener,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

const PLAIN: &str = "org.apache.flume.clients.log4jappender.Log4jAppender";
const BALANCING: &str = "org.apache.flume.clients.log4jappender.LoadBalancingLog4jAppender";
const PREFIX: &str = "flume.client.log4j.";

/// A program with an appender of these settings.
async fn configure(tool: &mut Tool, folder: &Path, class: &str, settings: &[(&str, String)]) -> String {
    let mut text = format!("log4j.logger.flumen.interop = DEBUG, flume\nlog4j.appender.flume = {class}\n");
    for (key, value) in settings {
        text += &format!("log4j.appender.flume.{key} = {value}\n");
    }
    let path = folder.join("log4j.properties");
    fs::write(&path, text).unwrap();
    tool.ask(&["configure", path.to_str().unwrap()]).await
}

fn to(collector: &Collector) -> Vec<(&'static str, String)> {
    vec![("Hostname", "127.0.0.1".to_owned()), ("Port", collector.port.to_string())]
}

fn hosts(ports: impl IntoIterator<Item = u16>) -> String {
    ports.into_iter().map(|port| format!("127.0.0.1:{port}")).collect::<Vec<_>>().join(" ")
}

fn header(event: Event<'_>, name: &str) -> Option<String> {
    event.headers.get(name).map(|value| value.to_string())
}

fn bodies(batch: &Batch) -> Vec<String> {
    batch.iter().map(|event| String::from_utf8_lossy(event.body).into_owned()).collect()
}

/// Calls with one event, and batches, that the source has got.
fn calls(collector: &Collector) -> (u64, u64) {
    (collector.metrics.append_received.get(), collector.metrics.batch_received.get())
}

fn now_ms() -> u128 {
    #[expect(clippy::disallowed_methods, reason = "compared with the time that another process writes")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).unwrap().as_millis()
}

#[tokio::test(flavor = "multi_thread")]
async fn rpc_58_rpc_59_messages_of_the_appender_arrive_with_their_headers_and_collections_as_one_batch() {
    if missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start("avro", &[]).await;
    let mut tool = Tool::start(&["LogTool"]);
    assert_eq!(configure(&mut tool, folder.path(), PLAIN, &to(&collector)).await, "OK 1");
    let before = now_ms();
    let levels =
        [("DEBUG", "10000"), ("INFO", "20000"), ("WARN", "30000"), ("ERROR", "40000"), ("FATAL", "50000")];
    for (level, _) in levels {
        assert_eq!(tool.ask(&["log", level, "2", "zażółć 日本"]).await, "OK 2");
    }
    let after = now_ms();
    let stored = collector.stored.contents();
    assert_eq!(stored.len(), 10);
    for (n, event) in stored.iter().enumerate() {
        assert_eq!(event.body, format!("zażółć 日本 {}", n % 2).as_bytes());
        let of_log4j = |name: &str| header(event, &format!("{PREFIX}{name}")).unwrap();
        assert_eq!(of_log4j("log.level"), levels[n / 2].1);
        assert_eq!(of_log4j("logger.name"), "flumen.interop");
        assert_eq!(of_log4j("message.encoding"), "UTF8");
        assert!(!of_log4j("address").is_empty());
        let time: u128 = of_log4j("timestamp").parse().unwrap();
        assert!((before..=after).contains(&time), "{before} {time} {after}");
        assert_eq!(event.headers.iter().count(), 5);
    }
    assert_eq!(calls(&collector), (10, 0));

    // Five objects are one batch, one or a plain message is a single call, none is nothing.
    for (n, calls_then) in [("5", (10, 1)), ("1", (11, 1)), ("0", (11, 1))] {
        assert_eq!(tool.ask(&["collection", n, "part"]).await, "OK 1");
        assert_eq!(calls(&collector), calls_then, "a collection of {n}");
    }
    let stored = collector.stored.contents();
    let parts = ["part 0", "part 1", "part 2", "part 3", "part 4", "part 0"];
    assert_eq!(bodies(&stored.slice(10..16)), parts);

    // With a layout.
    let mut settings = to(&collector);
    settings.push(("layout", "org.apache.log4j.PatternLayout".to_owned()));
    settings.push(("layout.ConversionPattern", "%p %c: %m".to_owned()));
    assert_eq!(configure(&mut tool, folder.path(), PLAIN, &settings).await, "OK 1");
    assert_eq!(tool.ask(&["log", "WARN", "1", "laid out"]).await, "OK 1");
    assert_eq!(bodies(&collector.stored.contents())[16], "WARN flumen.interop: laid out 0");
    collector.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rpc_60_a_source_that_is_down_or_slow_is_an_exception_but_in_unsafe_mode() {
    if missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut tool = Tool::start(&["LogTool"]);
    // Takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    let collector = Collector::start("avro", &[]).await;
    let port = collector.port;
    let mut source = Some(collector);
    for (unsafe_mode, end) in [("false", "THROWN 0 FlumeException"), ("true", "OK")] {
        let with = |port: u16| {
            let mode = ("UnsafeMode", unsafe_mode.to_owned());
            [
                ("Hostname", "127.0.0.1".to_owned()),
                ("Port", port.to_string()),
                mode,
                ("Timeout", "1000".to_owned()),
            ]
        };
        // It goes while the appender is connected, and comes back on its port. The appender connects anew once: had it failed
        // in that too, it would be of no use any more.
        let there = source.take().unwrap();
        assert_eq!(configure(&mut tool, folder.path(), PLAIN, &with(port)).await, "OK 1");
        assert_eq!(tool.ask(&["log", "INFO", "2", "there"]).await, "OK 2");
        assert_eq!(there.stored.contents().len(), 2);
        there.stop().await;
        let said = tool.ask(&["log", "INFO", "1", "gone"]).await;
        assert!(said.starts_with(end), "{unsafe_mode}: {said}");
        assert!(end.starts_with("OK") || said.contains("EventDeliveryException"), "{said}");
        let there = Collector::start_at(port, "avro", &[]).await;
        assert_eq!(tool.ask(&["log", "INFO", "3", "back"]).await, "OK 3");
        assert_eq!(bodies(&there.stored.contents()), ["back 0", "back 1", "back 2"]);
        there.stop().await;
        source = Some(Collector::start_at(port, "avro", &[]).await);
        // Slower than its time-out.
        configure(&mut tool, folder.path(), PLAIN, &with(silent_port)).await;
        let said = tool.ask(&["log", "INFO", "2", "slow"]).await;
        assert!(said.starts_with(end), "{unsafe_mode}: {said}");
    }
    drop(silent);
}

#[tokio::test(flavor = "multi_thread")]
async fn rpc_61_the_balancing_appender_spreads_over_our_sources_and_leaves_out_one_that_failed() {
    if missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut tool = Tool::start(&["LogTool"]);
    let mut collectors = Vec::new();
    for _ in 0..10 {
        collectors.push(Collector::start("avro", &[]).await);
    }
    let counts = |collectors: &[Collector]| -> Vec<usize> {
        collectors.iter().map(|collector| collector.stored.contents().len()).collect()
    };
    let two = [("Hosts", hosts(collectors[..2].iter().map(|one| one.port)))];
    assert_eq!(configure(&mut tool, folder.path(), BALANCING, &two).await, "OK 1");
    assert_eq!(tool.ask(&["log", "INFO", "1000", "in turn"]).await, "OK 1000");
    assert_eq!(counts(&collectors)[..2], [500, 500]);

    let random = [("Hosts", hosts(collectors.iter().map(|one| one.port))), ("Selector", "RANDOM".to_owned())];
    assert_eq!(configure(&mut tool, folder.path(), BALANCING, &random).await, "OK 1");
    assert_eq!(tool.ask(&["log", "INFO", "1000", "at random"]).await, "OK 1000");
    let all = counts(&collectors);
    let shares: Vec<usize> =
        all.iter().enumerate().map(|(n, count)| count - if n < 2 { 500 } else { 0 }).collect();
    assert_eq!(shares.iter().sum::<usize>(), 1000);
    assert!(shares.iter().all(|n| *n > 0) && shares.iter().any(|n| *n != 100), "{shares:?}");

    // The second of two goes, and is left out for its time although it comes back.
    let backoff = [two[0].clone(), ("MaxBackoff", "30000".to_owned())];
    assert_eq!(configure(&mut tool, folder.path(), BALANCING, &backoff).await, "OK 1");
    let gone = collectors.remove(1);
    let port = gone.port;
    gone.stop().await;
    let before = counts(&collectors)[0];
    assert_eq!(tool.ask(&["log", "INFO", "10", "without it"]).await, "OK 10");
    let back = Collector::start_at(port, "avro", &[]).await;
    assert_eq!(tool.ask(&["log", "INFO", "10", "left out"]).await, "OK 10");
    assert_eq!((counts(&collectors)[0], back.stored.contents().len()), (before + 20, 0));
    let mut n = 20;
    while back.stored.contents().is_empty() {
        assert_eq!(tool.ask(&["log", "INFO", "1", "when its time is over"]).await, "OK 1");
        n += 1;
        assert!(n < 1_000_000, "it never gets anything again");
    }
    assert_eq!(counts(&collectors)[0] + 1, before + n);

    // All gone: an exception, but in unsafe mode.
    for (unsafe_mode, end) in [("false", "THROWN 0 FlumeException EventDeliveryException"), ("true", "OK 3")]
    {
        let dead = [("Hosts", hosts([free_port(), free_port()])), ("UnsafeMode", unsafe_mode.to_owned())];
        assert_eq!(configure(&mut tool, folder.path(), BALANCING, &dead).await, "OK 1");
        let said = tool.ask(&["log", "INFO", "3", "to nobody"]).await;
        assert!(said.starts_with(end), "{said}");
    }
    back.stop().await;
}

/// Avro's encoding of a text, which is that of a record of one.
fn datum(text: &str) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(text.len() * 2).unwrap()];
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn rpc_62_records_of_the_appender_are_data_of_their_schema_and_texts_stay_texts() {
    if missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start("avro", &[]).await;
    let mut tool = Tool::start(&["LogTool"]);
    let name = |what: &str| format!("flume.avro.schema.{what}");
    let url = "file:///tmp/message.avsc";
    let mut settings = to(&collector);
    settings.push(("AvroSchemaUrl", url.to_owned()));
    assert_eq!(configure(&mut tool, folder.path(), PLAIN, &settings).await, "OK 1");
    assert_eq!(tool.ask(&["record", "generic"]).await, "OK 1");
    let mut settings = to(&collector);
    settings.push(("AvroReflectionEnabled", "true".to_owned()));
    assert_eq!(configure(&mut tool, folder.path(), PLAIN, &settings).await, "OK 1");
    assert_eq!(tool.ask(&["object", "reflected"]).await, "OK 1");
    settings.retain(|(key, _)| *key != "AvroReflectionEnabled");
    settings.push(("AvroSchemaUrl", url.to_owned()));
    assert_eq!(configure(&mut tool, folder.path(), PLAIN, &settings).await, "OK 1");
    assert_eq!(tool.ask(&["mixed", "of a batch"]).await, "OK 1");
    until("five events", || collector.stored.contents().len() == 5).await;
    let stored = collector.stored.contents();
    let encoding = format!("{PREFIX}message.encoding");
    let seen: Vec<_> = stored
        .iter()
        .map(|event| {
            let (url, literal) = (header(event, &name("url")), header(event, &name("literal")));
            (event.body.to_vec(), url, literal.is_some(), header(event, &encoding))
        })
        .collect();
    let utf8 = Some("UTF8".to_owned());
    assert_eq!(seen[0], (datum("generic"), Some(url.to_owned()), false, None));
    assert_eq!(seen[1], (datum("reflected"), None, true, None));
    let url = Some(url.to_owned());
    let record = (datum("of a batch"), url.clone(), false, None);
    assert_eq!(seen[2..], [record.clone(), (b"of a batch".to_vec(), url, false, utf8), record]);
    collector.stop().await;
}
