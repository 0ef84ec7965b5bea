//! The bytes of a batch, laid out in memory as they will lie in the file, so that whole blocks of them can be written as they are.

use super::disk::BLOCK;

/// A larger buffer is given back after the batch that needed it.
const KEPT: usize = 4 << 20;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// What is before this is nothing.
    start: usize,
}

impl Buffer {
    /// Empties it, and gives what to append to.
    pub(super) fn clear(&mut self) -> &mut Vec<u8> {
        self.bytes.clear();
        self.start = 0;
        &mut self.bytes
    }

    /// Empties it for about so many bytes, which go to this place of a file: bytes on blocks of the file are on blocks of memory,
    /// unless there are more of them.
    pub(super) fn lay(&mut self, n_bytes: usize, at: u64) -> &mut Vec<u8> {
        self.clear();
        if n_bytes > self.bytes.capacity().saturating_sub(BLOCK) {
            self.bytes = Vec::with_capacity(n_bytes + n_bytes / 16 + 2 * BLOCK);
        }
        let in_file = (at % BLOCK as u64) as usize;
        self.start = (BLOCK + in_file - self.bytes.as_ptr().addr() % BLOCK) % BLOCK;
        self.bytes.resize(self.start, 0);
        &mut self.bytes
    }

    /// What is to be written.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Gives memory back that a large batch has needed.
    pub(super) fn shrink(&mut self) {
        if self.bytes.capacity() > KEPT {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_lie_in_memory_as_in_the_file() {
        let mut buffer = Buffer::default();
        for at in [0_u64, 1, 4_095, 4_096, 12_345_678] {
            buffer.lay(100_000, at).extend_from_slice(&[7; 100_000]);
            let bytes = buffer.bytes();
            assert_eq!(bytes, [7; 100_000]);
            assert_eq!((bytes.as_ptr().addr() as u64) % 4_096, at % 4_096);
        }
        buffer.clear().push(1);
        assert_eq!(buffer.bytes(), [1]);
    }
}
