//! Calls of clients, full channels, ports, compression, TLS and rules of who may connect.

mod suite;
mod tls;

use super::*;
use crate::testing::{LIMIT, batch_of, bodies, channel, processor, source_context, until};
use flumen_core::{
    channel::Channel,
    config::{Settings, read},
    event::Batch,
    testing::{Once, ScriptedChannel, numbered},
};
use flumen_rpc::{
    RpcError, Why,
    avro::{Client, Options},
    net::Target,
};

fn config(pairs: &[(&str, &str)]) -> Result<AvroSourceConfig, String> {
    let mut all = vec![("bind", "127.0.0.1"), ("port", "0")];
    all.retain(|(key, _)| !pairs.iter().any(|(other, _)| other == key));
    all.extend_from_slice(pairs);
    let (config, problems) = read::<AvroSourceConfig>(&Settings::from_pairs("a.sources.r", &all), &[]);
    config.ok_or_else(|| format!("{problems:?}"))
}

fn source(pairs: &[(&str, &str)]) -> AvroSource {
    AvroSource::build(config(pairs).unwrap(), &source_context()).unwrap()
}

/// Runs a source while `work` talks to it, and stops it then.
async fn running<T>(
    mut source: AvroSource,
    channel: &Arc<ScriptedChannel>,
    work: impl AsyncFnOnce(Target) -> T,
) -> T {
    let mut address = source.address();
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        let address = (*address.wait_for(Option::is_some).await.unwrap()).unwrap();
        let result = work(Target { host: "127.0.0.1".into(), port: address.port() }).await;
        stop.request();
        result
    };
    let (end, result) =
        tokio::join!(timeout(LIMIT * 2, Source::run(&mut source, processor(&[channel]), shutdown)), work);
    end.expect("it stops").unwrap();
    result
}

fn quick() -> Options {
    let limit = Duration::from_secs(2);
    Options { connect_timeout: limit, request_timeout: limit, ..Options::default() }
}

async fn append(target: &Target, options: &Options, batch: &Batch) -> Result<(), RpcError> {
    let mut client = Client::connect(target, options).await?;
    let done = client.append_batch(batch).await;
    client.close().await;
    done
}

#[tokio::test]
async fn rpc_15_it_starts_and_stops_and_can_start_again() {
    let channel = channel(10, 10);
    for _ in 0..2 {
        running(source(&[("bind", "0.0.0.0")]), &channel, async |_| ()).await;
    }
}

#[tokio::test]
async fn rpc_16_fix_83_a_port_in_use_and_an_unknown_host_end_the_start_and_leave_nothing_behind() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let channel = channel(10, 10);
    for (pairs, what) in [
        ([("port", port.as_str()), ("bind", "127.0.0.1")], "a.sources.r.port"),
        ([("port", "0"), ("bind", "no-such-host.invalid")], "no-such-host.invalid"),
    ] {
        for _ in 0..20 {
            let mut source = source(&pairs);
            let address = source.address();
            let (_stop, shutdown) = Shutdown::new();
            let run = Source::run(&mut source, processor(&[&channel]), shutdown);
            let error = timeout(LIMIT, run).await.unwrap().unwrap_err().to_string();
            assert!(error.contains("server socket") && error.contains(what), "{error}");
            assert!(address.borrow().is_none());
        }
    }
    drop(taken);
    running(source(&[("port", &port)]), &channel, async |_| ()).await;
}

#[tokio::test]
async fn rpc_17_rpc_57_an_append_is_stored_and_answered_plain_and_compressed_at_every_level() {
    for level in [None, Some(0), Some(1), Some(6), Some(9)] {
        let channel = channel(100, 100);
        let source = source(if level.is_some() { &[("compression-type", "DEFLATE")] } else { &[] });
        let metrics = source.context.metrics.clone();
        let gone = running(source, &channel, async |target| {
            let compression = level.map(|level| Compression { level, within_tls: false });
            let mut client = Client::connect(&target, &Options { compression, ..quick() }).await.unwrap();
            let batch = batch_of(&["one", "two", "three", "four"]);
            client.append(batch.get(0).unwrap()).await.unwrap();
            client.append_batch(&batch.slice(1..4)).await.unwrap();
            assert_eq!(bodies(&channel.contents()), ["one", "two", "three", "four"], "{level:?}");
            assert_eq!(metrics.open_connections.get(), 1);
            client
        })
        .await;
        let mut client = gone;
        let error = client.append(batch_of(&["five"]).get(0).unwrap()).await.unwrap_err();
        assert!(!error.is_answer(), "{error}");
        assert_eq!(metrics.open_connections.get(), 0);
        client.close().await;
    }
}

#[tokio::test]
async fn rpc_18_compression_on_one_side_only_stores_nothing() {
    let deflate = Some(Compression { level: 6, within_tls: false });
    for (ours, theirs) in [("deflate", None), ("none", deflate), ("zip", deflate)] {
        let channel = channel(100, 100);
        running(source(&[("compression-type", ours)]), &channel, async |target| {
            let options = Options { compression: theirs, ..quick() };
            let error = append(&target, &options, &numbered(0..3)).await.unwrap_err();
            assert!(!error.is_answer(), "{error}");
        })
        .await;
        assert!(channel.contents().is_empty());
    }
}

#[tokio::test]
async fn rpc_24_what_a_channel_refuses_is_answered_with_failed_and_counted() {
    let channel = channel(10, 10);
    channel.once(Once::PutFails);
    let source = source(&[]);
    let out = processor(&[&channel]);
    let receiver = Receiver { name: "r".into(), out: out.clone(), refused: Arc::default() };
    let mut outcomes = Vec::new();
    for (method, batch) in [
        (Method::Append, numbered(0..1)),
        (Method::AppendBatch, numbered(1..30)),
        (Method::AppendBatch, numbered(30..35)),
        (Method::Append, numbered(35..36)),
    ] {
        outcomes.push(match receiver.begin(Call { method, batch }).await {
            Begun::Over(outcome) => outcome,
            Begun::AtWork(outcome) => outcome.await,
        });
    }
    let (ok, failed) = (Outcome::Status(Status::Ok), Outcome::Status(Status::Failed));
    assert_eq!(outcomes, [failed.clone(), failed, ok.clone(), ok]);
    let metrics = out.metrics();
    assert_eq!(metrics.channel_write_fail.get(), 2);
    assert_eq!((metrics.append_received.get(), metrics.append_accepted.get()), (2, 1));
    assert_eq!((metrics.batch_received.get(), metrics.batch_accepted.get()), (2, 1));
    assert_eq!((metrics.received.get(), metrics.accepted.get()), (36, 6));
    drop(source);
}

#[tokio::test]
async fn a_full_channel_is_answered_with_failed_and_the_client_goes_on_when_there_is_room() {
    let channel = channel(5, 10);
    running(source(&[]), &channel, async |target| {
        append(&target, &quick(), &numbered(0..5)).await.unwrap();
        let error = append(&target, &quick(), &numbered(5..8)).await.unwrap_err();
        assert!(matches!(error.why, Why::Status(Status::Failed)), "{error}");
        let mut limits = channel.limits();
        limits.capacity = 100;
        channel.reconfigure(&limits).unwrap();
        append(&target, &quick(), &numbered(5..8)).await.unwrap();
    })
    .await;
    assert_eq!(channel.numbers(), (0..8).collect::<Vec<_>>());
}

#[tokio::test]
async fn ok_comes_after_the_commit_and_not_before() {
    let channel = channel(100, 100);
    channel.answer_late(true);
    running(source(&[]), &channel, async |target| {
        let batch = numbered(0..3);
        let mut client = Client::connect(&target, &Options::default()).await.unwrap();
        let call = client.append_batch(&batch);
        tokio::pin!(call);
        let early = timeout(Duration::from_millis(200), &mut call).await;
        assert!(early.is_err(), "answered before the commit: {early:?}");
        until("a commit to answer", || channel.answer(true)).await;
        timeout(LIMIT, call).await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test]
async fn rpc_20_rpc_21_rpc_22_rules_decide_who_may_connect() {
    for (rules, allowed) in [
        ("allow:name:localhost,deny:ip:*", true),
        ("allow:ip:127*,deny:ip:*", true),
        ("deny:ip:127.0.0.2,allow:ip:*,deny:ip:127.0.0.1", true),
        ("deny:ip:*", false),
        ("deny:name:localhost", false),
        ("deny:ip:127*,allow:ip:*", false),
        // These need a name, or the address where there is none.
        ("deny:name:*", false),
        ("deny:name:no.such.name,allow:name:*,deny:ip:*", true),
    ] {
        let channel = channel(100, 100);
        let source = source(&[("ipFilter", "true"), ("ipFilterRules", rules)]);
        running(source, &channel, async |target| {
            let done = append(&target, &quick(), &numbered(0..3)).await;
            assert_eq!(done.is_ok(), allowed, "{rules}: {done:?}");
        })
        .await;
        assert_eq!(channel.contents().len(), if allowed { 3 } else { 0 }, "{rules}");
    }
    // Without ipFilter the rules say nothing.
    let channel = channel(100, 100);
    running(source(&[("ipFilterRules", "deny:ip:*")]), &channel, async |target| {
        append(&target, &quick(), &numbered(0..3)).await.unwrap();
    })
    .await;
}

#[test]
fn rpc_23_an_ip_filter_without_rules_or_with_bad_ones_is_an_error() {
    let error = AvroSource::build(config(&[("ipFilter", "true")]).unwrap(), &source_context()).unwrap_err();
    assert!(error.to_string().contains("a.sources.r.ipFilterRules"), "{error}");
    for rules in ["", "homer:ip:*", "allow:sleeps:*"] {
        let error = config(&[("ipFilter", "true"), ("ipFilterRules", rules)]).unwrap_err();
        assert!(error.contains("ipFilterRules"), "{error}");
    }
}

#[test]
fn limits_that_do_not_fit_together_are_an_error() {
    let config = config(&[("maxFrameBytes", "2048"), ("maxBufferedBytes", "2047")]).unwrap();
    let error = AvroSource::build(config, &source_context()).unwrap_err().to_string();
    assert!(error.contains("maxBufferedBytes"), "{error}");
}
