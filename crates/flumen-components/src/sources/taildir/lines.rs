//! Cuts text into events: lines, or lines that belong together.

use crate::shared::regex::FilledRegex;
use memchr::memchr_iter;

/// Where an event lies in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    /// Without the line's end.
    pub(super) end: usize,
    /// Where the next one begins.
    pub(super) next: usize,
}

/// What to do with what is not over at the end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// More may follow.
    Open,
    /// No further line belongs to the last event; half a line waits.
    Events,
    /// Nothing follows: half a line is a line.
    All,
}

/// How text is cut.
#[derive(Debug, Clone)]
pub(super) struct Cutter {
    /// Bytes of an event, at most.
    pub(super) max_bytes: usize,
    pub(super) multiline: Option<Multiline>,
}

/// Which lines belong together.
#[derive(Debug, Clone)]
pub(super) struct Multiline {
    pub(super) start: FilledRegex,
    pub(super) max_lines: usize,
}

impl Cutter {
    /// The events of a text, into `spans`. True where whole lines are left that may go on.
    pub(super) fn cut(&self, text: &[u8], end: End, spans: &mut Vec<Span>) -> bool {
        spans.clear();
        match &self.multiline {
            None => {
                self.lines(text, end == End::All, |span| spans.push(span));
                false
            }
            Some(multiline) => self.joined(multiline, text, end, spans),
        }
    }

    /// Bytes that are enough to cut one event off, wherever it ends.
    pub(super) fn enough(&self) -> usize {
        self.max_bytes + 2
    }

    fn lines(&self, text: &[u8], whole: bool, mut each: impl FnMut(Span)) {
        let mut start = 0;
        for newline in memchr_iter(b'\n', text) {
            let end = if newline > start && text[newline - 1] == b'\r' { newline - 1 } else { newline };
            while end - start > self.max_bytes {
                each(Span { start, end: start + self.max_bytes, next: start + self.max_bytes });
                start += self.max_bytes;
            }
            each(Span { start, end, next: newline + 1 });
            start = newline + 1;
        }
        // A line end of two bytes may follow a line of the greatest length.
        while text.len() - start >= self.enough() || (whole && text.len() - start > self.max_bytes) {
            each(Span { start, end: start + self.max_bytes, next: start + self.max_bytes });
            start += self.max_bytes;
        }
        if whole && start < text.len() {
            each(Span { start, end: text.len(), next: text.len() });
        }
    }

    fn joined(&self, multiline: &Multiline, text: &[u8], end: End, spans: &mut Vec<Span>) -> bool {
        let mut event: Option<(Span, usize)> = None;
        self.lines(text, end == End::All, |line| {
            let begins = |line: Span| {
                // A pattern that takes too many steps on a line is not found in it.
                multiline.start.is_found(&text[line.start..line.end]).unwrap_or(false)
            };
            event = Some(match event {
                Some((event, n_lines))
                    if n_lines < multiline.max_lines
                        && line.end - event.start <= self.max_bytes
                        && !begins(line) =>
                {
                    (Span { start: event.start, ..line }, n_lines + 1)
                }
                before => {
                    spans.extend(before.map(|(event, _)| event));
                    (line, 1)
                }
            });
        });
        match event {
            Some((event, n_lines)) => {
                let full = n_lines >= multiline.max_lines || text.len() - event.start >= self.enough();
                if full || end != End::Open {
                    spans.push(event);
                }
                !(full || end != End::Open)
            }
            None => false,
        }
    }
}
