//! What real Flume made of datagrams is made of them again; and a channel that is full.

use super::*;
use crate::{
    shared::syslog::recorded::{Case, large_channel, running, send, shown as events_of},
    testing::{channel, json_lines, source_context, until},
};
use flumen_core::{
    channel::{Channel, begin_take},
    config::{Settings, read},
    registry::Registry,
};
use tokio::net::UdpSocket;

fn source(pairs: &[(&str, &str)]) -> NetcatUdpSource {
    let all = [pairs, &[("port", "0")]].concat();
    let (config, problems) = read::<NetcatUdpConfig>(&Settings::from_pairs("a.sources.r", &all), &[]);
    NetcatUdpSource::build(config.unwrap_or_else(|| panic!("{problems:?}")), &source_context()).unwrap()
}

/// Java gives the sender a header without a name where none is set.
const NO_NAME: &str = "@NULL-NAME@";

async fn compare(name: &str, pairs: &[(&str, &str)]) {
    let (channel, source) = (large_channel(), source(&[pairs, &[("bind", "127.0.0.1")]].concat()));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = socket.local_addr().unwrap().port().to_string();
        let cases: Vec<Case> = json_lines(&format!("sources/{name}.jsonl"));
        assert!(cases.len() > 40, "{}", cases.len());
        for case in cases {
            let mut expected = case.events();
            for (headers, _) in &mut expected {
                headers.remove(NO_NAME);
                headers.values_mut().for_each(|value| *value = value.replace("@PORT@", &port));
            }
            let found = send(&socket, addresses[0], &case.chunks(), expected.len(), &channel).await;
            assert_eq!(found, expected, "{name} {}", case.case);
        }
    })
    .await;
}

#[tokio::test]
async fn sys_37_javas_datagrams_are_read_again() {
    compare("netcatudp-default", &[]).await;
    compare("netcatudp-remote", &[("remoteAddress", "from")]).await;
    // What Java's guide calls it.
    compare("netcatudp-remote", &[("remoteAddressHeader", "from")]).await;
}

#[tokio::test]
async fn sys_37_each_datagram_is_an_event_up_to_the_largest() {
    let (channel, source) = (large_channel(), source(&[]));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let to = SocketAddr::from(([127, 0, 0, 1], addresses[0].port()));
        for length in [0, 27, 100, 1_000, 65_507] {
            let body = "x".repeat(length);
            // No more than any system holds.
            let n = if length > 1_000 { 1 } else { 10 };
            let found = send(&socket, to, &vec![body.clone().into_bytes(); n], n, &channel).await;
            assert!(
                found.len() == n && found.iter().all(|(headers, found)| headers.is_empty() && *found == body)
            );
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_full_channel_refuses_is_stored_when_there_is_room() {
    let (channel, source) = (channel(2, 2), source(&[("bind", "127.0.0.1"), ("remoteAddress", "")]));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        for n in 0..10 {
            socket.send_to(format!("{n}\nmore").as_bytes(), addresses[0]).await.unwrap();
        }
        let mut taken = Vec::new();
        while taken.len() < 10 {
            until("events", || channel.depth().queued > 0).await;
            let transaction = begin_take(&*channel, 2).await.unwrap().expect("there are events");
            taken.extend(events_of(transaction.batch()).into_iter().map(|(_, body)| body));
            transaction.commit().await.unwrap();
        }
        assert_eq!(taken, (0..10).map(|n| n.to_string()).collect::<Vec<_>>());
    })
    .await;
}

#[test]
fn senders_are_shown_as_java_shows_them() {
    let source = source(&[("remoteAddress", "from")]);
    for (sender, shown) in [
        ("192.0.2.1:5", "/192.0.2.1:5"),
        ("[::ffff:192.0.2.1]:5", "/192.0.2.1:5"),
        ("[2001:db8::1]:65535", "/[2001:db8:0:0:0:0:0:1]:65535"),
    ] {
        let headers = source.headers(sender.parse().unwrap());
        assert_eq!(headers.get("from").map(|value| value.as_str()), Some(shown));
    }
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let taken = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let registry = crate::register(Registry::new());
    let entry = registry.find_source("org.apache.flume.source.NetcatUdpSource").unwrap();
    let settings = Settings::from_pairs("a.sources.r", &[("bind", "127.0.0.1"), ("port", port.as_str())]);
    let mut source = (entry.build)(&settings, &source_context()).unwrap();
    let (_stop, shutdown) = Shutdown::new();
    let channel = channel(1, 1);
    let error = source.run(crate::testing::processor(&[&channel]), shutdown).await.unwrap_err().to_string();
    assert!(error.contains(&port) && error.contains("a.sources.r.port"), "{error}");
}
