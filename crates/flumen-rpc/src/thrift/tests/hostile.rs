//! Messages that break the rules end in an error, at once and without much memory.

use super::*;

const BOTH: [Protocol; 2] = [Protocol::Compact, Protocol::Binary];

/// What is wrong with a call whose message is this.
fn refused(text: &str, protocol: Protocol) -> DecodeError {
    match decode_call(hex(text).into(), protocol) {
        Err(DecodeError::Arguments { cause, .. }) => *cause,
        Err(error) => error,
        Ok(call) => panic!("it was read: {call:?}"),
    }
}

#[test]
fn a_message_that_is_cut_anywhere_is_refused() {
    for protocol in BOTH {
        let whole = message(&call(protocol, Method::AppendBatch, 1, &sample()));
        for end in 0..whole.len() {
            assert!(decode_call(whole.slice(..end), protocol).is_err(), "{protocol:?} up to {end}");
        }
        let mut reply = Vec::new();
        encode_reply(&mut reply, protocol, "append", 1, Err((Fault::Internal, "text")));
        let whole = message(&reply);
        for end in 0..whole.len() {
            assert!(decode_reply(&whole[..end], protocol).is_err(), "{protocol:?} answer up to {end}");
        }
    }
}

#[test]
fn any_byte_may_be_another_and_nothing_falls_over() {
    for protocol in BOTH {
        let whole = message(&call(protocol, Method::AppendBatch, 1, &sample()));
        for at in 0..whole.len() {
            for byte in 0..=255 {
                let mut changed = whole.to_vec();
                changed[at] = byte;
                let _ = decode_call(changed.clone().into(), protocol);
                let _ = decode_reply(&changed, protocol);
            }
        }
    }
}

#[test]
fn counts_and_lengths_are_measured_by_what_is_there() {
    let batch = "82 21 01 0b 617070656e644261746368";
    let event = "82 21 01 06 617070656e64 1c";
    for (what, text) in [
        ("events", format!("{batch} 19 fc ffffffff07")),
        ("headers", format!("{event} 1b ffffffff07 88")),
        ("a body", format!("{event} 28 ffffffff07")),
        ("items of a list nobody knows", format!("{event} 49 f1 ffffffff07")),
        ("entries of a map nobody knows", format!("{event} 4b ffffffff07 11")),
    ] {
        assert_eq!(refused(&text, Protocol::Compact), DecodeError::Short, "{what}");
        let negative = text.replace("ffffffff07", "ffffffff0f");
        assert_eq!(
            refused(&negative, Protocol::Compact),
            DecodeError::Malformed("a negative length"),
            "{what}"
        );
    }
    let binary = "80010001 0000000b 617070656e644261746368 00000001 0f 0001 0c";
    assert_eq!(refused(&format!("{binary} 7fffffff"), Protocol::Binary), DecodeError::Short);
    let negative = DecodeError::Malformed("a negative length");
    assert_eq!(refused(&format!("{binary} ffffffff"), Protocol::Binary), negative);
    let endless = DecodeError::Malformed("a number that does not end");
    assert_eq!(refused(&format!("{event} 28 ffffffffffff"), Protocol::Compact), endless);
}

#[test]
fn a_call_has_a_limited_number_of_events_and_of_headers() {
    let mut many = hex("82 21 01 0b 617070656e644261746368 19 fc c1843d");
    many.resize(many.len() + MAX_EVENTS + 1, 0);
    let wrong = decode_call(many.into(), Protocol::Compact).unwrap_err();
    assert!(wrong.to_string().contains("too many events: at most 1000000"), "{wrong}");
    let mut many = hex("82 21 01 06 617070656e64 1c 1b 8192f401 88");
    many.resize(many.len() + 2 * (MAX_HEADERS + 1), 0);
    let wrong = decode_call(many.into(), Protocol::Compact).unwrap_err();
    assert!(wrong.to_string().contains("too many headers: at most 4000000"), "{wrong}");
}

#[test]
fn nesting_has_a_limit() {
    let deep = |n: usize| format!("82 21 01 06 617070656e64 1c {} {}", "3c".repeat(n), "00".repeat(n));
    assert_eq!(refused(&deep(1_000_000), Protocol::Compact), DecodeError::TooDeep);
    assert_eq!(refused(&deep(66), Protocol::Compact), DecodeError::TooDeep);
    assert_ne!(refused(&deep(60), Protocol::Compact), DecodeError::TooDeep);
    let lists = format!("82 21 01 06 617070656e64 1c 39 {}", "19".repeat(1_000_000));
    assert_eq!(refused(&lists, Protocol::Compact), DecodeError::TooDeep);
}

#[test]
fn other_protocols_are_told_by_name() {
    let compact = message(&call(Protocol::Compact, Method::AppendBatch, 1, &sample()));
    let wrong = decode_call(compact, Protocol::Binary).unwrap_err();
    assert_eq!(wrong, DecodeError::OtherProtocol(Protocol::Compact));
    assert!(wrong.to_string().contains("compact protocol: set `protocol`"), "{wrong}");
    let binary = message(&call(Protocol::Binary, Method::AppendBatch, 1, &sample()));
    assert_eq!(decode_call(binary, Protocol::Compact), Err(DecodeError::OtherProtocol(Protocol::Binary)));
    assert_eq!(refused("47455420 2f", Protocol::Compact), DecodeError::NotThrift);
}

#[test]
fn events_need_headers_and_a_body_and_calls_need_events() {
    let missing = DecodeError::Malformed("an event without headers or body");
    assert_eq!(refused("82 21 01 06 617070656e64 1c 1b 00 00 00", Protocol::Compact), missing);
    assert_eq!(refused("82 21 01 06 617070656e64 1c 28 01 78 00 00", Protocol::Compact), missing);
    let missing = DecodeError::Malformed("no events: the field is missing");
    assert_eq!(refused("82 21 01 06 617070656e64 00", Protocol::Compact), missing);
    // A list of texts, and headers that are numbers.
    let wrong = refused("82 21 01 0b 617070656e644261746368 19 18 01 78 00", Protocol::Compact);
    assert_eq!(wrong, DecodeError::Malformed("a list of something else than events"));
    let wrong = refused("82 21 01 06 617070656e64 1c 1b 01 58 02 01 31 18 00 00 00", Protocol::Compact);
    assert_eq!(wrong, DecodeError::Malformed("headers that are no texts"));
}

#[test]
fn an_answer_is_no_call_and_a_call_no_answer() {
    let mut reply = Vec::new();
    encode_reply(&mut reply, Protocol::Compact, "append", 1, Ok(Status::Ok));
    let wrong = decode_call(message(&reply), Protocol::Compact).unwrap_err();
    assert_eq!(wrong, DecodeError::Malformed("no call, but an answer"));
    let asked = message(&call(Protocol::Compact, Method::Append, 1, &sample()));
    let wrong = decode_reply(&asked, Protocol::Compact).unwrap_err();
    assert_eq!(wrong, DecodeError::Malformed("no answer, but a call"));
}
