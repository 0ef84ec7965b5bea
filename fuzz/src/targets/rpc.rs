//! What peers of Flume's protocols send: frames and the messages in them, as a server and as a client read them.

use bytes::Bytes;
use flumen_rpc::{
    avro::{Asked, Budget, FrameReader, HandshakeResponse, KnownClients, Reader, Session},
    thrift::{MAX_EVENTS, Protocol, decode_call, decode_reply, encode_call},
};
use std::sync::Arc;

/// Bytes of a connection, as a server cuts and understands them; their number says in which pieces they come.
pub(super) fn avro_server(input: &[u8]) {
    let budget = Budget::new(4 << 20);
    let mut frames = FrameReader::new(1 << 20, budget.clone());
    let mut session = Session::new(Arc::<KnownClients>::default());
    for piece in input.chunks(1 + input.len() % 97) {
        frames.feed(piece);
        loop {
            match frames.advance() {
                Ok(Some(frame)) => ask(&mut session, &frame.payload),
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
    drop(frames);
    assert_eq!(budget.used(), 0, "all room is given back");
}

/// A message without a frame around it, as a server and as a client read it.
pub(super) fn avro_message(input: &[u8]) {
    ask(&mut Session::new(Arc::<KnownClients>::default()), &Bytes::copy_from_slice(input));
    let mut reader = Reader::new(input);
    if let Ok(response) = HandshakeResponse::read(&mut reader) {
        let mut again = Vec::new();
        response.put(&mut again);
        assert_eq!(HandshakeResponse::read(&mut Reader::new(&again)), Ok(response));
    }
}

fn ask(session: &mut Session, payload: &Bytes) {
    match session.ask(payload) {
        Asked::Store { batch, .. } => {
            // An event takes two bytes at least.
            assert!(batch.len() <= payload.len() / 2);
            assert!(batch.iter().map(|event| event.body.len()).sum::<usize>() <= payload.len());
        }
        Asked::Nothing { .. } => {}
    }
}

/// Calls and answers of Thrift, with the length of a frame in front or without. What is read is written and read again.
pub(super) fn thrift(input: &[u8]) {
    for protocol in [Protocol::Compact, Protocol::Binary] {
        for message in [input, input.get(4..).unwrap_or_default()] {
            let _ = decode_reply(message, protocol);
            let Ok(call) = decode_call(Bytes::copy_from_slice(message), protocol) else { continue };
            assert!(call.batch.len() <= MAX_EVENTS);
            if call.batch.is_empty() {
                continue;
            }
            let mut frame = Vec::new();
            let all = 0..call.batch.len();
            encode_call(&mut frame, protocol, call.method, call.sequence, &call.batch, all);
            let again = decode_call(Bytes::from(frame).slice(4..), protocol).expect("it was just written");
            assert_eq!(again, call);
        }
    }
}
