//! Groups of sinks and clients that spread over Java's agents and ours, which come and go.

use crate::{
    agents::{Agent, Flows, Maker},
    collector::Collector,
    numbers::{Sender, all_arrive},
    wait::{free_port, until},
    ways::Way,
};
use interop::missing;
use std::path::Path;

/// An agent that keeps what it gets in a file channel, marks it, and sends it on.
fn back(maker: Maker, folder: &Path, ports: [u16; 2], collector: &Collector) -> Agent {
    let mut flows = Flows::default();
    flows.file("c").sink("k", &Way::plain("avro"), collector.port, "c", 100);
    for (protocol, port) in ["avro", "thrift"].into_iter().zip(ports) {
        let start = format!("sources.{protocol}.interceptors");
        flows.source(protocol, &Way::plain(protocol), port, "c").line(&start, "i");
        flows.line(&format!("{start}.i.type"), "static").line(&format!("{start}.i.key"), "via");
        flows.line(&format!("{start}.i.value"), format!("{maker:?}"));
    }
    Agent::start(maker, &folder.join(format!("back {maker:?}").replace(' ', "-")), &flows)
}

/// An agent with a group that balances over Avro sinks, and one that fails over between Thrift sinks.
fn front(maker: Maker, folder: &Path, ports: [u16; 2], backs: [[u16; 2]; 2]) -> Agent {
    let mut flows = Flows::default();
    flows.line("sinkgroups", "avro thrift");
    for (at, protocol) in ["avro", "thrift"].into_iter().enumerate() {
        let way = Way::plain(protocol);
        flows.memory(protocol, 50_000).source(protocol, &way, ports[at], protocol);
        for (n, back) in backs.iter().enumerate() {
            flows.sink(&format!("{protocol}{n}"), &way, back[at], protocol, 50);
        }
        flows.line(&format!("sinkgroups.{protocol}.sinks"), format!("{protocol}0 {protocol}1"));
    }
    flows.line("sinkgroups.avro.processor.type", "load_balance");
    flows.line("sinkgroups.avro.processor.backoff", "true");
    flows.line("sinkgroups.thrift.processor.type", "failover");
    flows.line("sinkgroups.thrift.processor.priority.thrift0", "10");
    flows.line("sinkgroups.thrift.processor.priority.thrift1", "5");
    flows.line("sinkgroups.thrift.processor.maxpenalty", "1000");
    Agent::start(maker, &folder.join(format!("front-{maker:?}")), &flows)
}

fn client(kind: &str, ports: &[u16]) -> Vec<(&'static str, String)> {
    let addresses: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let mut settings = vec![("client.type", kind.to_owned()), ("request-timeout", "5000".to_owned())];
    match addresses.as_slice() {
        [one] => settings.extend([("hosts", "a".to_owned()), ("hosts.a", one.clone())]),
        [a, b, ..] => settings.extend([
            ("hosts", "a b".to_owned()),
            ("hosts.a", a.clone()),
            ("hosts.b", b.clone()),
            ("backoff", "true".to_owned()),
        ]),
        [] => {}
    }
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn balance_and_failover_over_javas_agents_and_ours_that_come_and_go_lose_nothing() {
    if missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start("avro", &[]).await;
    let ports = || [free_port(), free_port()];
    let (java, ours, front_java, front_ours) = (ports(), ports(), ports(), ports());
    let mut backs = [
        back(Maker::Java, folder.path(), java, &collector),
        back(Maker::Flumen, folder.path(), ours, &collector),
    ];
    let mut fronts = [
        front(Maker::Java, folder.path(), front_java, [java, ours]),
        front(Maker::Flumen, folder.path(), front_ours, [java, ours]),
    ];
    for agent in backs.iter_mut().chain(&mut fronts) {
        agent.is_up().await;
    }
    let senders = [
        Sender::start("java balance", &client("default", &front_java[..1])),
        Sender::start("java failover", &client("thrift", &front_java[1..])),
        Sender::start("our balance", &client("default", &front_ours[..1])),
        Sender::start("our failover", &client("thrift", &front_ours[1..])),
        Sender::start("client balance", &client("default_loadbalance", &[java[0], ours[0]])),
        Sender::start("client failover", &client("default_failover", &[java[0], ours[0]])),
    ];
    // Each sender's events go on to arrive, whoever is gone.
    let flows = async |what: &str| {
        let targets: Vec<u64> = senders.iter().map(|sender| sender.acknowledged() + 200).collect();
        let seen = collector.metrics.accepted.get();
        until(what, || {
            senders.iter().zip(&targets).all(|(sender, n)| sender.acknowledged() >= *n)
                && collector.metrics.accepted.get() > seen + 600
        })
        .await;
    };
    flows("events at the start").await;
    for at in [0, 1, 0] {
        backs[at].kill();
        flows(&format!("events while agent {at} is gone")).await;
        backs[at].start_again();
        backs[at].is_up().await;
        flows(&format!("events when agent {at} is back")).await;
    }
    let arrived = all_arrive(&senders.iter().collect::<Vec<_>>(), &[&collector]).await;
    // Java's balancing leaves out for minutes, if it is unlucky, what did not answer at once: only ours must have used both.
    for name in arrived.numbers.keys().filter(|name| !name.starts_with("java ")) {
        for via in ["Java", "Flumen"] {
            let n = arrived.via.get(&(name.clone(), via.to_owned())).copied().unwrap_or(0);
            assert!(n > 0, "{name}: nothing came by {via}: {:?}", arrived.via);
        }
    }
    drop(fronts);
}
