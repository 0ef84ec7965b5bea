//! Streams from anybody, without a network: for those who feed what is hostile.

use super::{
    fields::Fields,
    frames::{Cut, Ended, Frames, Framing},
    keep::Keep,
    message::Rules,
    rows::{Names, Rows},
    stamp::Stamps,
};
use flumen_core::event::{Batch, Headers};
use flumen_java::dates::Zone;

/// A choice of settings, as numbers.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Bytes that come at a time.
    pub step: usize,
    /// Where messages are cut, in bytes.
    pub limit: usize,
    /// Whether octet counts are looked for.
    pub counts: bool,
    /// Which parts of the head stay in the body: a bit each.
    pub keep: u8,
}

impl Choice {
    pub(crate) fn keep(self) -> Keep {
        let bit = |n: u8| self.keep & (1 << n) != 0;
        Keep { all: bit(0), priority: bit(1), version: bit(2), timestamp: bit(3), hostname: bit(4) }
    }

    pub(crate) fn stamps() -> Stamps {
        Stamps::new(Zone::utc())
    }
}

/// The time at which all messages come.
pub(crate) const NOW_MS: i64 = 1_764_547_200_000;

/// The events that `syslogtcp` makes of a stream.
pub fn events(stream: &[u8], choice: Choice) -> Batch {
    let rules = Rules { keep: choice.keep(), stamps: Choice::stamps(), custom: None };
    through(stream, choice, Names::lower(), |message, is_cut, with| {
        with(&rules.read(message, is_cut, NOW_MS));
    })
}

/// A stream cut, read and put in batches, as a connection does it.
pub(crate) fn through(
    stream: &[u8],
    choice: Choice,
    names: Names,
    read: impl Fn(&[u8], bool, &mut dyn FnMut(&Fields<'_>)),
) -> Batch {
    let framing = if choice.counts { Framing::Auto } else { Framing::Newline };
    let mut frames = Frames::cut_from(choice.limit.max(1), framing);
    let (mut rows, mut all) = (Rows::new(names), Batch::new());
    let mut put = |cut: Cut| {
        for message in &cut.messages {
            let start = message.range.start;
            let mut push = |fields: &Fields<'_>| rows.push(start, fields, true, &Headers::new());
            read(&cut.bytes[message.range.clone()], message.is_cut, &mut push);
        }
        let n_messages = cut.messages.len();
        all.append(rows.finish(cut.bytes));
        n_messages
    };
    for piece in stream.chunks(choice.step.max(1)) {
        frames.room().extend_from_slice(piece);
        let mut n_bytes = piece.len();
        while put(frames.cut(n_bytes, 100)) > 0 {
            n_bytes = 0;
        }
    }
    put(frames.rest(Ended::Cleanly));
    all
}
