//! Servers with peers that speak something else, stall, or lie.

use super::*;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

/// A good call beside the bad peer: it is unharmed.
async fn others_are_unharmed(server: &Server, store: &Store) {
    let before = store.stored().len();
    let mut client = Client::connect(&server.target, &Options::default()).await.unwrap();
    client.append_batch(&sample()).await.unwrap();
    assert_eq!(store.stored().len(), before + 2);
    client.close().await;
}

#[tokio::test]
async fn other_protocols_two_gigabytes_and_cut_frames_end_their_own_connection_and_are_told() {
    for (bytes, what) in [
        (b"POST / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(), "HTTP"),
        (hex("16030100f1010000ed0303"), "TLS"),
        (hex("00000050 82210106 61707065"), "Thrift"),
        (hex("00000001 00000001 7fffffff"), "2147483647"),
        (hex("00000001 00000001 00000009 00"), "in the middle of a frame"),
    ] {
        let store = Store::open();
        let server = Server::start(&store, Shared::default()).await;
        let mut stream = server.tcp().await;
        stream.write_all(&bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let end = server.end().await.unwrap_err();
        assert!(end.contains(what), "{what}: {end}");
        others_are_unharmed(&server, &store).await;
    }
}

#[tokio::test]
async fn a_peer_that_stalls_in_mid_frame_is_given_up_and_one_that_is_silent_between_frames_is_not() {
    let store = Store::open();
    let shared = Shared { max_pause: Duration::from_millis(50), ..Shared::default() };
    let server = Server::start(&store, shared).await;
    let mut idle = Client::connect(&server.target, &Options::default()).await.unwrap();
    idle.append_batch(&sample()).await.unwrap();
    let mut stalled = server.tcp().await;
    stalled.write_all(&hex("00000001 00000001 00000009 00")).await.unwrap();
    let end = server.end().await.unwrap_err();
    assert!(end.contains("paused"), "{end}");
    assert_eq!(timeout(LIMIT, stalled.read(&mut [0; 10])).await.unwrap().unwrap(), 0);
    idle.append_batch(&sample()).await.unwrap();
}

#[tokio::test]
async fn calls_that_cannot_be_understood_are_answered_with_an_error_and_the_connection_stays() {
    let store = Store::open();
    let server = Server::start(&store, Shared::default()).await;
    let shake = "86aadae2c45474c0fe93ffd0f2350a65 00 86aadae2c45474c0fe93ffd0f2350a65 02 00";
    let mut stream = server.tcp().await;
    let mut ask = async |payload: &str| -> Vec<u8> {
        let mut out = Vec::new();
        frame::put(9, &hex(payload), &mut out);
        stream.write_all(&out).await.unwrap();
        let mut reader = FrameReader::new(1 << 20, Budget::new(1 << 20));
        let answer = timeout(LIMIT, reader.next(&mut stream)).await.unwrap().unwrap().unwrap();
        assert_eq!(answer.serial, 9);
        answer.payload.to_vec()
    };
    // An unreadable handshake: the error stands alone.
    let answer = ask("0102").await;
    assert_eq!(answer[..3], [0, 1, 0]);
    // A ping.
    assert_eq!(ask(&format!("{shake} 00 00")).await, [0; 4]);
    assert_eq!(ask("00 00").await, b"");
    // An unknown message, in Java's words.
    let answer = ask("00 08 6e6f7065").await;
    assert_eq!(answer[..5], [0, 1, 0, 0x84, 1]);
    assert!(answer.ends_with(b"No such remote message: nope"));
    // A list that claims 2^40 events, a body that is not there, a header that is not there.
    for body in ["808080808040", "02 00 7e", "02 02 7e 61"] {
        let answer = ask(&format!("00 16 617070656e644261746368 {body}")).await;
        assert_eq!(answer[..3], [0, 1, 0], "{body}");
    }
    assert!(store.stored().is_empty());
    // And then a good one: append, no headers, "one".
    assert_eq!(ask("00 0c 617070656e64 00 06 6f6e65").await, [0, 0, 0]);
    assert_eq!(store.stored().len(), 1);
}

#[test]
fn invalid_utf_8_in_a_header_is_replaced_as_java_does() {
    let mut session = Session::new(Arc::default());
    let shake = hex("86aadae2c45474c0fe93ffd0f2350a65 00 86aadae2c45474c0fe93ffd0f2350a65 02 00");
    let call = hex("00 0c 617070656e64 02 04 61ff 02 31 00 00");
    let Asked::Store { batch, .. } = session.ask(&[shake, call].concat().into()) else { panic!() };
    assert_eq!(batch.get(0).unwrap().headers.get("a\u{fffd}").unwrap(), "1");
}

#[test]
fn a_client_cannot_change_what_our_hash_means_and_the_memory_for_clients_has_a_limit() {
    let known: Arc<KnownClients> = Arc::default();
    let text = r#"{"protocol":"P","messages":{}}"#;
    let shake = |hash: [u8; 16]| {
        let request = HandshakeRequest {
            client_hash: hash,
            client_protocol: Some(text.into()),
            server_hash: HASH,
            keeps_order: false,
        };
        let mut payload = Vec::new();
        request.put(&mut payload);
        payload.extend(hex("00 0c 617070656e64 00 02 78"));
        Session::new(known.clone()).ask(&payload.into())
    };
    assert!(matches!(shake(HASH), Asked::Store { .. }), "the text is overlooked");
    for n in 0..3_000u32 {
        let mut hash = [0; 16];
        hash[..4].copy_from_slice(&n.to_be_bytes());
        assert!(matches!(shake(hash), Asked::Nothing { wrong: Some(_), .. }));
    }
    assert!(known.len() <= super::super::MAX_KNOWN_CLIENTS);
    assert!(matches!(shake(HASH), Asked::Store { .. }));
}

#[test]
fn headers_that_are_the_same_are_stored_once_and_bodies_are_not_copied() {
    let mut batch = Batch::new();
    let set = batch.add_headers([("k", "v")].into_iter().collect());
    let segment = batch.add_segment(Bytes::from(vec![b'x'; 1000]));
    (0..10).for_each(|n| batch.push_slice(set, segment, n * 100..(n + 1) * 100));
    let mut payload = hex("86aadae2c45474c0fe93ffd0f2350a65 00 86aadae2c45474c0fe93ffd0f2350a65 02 00 00");
    wire::put_bytes(&mut payload, b"appendBatch");
    events::put_batch(&batch, &mut payload);
    let payload = Bytes::from(payload);
    let Asked::Store { batch: read, .. } = Session::new(Arc::default()).ask(&payload) else { panic!() };
    assert_eq!(read, batch);
    let within = payload.as_ptr_range();
    for event in read.iter() {
        assert!(within.contains(&event.body.as_ptr()), "a body is a part of the frame");
        let (name, _) = event.headers.iter().next().unwrap();
        let (first, _) = read.get(0).unwrap().headers.iter().next().unwrap();
        assert_eq!(name.as_ptr(), first.as_ptr(), "one set for all");
    }
}
