//! The source over loopback: what is sent, what is answered, what is stored.

mod client;
mod contract;
mod limits;
mod settings;
mod tls;
mod unreadable;

use super::*;
use crate::testing::{RecordedEvent, json_lines, source_context};
use base64ct::{Base64, Encoding};
use client::{Client, Reply};
use flumen_core::{
    config::{Problem, Settings, read},
    event::{Batch, Headers},
    metrics::SourceMetrics,
    processor::ChannelProcessor,
    source::{Shutdown, ShutdownHandle},
    testing::{Everywhere, Once, ScriptedChannel},
};
use serde::Deserialize;
use std::{collections::BTreeMap, net::SocketAddr};
use tokio::{task::JoinSet, time::timeout};

/// Nothing that must happen takes longer.
const LIMIT: Duration = Duration::from_secs(20);

/// Headers and body of each event.
type Plain = Vec<(BTreeMap<String, String>, Vec<u8>)>;

fn plain(batch: &Batch) -> Plain {
    let headers = |headers: Headers| headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    batch.iter().map(|event| (headers(event.headers.to_headers()), event.body.to_vec())).collect()
}

/// The settings of a source on a free port of the loopback, and what is wrong with them.
fn config(pairs: &[(&str, &str)]) -> (Option<HttpConfig>, Vec<Problem>) {
    let mut all = vec![("bind", "127.0.0.1"), ("port", "0")];
    all.retain(|(key, _)| pairs.iter().all(|(other, _)| key != other));
    all.extend_from_slice(pairs);
    read::<HttpConfig>(&Settings::from_pairs("a.sources.r", &all), &[])
}

fn build(pairs: &[(&str, &str)]) -> HttpSource {
    HttpSource::build(config(pairs).0.unwrap(), &source_context()).unwrap()
}

/// A source at work, and the channel behind it.
struct Running {
    address: SocketAddr,
    channel: Arc<ScriptedChannel>,
    metrics: Arc<SourceMetrics>,
    stop: ShutdownHandle,
    tasks: JoinSet<Result<(), SourceError>>,
}

impl Running {
    async fn start(pairs: &[(&str, &str)]) -> Self {
        Self::with_channel(pairs, ScriptedChannel::new("c", 10_000, 1_000)).await
    }

    async fn with_channel(pairs: &[(&str, &str)], channel: ScriptedChannel) -> Self {
        let mut source = build(pairs);
        let channel = Arc::new(channel);
        let metrics = Arc::new(SourceMetrics::default());
        let selector = Arc::new(Everywhere(1));
        let out = ChannelProcessor::new(Vec::new(), selector, vec![channel.clone()], &[0], metrics.clone());
        let (stop, shutdown) = Shutdown::new();
        let mut address = source.address();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { source.run(out, shutdown).await });
        let bound =
            timeout(LIMIT, address.wait_for(Option::is_some)).await.expect("the source listens").unwrap();
        let address = bound.unwrap();
        Self { address, channel, metrics, stop, tasks }
    }

    async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// One request on a connection of its own.
    async fn post(&self, content_type: &str, body: &[u8]) -> Reply {
        let headers = [("Content-Type", content_type)];
        self.client().await.request("POST", "/", &headers, body).await
    }

    async fn json(&self, document: &str) -> u16 {
        self.post("application/json", document.as_bytes()).await.status
    }

    fn stored(&self) -> Plain {
        plain(&self.channel.contents())
    }

    /// Stops it; it must end by itself.
    async fn stop(mut self) {
        self.stop.request();
        let ended = timeout(LIMIT, self.tasks.join_next()).await.expect("the source stops");
        ended.unwrap().unwrap().unwrap();
    }
}

/// A recorded case: the request, and what real Flume answered and stored.
#[derive(Debug, Deserialize)]
struct Case {
    case: String,
    #[serde(rename = "in")]
    sent: String,
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    status: u16,
    events: Vec<RecordedEvent>,
}

/// Where the content type names no charset and is not JSON's own, Java reads UTF-8 as if it were Latin-1.
const MISREAD_BY_JAVA: [&str; 4] = [
    "utf8-as-text/plain",
    "utf8-as-application/x-www-form-urlencoded",
    "utf8-as-None",
    "utf8-as-application/vnd.api+json",
];

/// HTTP-01 to HTTP-05, HTTP-11, HTTP-15: every request that real Flume 1.11 was asked is answered and stored alike.
#[tokio::test]
async fn http_01_http_02_http_03_http_04_http_11_recorded_requests_are_answered_and_stored_as_by_java() {
    let cases: Vec<Case> = json_lines("sources/http-json.jsonl");
    assert!(cases.len() > 90);
    let right = cases.iter().find(|case| case.case == "utf8-as-application/json").unwrap();
    for case in &cases {
        let recorded = if MISREAD_BY_JAVA.contains(&case.case.as_str()) { right } else { case };
        let mut expected = Batch::new();
        recorded.events.iter().for_each(|event| event.push(&mut expected));

        let source = Running::start(&[]).await;
        let body = Base64::decode_vec(&case.sent).unwrap();
        let headers: Vec<_> = case.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let reply = source.client().await.request(&case.method, &case.path, &headers, &body).await;
        assert_eq!(reply.status, case.status, "{}: {}", case.case, reply.text());
        assert_eq!(source.stored(), plain(&expected), "{}", case.case);
        source.stop().await;
    }
}

#[tokio::test]
async fn http_05_fifty_events_of_ten_headers_arrive_in_every_charset() {
    let events: Vec<_> = (0..50)
        .map(|i| {
            let headers: BTreeMap<_, _> =
                (0..10).map(|h| (format!("name {h}"), format!("välue {i} {h}"))).collect();
            serde_json::json!({"headers": headers, "body": format!("bödy {i}")})
        })
        .collect();
    let document = serde_json::to_string(&events).unwrap();
    let source = Running::start(&[]).await;
    for charset in ["UTF-8", "UTF-16", "UTF-32"] {
        let encode = |text: &str| -> Vec<u8> {
            match charset {
                "UTF-8" => text.into(),
                "UTF-16" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
                _ => text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
            }
        };
        let before = source.stored().len();
        let reply = source.post(&format!("application/json; charset={charset}"), &encode(&document)).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let stored = source.stored().split_off(before);
        assert_eq!(stored.len(), 50);
        for (i, (headers, body)) in stored.iter().enumerate() {
            assert_eq!(headers.len(), 10);
            assert_eq!(headers["name 7"], format!("välue {i} 7"));
            let text = encode(&format!("bödy {i}"));
            assert_eq!(body.strip_prefix(b"\xfe\xff").unwrap_or(body), text);
        }
    }
    source.stop().await;
}

#[tokio::test]
async fn http_04_bad_input_is_counted_and_nothing_stored() {
    let source = Running::start(&[]).await;
    assert_eq!(source.json("{[\"a\": \"b\"]}").await, 400);
    assert_eq!(source.metrics.read_fail.get(), 1);
    assert_eq!(source.post("application/json; charset=ISO-8859-1", b"[]").await.status, 500);
    assert_eq!(source.metrics.read_fail.get(), 2);
    assert_eq!(source.json("[{\"body\":\"a\"},{}]").await, 200);
    let counted = |metrics: &SourceMetrics| {
        (
            metrics.batch_received.get(),
            metrics.batch_accepted.get(),
            metrics.received.get(),
            metrics.accepted.get(),
        )
    };
    assert_eq!(counted(&source.metrics), (1, 1, 2, 2));
    assert_eq!(source.json("[]").await, 200);
    assert_eq!(counted(&source.metrics), (2, 2, 2, 2));
    source.stop().await;
}

#[tokio::test]
async fn http_10_a_failure_within_is_answered_with_500() {
    #[derive(Debug)]
    struct Fails;
    impl flumen_core::intercept::Interceptor for Fails {
        fn intercept(&self, _: &mut Batch) -> Result<(), flumen_core::intercept::InterceptError> {
            Err(flumen_core::intercept::InterceptError {
                interceptor: "i1".into(),
                reason: "it cannot".into(),
            })
        }
    }
    let mut source = build(&[]);
    let channel = Arc::new(ScriptedChannel::new("c", 10, 10));
    let metrics = Arc::new(SourceMetrics::default());
    let out = ChannelProcessor::new(
        vec![Arc::new(Fails)],
        Arc::new(Everywhere(1)),
        vec![channel.clone()],
        &[0],
        metrics.clone(),
    );
    let (stop, shutdown) = Shutdown::new();
    let mut address = source.address();
    let send = async {
        let address = address.wait_for(Option::is_some).await.unwrap().unwrap();
        let reply = Client::connect(address).await.request("POST", "/", &[], b"[{}]").await;
        stop.request();
        reply
    };
    let (ended, reply) = tokio::join!(timeout(LIMIT, source.run(out, shutdown)), send);
    ended.unwrap().unwrap();
    assert_eq!(reply.status, 500);
    assert_eq!((metrics.generic_fail.get(), metrics.read_fail.get(), channel.contents().len()), (1, 0, 0));
}

#[tokio::test]
async fn a_full_channel_is_503_and_the_same_request_goes_through_when_there_is_room() {
    let source = Running::start(&[]).await;
    source.channel.once(Once::PutFails);
    let reply = source.post("application/json", b"[{\"body\":\"x\"}]").await;
    assert_eq!(reply.status, 503);
    assert!(reply.header("retry-after").is_some());
    assert!(source.stored().is_empty());
    assert_eq!(source.metrics.channel_write_fail.get(), 1);
    assert_eq!(source.json("[{\"body\":\"x\"}]").await, 200);
    assert_eq!(source.stored().len(), 1);
    source.stop().await;
}

#[tokio::test]
async fn a_batch_beyond_the_transaction_capacity_is_503_with_the_reason_and_nothing_of_it_stored() {
    let source = Running::with_channel(&[], ScriptedChannel::new("c", 100, 10)).await;
    let reply = source.post("application/json", b"[{},{},{},{},{},{},{},{},{},{},{}]").await;
    assert_eq!(reply.status, 503);
    assert!(reply.text().contains("transactionCapacity (10)"), "{}", reply.text());
    assert_eq!(reply.header("retry-after"), None, "the same request can never succeed");
    assert!(source.stored().is_empty());
    source.stop().await;
}

#[tokio::test]
async fn http_01_the_answer_comes_after_the_commit() {
    let source = Running::start(&[]).await;
    source.channel.answer_late(true);
    let mut client = source.client().await;
    client.send("POST", "/", &[], b"[{\"body\":\"x\"}]").await;
    // Nothing comes as long as the channel has not said that it has the events.
    assert!(timeout(Duration::from_millis(100), client.reply(false)).await.is_err());
    let answered = async {
        while !source.channel.answer(true) {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, answered).await.expect("a commit waits for its answer");
    assert_eq!(client.reply(false).await.status, 200);
    assert_eq!(source.stored().len(), 1);
    source.stop().await;
}

#[tokio::test]
async fn http_01_an_answer_does_not_wait_for_what_comes_behind_its_request() {
    for behind in ["\r\n", "POST / HT", "no request at all\r\n\r\n"] {
        let source = Running::start(&[]).await;
        let mut client = source.client().await;
        let body = "[{\"body\":\"x\"}]";
        let head = format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", body.len());
        client.write(format!("{head}{body}{behind}").as_bytes()).await;
        let reply = timeout(LIMIT, client.reply(false)).await.expect("the answer comes at once");
        assert_eq!(reply.status, 200, "{behind:?}");
        assert_eq!(source.stored().len(), 1);
        source.stop().await;
    }
}

#[tokio::test]
async fn http_07_server_headers_are_as_configured() {
    for (pairs, server, powered) in [
        (&[][..], true, false),
        (
            &[("HttpConfiguration.sendServerVersion", "false"), ("HttpConfiguration.sendXPoweredBy", "true")]
                [..],
            false,
            true,
        ),
    ] {
        let source = Running::start(pairs).await;
        let reply = source.post("application/json", b"[]").await;
        assert_eq!(
            (reply.header("server").is_some(), reply.header("x-powered-by").is_some()),
            (server, powered)
        );
        assert!(reply.header("date").is_some());
        source.stop().await;
    }
}

#[tokio::test]
async fn http_16_http_17_blobs_with_mandatory_parameters() {
    let handler = ("handler", "org.apache.flume.source.http.BLOBHandler");
    let source = Running::start(&[handler, ("handler.mandatoryParameters", "param1, param2")]).await;
    let send = async |path| source.client().await.request("POST", path, &[], b"a,b,c").await.status;
    assert_eq!(send("/?param1=x").await, 500);
    assert_eq!(send("/?param1=value1&param2=value2").await, 200);
    let headers = [("param1", "value1"), ("param2", "value2")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert_eq!(source.stored(), [(BTreeMap::from(headers), b"a,b,c".to_vec())]);
    source.stop().await;
}

#[tokio::test]
async fn blobs_without_mandatory_parameters_need_none() {
    for handler in
        ["org.apache.flume.source.http.BLOBHandler", "org.apache.flume.sink.solr.morphline.BlobHandler"]
    {
        let source = Running::start(&[("handler", handler)]).await;
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let reply = source.client().await.request("POST", "/", &form, b"a=b\xff").await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(source.stored(), [(BTreeMap::new(), b"a=b\xff".to_vec())]);
        source.stop().await;
    }
}
