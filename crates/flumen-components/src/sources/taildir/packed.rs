//! A compressed file as a stream of its content.

use super::disk::InFile;
use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, Read};

/// The first bytes of a gzip file (RFC 1952, deflate).
pub(super) const GZIP: [u8; 3] = [0x1f, 0x8b, 8];
/// Compressed bytes to read at a time.
const READ: usize = 64 << 10;

/// See the module.
pub(super) struct Packed {
    decoder: MultiGzDecoder<Reader>,
    /// Content that was unpacked and not used yet.
    pub(super) carry: Vec<u8>,
    /// Content still to pass over, as it was read before.
    pub(super) skip: u64,
}

struct Reader {
    file: Box<dyn InFile>,
    offset: u64,
    buffer: Vec<u8>,
    used: usize,
}

impl Packed {
    /// The content from `skip` on.
    pub(super) fn new(file: Box<dyn InFile>, skip: u64) -> Self {
        let reader = Reader { file, offset: 0, buffer: Vec::new(), used: 0 };
        Self { decoder: MultiGzDecoder::new(reader), carry: Vec::new(), skip }
    }

    /// The open file.
    pub(super) fn into_file(self) -> Box<dyn InFile> {
        self.decoder.into_inner().file
    }

    pub(super) fn file(&self) -> &dyn InFile {
        &*self.decoder.get_ref().file
    }

    /// Adds content to the carry until it has `want` bytes. True at the end of the file.
    pub(super) fn fill(&mut self, want: usize) -> io::Result<bool> {
        while self.carry.len() < want {
            let before = self.carry.len();
            let read = (&mut self.decoder).take((want - before) as u64).read_to_end(&mut self.carry)?;
            if read == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let there = self.fill_buf()?;
        let n = there.len().min(out.len());
        out[..n].copy_from_slice(&there[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Reader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.buffer.len() {
            self.buffer.clear();
            self.used = 0;
            self.buffer.reserve(READ);
            self.offset += self.file.read_at(&mut self.buffer, self.offset)? as u64;
        }
        Ok(&self.buffer[self.used..])
    }

    fn consume(&mut self, n: usize) {
        self.used += n;
    }
}
