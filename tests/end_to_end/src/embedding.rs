//! An agent within a program, this test, whose Avro sinks send to the real program.

use crate::agent::{Agent, Work, free_port};
use flumen_agent::embedded::EmbeddedAgent;
use flumen_core::event::{Batch, Headers};
use std::collections::BTreeSet;

/// The next tier: an Avro source, and files of headers and text.
fn collector(port: u16) -> Work {
    let work = Work::new();
    work.make_folder("out");
    work.write(
        "a.conf",
        &format!(
            "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = avro\na.sources.r.bind = 127.0.0.1\n\
             a.sources.r.port = {port}\na.sources.r.channels = c\na.channels.c.type = memory\n\
             a.sinks.k.type = file_roll\na.sinks.k.channel = c\na.sinks.k.sink.rollInterval = 0\n\
             a.sinks.k.sink.directory = @DIR@/out\na.sinks.k.sink.serializer = header_and_text\n"
        ),
    );
    work
}

fn properties(channel: &[(&str, String)], ports: [u16; 2]) -> Vec<(String, String)> {
    let mut pairs = vec![("sinks".to_owned(), "k1 k2".to_owned())];
    pairs.extend(channel.iter().map(|(key, value)| (format!("channel.{key}"), value.clone())));
    for (sink, port) in ["k1", "k2"].iter().zip(ports) {
        pairs.push((format!("{sink}.type"), "avro".to_owned()));
        pairs.push((format!("{sink}.hostname"), "127.0.0.1".to_owned()));
        pairs.push((format!("{sink}.port"), port.to_string()));
    }
    pairs.push(("processor.type".to_owned(), "failover".to_owned()));
    pairs.push(("processor.priority.k1".to_owned(), "10".to_owned()));
    pairs.push(("processor.priority.k2".to_owned(), "5".to_owned()));
    pairs.push(("source.interceptors".to_owned(), "i".to_owned()));
    for (key, value) in [("type", "static"), ("key", "from"), ("value", "program")] {
        pairs.push((format!("source.interceptors.i.{key}"), value.to_owned()));
    }
    pairs
}

fn batch(numbers: std::ops::Range<usize>) -> Batch {
    let mut batch = Batch::new();
    numbers.for_each(|n| batch.push(Headers::new(), format!("event {n}")));
    batch
}

fn wait_for(agent: &mut Agent, work: &Work, n: usize) {
    let wanted: BTreeSet<String> = (0..n).map(|n| format!("{{from=program}} event {n}")).collect();
    agent.wait("all events", || wanted == work.lines_below("out").into_iter().collect());
}

#[test]
fn what_is_put_in_a_memory_channel_arrives_also_while_the_first_host_is_dead() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (dead, port) = (free_port(), free_port());
    let work = collector(port);
    let mut receiver = work.agent(&[]);
    let mut agent = EmbeddedAgent::new("app");
    let memory = [("type", "memory".to_owned()), ("capacity", "2000".to_owned())];
    agent.configure(properties(&memory, [dead, port])).unwrap();
    runtime.block_on(async {
        agent.start().await.unwrap();
        agent.put(Headers::new(), "event 0").await.unwrap();
        for start in (1..1_001).step_by(100) {
            agent.put_all(batch(start..start + 100)).await.unwrap();
        }
    });
    wait_for(&mut receiver, &work, 1_001);
    let report = runtime.block_on(agent.stop()).unwrap();
    assert_eq!(report, flumen_agent::agent::StopReport::default(), "nothing is left");
    assert_eq!(receiver.stop(), 0);
}

#[test]
fn what_is_put_in_a_file_channel_while_nobody_listens_is_sent_by_the_next_agent_of_the_same_folders() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ports = [free_port(), free_port()];
    let work = collector(ports[1]);
    let folders = Work::new();
    let folder = |name: &str| folders.path(name).display().to_string();
    let file =
        [("type", "file".to_owned()), ("checkpointDir", folder("checkpoint")), ("dataDirs", folder("data"))];
    let mut first = EmbeddedAgent::new("app");
    first.configure(properties(&file, ports)).unwrap();
    runtime.block_on(async {
        first.start().await.unwrap();
        first.put_all(batch(0..50)).await.unwrap();
        first.stop().await.unwrap();
        // The same agent may be started again.
        first.start().await.unwrap();
        first.put_all(batch(50..100)).await.unwrap();
        first.stop().await.unwrap();
    });
    drop(first);
    let mut receiver = work.agent(&[]);
    let mut second = EmbeddedAgent::new("app");
    second.configure(properties(&file, ports)).unwrap();
    runtime.block_on(second.start()).unwrap();
    runtime.block_on(second.put_all(batch(100..110))).unwrap();
    wait_for(&mut receiver, &work, 110);
    runtime.block_on(second.stop()).unwrap();
    assert_eq!(receiver.stop(), 0);
}
