//! Client and server against each other, and clients against servers that fail.

use super::*;
use crate::error::Why;
use flumen_core::testing::{numbered, numbers};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

fn deflate(level: u32) -> Option<Compression> {
    Some(Compression { level, within_tls: false })
}

fn quick() -> Options {
    let limit = Duration::from_millis(300);
    Options { connect_timeout: limit, request_timeout: limit, ..Options::default() }
}

#[tokio::test]
async fn rpc_34_appends_succeed_plain_and_compressed_at_every_level() {
    for level in [None, Some(0), Some(1), Some(6), Some(9)] {
        let compression = level.map(|level| Compression { level, within_tls: false });
        let store = Store::open();
        let server = Server::compressed(&store, Shared::default(), compression).await;
        let options = Options { compression, ..Options::default() };
        let mut client = Client::connect(&server.target, &options).await.unwrap();
        client.append(sample().get(0).unwrap()).await.unwrap();
        client.append_batch(&sample()).await.unwrap();
        client.append_batch(&Batch::new()).await.unwrap();
        assert!(client.is_usable() && client.keeps_order());
        let mut all = sample().slice(0..1);
        all.append(sample());
        assert_eq!(store.stored(), all);
        assert_eq!(*store.calls.lock().unwrap(), [Method::Append, Method::AppendBatch, Method::AppendBatch]);
        client.close().await;
        assert_eq!(server.end().await, Ok(()));
    }
}

#[tokio::test]
async fn rpc_18_rpc_35_compression_on_one_side_only_is_an_error_and_stores_nothing() {
    for (ours, theirs) in [(deflate(6), None), (None, deflate(6)), (deflate(0), None)] {
        let store = Store::open();
        let server = Server::compressed(&store, Shared::default(), theirs).await;
        let mut client =
            Client::connect(&server.target, &Options { compression: ours, ..quick() }).await.unwrap();
        let error = client.append_batch(&sample()).await.unwrap_err();
        assert!(!client.is_usable() && !error.is_answer(), "{error}");
        assert!(store.stored().is_empty());
    }
}

#[tokio::test]
async fn rpc_36_a_closed_port_fails_at_once() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let target = Target { host: "127.0.0.1".into(), port };
    let error = Client::connect(&target, &Options::default()).await.unwrap_err();
    assert!(matches!(error.why, Why::Connect(_)) && error.to_string().contains(&port.to_string()), "{error}");
}

#[tokio::test]
async fn rpc_39_failed_unknown_and_errors_fail_the_call_and_not_the_connection() {
    for outcome in [
        Outcome::Status(Status::Failed),
        Outcome::Status(Status::Unknown),
        Outcome::Error("java.lang.Exception: no".to_owned()),
    ] {
        let answer = outcome.clone();
        let store = Store::new(move |_, _| answer.clone());
        let server = Server::start(&store, Shared::default()).await;
        let mut client = Client::connect(&server.target, &Options::default()).await.unwrap();
        assert!(client.append_batch(&sample()).await.unwrap_err().is_answer());
        assert!(!client.is_usable(), "this server stores nothing behind a failure");
        let unordered = Options { ask_for_order: false, ..Options::default() };
        let mut client = Client::connect(&server.target, &unordered).await.unwrap();
        for _ in 0..2 {
            let error = client.append(sample().get(1).unwrap()).await.unwrap_err();
            assert!(error.is_answer() && client.is_usable(), "{outcome:?}: {error}");
            assert!(client.append_batch(&sample()).await.unwrap_err().is_answer());
        }
        assert!(store.stored().is_empty());
    }
}

#[tokio::test]
async fn several_calls_are_at_work_and_answered_in_order() {
    let store = Store::open();
    let server = Server::start(&store, Shared::default()).await;
    let mut client = Client::connect(&server.target, &Options::default()).await.unwrap();
    client.append_batch(&numbered(0..10)).await.unwrap();
    *store.takes.lock().unwrap() = Duration::from_millis(20);
    let (mut sender, mut receiver) = client.split().unwrap();
    let send = async {
        for first in (10..410).step_by(10) {
            sender.send(&numbered(first..first + 10)).await.unwrap();
        }
    };
    let receive = async {
        for serial in 2..42 {
            let reply = receiver.next().await.unwrap();
            assert_eq!(reply.serial, serial);
            reply.outcome.unwrap();
        }
    };
    timeout(LIMIT, async { tokio::join!(send, receive) }).await.unwrap();
    assert_eq!(numbers(&store.stored()), (0..410).collect::<Vec<_>>());
}

#[tokio::test]
async fn nothing_is_stored_behind_a_call_that_failed_for_a_client_that_asks_for_order() {
    for asks in [true, false] {
        // The second of three fails while the first is still at work; the third would succeed.
        let store = Store::new(|call, _| match numbers(&call.batch)[0] {
            20 => Outcome::Status(Status::Failed),
            _ => Outcome::Status(Status::Ok),
        });
        let server = Server::start(&store, Shared::default()).await;
        let options = Options { ask_for_order: asks, ..Options::default() };
        let mut client = Client::connect(&server.target, &options).await.unwrap();
        client.append_batch(&numbered(0..10)).await.unwrap();
        assert_eq!(client.keeps_order(), asks);
        *store.takes.lock().unwrap() = Duration::from_millis(200);
        let (mut sender, mut receiver) = client.split().unwrap();
        for first in [10, 20, 30] {
            sender.send(&numbered(first..first + 10)).await.unwrap();
        }
        let mut stored = Vec::new();
        for _ in 0..3 {
            stored.push(receiver.next().await.unwrap().outcome.is_ok());
        }
        assert_eq!(stored, [true, false, !asks]);
        assert_eq!(store.stored().len(), if asks { 20 } else { 30 });
    }
}

#[tokio::test]
async fn halves_are_to_be_had_after_the_handshake() {
    let server = Server::start(&Store::open(), Shared::default()).await;
    let client = Client::connect(&server.target, &Options::default()).await.unwrap();
    assert!(client.split().unwrap_err().to_string().contains("handshake"));
}

/// A server that answers the first call with these bytes.
async fn answered_with(answer: Vec<u8>) -> Result<(), crate::RpcError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = Target { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let n_bytes = stream.read(&mut [0; 4096]).await.unwrap();
        assert!(n_bytes > 0);
        stream.write_all(&answer).await.unwrap();
        // It stays open: only the bytes count.
        stream
    };
    let client = async {
        let mut client = Client::connect(&target, &quick()).await.unwrap();
        let answered = client.append_batch(&sample()).await;
        assert_eq!(client.is_usable(), answered.as_ref().map_or_else(crate::RpcError::is_answer, |()| true));
        answered
    };
    let (answered, _open) = timeout(LIMIT, async { tokio::join!(client, server) }).await.unwrap();
    answered
}

#[tokio::test]
async fn answers_that_are_none_are_told() {
    let good = hex("00000001 00000001 00000007 00000000 00 00 00");
    answered_with(good).await.unwrap();
    for (bytes, what) in [
        ("00000007 00000001 00000007 00000000 00 00 00", "the answer to call 7"),
        ("00000001 00000001 00000007 06000000 00 00 00", "match"),
        ("00000001 00000001 00000007 00000000 00 00 06", "a status"),
        ("00000001 00000001 00000007 00000000 00 01 02", "an error"),
        ("00000001 00000001 00000004 00000000", "in the middle"),
        ("00000001 00000001 7fffffff 00", "the limit is"),
        ("00000001 00000001 00000015 04 00 02 00000000000000000000000000000000 00", "did not answer"),
        ("00000001 00000001 00000005 02 02 02 7b 00", "in the middle"),
        ("48545450 2f312e31 20343030", "HTTP"),
        ("", "did not answer"),
        ("00000001", "did not answer"),
    ] {
        let error = answered_with(hex(bytes)).await.unwrap_err();
        assert!(error.to_string().contains(what) && !error.is_answer(), "{bytes}: {error}");
    }
}

#[tokio::test]
async fn a_server_with_another_order_of_statuses_is_understood() {
    let text = super::TEXT.replace(r#"["OK","FAILED","UNKNOWN"]"#, r#"["FAILED","ODD","OK"]"#);
    for (status, what) in [(4, None), (0, Some("answered FAILED")), (2, Some("answered UNKNOWN"))] {
        let response = HandshakeResponse {
            matched: Match::Client,
            server_protocol: Some(text.clone().into()),
            server_hash: Some([1; 16]),
            keeps_order: false,
        };
        let mut payload = Vec::new();
        response.put(&mut payload);
        payload.extend([0, 0, status]);
        let mut frame = Vec::new();
        frame::put(1, &payload, &mut frame);
        let answered = answered_with(frame).await.err().map(|error| error.to_string());
        match what {
            None => assert_eq!(answered, None),
            Some(what) => assert!(answered.as_ref().unwrap().contains(what), "{answered:?}"),
        }
    }
}

#[tokio::test]
async fn a_peer_that_dies_between_commit_and_answer_has_failed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = Target { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read(&mut [0; 4096]).await.unwrap()
    };
    let client = async {
        let mut client = Client::connect(&target, &Options::default()).await.unwrap();
        client.append_batch(&sample()).await.unwrap_err()
    };
    let (error, _) = tokio::join!(client, server);
    assert!(matches!(error.why, Why::Closed | Why::Broken(_)), "{error}");
}
