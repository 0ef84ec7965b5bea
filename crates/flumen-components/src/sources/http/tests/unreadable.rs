//! What is no request of HTTP/1, from raw sockets: answered, counted, and told of once with its peer.

use super::*;
use crate::testing::logged;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const TLS_HELLO: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";

/// All that the source answers to these bytes until it ends the connection; the other side stays open.
async fn answer_to(source: &Running, bytes: &[u8]) -> String {
    let mut stream = source.client().await.stream;
    stream.write_all(bytes).await.unwrap();
    let mut all = Vec::new();
    timeout(LIMIT, stream.read_to_end(&mut all)).await.expect("an end in time").unwrap();
    String::from_utf8(all).unwrap()
}

#[tokio::test]
async fn what_is_no_request_is_answered_with_400_and_counted() {
    let source = Running::start(&[]).await;
    let cases: [(&str, &[u8]); 9] = [
        ("garbage", b"\x01\x02\x03\xff nonsense\r\n\r\n"),
        ("a TLS greeting", TLS_HELLO),
        ("zeros", b"\0\0\0\0\r\n\r\n"),
        ("HTTP/0.9", b"GET /\r\n"),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("an unknown version", b"POST / HTTP/7.7\r\n\r\n"),
        ("a length that is no number", b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ten\r\n\r\n"),
        ("two lengths", b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        ("a header without a name", b"POST / HTTP/1.1\r\n: value\r\n\r\n"),
    ];
    for (i, (name, bytes)) in cases.into_iter().enumerate() {
        let answer = answer_to(&source, bytes).await;
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{name}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{name}: {answer}");
        assert_eq!(source.metrics.read_fail.get(), i as u64 + 1, "{name}");
    }
    assert_eq!(source.json("[{}]").await, 200);
    assert_eq!(source.stored().len(), 1);
    source.stop().await;
}

#[tokio::test]
async fn a_head_beyond_all_limits_is_answered_with_431_and_counted() {
    let source = Running::start(&[]).await;
    let endless = format!("POST / HTTP/1.1\r\nX: {}", "x".repeat(300_000));
    let many = format!("POST / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(2_000));
    for (i, head) in [endless, many].iter().enumerate() {
        let answer = answer_to(&source, head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
        assert_eq!(source.metrics.read_fail.get(), i as u64 + 1);
    }
    source.stop().await;
}

#[tokio::test]
async fn a_request_that_is_cut_in_its_head_is_counted_and_one_that_never_began_is_not() {
    let source = Running::start(&[]).await;
    drop(source.client().await);
    let mut client = source.client().await;
    client.stream.shutdown().await.unwrap();
    assert!(client.is_ended().await);
    let mut client = source.client().await;
    client.write(b"POST / HTT").await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.reply(false).await.status, 400);
    assert_eq!(source.metrics.read_fail.get(), 1);
    // The good request in front of it is answered first.
    let mut client = source.client().await;
    client.write(&[b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n[]", TLS_HELLO].concat()).await;
    assert_eq!([client.reply(false).await.status, client.reply(false).await.status], [200, 400]);
    assert_eq!(source.metrics.read_fail.get(), 2);
    source.stop().await;
}

#[tokio::test]
async fn a_slow_head_is_bound_by_the_request_timeout_also_where_the_idle_limit_is_long() {
    let source =
        Running::start(&[("requestTimeout", "200"), ("ServerConnector.idleTimeout", "600000")]).await;
    let mut stream = source.client().await.stream;
    let mut all = Vec::new();
    let (mut read, mut write) = stream.split();
    let trickling = async {
        write.write_all(b"POST / HTTP/1.1\r\nX: ").await.unwrap();
        // Each byte ends the silence, and none the head.
        loop {
            if write.write_all(b"x").await.is_err() {
                std::future::pending::<()>().await;
            }
            timeout(Duration::from_millis(5), std::future::pending::<()>()).await.unwrap_err();
        }
    };
    tokio::select! {
        () = trickling => {}
        ended = timeout(LIMIT, read.read_to_end(&mut all)) => assert!(ended.is_ok()),
    }
    let answer = String::from_utf8(all).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"), "{answer}");
    assert_eq!(source.metrics.read_fail.get(), 1);
    source.stop().await;

    // An idle connection that may be used again has no such limit.
    let source =
        Running::start(&[("requestTimeout", "100"), ("ServerConnector.idleTimeout", "600000")]).await;
    let mut client = source.client().await;
    assert_eq!(client.request("POST", "/", &[], b"[]").await.status, 200);
    assert!(timeout(Duration::from_millis(400), client.try_reply(false)).await.is_err(), "it stays open");
    assert_eq!(client.request("POST", "/", &[], b"[]").await.status, 200);
    source.stop().await;
}

#[test]
fn a_thousand_of_them_are_one_warning_that_names_a_peer() {
    let log = logged(async {
        let source = Running::start(&[]).await;
        for _ in 0..50 {
            assert!(answer_to(&source, b"nonsense\r\n\r\n").await.contains(" 400 "));
            assert_eq!(source.json("nonsense").await, 400);
        }
        assert_eq!(source.metrics.read_fail.get(), 100);
        source.stop().await;
    });
    assert_eq!(log.matches("connection closed: this is no request of HTTP/1").count(), 1, "{log}");
    assert_eq!(log.matches("request refused").count(), 1, "{log}");
    assert_eq!(log.matches("peer=127.0.0.1:").count(), 2, "{log}");
}

#[test]
fn http_where_tls_is_wanted_is_counted_and_told() {
    let log = logged(async {
        let path =
            format!("{}/../../tests/parity/golden/keystores/stores/server.p12", env!("CARGO_MANIFEST_DIR"));
        let source =
            Running::start(&[("ssl", "true"), ("keystore", &path), ("keystore-password", "changeit")]).await;
        let mut plain = source.client().await;
        plain.write(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n[]").await;
        while !plain.is_ended().await {}
        let counted = async {
            while source.metrics.read_fail.get() == 0 {
                tokio::task::yield_now().await;
            }
        };
        timeout(LIMIT, counted).await.expect("it is counted");
        source.stop().await;
    });
    assert!(log.contains("connection closed: TLS: ") && log.contains("peer=127.0.0.1:"), "{log}");
}
