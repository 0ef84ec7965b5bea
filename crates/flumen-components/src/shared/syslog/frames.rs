//! Cuts a stream into messages: at newlines, by octet counts (RFC 6587 section 3.4.1), and at the size limit.

use bytes::{Buf, Bytes, BytesMut};
use flumen_core::config::{PropertyValue, choose};
use std::ops::Range;

/// What is read at a time, at first and at most.
const FIRST_READ: usize = 4 << 10;
const LARGEST_READ: usize = 256 << 10;
/// The digits of an octet count.
const MAX_DIGITS: usize = 9;

/// How messages are told apart on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By a count in front, where a message begins with digits, a blank and `<`; by newlines otherwise.
    Auto,
    /// By newlines only, as Java Flume.
    Newline,
}

impl PropertyValue for Framing {
    const KIND: &'static str = "`auto` or `newline`";

    fn parse(text: &str) -> Result<Self, String> {
        choose(text, &[("auto", Self::Auto), ("newline", Self::Newline)])
    }
}

/// The bytes of a connection that are no messages yet.
#[derive(Debug)]
pub(crate) struct Frames {
    buffer: BytesMut,
    /// So many bytes at the front are known to have no newline.
    searched: usize,
    /// So many bytes are left of a message that was counted.
    counted: Option<usize>,
    framing: Framing,
    limit: Limit,
    read_size: usize,
}

/// When a message is too long.
#[derive(Debug, Clone, Copy)]
enum Limit {
    /// It has so many bytes.
    From(usize),
    /// It has more.
    Above(usize),
}

/// Messages in one piece of memory.
#[derive(Debug, Default)]
pub(crate) struct Cut {
    pub(crate) bytes: Bytes,
    pub(crate) messages: Vec<Message>,
}

/// A message, as a place in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) range: Range<usize>,
    /// It goes on behind its end.
    pub(crate) is_cut: bool,
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The peer closed its side.
    Cleanly,
    /// In the middle.
    Broken,
}

impl Frames {
    /// Messages from `limit` bytes on are cut there, as `syslogtcp` of Java Flume does.
    pub(crate) fn cut_from(limit: usize, framing: Framing) -> Self {
        Self::new(Limit::From(limit), framing)
    }

    /// Messages above `limit` bytes are cut there.
    pub(crate) fn cut_above(limit: usize, framing: Framing) -> Self {
        Self::new(Limit::Above(limit), framing)
    }

    fn new(limit: Limit, framing: Framing) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, counted: None, framing, limit, read_size: FIRST_READ }
    }

    /// Where to read the next bytes to.
    pub(crate) fn room(&mut self) -> &mut BytesMut {
        self.buffer.reserve(self.read_size);
        &mut self.buffer
    }

    /// The messages that are complete after a read of `n_bytes`, at most `max` of them; ask again with 0 while there are any.
    pub(crate) fn cut(&mut self, n_bytes: usize, max: usize) -> Cut {
        if n_bytes >= self.read_size {
            self.read_size = (self.read_size * 2).min(LARGEST_READ);
        }
        let mut messages = Vec::new();
        let mut at = 0;
        while messages.len() < max {
            let Some((message, next)) = self.next(at) else { break };
            at = next;
            if !message.range.is_empty() {
                messages.push(message);
            }
        }
        Cut { bytes: self.take(at), messages }
    }

    /// What is left at the end of the stream.
    pub(crate) fn rest(&mut self, ended: Ended) -> Cut {
        let message = Message { range: 0..self.buffer.len(), is_cut: ended == Ended::Broken };
        let messages = if message.range.is_empty() { Vec::new() } else { vec![message] };
        Cut { bytes: self.buffer.split().freeze(), messages }
    }

    /// A step from `at`: a message, or nothing but what stands between two (an empty one), and where the next step begins.
    fn next(&mut self, at: usize) -> Option<(Message, usize)> {
        if let Some(octets) = self.counted {
            return self.next_counted(at, octets);
        }
        if self.searched <= at {
            let newlines = self.buffer[at..].iter().take_while(|byte| **byte == b'\n').count();
            if newlines > 0 {
                return Some(between(at + newlines));
            }
            if self.framing == Framing::Auto {
                match octet_count(&self.buffer[at..]) {
                    Count::Is { octets, digits } => {
                        self.counted = Some(octets);
                        return Some(between(at + digits));
                    }
                    Count::MayBe => return None,
                    Count::No => {}
                }
            }
        }
        self.next_line(at)
    }

    fn next_line(&mut self, at: usize) -> Option<(Message, usize)> {
        let (most, is_far) = match self.limit {
            Limit::From(limit) => (limit, self.buffer.len() - at >= limit),
            Limit::Above(limit) => (limit, self.buffer.len() - at > limit),
        };
        // Nothing behind the limit is of interest.
        let until = self.buffer.len().min(at + most + usize::from(matches!(self.limit, Limit::Above(_))));
        let from = self.searched.max(at);
        if let Some(newline) = memchr::memchr(b'\n', &self.buffer[from.min(until)..until]) {
            let end = from + newline;
            self.searched = end + 1;
            return Some((Message { range: at..end, is_cut: false }, end + 1));
        }
        if is_far {
            self.searched = at + most;
            return Some((Message { range: at..at + most, is_cut: true }, at + most));
        }
        self.searched = until;
        None
    }

    fn next_counted(&mut self, at: usize, octets: usize) -> Option<(Message, usize)> {
        let (Limit::From(most) | Limit::Above(most)) = self.limit;
        let len = octets.min(most);
        if self.buffer.len() - at < len {
            return None;
        }
        self.counted = (octets > len).then_some(octets - len);
        let mut range = at..at + len;
        if self.counted.is_none() && self.buffer[range.clone()].ends_with(b"\n") {
            range.end -= 1;
        }
        Some((Message { range, is_cut: self.counted.is_some() }, at + len))
    }

    /// The bytes before `at`.
    fn take(&mut self, at: usize) -> Bytes {
        self.searched = self.searched.saturating_sub(at);
        if at == 0 {
            return Bytes::new();
        }
        // A few short messages would keep the whole buffer alive.
        if at * 2 < self.buffer.capacity() {
            let copy = Bytes::copy_from_slice(&self.buffer[..at]);
            self.buffer.advance(at);
            return copy;
        }
        self.buffer.split_to(at).freeze()
    }
}

/// No message before `at`.
fn between(at: usize) -> (Message, usize) {
    (Message { range: at..at, is_cut: false }, at)
}

/// What stands at the start of a message.
enum Count {
    Is { octets: usize, digits: usize },
    MayBe,
    No,
}

/// `digits blank <`.
fn octet_count(text: &[u8]) -> Count {
    if !text.first().is_none_or(|byte| (b'1'..=b'9').contains(byte)) {
        return Count::No;
    }
    let digits = text.iter().take(MAX_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    if digits > MAX_DIGITS {
        return Count::No;
    }
    match (text.get(digits), text.get(digits + 1)) {
        (Some(b' '), Some(b'<')) => {
            let octets =
                text[..digits].iter().fold(0, |octets, digit| octets * 10 + usize::from(digit - b'0'));
            Count::Is { octets, digits: digits + 1 }
        }
        (None, _) | (Some(b' '), None) => Count::MayBe,
        _ => Count::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The messages of a stream that comes in these pieces.
    fn cut(mut frames: Frames, pieces: &[&[u8]], max: usize) -> Vec<(Vec<u8>, bool)> {
        let mut found = Vec::new();
        let mut keep = |cut: Cut| {
            let n = cut.messages.len();
            found.extend(
                cut.messages
                    .iter()
                    .map(|message| (cut.bytes[message.range.clone()].to_vec(), message.is_cut)),
            );
            n
        };
        for piece in pieces {
            frames.room().extend_from_slice(piece);
            let mut n_bytes = piece.len();
            while keep(frames.cut(n_bytes, max)) > 0 {
                n_bytes = 0;
            }
        }
        keep(frames.rest(Ended::Cleanly));
        found
    }

    fn whole(text: &str) -> (Vec<u8>, bool) {
        (text.as_bytes().to_vec(), false)
    }

    #[test]
    fn sys_26_lines_are_cut_wherever_packets_end() {
        let stream = b"\n\none\n\ntwo\nthree";
        for at in 0..stream.len() {
            for max in [1, 2, 100] {
                let frames = Frames::cut_from(10, Framing::Auto);
                let found = cut(frames, &[&stream[..at], &stream[at..]], max);
                assert_eq!(found, [whole("one"), whole("two"), whole("three")], "{at} {max}");
            }
        }
    }

    #[test]
    fn messages_are_counted_where_a_count_stands() {
        let stream = b"6 <1>a\nb5 <2>c\nplain\n12 monkeys\n6 <3>d\n\n4 <4>e";
        let expected = [
            whole("<1>a\nb"),
            whole("<2>c"),
            whole("plain"),
            whole("12 monkeys"),
            whole("<3>d\n"),
            whole("<4>e"),
        ];
        for at in 0..stream.len() {
            let found = cut(Frames::cut_above(100, Framing::Auto), &[&stream[..at], &stream[at..]], 100);
            assert_eq!(found, expected, "{at}");
        }
        let lines = cut(Frames::cut_above(100, Framing::Newline), &[&stream[..]], 100);
        assert_eq!(lines[0], whole("6 <1>a"));
    }

    #[test]
    fn sys_22_fix_86_long_messages_are_cut_at_the_limit() {
        let stream = b"0123456789abcdefghij\nx\n";
        let pieces: Vec<&[u8]> = stream.chunks(3).collect();
        let part = |text: &str| (text.as_bytes().to_vec(), true);
        let found = cut(Frames::cut_from(10, Framing::Auto), &pieces, 100);
        assert_eq!(found, [part("0123456789"), part("abcdefghij"), whole("x")]);
        let found = cut(Frames::cut_above(10, Framing::Auto), &pieces, 100);
        assert_eq!(found, [part("0123456789"), whole("abcdefghij"), whole("x")]);
        let found =
            cut(Frames::cut_above(10, Framing::Auto), &[b"25 <1>0123456789abcdefghijkl5 <2>m\n"], 100);
        assert_eq!(found, [part("<1>0123456"), part("789abcdefg"), whole("hijkl"), whole("<2>m")]);
    }

    #[test]
    fn fix_86_a_stream_without_end_is_not_collected() {
        let mut frames = Frames::cut_above(1_000, Framing::Auto);
        for _ in 0..10_000 {
            frames.room().extend_from_slice(&[b'x'; 1_000]);
            while !frames.cut(1_000, 100).messages.is_empty() {}
            assert!(frames.buffer.len() <= 2_000, "{}", frames.buffer.len());
        }
    }

    proptest! {
        /// However the stream comes in, what is found is the same, and no byte of a message is lost.
        #[test]
        fn pieces_do_not_matter(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'<'), Just(b' '), Just(b'4'), Just(b'a')], 0..200),
            sizes in proptest::collection::vec(1usize..20, 1..50),
            above in any::<bool>(),
        ) {
            let frames = || {
                if above { Frames::cut_above(16, Framing::Auto) } else { Frames::cut_from(16, Framing::Auto) }
            };
            let (mut pieces, mut rest) = (Vec::new(), &text[..]);
            for size in sizes.iter().cycle() {
                let (piece, left) = rest.split_at((*size).min(rest.len()));
                pieces.push(piece);
                rest = left;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(cut(frames(), &pieces, 3), cut(frames(), &[&text], 1_000));
        }
    }
}
