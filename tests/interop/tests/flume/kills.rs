//! Our agent, Java's and ours again in a row, each with a file channel, each killed again and again: nothing acknowledged is lost.

use crate::{
    agents::{Agent, Flows, Maker},
    collector::Collector,
    numbers::{Sender, all_arrive},
    wait::{free_port, until},
    ways::Way,
};
use interop::missing;

const ROUNDS: usize = 3;
/// Events of each sender that go through between two kills.
const BETWEEN: u64 = 200;

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_event_is_lost_when_javas_agents_and_ours_are_killed_again_and_again() {
    if missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut flows = [Flows::default(), Flows::default(), Flows::default()];
    let (mut collectors, mut senders) = (Vec::new(), Vec::new());
    let starts = [("avro", "default"), ("thrift", "thrift")].map(|(protocol, client)| {
        let ports = [free_port(), free_port(), free_port()];
        (protocol, client, ports)
    });
    for (protocol, _, ports) in &starts {
        let way = Way::plain(protocol);
        let collector = Collector::start(protocol, &[]).await;
        for (at, flows) in flows.iter_mut().enumerate() {
            let to = ports.get(at + 1).copied().unwrap_or(collector.port);
            flows.file(protocol).source(protocol, &way, ports[at], protocol);
            flows.sink(protocol, &way, to, protocol, 100);
        }
        collectors.push(collector);
    }
    let makers = [Maker::Flumen, Maker::Java, Maker::Flumen];
    let mut agents = Vec::new();
    for (at, (maker, flows)) in makers.iter().zip(&flows).enumerate() {
        agents.push(Agent::start(*maker, &folder.path().join(at.to_string()), flows));
    }
    for agent in &mut agents {
        agent.is_up().await;
    }
    for (protocol, client, ports) in &starts {
        let address = format!("127.0.0.1:{}", ports[0]);
        let settings = [
            ("client.type", (*client).to_owned()),
            ("hosts", "h".to_owned()),
            ("hosts.h", address),
            ("request-timeout", "5000".to_owned()),
        ];
        senders.push(Sender::start(protocol, &settings));
    }
    for round in 0..ROUNDS {
        for at in 0..agents.len() {
            let targets: Vec<u64> = senders.iter().map(|sender| sender.acknowledged() + BETWEEN).collect();
            let seen: Vec<u64> = collectors.iter().map(|one| one.metrics.accepted.get()).collect();
            until(&format!("round {round}, agent {at}: events that flow"), || {
                let sent = senders.iter().zip(&targets).all(|(sender, n)| sender.acknowledged() >= *n);
                sent && collectors.iter().zip(&seen).all(|(one, n)| one.metrics.accepted.get() > *n)
            })
            .await;
            agents[at].kill();
            agents[at].start_again();
            agents[at].is_up().await;
        }
    }
    all_arrive(&senders.iter().collect::<Vec<_>>(), &collectors.iter().collect::<Vec<_>>()).await;
    drop(agents);
}
