//! What syslog peers send: in whatever pieces it comes, it becomes the same events.

use flumen_components::sources::{
    multiport_syslogtcp,
    syslogtcp::hostile::{Choice, events},
};

/// A stream; its first byte chooses settings, the second one the pieces in which it comes.
pub(super) fn stream(input: &[u8]) {
    let [choice, step, stream @ ..] = input else { return };
    let limit = if choice & 1 == 0 { 2_500 } else { 16 };
    let whole = Choice { step: usize::MAX, limit, counts: choice & 2 == 0, keep: choice >> 3 };
    let pieces = Choice { step: usize::from(*step) % 61 + 1, ..whole };
    let (at_once, apart) = (events(stream, whole), events(stream, pieces));
    assert_eq!(at_once, apart, "the pieces make a difference");
    let plain = Choice { counts: false, keep: 0, ..whole };
    // Every byte that is no line end is in some message; a head that was read is in the headers.
    let kept = events(stream, Choice { keep: 1, ..plain });
    let bytes: usize = kept.iter().map(|event| event.body.len()).sum();
    assert_eq!(bytes, stream.iter().filter(|byte| **byte != b'\n').count(), "bytes are lost");
    assert_eq!(events(stream, plain).len(), kept.len(), "what is kept makes another number of events");
    assert_eq!(
        multiport_syslogtcp::events(stream, whole),
        multiport_syslogtcp::events(stream, pieces),
        "the pieces make a difference"
    );
}
