//! What real Flume made of datagrams is made of them again, but where it is wrong; and channels that are full.

use super::*;
use crate::{
    shared::syslog::recorded::{Case, brief, cases, large_channel, running, send, shown, source_context},
    testing::{channel, until},
};
use flumen_core::{
    channel::{Channel, begin_take},
    config::{Settings, read},
};
use tokio::net::UdpSocket;

fn source_in(pairs: &[(&str, &str)], context: &SourceContext, zone: &str) -> SyslogUdpSource {
    let mut all = vec![("host", "127.0.0.1"), ("port", "0")];
    all.extend_from_slice(pairs);
    let (config, problems) = read::<SyslogUdpConfig>(&Settings::from_pairs("a.sources.r", &all), &[]);
    let config = config.unwrap_or_else(|| panic!("{problems:?}"));
    SyslogUdpSource::with_zone(config, context, Zone::of_id(zone)).unwrap()
}

/// Java drops these, or their later lines, or changes bytes that are no UTF-8, or cuts what is long at 2048 bytes.
const OWN: &[&str] = &[
    "lt-only",
    "latin1",
    "two-lines",
    "long-2499",
    "long-2500",
    "long-2501",
    "long-6000",
    "long-multibyte",
    "large-20000",
];

/// Each datagram of a case gives one event.
async fn compare(name: &str, pairs: &[(&str, &str)], zone: &str) {
    let (context, clock) = source_context();
    let (channel, source) = (large_channel(), source_in(pairs, &context, zone));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let cases = cases(name);
        let is_own = |case: &&Case| OWN.contains(&case.case.as_str());
        assert_eq!(cases.iter().filter(is_own).count(), OWN.len());
        for case in cases.iter().filter(|case| !is_own(case)) {
            clock.set(case.now);
            let mut expected = case.events();
            expected
                .iter_mut()
                .for_each(|event| crate::sources::syslogtcp::tests::correct(&case.case, event));
            let found = send(&socket, addresses[0], &case.chunks(), expected.len(), &channel).await;
            assert_eq!(found, expected, "{name} {}", case.case);
        }
    })
    .await;
}

#[tokio::test]
async fn sys_02_sys_08_sys_09_javas_datagrams_are_read_again() {
    let kept = "priority version timestamp hostname";
    let peer = [("clientIPHeader", "ip"), ("clientHostnameHeader", "peer"), ("keepFields", "hostname")];
    compare("syslogudp-default", &[], "UTC").await;
    compare("syslogudp-keep-none", &[("keepFields", "false")], "UTC").await;
    compare("syslogudp-keep-all", &[("keepFields", "true")], "UTC").await;
    compare("syslogudp-keep-timestamp-hostname", &[("keepFields", "timestamp hostname")], "UTC").await;
    compare("syslogudp-keep-priority-version-timestamp-hostname", &[("keepFields", kept)], "UTC").await;
    compare("syslogudp-client-headers", &peer, "UTC").await;
    compare("syslogudp-size-100", &[("keepFields", "priority")], "UTC").await;
    compare("syslogudp-zone", &[], "America/New_York").await;
}

#[tokio::test]
async fn sys_10_sys_11_what_java_drops_or_cuts_is_kept() {
    let (context, _) = source_context();
    let (channel, source) = (large_channel(), source_in(&[], &context, "UTC"));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let long = format!("<13>Oct 11 22:14:15 host1 {}", "u".repeat(60_000));
        let not_syslog = "x".repeat(1_000);
        for (datagram, body, status) in [
            ("<", "<", "Invalid"),
            ("test", "test", "Invalid"),
            (not_syslog.as_str(), not_syslog.as_str(), "Invalid"),
            ("<13>Oct 11 22:14:15 host1 one\n  two\n\n", "one\\n  two", ""),
            (long.as_str(), &long[26..], ""),
        ] {
            // An empty datagram, and one of newlines, are none.
            let chunks = [b"".to_vec(), b"\n\n".to_vec(), datagram.as_bytes().to_vec()];
            let found = send(&socket, addresses[0], &chunks, 1, &channel).await;
            assert_eq!(brief(&found), [(body, status)]);
        }
    })
    .await;
}

#[tokio::test]
async fn sys_06_what_a_full_channel_refuses_is_stored_when_there_is_room() {
    let (context, _) = source_context();
    let (channel, source) = (channel(2, 2), source_in(&[], &context, "UTC"));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        for n in 0..10 {
            socket.send_to(format!("<13>{n}").as_bytes(), addresses[0]).await.unwrap();
        }
        let mut taken = Vec::new();
        while taken.len() < 10 {
            until("events", || channel.depth().queued > 0).await;
            let transaction = begin_take(&*channel, 2).await.unwrap().expect("there are events");
            taken.extend(shown(transaction.batch()).into_iter().map(|(_, body)| body));
            transaction.commit().await.unwrap();
        }
        assert_eq!(taken, (0..10).map(|n| format!("<13>{n}")).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn without_a_host_every_address_is_listened_on() {
    let (context, _) = source_context();
    let pairs = [("port", "0")];
    let (config, _) = read::<SyslogUdpConfig>(&Settings::from_pairs("a.sources.r", &pairs), &[]);
    let source = SyslogUdpSource::build(config.unwrap(), &context).unwrap();
    let (channel, address) = (large_channel(), source.address());
    running(source, address, &channel, async |addresses| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let to = SocketAddr::from(([127, 0, 0, 1], addresses[0].port()));
        assert_eq!(send(&socket, to, &[b"<13>x".to_vec()], 1, &channel).await.len(), 1);
    })
    .await;
}
