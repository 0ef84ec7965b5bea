//! Servers that are not there, stall, half-close, trickle, or speak something else.

use super::*;
use tokio::net::TcpListener;

fn quick() -> Vec<(&'static str, &'static str)> {
    [&OK[..], &[("requestTimeout", "700"), ("connectTimeout", "5000")]].concat()
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (url, context) = (format!("http://{}/", listener.local_addr().unwrap()), sink_context(0, false));
    drop(listener);
    let mut sink = build(&url, &OK, &context);
    let error = deliver(&mut sink, &["x"]).await.unwrap_err().to_string();
    assert!(error.contains(&url), "{error}");
    assert_eq!(context.metrics.connections_failed.get(), 1);
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_keeps_the_event() {
    let slow = |text: &[u8]| Reply::Slowly(text.to_vec(), Duration::from_millis(100));
    for reply in [
        Reply::Silence,
        slow(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        slow(b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n123456789012345678901234567890"),
        Reply::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".to_vec()),
    ] {
        let server = Server::start().await;
        let (mut sink, metrics) = sink(&server, &quick());
        server.script.then(&[reply]);
        let error = deliver(&mut sink, &["x"]).await.unwrap_err().to_string();
        assert!(error.contains("requestTimeout"), "{error}");
        // The late connection is not used again.
        assert_eq!(deliver(&mut sink, &["x"]).await.unwrap().done, 1);
        assert_eq!((metrics.connections_created.get(), metrics.connections_closed.get()), (2, 1));
    }
}

#[tokio::test]
async fn what_is_no_answer_keeps_the_event() {
    for bytes in [
        b"220 mail.example ESMTP\r\n".as_slice(),
        b"HTTP/1.1 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
    ] {
        let server = Server::start().await;
        let (mut sink, _) = sink(&server, &quick());
        server.script.then(&[Reply::Bytes(bytes.to_vec())]);
        let error = deliver(&mut sink, &["x"]).await.unwrap_err();
        assert_eq!(error.retry, Retry::Backoff);
        assert_eq!(deliver(&mut sink, &["x"]).await.unwrap().done, 1, "{error}");
    }
}

#[tokio::test]
async fn a_connection_that_the_server_has_closed_is_replaced_at_once() {
    let server = Server::start().await;
    let (mut sink, metrics) = sink(&server, &OK);
    server.script.then(&[Reply::OkAndClose, Reply::Status(200), Reply::Close, Reply::Status(200)]);
    for body in ["a", "b", "c"] {
        assert_eq!(deliver(&mut sink, &[body]).await.unwrap().done, 1, "{body}");
    }
    // `c` was sent twice: nobody knows what became of the first.
    assert_eq!(server.script.bodies(), ["a", "b", "c", "c"]);
    assert_eq!(metrics.connections_created.get(), 3);
    // On a fresh connection it is a failure.
    server.script.then(&[Reply::OkAndClose, Reply::Close]);
    assert_eq!(deliver(&mut sink, &["d"]).await.unwrap().done, 1);
    assert!(deliver(&mut sink, &["e"]).await.is_err());
}

/// Long answers are read to their limit and no further; the connection is then closed.
#[tokio::test]
async fn long_answers_cost_the_connection_and_nothing_else() {
    let server = Server::start().await;
    let (mut sink, metrics) = sink(&server, &OK);
    let answer = |n: usize| {
        let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {n}\r\n\r\n").into_bytes();
        bytes.resize(bytes.len() + n, b'x');
        Reply::Bytes(bytes)
    };
    server.script.then(&[answer(60_000), answer(10_000_000), answer(3)]);
    assert_eq!(deliver(&mut sink, &["a", "b", "c"]).await.unwrap().done, 3);
    assert_eq!(metrics.connections_created.get(), 2);
}

/// A redirection is a status like others: the event goes nowhere else.
#[tokio::test]
async fn redirections_are_not_followed() {
    let server = Server::start().await;
    let (mut sink, _) = sink(&server, &OK);
    let moved = format!("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", server.url());
    server.script.then(&[Reply::Bytes(moved.into_bytes())]);
    assert!(deliver(&mut sink, &["x"]).await.is_err());
    assert_eq!(server.script.bodies(), ["x"]);
}
