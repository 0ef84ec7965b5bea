//! What real Flume made of messages is made of them again, but where it is wrong; many ports, charsets by port.

use super::*;
use crate::{
    shared::syslog::recorded::{Shown, brief, compare, large_channel, running, source_context, talk},
    testing::{LIMIT, channel, processor, until},
};
use flumen_core::config::{Settings, read};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

fn source(pairs: &[(&str, &str)], context: &SourceContext) -> MultiportSyslogSource {
    let mut all = vec![("host", "127.0.0.1"), ("ports", "0")];
    all.retain(|(key, _)| !pairs.iter().any(|(other, _)| other == key));
    all.extend_from_slice(pairs);
    let (config, problems) = read::<MultiportSyslogConfig>(&Settings::from_pairs("a.sources.r", &all), &[]);
    let config = config.unwrap_or_else(|| panic!("{problems:?}"));
    MultiportSyslogSource::build(config, context).unwrap()
}

/// Java gives dates of RFC 3164 the year 2001, 2000 or 1999, and 1970 where it cannot read them (then the header is left out
/// here).
fn correct_stamp(case: &str, stamp: &mut String) -> bool {
    if case.starts_with("5424") {
        return true;
    }
    let right: i64 = match stamp.parse().unwrap() {
        0 => return false,
        1_002_838_455_000 => 1_791_756_855_000,
        981_394_338_000 => 1_770_312_738_000,
        978_307_200_000 => 1_767_225_600_000,
        946_684_799_000 => 1_767_225_599_000,
        983_361_600_000 => 1_772_366_400_000,
        right => right,
    };
    *stamp = right.to_string();
    true
}

/// Java loses these with all that its buffer holds, or takes parts of the date for the host, or signs and other digits for
/// numbers, or stops at a NUL, or reads no octet counts.
const OWN: &[&str] = &[
    "3164-day-1-digit-1-space",
    "3164-year",
    "3164-millis",
    "5424-no-zone-fraction",
    "5424-month-13",
    "5424-day-32",
    "5424-sec-60",
    "pri-minus",
    "pri-plus",
    "pri-arabic-digits",
    "octet-counted",
    "octet-counted-two",
    "nul-inside",
    "seq-empty-lines",
    "no-newline",
    "second-no-newline",
];

/// Java loses what has exactly the size of the limit, with all that its buffer holds.
const OWN_2500: &[&str] = &["long-2500"];
const OWN_100: &[&str] = &["long-100", "long-2500", "long-6000"];

#[tokio::test]
async fn sys_02_sys_03_sys_08_sys_27_sys_31_javas_messages_are_read_again() {
    let kept = "priority version timestamp hostname";
    let peer = [("clientIPHeader", "ip"), ("clientHostnameHeader", "peer"), ("keepFields", "hostname")];
    for (name, pairs, own) in [
        ("default", &[][..], OWN_2500),
        ("ISO-8859-1", &[("charset.default", "ISO-8859-1")], OWN_2500),
        ("batch-1", &[("batchSize", "1"), ("readBufferBytes", "64")], OWN_2500),
        ("keep-none", &[("keepFields", "none")], OWN_2500),
        ("keep-all", &[("keepFields", "all")], OWN_2500),
        ("keep-timestamp-hostname", &[("keepFields", "timestamp hostname")], OWN_2500),
        ("keep-priority-version-timestamp-hostname", &[("keepFields", kept)], OWN_2500),
        ("client-headers", &peer, OWN_2500),
        ("size-100", &[("eventSize", "100"), ("keepFields", "priority")], OWN_100),
        ("zone", &[], OWN_2500),
    ] {
        let (context, clock) = source_context();
        let (channel, source) = (large_channel(), source(pairs, &context));
        let addresses = source.addresses();
        let own: Vec<&str> = OWN.iter().chain(own).copied().collect();
        running(source, addresses, &channel, async |addresses| {
            let correct = |case: &str, (headers, _): &mut Shown| {
                let Some(stamp) = headers.get_mut("timestamp") else { return };
                if !correct_stamp(case, stamp) {
                    headers.remove("timestamp");
                }
            };
            let name = format!("multiport_syslogtcp-{name}");
            compare(&name, addresses[0], &clock, &channel, &own, correct).await;
        })
        .await;
    }
}

/// What a source with these settings makes of a stream.
async fn made(pairs: &[(&str, &str)], stream: &[u8]) -> Vec<Shown> {
    let (context, clock) = source_context();
    clock.set(1_796_060_063_000);
    let (channel, source) = (large_channel(), source(pairs, &context));
    let addresses = source.addresses();
    running(source, addresses, &channel, async |addresses| {
        talk(addresses[0], &[stream.to_vec()], &channel).await
    })
    .await
}

#[tokio::test]
async fn what_java_loses_is_kept() {
    let head = "<13>Oct 11 22:14:15 host1";
    let exact = format!("{head} {}", "y".repeat(100 - 26));
    for (stream, expected) in [
        (format!("\n\n{head} one\n\n\n{head} two\n\n"), vec![("one", ""), ("two", "")]),
        (format!("{exact}\n{head} after\n"), vec![(&exact[26..], ""), ("after", "")]),
        (
            format!("<13>1 2003-13-11T22:14:15Z h x\n{head} after\n"),
            vec![("<13>1 2003-13-11T22:14:15Z h x", "Invalid"), ("after", "")],
        ),
        (format!("<-1>x\n{head} a\0b\n"), vec![("<-1>x", "Invalid"), ("a\\x00b", "")]),
        (format!("{head} no newline"), vec![("no newline", "")]),
        (
            "<13>Oct 11 2013 22:14:15 h x\n<13>Oct 11 22:14:15.123 h x\n".to_owned(),
            vec![("<13>Oct 11 2013 22:14:15 h x", "Invalid"), ("<13>Oct 11 22:14:15.123 h x", "Invalid")],
        ),
        (format!("29 {head} a\nb29 {head} c\nd"), vec![("a\\nb", ""), ("c\\nd", "")]),
    ] {
        assert_eq!(brief(&made(&[("eventSize", "100")], stream.as_bytes()).await), expected, "{stream:?}");
    }
    let events = made(&[], b"<13>Feb 5 17:32:18 10.1.2.3 x\n").await;
    assert_eq!(
        (events[0].0["host"].as_str(), events[0].0["timestamp"].as_str()),
        ("10.1.2.3", "1770312738000")
    );
}

#[tokio::test]
async fn sys_25_many_ports_are_told_apart_by_a_header() {
    let (context, _) = source_context();
    let ports = vec!["0"; 200].join(" ");
    let pairs = [("ports", ports.as_str()), ("portHeader", "port")];
    let (channel, mut source) = (large_channel(), source(&pairs, &context));
    let addresses = source.addresses();
    // One more, which somebody else has.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    source.ports.push(taken.local_addr().unwrap().port());
    running(source, addresses, &channel, async |addresses| {
        assert_eq!(addresses.len(), 200, "the others work");
        for address in addresses {
            let found = talk(address, &[b"<13>Oct 11 22:14:15 host1 text\n".to_vec()], &channel).await;
            let port = address.port().to_string();
            assert_eq!((brief(&found), &found[0].0["port"]), (vec![("text", "")], &port));
        }
    })
    .await;
}

#[tokio::test]
async fn no_port_at_all_is_an_error() {
    let (context, _) = source_context();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut source = source(&[("ports", &port)], &context);
    let (_stop, shutdown) = Shutdown::new();
    let error = source.run(processor(&[&large_channel()]), shutdown).await.unwrap_err().to_string();
    assert!(error.contains(&port) && error.contains("a.sources.r.ports"), "{error}");
}

#[tokio::test]
async fn sys_29_each_port_has_its_charset() {
    // Ports that were free a moment ago.
    let free = || std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (first, second) = (free(), free());
    let (first_port, second_port) = (first.local_addr().unwrap().port(), second.local_addr().unwrap().port());
    drop((first, second));
    let (ports, key) = (format!("{first_port} {second_port}"), format!("charset.port.{first_port}"));
    let (context, _) = source_context();
    let pairs = [("ports", ports.as_str()), (key.as_str(), "ISO-8859-1")];
    let (channel, source) = (large_channel(), source(&pairs, &context));
    let addresses = source.addresses();
    let latin_1 = b"<13>Oct 11 22:14:15 host1 gr\xfc\xdfe\n".to_vec();
    let utf_8 = "<13>Oct 11 22:14:15 host1 gr\u{fc}\u{df}e\n".as_bytes().to_vec();
    running(source, addresses, &channel, async |addresses| {
        let good = talk(addresses[0], std::slice::from_ref(&latin_1), &channel).await;
        assert_eq!(brief(&good), [("gr\\xfc\\xdfe", "")]);
        let bad = talk(addresses[1], &[latin_1], &channel).await;
        assert_eq!(brief(&bad), [("<13>Oct 11 22:14:15 host1 gr\\xfc\\xdfe", "Invalid")]);
        assert_eq!(brief(&talk(addresses[1], &[utf_8], &channel).await), [("gr\\xc3\\xbc\\xc3\\x9fe", "")]);
    })
    .await;
}

#[tokio::test]
async fn sys_30_a_channel_that_refuses_is_counted() {
    let (context, _) = source_context();
    let (channel, mut source) = (channel(1, 1), source(&[], &context));
    let mut addresses = source.addresses();
    let out = processor(&[&channel]);
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        let address = addresses.wait_for(|addresses| !addresses.is_empty()).await.unwrap()[0];
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"<13>a\n<13>b\n").await.unwrap();
        until("a refusal", || out.metrics().channel_write_fail.get() > 0).await;
        stop.request();
        stream
    };
    let run = timeout(LIMIT, source.run(out.clone(), shutdown));
    let (ended, _stream) = tokio::join!(run, work);
    ended.expect("it stops").unwrap();
}
