//! What real Flume made of messages is made of them again, but where it is wrong; and senders and channels that misbehave.

use super::*;
use crate::{
    shared::syslog::recorded::{Shown, brief, compare, large_channel, running, source_context, talk},
    testing::{LIMIT, channel, until},
};
use flumen_core::{
    config::{Settings, read},
    testing::ScriptedChannel,
};
use std::time::Duration;
use tokio::{io::AsyncWriteExt, net::TcpStream};

mod faults;
mod tls;

fn source_in(pairs: &[(&str, &str)], context: &SourceContext, zone: &str) -> SyslogTcpSource {
    let mut all = vec![("host", "127.0.0.1"), ("port", "0")];
    all.extend_from_slice(pairs);
    let (config, problems) = read::<SyslogTcpConfig>(&Settings::from_pairs("a.sources.r", &all), &[]);
    let config = config.unwrap_or_else(|| panic!("{problems:?}"));
    SyslogTcpSource::with_zone(config, context, Zone::of_id(zone)).unwrap()
}

/// What a source with these settings makes of what one connection sends.
async fn made(pairs: &[(&str, &str)], chunks: &[&[u8]]) -> Vec<Shown> {
    let (context, clock) = source_context();
    clock.set(1_796_060_063_000);
    let (channel, source) = (large_channel(), source_in(pairs, &context, "UTC"));
    let chunks: Vec<Vec<u8>> = chunks.iter().map(|chunk| chunk.to_vec()).collect();
    let address = source.address();
    running(source, address, &channel, async |addresses| talk(addresses[0], &chunks, &channel).await).await
}

/// Java reads a fraction as a number of milliseconds, and with one it does not look at the zone.
const RIGHT_STAMPS: &[(&str, &str)] = &[
    ("5424-z", "1065910455003"),
    ("5424-plus2", "1065903255003"),
    ("5424-minus7-micros", "1061727255000"),
    ("5424-fraction-1", "1065910455500"),
    ("5424-fraction-2", "482196050520"),
    ("5424-fraction-4", "1334304488000"),
    ("5424-fraction-6", "1334304488123"),
    ("5424-half-hour", "1334284688250"),
    ("5424-dash-host", "1065910455003"),
    ("5424-sd", "1065910455003"),
    ("5424-sd-bom", "1065910455003"),
    ("5424-no-version", "1065910455003"),
    ("5424-version-2", "1065910455003"),
    ("5424-month-13", "1073859255003"),
    ("5424-day-32", "1067724855003"),
    ("5424-empty-body", "1065910455003"),
];

/// Java drops these or reads no octet counts, or changes bytes that are no UTF-8.
const OWN: &[&str] =
    &["lt-only", "octet-counted", "octet-counted-two", "no-newline", "second-no-newline", "latin1"];

/// Java tells the priority and version of an earlier message of bad ones, and writes `null` for parts that are not there.
pub(crate) fn correct(case: &str, (headers, body): &mut Shown) {
    if headers.get("flume.syslog.status").is_some_and(|status| status == "Invalid") {
        headers.remove("priority");
        headers.remove("version");
    }
    if let Some((_, stamp)) = RIGHT_STAMPS.iter().find(|(known, _)| *known == case)
        && headers.contains_key("timestamp")
    {
        headers.insert("timestamp".to_owned(), (*stamp).to_owned());
    }
    if case.starts_with("5424-dash") {
        *body = body.replace("null ", "- ");
    }
}

#[tokio::test]
async fn sys_02_sys_03_sys_04_sys_14_sys_17_sys_23_javas_messages_are_read_again() {
    let all = [
        ("default", &[][..], "UTC"),
        ("keep-none", &[("keepFields", "none")], "UTC"),
        ("keep-all", &[("keepFields", "all")], "UTC"),
        ("keep-timestamp-hostname", &[("keepFields", "timestamp hostname")], "UTC"),
        (
            "keep-priority-version-timestamp-hostname",
            &[("keepFields", "priority version timestamp hostname")],
            "UTC",
        ),
        ("size-100", &[("eventSize", "100"), ("keepFields", "priority")], "UTC"),
        ("zone", &[], "America/New_York"),
    ];
    for (name, pairs, zone) in all {
        let (context, clock) = source_context();
        let channel = large_channel();
        let source = source_in(pairs, &context, zone);
        let address = source.address();
        running(source, address, &channel, async |addresses| {
            compare(&format!("syslogtcp-{name}"), addresses[0], &clock, &channel, OWN, correct).await;
        })
        .await;
    }
}

#[tokio::test]
async fn sys_08_peers_are_told_in_headers() {
    let pairs = [("clientIPHeader", "ip"), ("clientHostnameHeader", "peer"), ("keepFields", "hostname")];
    let (context, clock) = source_context();
    let (channel, source) = (large_channel(), source_in(&pairs, &context, "UTC"));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        compare("syslogtcp-client-headers", addresses[0], &clock, &channel, OWN, correct).await;
    })
    .await;
}

#[tokio::test]
async fn what_java_drops_or_changes_is_kept() {
    let head = "<13>Oct 11 22:14:15 host1";
    for (stream, expected) in [
        ("<\n<13>x\n".to_owned(), vec![("<", "Invalid"), ("<13>x", "")]),
        (format!("{head} no newline at the end"), vec![("no newline at the end", "")]),
        (format!("{head} one\n{head} two"), vec![("one", ""), ("two", "")]),
        (format!("29 {head} a\nb29 {head} c\nd"), vec![("a\\nb", ""), ("c\\nd", "")]),
        (format!("29 {head} a\nbc\n"), vec![("a\\nb", ""), ("c", "Invalid")]),
    ] {
        assert_eq!(brief(&made(&[], &[stream.as_bytes()]).await), expected, "{stream:?}");
    }
    let latin_1 = b"<13>Oct 11 22:14:15 host1 gr\xfc\xdfe\n";
    assert_eq!(brief(&made(&[], &[latin_1]).await), [("gr\\xfc\\xdfe", "")]);
    let lines = made(&[("framing", "newline")], &[b"6 <13>x\n"]).await;
    assert_eq!(brief(&lines), [("6 <13>x", "Invalid")]);
}

#[tokio::test]
async fn sys_19_sys_21_fix_85_bad_messages_spoil_no_others() {
    let long = "9".repeat(3_000);
    let stream = format!("<10F>bad\n<{long}>bad\n<13>Oct 11 22:14:15 host good\nbad\n<>bad\n<14>x\n");
    let events = made(&[("eventSize", "100000")], &[stream.as_bytes()]).await;
    let states: Vec<&str> = brief(&events).iter().map(|(_, status)| *status).collect();
    assert_eq!(states, ["Invalid", "Invalid", "", "Invalid", "Invalid", ""]);
    let facility = |n: usize| (events[n].0["Facility"].as_str(), events[n].0["Severity"].as_str());
    assert_eq!(
        [facility(0), facility(2), facility(3), facility(5)],
        [("0", "0"), ("1", "5"), ("0", "0"), ("1", "6")]
    );
    assert!(!events[3].0.contains_key("priority") && !events[3].0.contains_key("host"));
}

#[tokio::test]
async fn sys_22_fix_86_a_message_above_the_limit_is_cut() {
    let events = made(&[("eventSize", "5")], &[b"<8>some message without end\n"]).await;
    let expected = [("<8>some me", "Incomplete"), ("ssage with", "Invalid"), ("out end", "Invalid")];
    assert_eq!(brief(&events), expected);
    assert_eq!((events[0].0["Facility"].as_str(), events[1].0["Facility"].as_str()), ("1", "0"));
}

#[tokio::test]
async fn a_head_of_ones_own_is_tried_first() {
    let pairs = [
        ("format.regex", r"<(\d+)>()(\d+/\d+/\d+ \d+:\d+:\d+) (\S+): (.*)"),
        ("format.search", "/"),
        ("format.replace", "-"),
        ("format.dateFormat", "yyyy-MM-dd HH:mm:ss"),
    ];
    let stream = b"<34>2003/10/11 22:14:15 db.example: text\n<13>Oct 11 22:14:15 host other\n";
    let events = made(&pairs, &[stream]).await;
    assert_eq!(brief(&events), [("text", ""), ("other", "")]);
    assert_eq!(
        (events[0].0["host"].as_str(), events[0].0["timestamp"].as_str()),
        ("db.example", "1065910455000")
    );
    assert_eq!((events[0].0["priority"].as_str(), events[1].0["host"].as_str()), ("34", "host"));
}

#[test]
fn a_head_of_ones_own_that_cannot_work_is_refused() {
    for (pairs, word) in [
        (vec![("format.regex", "(a)(b)")], "2 groups"),
        (
            vec![("format.regex", "()()()()()"), ("format.search", "x"), ("format.replace", "$7")],
            "format.replace",
        ),
        (vec![("format.regex", "()()()()()"), ("format.dateFormat", "yyyy bogus")], "format.dateFormat"),
    ] {
        let (context, _) = source_context();
        let mut all = vec![("host", "h"), ("port", "1")];
        all.extend(pairs);
        let (config, _) = read::<SyslogTcpConfig>(&Settings::from_pairs("a.sources.r", &all), &[]);
        let error = SyslogTcpSource::build(config.unwrap(), &context).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}
