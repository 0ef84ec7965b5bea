//! Cuts a stream of bytes into lines, wherever reads end. A line ends at a newline, a carriage return, or both, as Java's do.

use bytes::BytesMut;
use flumen_core::event::{Batch, Headers};
use flumen_java::charset::{Charset, Decoder, OnError};
use memchr::memchr2;
use smallvec::SmallVec;
use std::{io, ops::Range};
use tokio::io::{AsyncRead, AsyncReadExt};

/// What is read at a time.
const READ: usize = 64 << 10;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    charset: Charset,
    max_bytes: usize,
    /// What has been read and is in no batch: bytes of the charset, or UTF-8 where the charset has other line ends.
    buffer: BytesMut,
    /// Bytes of it in which there is no end of a line.
    searched: usize,
    /// Whether a carriage return was the last one cut off: a newline behind it belongs to it.
    after_return: bool,
    /// For charsets in which line ends are not single bytes.
    decoding: Option<Decoding>,
}

#[derive(Debug, Clone)]
struct Decoding {
    decoder: Decoder,
    raw: BytesMut,
    text: String,
}

impl Lines {
    pub(super) fn new(charset: Charset, max_bytes: usize) -> Self {
        // In all others a byte that looks like an end of a line is one.
        let plain = charset.encode("\n\r", OnError::Replace).is_ok_and(|ends| *ends == *b"\n\r")
            && !charset.name().starts_with("ISO-2022");
        let decoding = || Decoding {
            decoder: charset.decoder(OnError::Replace),
            raw: BytesMut::new(),
            text: String::new(),
        };
        Self {
            charset,
            max_bytes,
            buffer: BytesMut::new(),
            searched: 0,
            after_return: false,
            decoding: (!plain).then(decoding),
        }
    }

    /// Reads more. 0: there is no more. Dropping this future loses nothing.
    ///
    /// # Errors
    /// The stream failed.
    pub(super) async fn fill(&mut self, from: &mut (impl AsyncRead + Unpin)) -> io::Result<usize> {
        let Some(decoding) = &mut self.decoding else {
            self.buffer.reserve(READ);
            return from.read_buf(&mut self.buffer).await;
        };
        decoding.raw.reserve(READ);
        let n_bytes = from.read_buf(&mut decoding.raw).await?;
        let raw = decoding.raw.split();
        self.feed(&raw, n_bytes == 0);
        Ok(n_bytes)
    }

    /// Takes more bytes. `last`: no more follow.
    pub(super) fn feed(&mut self, bytes: &[u8], last: bool) {
        let Some(decoding) = &mut self.decoding else {
            return self.buffer.extend_from_slice(bytes);
        };
        // Nothing is an error where bad bytes are replaced.
        let _ = decoding.decoder.decode(bytes, last, &mut decoding.text);
        self.buffer.extend_from_slice(decoding.text.as_bytes());
        decoding.text.clear();
    }

    /// Moves lines into a batch until it has `most`. At the end of the stream half a line is one.
    pub(super) fn cut(&mut self, batch: &mut Batch, most: usize, ended: bool) {
        let mut found: SmallVec<[Range<usize>; 32]> = SmallVec::new();
        let mut start = 0;
        while batch.len() + found.len() < most {
            if self.after_return && start < self.buffer.len() {
                self.after_return = false;
                if self.buffer[start] == b'\n' {
                    start += 1;
                    self.searched = self.searched.max(start);
                    continue;
                }
            }
            let from = self.searched.max(start);
            let end = memchr2(b'\n', b'\r', &self.buffer[from..]).map(|at| from + at);
            let line_end = end.unwrap_or(self.buffer.len());
            if line_end - start > self.max_bytes {
                let end = self.fitting_end(start);
                found.push(start..end);
                start = end;
                self.searched = line_end;
                continue;
            }
            self.searched = line_end;
            match end {
                Some(end) => {
                    found.push(start..end);
                    self.after_return = self.buffer[end] == b'\r';
                    start = end + 1;
                }
                None if ended && start < self.buffer.len() => {
                    found.push(start..self.buffer.len());
                    start = self.buffer.len();
                }
                None => break,
            }
        }
        self.searched = self.searched.max(start) - start;
        let piece = self.buffer.split_to(start);
        if found.is_empty() {
            return;
        }
        let set = batch.add_headers(Headers::new());
        if self.decoding.is_none() {
            let segment = batch.add_segment(piece.freeze());
            for line in found {
                // A read and a line of at most 256 MiB are far below 4 GiB.
                batch.push_slice(set, segment, line.start as u32..line.end as u32);
            }
            return;
        }
        for line in found {
            let text = String::from_utf8_lossy(&piece[line]);
            // What the charset has no place for is replaced, which is no error.
            let body = self.charset.encode(&text, OnError::Replace).unwrap_or_default();
            batch.push(Headers::new(), body.into_owned());
        }
    }

    /// Where the first piece of a line that is too long ends: not within a character of UTF-8.
    fn fitting_end(&self, start: usize) -> usize {
        let end = start + self.max_bytes;
        let is_start = |at: &usize| self.buffer[*at] & 0xc0 != 0x80;
        (end - 3..=end).rev().find(is_start).unwrap_or(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What becomes of a text in pieces, with batches of so many lines.
    fn cut(charset: &str, max_bytes: usize, most: usize, pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(Charset::for_name(charset).unwrap(), max_bytes);
        let mut found = Vec::new();
        let mut take = |lines: &mut Lines, ended| {
            loop {
                let mut batch = Batch::new();
                lines.cut(&mut batch, most, ended);
                assert!(batch.len() <= most);
                found.extend(batch.iter().map(|event| event.body.to_vec()));
                if batch.len() < most {
                    break;
                }
            }
        };
        for piece in pieces {
            lines.feed(piece, false);
            take(&mut lines, false);
        }
        lines.feed(b"", true);
        take(&mut lines, true);
        found
    }

    #[test]
    fn lines_end_as_in_java() {
        let text = b"a\nb\r\nc\rd\n\ne\r\r\nf".as_slice();
        let want = ["a", "b", "c", "d", "", "e", "", "f"].map(|line| line.as_bytes().to_vec());
        for size in 1..=text.len() {
            let pieces: Vec<&[u8]> = text.chunks(size).collect();
            for most in [1, 2, 100] {
                assert_eq!(cut("UTF-8", 100, most, &pieces), want, "{size} {most}");
            }
        }
        assert!(cut("UTF-8", 100, 9, &[]).is_empty());
        assert_eq!(cut("UTF-8", 100, 9, &[b"\r", b"\n"]), [b""]);
    }

    #[test]
    fn bytes_that_are_no_text_stay_as_they_are() {
        assert_eq!(cut("UTF-8", 100, 9, &[b"\xff\0\xc3\nx"]), [b"\xff\0\xc3".to_vec(), b"x".to_vec()]);
    }

    #[test]
    fn a_line_that_is_too_long_becomes_several_whole_in_their_characters() {
        let text = "äöü".repeat(10) + "\n" + &"x".repeat(16) + "\n" + &"x".repeat(17);
        let want =
            ["äöüäöüäö", "üäöüäöüä", "öüäöüäöü", "äöüäöü", "xxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxx", "x"];
        let want = want.map(|line| line.as_bytes().to_vec());
        for size in [1, 2, 7, 1_000] {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(cut("UTF-8", 16, 9, &pieces), want, "{size}");
        }
        assert_eq!(cut("UTF-8", 17, 9, &["é".repeat(10).as_bytes()]).concat(), "é".repeat(10).as_bytes());
        assert_eq!(cut("UTF-8", 16, 9, &[&[0x80_u8; 40]]).concat(), [0x80_u8; 40], "no end that fits");
    }

    #[test]
    fn other_charsets_are_cut_at_their_own_line_ends_and_keep_their_bytes() {
        let utf_16 =
            |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        // The byte of a newline is half of another character here.
        let text = "Ċ\u{0d0a}ä\r\nb\n\u{1f680}";
        let lines = ["Ċ\u{0d0a}ä", "b", "\u{1f680}"];
        for size in [1, 3, 100] {
            for (charset, bytes) in [
                ("UTF-16LE", u16::to_le_bytes as fn(u16) -> [u8; 2]),
                ("UTF-16BE", u16::to_be_bytes as fn(u16) -> [u8; 2]),
            ] {
                let input = utf_16(text, bytes);
                let pieces: Vec<&[u8]> = input.chunks(size).collect();
                assert_eq!(cut(charset, 99, 9, &pieces), lines.map(|line| utf_16(line, bytes)), "{charset}");
            }
            let input = [b"\xff\xfe".to_vec(), utf_16(text, u16::to_le_bytes)].concat();
            let pieces: Vec<&[u8]> = input.chunks(size).collect();
            // As Java's encoder: each line begins with its mark.
            let marked = |line| [b"\xfe\xff".to_vec(), utf_16(line, u16::to_be_bytes)].concat();
            assert_eq!(cut("UTF-16", 99, 9, &pieces), lines.map(marked));
        }
        assert_eq!(cut("ISO-8859-1", 99, 9, &[b"\xe4\n\xff"]), [b"\xe4", b"\xff"]);
        // Half a character at the end of all is replaced.
        assert_eq!(cut("UTF-16LE", 99, 9, &[b"a\0b"]), [b"a\0\xfd\xff"]);
    }

    proptest! {
        /// Nothing is lost and nothing is added, however it is cut.
        #[test]
        fn lines_are_those_of_the_whole_text(text in "[ab\n\r]{0,60}", size in 1_usize..20, most in 1_usize..5) {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let whole = text.replace("\r\n", "\n").replace('\r', "\n");
            let mut want: Vec<&str> = whole.split('\n').collect();
            want.pop_if(|last| last.is_empty());
            let found = cut("UTF-8", 1_000, most, &pieces);
            prop_assert_eq!(found, want.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>());
        }
    }
}
