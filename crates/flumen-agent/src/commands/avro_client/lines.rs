//! Makes batches of lines.

use flumen_core::event::{Batch, Headers};
use std::io::{self, BufRead};

/// The longest line. Java has no limit but its memory.
const MAX_LINE_BYTES: usize = 100 << 20;
/// Spooled files: the longest line in Java's characters; a longer one becomes several events.
const SPOOLED_CHARS: usize = 2048;

/// The lines of an input.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    /// As Java's spooling reader does: only a newline ends a line, and long lines are cut.
    is_spooled: bool,
    /// The line before ended with a carriage return: a newline that follows belongs to it.
    after_return: bool,
    /// The bodies of a batch, end to end, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    n_read: u64,
}

impl<R: BufRead> Lines<R> {
    /// Lines that end with a newline, a carriage return, or both.
    pub(super) fn of_text(input: R) -> Self {
        Self { input, is_spooled: false, after_return: false, bytes: Vec::new(), ends: Vec::new(), n_read: 0 }
    }

    /// Lines as of Java's spooling directory.
    pub(super) fn of_spooled(input: R) -> Self {
        Self { is_spooled: true, ..Self::of_text(input) }
    }

    /// The bytes of the input that were taken, up to the end of a line.
    pub(super) fn n_read(&self) -> u64 {
        self.n_read
    }

    /// Up to `most` lines; `None` at the end. A long line of a spooled file may make it a few more.
    pub(super) fn next_batch(&mut self, most: usize, headers: &Headers) -> io::Result<Option<Batch>> {
        self.bytes.clear();
        self.ends.clear();
        while self.ends.len() < most && self.line()? {}
        if self.ends.is_empty() {
            return Ok(None);
        }
        let mut batch = Batch::with_capacity(self.ends.len());
        let segment = batch.add_segment(std::mem::take(&mut self.bytes).into());
        let set = batch.add_headers(headers.clone());
        let mut start = 0;
        for end in self.ends.drain(..) {
            let end = u32::try_from(end).map_err(|_| io::Error::other("a batch of lines of 4 GiB"))?;
            batch.push_slice(set, segment, start..end);
            start = end;
        }
        Ok(Some(batch))
    }

    /// Takes one line. False: there is none any more.
    fn line(&mut self) -> io::Result<bool> {
        let start = self.bytes.len();
        loop {
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                let is_there = self.bytes.len() > start;
                if is_there {
                    self.end_line(start, false);
                }
                return Ok(is_there);
            }
            if std::mem::take(&mut self.after_return) && chunk[0] == b'\n' {
                self.consume(1);
                continue;
            }
            let ends = |byte: &u8| *byte == b'\n' || (*byte == b'\r' && !self.is_spooled);
            let (taken, end) = match chunk.iter().position(ends) {
                Some(at) => (at, Some(chunk[at])),
                None => (chunk.len(), None),
            };
            if self.bytes.len() - start + taken > MAX_LINE_BYTES {
                return Err(io::Error::other(format!("a line is longer than {MAX_LINE_BYTES} bytes")));
            }
            self.bytes.extend_from_slice(&chunk[..taken]);
            self.consume(taken + usize::from(end.is_some()));
            if let Some(end) = end {
                self.after_return = end == b'\r';
                self.end_line(start, true);
                return Ok(true);
            }
        }
    }

    fn consume(&mut self, n: usize) {
        self.input.consume(n);
        self.n_read += n as u64;
    }

    /// Notes the line, in parts where it is too long. Java looks for the newline only after a full part, so that a line of
    /// exactly that length is followed by an empty event.
    fn end_line(&mut self, start: usize, has_newline: bool) {
        if self.is_spooled && self.bytes.len() - start >= SPOOLED_CHARS {
            let line = String::from_utf8_lossy(&self.bytes[start..]);
            // Bytes that are no text are counted as they are.
            let is_text = line.len() == self.bytes.len() - start;
            let (mut n_chars, mut at) = (0, start);
            let widths: Vec<(usize, usize)> = match is_text {
                true => line.chars().map(|c| (c.len_utf8(), c.len_utf16())).collect(),
                false => vec![(1, 1); self.bytes.len() - start],
            };
            for (n_bytes, n_units) in widths {
                at += n_bytes;
                n_chars += n_units;
                if n_chars >= SPOOLED_CHARS {
                    self.ends.push(at);
                    n_chars = 0;
                }
            }
            if n_chars == 0 && !has_newline {
                return;
            }
        }
        self.ends.push(self.bytes.len());
    }
}
