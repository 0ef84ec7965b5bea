//! Java's client, our agent, Java's agent, our source: all four directions of a pair, and each maker between two of the other.

use crate::{
    agents::{Agent, Flows, Maker},
    collector::Collector,
    events::events,
    tool::Tool,
    wait::{free_port, until},
    ways::{Way, ways},
};
use interop::missing;

const N_EVENTS: usize = 100_000;

/// A flow of this name through an agent, from a port to a port.
fn through(flows: &mut Flows, way: &Way, from: u16, to: u16) {
    let (source, channel, sink) = (format!("r{from}"), format!("c{from}"), format!("k{from}"));
    flows.memory(&channel, N_EVENTS).source(&source, way, from, &channel).sink(&sink, way, to, &channel, 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_events_go_from_java_to_us_to_java_to_us_in_every_way_none_lost_or_altered() {
    if missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut java, mut ours) = (Flows::default(), Flows::default());
    let mut all = Vec::new();
    for way in ways() {
        let collector = Collector::start(way.protocol, &way.source).await;
        let (first, second) = (free_port(), free_port());
        through(&mut ours, &way, first, second);
        through(&mut java, &way, second, collector.port);
        all.push((way, first, collector));
    }
    let mut java = Agent::start(Maker::Java, &folder.path().join("java"), &java);
    let mut ours = Agent::start(Maker::Flumen, &folder.path().join("ours"), &ours);
    let mut client = Tool::start(&["RpcTool", "many"]);
    ours.is_up().await;
    java.is_up().await;
    let expected = events(7, N_EVENTS);
    for (way, port, collector) in all {
        let what = format!("{} {}", way.protocol, way.name);
        let (port, n) = (port.to_string(), N_EVENTS.to_string());
        let words = ["send", way.protocol, "127.0.0.1", &port, &n, "7", "--batch", "500", "--quiet"];
        let words: Vec<String> =
            words.map(str::to_owned).into_iter().chain(Way::options(&way.sink)).collect();
        assert_eq!(client.ask(&words).await, "END 0", "{what}");
        until(&what, || collector.metrics.accepted.get() >= N_EVENTS as u64).await;
        let stored = collector.stored.contents();
        assert_eq!(stored.len(), N_EVENTS, "{what}");
        assert!(stored == expected, "{what}: other events arrived than were sent");
        collector.stop().await;
    }
    drop((java, ours));
}
