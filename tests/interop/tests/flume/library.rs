//! Our client library, and `flumen avro-client`, with the sources of Java's agent.

use crate::{
    agents::{Agent, Flows, Maker},
    collector::Collector,
    events::events,
    wait::{free_port, until},
    ways::{Way, ways},
};
use flumen_core::event::{Batch, Event};
use flumen_rpc::client::RpcClient;
use interop::{missing, program};
use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, process::Command};

/// What must hold for the events of a step.
type Check = Box<dyn Fn(&Batch) -> bool>;

/// What is to have arrived, step by step. It is looked at in the end: Java's sink takes its time between batches.
#[derive(Default)]
struct Steps(Vec<(String, usize, Check)>);

impl Steps {
    fn arrives(&mut self, what: &str, n: usize, check: Check) {
        self.0.push((what.to_owned(), n, check));
    }

    async fn verify(&self, collector: &Collector) {
        let n_all: usize = self.0.iter().map(|(_, n, _)| n).sum();
        until("all events", || collector.metrics.accepted.get() >= n_all as u64).await;
        let all = collector.stored.contents();
        assert_eq!(all.len(), n_all);
        let mut start = 0;
        for (what, n, check) in &self.0 {
            assert!(check(&all.slice(start..start + n)), "{what}");
            start += n;
        }
    }
}

/// The properties file of a client.
fn properties(kind: &str, way: &Way, ports: &[u16], more: &str) -> String {
    let names: Vec<String> = (0..ports.len()).map(|n| format!("h{n}")).collect();
    let mut text = format!("client.type = {kind}\nhosts = {}\n{more}\n", names.join(" "));
    names.iter().zip(ports).for_each(|(name, port)| _ = writeln!(text, "hosts.{name} = 127.0.0.1:{port}"));
    way.sink.iter().for_each(|(key, value)| _ = writeln!(text, "{key} = {value}"));
    text
}

/// The name of the source that an event came by, without which it must be as it was sent.
fn via(event: Event<'_>) -> String {
    event.headers.get("via").unwrap().to_string()
}

/// The same events without the mark of the source.
fn unmarked(batch: &Batch) -> Batch {
    let mut plain = Batch::new();
    for event in batch.iter() {
        let headers = event.headers.iter().filter(|(name, _)| name.as_str() != "via");
        plain.push(headers.map(|(name, value)| (name.clone(), value.clone())).collect(), event.body.to_vec());
    }
    plain
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_client_delivers_to_javas_sources() {
    if missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start("avro", &[]).await;
    let mut flows = Flows::default();
    flows.memory("c", 100_000).sink("k", &Way::plain("avro"), collector.port, "c", 500);
    let mut ports = Vec::new();
    let names: Vec<String> = (0..=ways().len()).map(|n| format!("s{n}")).collect();
    // One of each way, and a second plain one of Avro.
    for (name, way) in names.iter().zip(ways().iter().chain([&Way::plain("avro")])) {
        let start = format!("sources.{name}.interceptors");
        ports.push(free_port());
        flows.source(name, way, ports[ports.len() - 1], "c").line(&start, "i");
        flows.line(&format!("{start}.i.type"), "static").line(&format!("{start}.i.key"), "via");
        flows.line(&format!("{start}.i.value"), name);
    }
    let mut java = Agent::start(Maker::Java, &folder.path().join("java"), &flows);
    java.is_up().await;
    let dead = free_port();
    let sent = events(3, 1_050);
    let mut steps = Steps::default();
    one_host(&mut steps, &sent, &names, &ports).await;
    several_hosts(&mut steps, &sent, &names, &ports, dead).await;
    let failover = properties("default_failover", &Way::plain("avro"), &[dead, ports[0]], "");
    the_program(&mut steps, folder.path(), &failover, ports[0]);
    steps.verify(&collector).await;
    drop(java);
    collector.stop().await;
}

/// A default or Thrift client of each way, one by host and port, and a Thrift client that many tasks share.
async fn one_host(steps: &mut Steps, sent: &Batch, names: &[String], ports: &[u16]) {
    let thrift = ways().iter().position(|way| way.protocol == "thrift").unwrap();
    // Lists longer than the batch size, and single events.
    for (at, way) in ways().iter().enumerate() {
        let what = format!("{} {}", way.protocol, way.name);
        let kind = if way.protocol == "avro" { "default" } else { "thrift" };
        let text = properties(kind, way, &ports[at..=at], "batch-size = 200");
        let client = RpcClient::from_properties(&text).await.unwrap();
        client.append_batch(sent).await.unwrap();
        for event in sent.slice(0..20).iter() {
            let headers = event.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            client.append(headers, event.body.to_vec()).await.unwrap();
        }
        client.close().await;
        assert!(!client.is_active() && client.append_batch(sent).await.is_err(), "{what}");
        let (whole, name) = (sent.clone(), names[at].clone());
        steps.arrives(
            &what,
            1_070,
            Box::new(move |new| {
                let same = unmarked(&new.slice(0..1_050)) == whole;
                let singles = unmarked(&new.slice(1_050..1_070)) == whole.slice(0..20);
                same && singles && new.iter().all(|event| via(event) == name)
            }),
        );
    }
    let client = RpcClient::connect("127.0.0.1", ports[0]).await.unwrap();
    client.append_batch(sent).await.unwrap();
    let whole = sent.clone();
    steps.arrives("by host and port", 1_050, Box::new(move |new| unmarked(new) == whole));

    // One Thrift client for many tasks.
    let text = properties("thrift", &Way::plain("thrift"), &ports[thrift..=thrift], "maxConnections = 5");
    let client = std::sync::Arc::new(RpcClient::from_properties(&text).await.unwrap());
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..30 {
        let (client, part) = (client.clone(), sent.slice(n * 10..n * 10 + 10));
        tasks.spawn(async move { client.append_batch(&part).await.unwrap() });
    }
    tasks.join_all().await;
    let part = sent.slice(0..300);
    steps.arrives(
        "of thirty tasks",
        300,
        Box::new(move |new| {
            let texts = |batch: &Batch| {
                let mut texts: Vec<Vec<u8>> = batch.iter().map(|event| event.body.to_vec()).collect();
                texts.sort();
                texts
            };
            texts(new) == texts(&part)
        }),
    );
}

/// Failover and balancing clients, with a dead host among live ones.
async fn several_hosts(steps: &mut Steps, sent: &Batch, names: &[String], ports: &[u16], dead: u16) {
    let (avro, second) = (ports[0], ports[ports.len() - 1]);
    // The first host is dead: the second has all.
    let text = properties("default_failover", &Way::plain("avro"), &[dead, second, avro], "");
    let client = RpcClient::from_properties(&text).await.unwrap();
    client.append_batch(sent).await.unwrap();
    let (whole, name) = (sent.clone(), names[names.len() - 1].clone());
    steps.arrives(
        "failover",
        1_050,
        Box::new(move |new| unmarked(new) == whole && new.iter().all(|event| via(event) == name)),
    );

    // Two live hosts and a dead one between them: each has its share, in turn and at random.
    for selector in ["round_robin", "random"] {
        let more = format!("batch-size = 10\nbackoff = true\nhost-selector = {selector}");
        let text = properties("default_loadbalance", &Way::plain("avro"), &[avro, dead, second], &more);
        let client = RpcClient::from_properties(&text).await.unwrap();
        client.append_batch(&sent.slice(0..1_000)).await.unwrap();
        let even = if selector == "round_robin" { 480..=520 } else { 200..=800 };
        let whole = sent.slice(0..1_000);
        steps.arrives(
            selector,
            1_000,
            Box::new(move |new| {
                let mut shares: BTreeMap<String, usize> = BTreeMap::new();
                new.iter().for_each(|event| *shares.entry(via(event)).or_default() += 1);
                println!("{selector}: {shares:?}");
                unmarked(new) == whole && shares.len() == 2 && shares.values().all(|n| even.contains(n))
            }),
        );
    }
}

/// The program, by a properties file, with a folder, and by host and port.
fn the_program(steps: &mut Steps, folder: &Path, properties: &str, port: u16) {
    fs::write(folder.join("client.properties"), properties).unwrap();
    fs::write(folder.join("headers"), "host=web\n").unwrap();
    fs::create_dir(folder.join("spool")).unwrap();
    let lines: String = (0..100).fold(String::new(), |text, n| text + &format!("línea {n}\n"));
    fs::write(folder.join("lines"), &lines).unwrap();
    fs::write(folder.join("spool/one"), &lines).unwrap();
    let port = port.to_string();
    for words in [
        &["--rpcProps", "client.properties", "-F", "lines"][..],
        &["-H", "127.0.0.1", "-p", &port, "--dirname", "spool"],
        &["-H", "127.0.0.1", "-p", &port, "-F", "lines", "-R", "headers"],
    ] {
        let mut command = Command::new(program());
        let output = command.arg("avro-client").args(words).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        let with_header = words.contains(&"-R");
        steps.arrives(
            "lines of the program",
            100,
            Box::new(move |new| {
                new.iter().enumerate().all(|(n, event)| {
                    let header = event.headers.get("host").map(|value| value.to_string());
                    event.body == format!("línea {n}").as_bytes()
                        && header.as_deref() == with_header.then_some("web")
                })
            }),
        );
    }
    assert!(folder.join("spool/one.COMPLETED").exists());
}
