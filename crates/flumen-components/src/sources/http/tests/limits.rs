//! Clients that send too much, too slowly, too often or not what they say.

use super::*;
use flate2::{
    Compression,
    write::{GzEncoder, ZlibEncoder},
};
use std::io::Write;
use tokio::io::AsyncWriteExt;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn packed(source: &Running, encoding: &str, body: &[u8]) -> u16 {
    source.client().await.request("POST", "/", &[("Content-Encoding", encoding)], body).await.status
}

#[tokio::test]
async fn packed_bodies_are_unpacked_within_the_limit() {
    let source = Running::start(&[("maxRequestBytes", "1000000")]).await;
    let document = b"[{\"body\":\"packed\"}]";
    for (encoding, body) in [
        ("gzip", gzip(document)),
        ("X-GZIP", gzip(document)),
        ("deflate", deflate(document)),
        ("identity", document.to_vec()),
    ] {
        assert_eq!(packed(&source, encoding, &body).await, 200, "{encoding}");
    }
    let halves = [gzip(&document[..5]), gzip(&document[5..])].concat();
    assert_eq!(packed(&source, "gzip", &halves).await, 200, "two members");
    assert_eq!(source.stored(), vec![(BTreeMap::new(), b"packed".to_vec()); 5]);

    let bomb = gzip(&vec![b' '; 50_000_000]);
    assert!(bomb.len() < 100_000);
    assert_eq!(packed(&source, "gzip", &bomb).await, 413);
    let good = gzip(document);
    assert_eq!(packed(&source, "gzip", &good[..good.len() - 9]).await, 400, "cut");
    assert_eq!(packed(&source, "gzip", document).await, 400, "not packed at all");
    assert_eq!(packed(&source, "br", document).await, 415);
    assert_eq!(packed(&source, "gzip, gzip", &gzip(&good)).await, 415);
    assert_eq!(source.stored().len(), 5);
    source.stop().await;
}

#[tokio::test]
async fn chunked_bodies_keep_alive_and_pipelining() {
    let source = Running::start(&[]).await;
    let mut client = source.client().await;
    let chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\
        9\r\n[{\"body\":\r\n5\r\n\"a\"}]\r\n0\r\nTrailer: x\r\n\r\n";
    client.write(chunked.as_bytes()).await;
    assert_eq!(client.reply(false).await.status, 200);
    // Three at once, on the same connection; a bad one in the middle harms no other.
    let one =
        |body: &str| format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    client
        .write((one("[{\"body\":\"b\"}]") + &one("nonsense") + &one("[{\"body\":\"c\"}]")).as_bytes())
        .await;
    let statuses = [
        client.reply(false).await.status,
        client.reply(false).await.status,
        client.reply(false).await.status,
    ];
    assert_eq!(statuses, [200, 400, 200]);
    let bodies: Vec<_> = source.stored().into_iter().map(|(_, body)| body).collect();
    assert_eq!(bodies, [b"a", b"b", b"c"]);

    // One that has closed its side still gets its answer.
    client.send("POST", "/", &[], b"[]").await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.reply(false).await.status, 200);
    assert!(client.is_ended().await);
    source.stop().await;
}

#[tokio::test]
async fn without_persistent_connections_each_answer_ends_its_own() {
    let source = Running::start(&[("HttpConfiguration.persistentConnectionsEnabled", "false")]).await;
    let mut client = source.client().await;
    assert_eq!(client.request("POST", "/", &[], b"[]").await.status, 200);
    assert!(client.is_ended().await);
    source.stop().await;
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_before_it_is_read() {
    let source = Running::start(&[("maxRequestBytes", "1000")]).await;
    let mut client = source.client().await;
    client
        .write(b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1000000000\r\n\r\n")
        .await;
    assert_eq!(client.reply(false).await.status, 413);
    // A chunked one does not say how long it is; the sender still gets its answer.
    let mut client = source.client().await;
    client.write(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    for _ in 0..100 {
        client.write(format!("400\r\n{}\r\n", "x".repeat(1024)).as_bytes()).await;
    }
    client.write(b"0\r\n\r\n").await;
    assert_eq!(client.reply(false).await.status, 413);
    // The largest that fits.
    let blanks = " ".repeat(998);
    assert_eq!(source.json(&format!("{blanks}[]")).await, 200);
    assert_eq!(source.json(&format!("{blanks} []")).await, 413);
    assert_eq!(source.metrics.read_fail.get(), 3);
    source.stop().await;
}

#[tokio::test]
async fn memory_for_bodies_is_shared_out_and_given_back() {
    let source = Running::start(&[("maxRequestBytes", "100000"), ("maxBufferedBytes", "100000")]).await;
    // One holds most of it, and does not go on.
    let mut slow = source.client().await;
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n\r\n[";
    slow.write(head.as_bytes()).await;
    slow.write(" ".repeat(80_000).as_bytes()).await;
    let refused = async {
        while source.json(&format!("{}[]", " ".repeat(50_000))).await != 503 {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, refused).await.expect("no memory is left for a second large request");
    assert_eq!(source.json("[{}]").await, 200, "a short one still fits");
    slow.write(format!("{}]", " ".repeat(9_998)).as_bytes()).await;
    assert_eq!(slow.reply(false).await.status, 200);
    assert_eq!(source.json(&format!("{}[]", " ".repeat(50_000))).await, 200);
    source.stop().await;
}

#[tokio::test]
async fn slow_senders_are_ended_and_harm_no_other() {
    let silent = [("ServerConnector.idleTimeout", "50")];
    let source = Running::start(&silent).await;
    let mut says_nothing = source.client().await;
    let mut half_a_head = source.client().await;
    half_a_head.write(b"POST / HTTP/1.1\r\nHost:").await;
    let mut half_a_body = source.client().await;
    half_a_body.write(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n[").await;
    assert_eq!(source.json("[{}]").await, 200);
    let reply = half_a_body.reply(false).await;
    assert_eq!((reply.status, reply.header("connection")), (408, Some("close")));
    assert!(half_a_body.is_ended().await);
    assert!(half_a_head.try_reply(false).await.is_none_or(|reply| reply.status == 408));
    assert!(says_nothing.is_ended().await);
    source.stop().await;

    let source = Running::start(&[("requestTimeout", "50")]).await;
    let mut client = source.client().await;
    client.write(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n").await;
    assert_eq!(client.reply(false).await.status, 408);
    source.stop().await;
}

#[tokio::test]
async fn heads_that_are_too_large_are_431() {
    let source = Running::start(&[]).await;
    let large = "x".repeat(9_000);
    let mut client = source.client().await;
    assert_eq!(client.request("POST", "/", &[("X", &large)], b"[]").await.status, 431);
    let mut client = source.client().await;
    assert_eq!(client.request("POST", &format!("/?{large}"), &[], b"[]").await.status, 431);
    // Without an end, and with very many headers.
    let mut client = source.client().await;
    let head = format!("POST / HTTP/1.1\r\nX: {}", "x".repeat(200_000));
    let _ = client.stream.write_all(head.as_bytes()).await;
    assert!(client.try_reply(false).await.is_none_or(|reply| reply.status == 431));
    let mut client = source.client().await;
    client.write(format!("POST / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(2_000)).as_bytes()).await;
    assert!(client.try_reply(false).await.is_none_or(|reply| reply.status == 431));
    assert_eq!(source.json("[]").await, 200);
    source.stop().await;

    let source = Running::start(&[("HttpConfiguration.requestHeaderSize", "20000")]).await;
    let mut client = source.client().await;
    assert_eq!(client.request("POST", "/", &[("X", &large)], b"[]").await.status, 200);
    source.stop().await;
}

#[tokio::test]
async fn connections_are_bounded_and_those_that_are_open_go_on() {
    let source = Running::start(&[("maxConnections", "20"), ("ServerConnector.idleTimeout", "60000")]).await;
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut client = source.client().await;
        assert_eq!(client.request("POST", "/", &[], b"[{}]").await.status, 200);
        open.push(client);
    }
    assert_eq!(source.metrics.open_connections.get(), 20);
    // More wait in front of the door.
    let mut waiting = source.client().await;
    waiting.send("POST", "/", &[], b"[{}]").await;
    assert!(timeout(Duration::from_millis(50), waiting.reply(false)).await.is_err());
    assert_eq!(open[7].request("POST", "/", &[], b"[{}]").await.status, 200);
    drop(open.pop());
    assert_eq!(waiting.reply(false).await.status, 200);
    source.stop().await;
}

#[tokio::test]
async fn what_is_no_http_ends_its_connection_only() {
    let source = Running::start(&[]).await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut client = source.client().await;
        client.write(bytes).await;
        client.stream.shutdown().await.unwrap();
        assert!(client.try_reply(false).await.is_none_or(|reply| reply.status == 400), "{bytes:?}");
    }
    assert_eq!(source.json("[{\"headers\":{\"a\\u0000\":\"\\u0000\"},\"body\":\"\\u0000\"}]").await, 200);
    assert_eq!(source.stored(), [(BTreeMap::from([("a\0".into(), "\0".into())]), b"\0".to_vec())]);
    source.stop().await;
}

#[tokio::test]
async fn a_stop_lets_requests_end_and_waits_for_no_idle_connection() {
    let source = Running::start(&[]).await;
    let _never_used = source.client().await;
    let mut idle = source.client().await;
    assert_eq!(idle.request("POST", "/", &[], b"[]").await.status, 200);
    source.channel.answer_late(true);
    let mut at_work = source.client().await;
    at_work.send("POST", "/", &[], b"[{\"body\":\"last\"}]").await;
    let arrived = async {
        while source.metrics.batch_received.get() < 2 {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, arrived).await.expect("the request is at work");
    source.stop.request();
    let answered = async {
        while !source.channel.answer(true) {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, answered).await.expect("its commit waits");
    assert_eq!(at_work.reply(false).await.status, 200);
    assert!(at_work.is_ended().await);
    assert!(idle.is_ended().await);
    source.stop().await;
}

#[tokio::test]
async fn a_port_in_use_is_an_error_with_bind_port_and_key() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut source = build(&[("port", &port)]);
    let (_stop, shutdown) = Shutdown::new();
    let channel = Arc::new(ScriptedChannel::new("c", 10, 10));
    let out = ChannelProcessor::new(Vec::new(), Arc::new(Everywhere(1)), vec![channel], &[0], Arc::default());
    let error = source.run(out.clone(), shutdown.clone()).await.unwrap_err().to_string();
    assert!(
        error.starts_with(&format!(
            "cannot listen on 127.0.0.1 port {port} (choose another with a.sources.r.port)"
        )),
        "{error}"
    );
    // The same instance may try again.
    drop(taken);
    let mut address = source.address();
    tokio::select! {
        ended = source.run(out, shutdown) => panic!("{ended:?}"),
        bound = timeout(LIMIT, address.wait_for(Option::is_some)) => { bound.unwrap().unwrap(); }
    }
}
