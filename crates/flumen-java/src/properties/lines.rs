//! Logical lines: comments and blank lines left out, continuations joined.

use super::is_blank;

/// A logical line.
pub(super) struct Line<'a> {
    /// Without its end, its leading blanks and the backslashes and blanks of continuations; escapes as they stand.
    pub(super) text: &'a [u8],
    first: u32,
    /// Where the pieces of `text` start and on which line they stand.
    pieces: &'a [(usize, u32)],
}

impl Line<'_> {
    /// The line where it starts.
    pub(super) fn first_line(&self) -> u32 {
        self.first
    }

    /// The line where the byte at this place in `text` stands.
    pub(super) fn line_at(&self, at: usize) -> u32 {
        match self.pieces.partition_point(|p| p.0 <= at) {
            0 => self.first,
            n => self.pieces[n - 1].1,
        }
    }
}

/// Of how many pieces of one logical line the places are kept: beyond that a place is told as that of the last.
const MAX_PIECES: usize = 100_000;

/// Reads logical lines. The buffers are used again for each.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The line of `at`, from 1.
    line: u32,
    text: Vec<u8>,
    pieces: Vec<(usize, u32)>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1, text: Vec::new(), pieces: Vec::new() }
    }

    /// The next logical line that is neither blank nor a comment. What looks odd here is as in Java: a comment may follow a
    /// backslash on a line of its own, and a backslash alone on the last line is a pair with empty key and value.
    pub(super) fn next_line(&mut self) -> Option<Line<'_>> {
        self.text.clear();
        self.pieces.clear();
        let mut first = None;
        let mut continued = false;
        loop {
            self.skip_blanks(!continued);
            let Some(byte) = self.bytes.get(self.at) else { break };
            if self.text.is_empty() && matches!(byte, b'#' | b'!') {
                self.at += self.line_length();
                (continued, first) = (false, None);
                continue;
            }
            let natural = &self.bytes[self.at..self.at + self.line_length()];
            if !natural.is_empty() || continued {
                first.get_or_insert(self.line);
            }
            if !natural.is_empty() {
                if self.pieces.last().is_some_and(|p| p.0 == self.text.len()) {
                    self.pieces.pop();
                }
                if self.pieces.len() < MAX_PIECES {
                    self.pieces.push((self.text.len(), self.line));
                }
            }
            self.text.extend_from_slice(natural);
            self.at += natural.len();
            let open = natural.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1;
            if open {
                self.text.pop();
            }
            let more = self.end_line();
            if open && more {
                continued = true;
            } else if open || !self.text.is_empty() {
                return Some(self.line(first));
            } else if !more {
                return None;
            } else {
                (continued, first) = (false, None);
            }
        }
        if self.text.is_empty() { None } else { Some(self.line(first)) }
    }

    fn line(&self, first: Option<u32>) -> Line<'_> {
        Line { text: &self.text, first: first.unwrap_or(self.line), pieces: &self.pieces }
    }

    fn skip_blanks(&mut self, and_lines: bool) {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\r' | b'\n' if and_lines => {
                    self.end_line();
                }
                b if is_blank(*b) => self.at += 1,
                _ => break,
            }
        }
    }

    fn line_length(&self) -> usize {
        let rest = &self.bytes[self.at..];
        rest.iter().position(|b| matches!(b, b'\r' | b'\n')).unwrap_or(rest.len())
    }

    /// Goes over a line end, if there is one; says whether anything comes after its first byte. (To Java the LF of a CR LF is
    /// something, and a backslash before it at the end of the file is no pair.)
    fn end_line(&mut self) -> bool {
        let more = self.at + 1 < self.bytes.len();
        match self.bytes.get(self.at) {
            Some(b'\r') if self.bytes.get(self.at + 1) == Some(&b'\n') => self.at += 2,
            Some(b'\r' | b'\n') => self.at += 1,
            _ => return false,
        }
        self.line = self.line.saturating_add(1);
        more
    }
}
