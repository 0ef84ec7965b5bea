//! Lines of a stream that may be cut at any byte, and answers to them.

use bytes::{Buf, Bytes, BytesMut};
use flumen_core::event::{Batch, Headers};
use flumen_java::charset::{Charset, Decoder, Encoder, OnError};

/// What is read at a time, at first and at most.
const FIRST_READ: usize = 4 << 10;
const LARGEST_READ: usize = 256 << 10;

/// Cuts what comes in into lines.
#[derive(Debug)]
pub(super) struct Lines {
    /// `None` for UTF-8, which is taken as it is.
    decoder: Option<Decoder>,
    /// Bytes as they came, where they must be decoded.
    raw: BytesMut,
    decoded: String,
    /// The line that is not finished, and what came behind it.
    text: BytesMut,
    /// The first bytes of `text` are known to be UTF-8 without a newline,
    checked: usize,
    /// and are so many UTF-16 units.
    units: usize,
    max_units: usize,
    read_size: usize,
}

/// What a read brought.
#[derive(Debug)]
pub(super) struct Found {
    /// The lines that are finished.
    pub(super) lines: Batch,
    /// Why nothing behind them can be read any more.
    pub(super) end: Option<End>,
}

/// Why a stream cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// A line is longer than allowed.
    TooLong,
    /// The bytes are none of the charset.
    Undecodable,
}

impl Lines {
    /// Lines of up to `max_units` UTF-16 units, newline included.
    pub(super) fn new(charset: Charset, max_units: usize) -> Self {
        let decoder = (charset != Charset::utf_8()).then(|| charset.decoder(OnError::Report));
        Self {
            decoder,
            raw: BytesMut::new(),
            decoded: String::new(),
            text: BytesMut::new(),
            checked: 0,
            units: 0,
            max_units,
            read_size: FIRST_READ,
        }
    }

    /// Where to read the next bytes to.
    pub(super) fn room(&mut self) -> &mut BytesMut {
        let room = if self.decoder.is_some() { &mut self.raw } else { &mut self.text };
        room.reserve(self.read_size);
        room
    }

    #[cfg(test)]
    pub(super) fn text_for_tests(&self) -> &[u8] {
        &self.text
    }

    /// The lines that a read of `n_bytes` has finished.
    pub(super) fn cut(&mut self, n_bytes: usize) -> Found {
        if n_bytes >= self.read_size {
            self.read_size = (self.read_size * 2).min(LARGEST_READ);
        }
        let mut undecodable = false;
        if let Some(decoder) = &mut self.decoder {
            undecodable = decoder.decode(&self.raw, false, &mut self.decoded).is_err();
            self.raw.clear();
            self.text.extend_from_slice(self.decoded.as_bytes());
            self.decoded.clear();
        }
        let valid = match std::str::from_utf8(&self.text[self.checked..]) {
            Ok(text) => self.checked + text.len(),
            Err(error) => {
                undecodable |= error.error_len().is_some();
                self.checked + error.valid_up_to()
            }
        };
        let (ends, too_long) = self.line_ends(valid);
        let lines = self.take_lines(&ends);
        let end = if too_long { Some(End::TooLong) } else { undecodable.then_some(End::Undecodable) };
        Found { lines, end }
    }

    /// Where the newlines stand before `valid`, up to a line that is too long, and whether there is one.
    fn line_ends(&mut self, valid: usize) -> (Vec<usize>, bool) {
        let mut ends = Vec::new();
        let mut from = self.checked;
        loop {
            let newline = self.text[from..valid].iter().position(|byte| *byte == b'\n');
            let end = newline.map_or(valid, |at| from + at);
            self.units += utf16_units(&self.text[from..end]);
            if self.units >= self.max_units {
                return (ends, true);
            }
            if newline.is_none() {
                self.checked = valid - ends.last().map_or(0, |last| last + 1);
                return (ends, false);
            }
            ends.push(end);
            from = end + 1;
            self.units = 0;
        }
    }

    /// The finished lines as a batch whose bodies share one segment.
    fn take_lines(&mut self, ends: &[usize]) -> Batch {
        let Some(last) = ends.last() else { return Batch::new() };
        let len = last + 1;
        // A few short lines would keep the whole buffer alive.
        let segment = if len * 2 < self.text.capacity() {
            let copy = Bytes::copy_from_slice(&self.text[..len]);
            self.text.advance(len);
            copy
        } else {
            self.text.split_to(len).freeze()
        };
        let mut batch = Batch::with_capacity(ends.len());
        let segment = batch.add_segment(segment);
        let set = batch.add_headers(Headers::new());
        let mut start = 0;
        for &end in ends {
            // The longest line and the largest read are far below 4 GiB.
            batch.push_slice(set, segment, start as u32..end as u32);
            start = end + 1;
        }
        batch
    }
}

/// The length of valid UTF-8 in Java's characters: one for each sequence, two for those of four bytes.
fn utf16_units(text: &[u8]) -> usize {
    let starts = text.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    starts + text.iter().filter(|byte| **byte >= 0xf0).count()
}

/// Answers in the connection's charset.
#[derive(Debug)]
pub(super) struct Answers {
    encoder: Encoder,
    /// What is to be sent.
    pub(super) bytes: Vec<u8>,
}

impl Answers {
    pub(super) fn new(charset: Charset) -> Self {
        Self { encoder: charset.encoder(OnError::Replace), bytes: Vec::new() }
    }

    /// `OK`, so many times.
    pub(super) fn ok(&mut self, times: usize) {
        for _ in 0..times {
            self.line("OK\n");
        }
    }

    /// `FAILED` with the reason, so many times.
    pub(super) fn failed(&mut self, reason: &str, times: usize) {
        let line = format!("FAILED: {}\n", reason.replace(['\n', '\r'], " "));
        for _ in 0..times {
            self.line(&line);
        }
    }

    /// Java's answer to a line that is too long.
    pub(super) fn too_long(&mut self, max_units: u32) {
        self.failed(&format!("Event exceeds the maximum length ({max_units} chars, including newline)"), 1);
    }

    fn line(&mut self, line: &str) {
        // Replacing never fails.
        let _ = self.encoder.encode(line, &mut self.bytes);
    }
}
