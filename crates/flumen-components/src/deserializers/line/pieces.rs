//! A file read in pieces, each of which begins where the last line was cut off.

use bytes::Bytes;
use flumen_core::serialize::Input;
use std::io;

/// Bytes to read at first, and at most while lines are no longer: small files need no more.
const FIRST_PIECE: usize = 16 << 10;
const PIECE: usize = 256 << 10;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    bytes: Bytes,
    /// Where the piece begins in the file.
    at: u64,
    /// What of it has passed.
    passed: usize,
    /// Bytes of the last reading; 0: there was none.
    size: usize,
}

impl Pieces {
    /// One that begins here.
    pub(super) fn starting(at: u64) -> Self {
        Self { at, ..Self::default() }
    }

    /// What has not passed.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.passed..]
    }

    /// Where the rest begins in the file.
    pub(super) fn offset(&self) -> u64 {
        self.at + self.passed as u64
    }

    /// The piece at hand, and where in it the rest begins.
    pub(super) fn piece(&self) -> (&Bytes, usize) {
        (&self.bytes, self.passed)
    }

    pub(super) fn pass(&mut self, n_bytes: usize) {
        self.passed += n_bytes;
    }

    /// The next piece: the rest of this one, and at least as much again. False where there is no more, for now.
    pub(super) fn read_more(&mut self, input: &dyn Input) -> io::Result<bool> {
        let (rest, at) = (self.rest(), self.offset());
        let size = (self.size * 2).clamp(FIRST_PIECE, PIECE);
        let mut bytes = Vec::with_capacity(rest.len() + rest.len().max(size));
        bytes.extend_from_slice(rest);
        while bytes.len() < bytes.capacity() {
            let from = at + bytes.len() as u64;
            if input.read_at(&mut bytes, from)? == 0 {
                break;
            }
        }
        let is_more = bytes.len() > rest.len();
        *self = Self { bytes: bytes.into(), at, passed: 0, size };
        Ok(is_more)
    }
}
