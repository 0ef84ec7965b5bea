//! Each event is posted, and each status means what the settings say.

use super::*;
use crate::testing::{LIMIT, batch_of, sink_context};
use flumen_core::{
    config::{Settings as Pairs, read},
    metrics::SinkMetrics,
    sink::{DynSink, Retry},
};
use server::{Reply, Server};
use std::{sync::atomic::Ordering, time::Duration};
use tokio::time::timeout;

mod faults;
mod server;
mod suite;
mod tls;

const OK: [(&str, &str); 2] = [("rollback.2XX", "false"), ("backoff.2XX", "false")];

fn config(pairs: &[(&str, &str)]) -> Option<HttpSinkConfig> {
    read::<HttpSinkConfig>(&Pairs::from_pairs("a.sinks.k", pairs), &[]).0
}

fn build(url: &str, pairs: &[(&str, &str)], context: &SinkContext) -> HttpSink {
    let all = [pairs, &[("endpoint", url)]].concat();
    HttpSink::build(config(&all).unwrap(), context).unwrap()
}

/// A sink for a server, and its metrics.
fn sink(server: &Server, pairs: &[(&str, &str)]) -> (HttpSink, Arc<SinkMetrics>) {
    let context = sink_context(0, false);
    (build(&server.url(), pairs, &context), context.metrics)
}

async fn deliver(sink: &mut HttpSink, bodies: &[&str]) -> Result<Delivery, DeliverError> {
    timeout(LIMIT, Sink::deliver(sink, &batch_of(bodies))).await.expect("in time")
}

/// What one event comes to when it is answered with this status: whether it stays, whether there is a pause, whether it counts.
async fn answered(server: &Server, sink: &mut HttpSink, status: u16) -> (bool, bool, bool) {
    server.script.then(&[Reply::Status(status)]);
    let before = sink.metrics.successes.get();
    let delivered = deliver(sink, &["x"]).await;
    let counted = sink.metrics.successes.get() > before;
    match delivered {
        Ok(delivery) => (delivery.done == 0, delivery.pause, counted),
        Err(error) => {
            assert_eq!(error.retry, Retry::Backoff);
            assert!(error.reason.contains(&status.to_string()), "{error}");
            (true, true, counted)
        }
    }
}

#[tokio::test]
async fn http_28_each_event_is_one_post_with_its_body() {
    let server = Server::start().await;
    let headers = [("contentTypeHeader", "text/x"), ("acceptHeader", "text/y")];
    let (mut sink, metrics) = sink(&server, &[&OK[..], &headers].concat());
    let delivery = deliver(&mut sink, &["one", "zwei ü", "3"]).await.unwrap();
    assert_eq!(delivery, Delivery::first(3));
    assert_eq!(server.script.bodies(), ["one", "zwei ü", "3"]);
    let request = server.script.requests.lock().unwrap()[0].clone();
    assert!(request.head.starts_with("post /in?a=b http/1.1\r\n"), "{}", request.head);
    for header in ["content-type: text/x", "accept: text/y", &format!("host: {}", server.address)] {
        assert!(request.head.contains(&format!("\r\n{header}\r\n")), "{}", request.head);
    }
    assert_eq!(server.script.connections.load(Ordering::SeqCst), 1, "the connection is kept");
    Sink::close(&mut sink).await.unwrap();
    assert_eq!((metrics.connections_created.get(), metrics.connections_closed.get()), (1, 1));
}

#[tokio::test]
async fn http_21_an_event_without_a_body_is_consumed_with_a_pause_and_no_request() {
    let server = Server::start().await;
    let (mut sink, _) = sink(&server, &OK);
    let delivery = deliver(&mut sink, &["", "next"]).await.unwrap();
    assert_eq!((delivery.done, delivery.pause, delivery.discarded.len()), (1, true, 1));
    assert!(server.script.bodies().is_empty());
}

#[tokio::test]
async fn http_22_http_23_a_status_without_a_rule_gets_the_defaults() {
    let server = Server::start().await;
    let counts = ("defaultIncrementMetrics", "true");
    // Unset they are true, true and false.
    assert_eq!(answered(&server, &mut sink(&server, &[]).0, 200).await, (true, true, false));
    assert_eq!(answered(&server, &mut sink(&server, &[counts]).0, 200).await, (true, true, true));
    let none = [("defaultRollback", "false"), ("defaultBackoff", "false")];
    assert_eq!(answered(&server, &mut sink(&server, &none).0, 200).await, (false, false, false));
}

#[tokio::test]
async fn http_24_http_25_http_26_a_status_wins_over_its_hundred_and_that_over_the_default() {
    let server = Server::start().await;
    let one = [("rollback.200", "false"), ("backoff.200", "false"), ("incrementMetrics.200", "true")];
    let (mut one, _) = sink(&server, &one);
    assert_eq!(answered(&server, &mut one, 200).await, (false, false, true));
    assert_eq!(answered(&server, &mut one, 201).await, (true, true, false));
    let (mut error, _) = sink(&server, &[("rollback.401", "false"), ("backoff.401", "false")]);
    assert_eq!(answered(&server, &mut error, 401).await, (false, false, false));
    let hundred = [("rollback.2XX", "false"), ("backoff.2xx", "false"), ("incrementMetrics.2XX", "true")];
    let (mut hundred_only, _) = sink(&server, &hundred);
    for status in [200, 204, 299] {
        assert_eq!(answered(&server, &mut hundred_only, status).await, (false, false, true), "{status}");
    }
    assert_eq!(answered(&server, &mut hundred_only, 300).await, (true, true, false));
    let both = [("rollback.200", "true"), ("backoff.200", "true"), ("incrementMetrics.200", "false")];
    let (mut both, _) = sink(&server, &[hundred, both].concat());
    assert_eq!(answered(&server, &mut both, 204).await, (false, false, true));
    assert_eq!(answered(&server, &mut both, 200).await, (true, true, false));
    // Each of the three stands for itself.
    let (mut gone, _) = sink(&server, &[("rollback.5XX", "false")]);
    assert_eq!(answered(&server, &mut gone, 503).await, (false, true, false));
}

#[tokio::test]
async fn http_30_a_status_that_drops_the_event_goes_on_with_the_next_one() {
    let server = Server::start().await;
    let (mut sink, _) =
        sink(&server, &[&OK[..], &[("rollback.401", "false"), ("backoff.401", "false")]].concat());
    server.script.then(&[Reply::Status(200), Reply::Status(401)]);
    let delivery = deliver(&mut sink, &["a", "b", "c"]).await.unwrap();
    assert_eq!((delivery.done, delivery.pause), (3, false));
    assert_eq!(delivery.discarded.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1]);
    assert_eq!(server.script.bodies(), ["a", "b", "c"]);
}

#[tokio::test]
async fn what_has_arrived_leaves_the_channel_and_the_rest_stays() {
    let server = Server::start().await;
    let (mut sink, _) = sink(&server, &OK);
    server.script.then(&[Reply::Status(200), Reply::Status(503)]);
    let delivery = deliver(&mut sink, &["a", "b", "c"]).await.unwrap();
    assert_eq!((delivery.done, delivery.pause), (1, true));
    server.script.then(&[Reply::Status(503)]);
    assert!(deliver(&mut sink, &["b", "c"]).await.is_err());
    assert_eq!(deliver(&mut sink, &["b", "c"]).await.unwrap().done, 2);
    assert_eq!(server.script.bodies(), ["a", "b", "b", "b", "c"]);
}

#[test]
fn http_19_defaults_are_javas() {
    let found = config(&[("endpoint", "http://h/")]).unwrap();
    assert_eq!((found.connect_timeout.0, found.request_timeout.0), (5_000, 5_000));
    assert_eq!((&*found.accept_header, &*found.content_type_header), ("text/plain", "text/plain"));
    assert!(found.default_backoff && found.default_rollback && !found.default_increment_metrics);
    let keys = [("connectTimeout", "1"), ("requestTimeout", "2"), ("defaultBackoff", "false")];
    let found =
        config(&[&keys[..], &[("endpoint", "http://h/"), ("defaultRollback", "false")]].concat()).unwrap();
    assert_eq!((found.connect_timeout.0, found.request_timeout.0), (1, 2));
    assert!(!found.default_backoff && !found.default_rollback);
}

#[test]
fn http_20_what_is_no_endpoint_no_time_and_no_status_is_refused() {
    for pairs in [
        [("endpoint", ""), ("connectTimeout", "1")],
        [("endpoint", "not a url"), ("connectTimeout", "1")],
        [("endpoint", "http://h/"), ("connectTimeout", "-1")],
        [("endpoint", "http://h/"), ("requestTimeout", "-1")],
        [("endpoint", "http://h/"), ("requestTimeout", "0")],
        [("endpoint", "http://h/"), ("rollback.20", "true")],
        [("endpoint", "http://h/"), ("backoff.X00", "true")],
    ] {
        assert!(config(&pairs).is_none(), "{pairs:?}");
    }
    for (key, value, says) in [
        ("endpoint", "ftp://h/", "a.sinks.k.endpoint"),
        ("contentTypeHeader", "a\nb", "a.sinks.k.contentTypeHeader"),
        ("acceptHeader", "\u{1}", "a.sinks.k.acceptHeader"),
    ] {
        let config = config(&[("endpoint", "http://h/"), (key, value)]);
        let error = config.map(|config| HttpSink::build(config, &sink_context(0, false)).map(|_| ()));
        let error = error.expect("it is read").unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn settings_that_send_an_event_for_ever_are_told() {
    let advice = |pairs: &[(&str, &str)]| {
        let config = config(&[pairs, &[("endpoint", "http://h/")]].concat()).unwrap();
        HttpSink::facts(&config).advice.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    assert_eq!(advice(&[]), ["defaultRollback"]);
    assert_eq!(advice(&[("rollback.200", "false")]), ["defaultBackoff"]);
    assert!(advice(&OK).is_empty());
    let user = config(&[&OK[..], &[("endpoint", "http://u:p@h/")]].concat()).unwrap();
    assert_eq!(HttpSink::facts(&user).advice.len(), 1);
    let sink = HttpSink::build(user, &sink_context(0, false)).unwrap();
    assert!(!sink.endpoint.contains(":p@"), "{}", sink.endpoint);
}
