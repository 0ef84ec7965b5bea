//! AES/CTR/NoPadding as Java Flume uses it: each record's payload is encrypted from the file's counter block on, so all
//! records of a file share the start of one key stream. Frames stay in clear and lengths do not change.

use crate::record::{FRAME_LEN, Frame, HEADER_LEN, frame};
use aes::{
    Aes128, Aes192, Aes256,
    cipher::{Array, BlockCipherEncrypt, KeyInit},
};
use std::fmt;

/// A key that is not 16, 24 or 32 bytes long, or a counter block that is not 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an AES key has 16, 24 or 32 bytes and a counter block has 16, and these have {key} and {counter}")]
pub struct KeyLength {
    /// Bytes of the key.
    pub key: usize,
    /// Bytes of the counter block.
    pub counter: usize,
}

/// The cipher of one data file.
pub struct Cipher {
    key: Key,
    counter: u128,
    mask: [u8; HEADER_LEN],
}

enum Key {
    Bits128(Aes128),
    Bits192(Aes192),
    Bits256(Aes256),
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cipher(***)")
    }
}

impl Cipher {
    /// A cipher with this key, from this counter block on (field 3 of the meta's encryption).
    ///
    /// # Errors
    /// One of them has a wrong length.
    pub fn new(key: &[u8], counter: &[u8]) -> Result<Self, KeyLength> {
        let wrong = || KeyLength { key: key.len(), counter: counter.len() };
        let block: [u8; 16] = counter.try_into().map_err(|_| wrong())?;
        let key = match key.len() {
            16 => Key::Bits128(Aes128::new_from_slice(key).map_err(|_| wrong())?),
            24 => Key::Bits192(Aes192::new_from_slice(key).map_err(|_| wrong())?),
            32 => Key::Bits256(Aes256::new_from_slice(key).map_err(|_| wrong())?),
            _ => return Err(wrong()),
        };
        let mut cipher = Self { key, counter: u128::from_be_bytes(block), mask: [0; HEADER_LEN] };
        let mut mask = [0; HEADER_LEN];
        cipher.apply(&mut mask);
        cipher.mask = mask;
        Ok(cipher)
    }

    /// Encrypts or decrypts one payload, in place.
    pub fn apply(&self, payload: &mut [u8]) {
        // Eight blocks at a time, so that the processor can work on them side by side.
        let mut counter = self.counter;
        for chunk in payload.chunks_mut(8 * 16) {
            let mut blocks = [Array([0_u8; 16]); 8];
            for block in &mut blocks {
                block.0 = counter.to_be_bytes();
                counter = counter.wrapping_add(1);
            }
            match &self.key {
                Key::Bits128(key) => key.encrypt_blocks(&mut blocks),
                Key::Bits192(key) => key.encrypt_blocks(&mut blocks),
                Key::Bits256(key) => key.encrypt_blocks(&mut blocks),
            }
            for (part, block) in chunk.chunks_mut(16).zip(&blocks) {
                part.iter_mut().zip(&block.0).for_each(|(byte, stream)| *byte ^= stream);
            }
        }
    }

    /// Encrypts or decrypts whole records that lie end to end, as an encoder made them; frames stay as they are.
    pub fn apply_records(&self, mut records: &mut [u8]) {
        while let Frame::Record(len) = frame(records) {
            let Some((record, rest)) = records.split_at_mut_checked(FRAME_LEN + len as usize) else { return };
            self.apply(&mut record[FRAME_LEN..]);
            records = rest;
        }
    }

    /// The key stream over the header that each record begins with.
    pub(crate) fn mask(&self) -> &[u8; HEADER_LEN] {
        &self.mask
    }
}
