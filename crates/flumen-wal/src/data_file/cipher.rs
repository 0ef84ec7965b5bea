//! How data files are encrypted: by our own authenticated mode (`sealed`), or as Java Flume does.
//!
//! Java's is AES/CTR/NoPadding: each record's payload is encrypted from the file's counter block on, so all
//! records of a file share the start of one key stream. Frames stay in clear and lengths do not change.

use super::{
    Encryption,
    sealed::{self, Sealed, TAG_LEN},
};
use crate::record::{FRAME_LEN, Frame, HEADER_LEN, frame};
use aes::{
    Aes128, Aes192, Aes256,
    cipher::{Array, BlockCipherEncrypt, KeyInit},
};
use std::{fmt, io};

/// A key that is not 16, 24 or 32 bytes long, or a counter block that is not 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an AES key has 16, 24 or 32 bytes and a counter block has 16, and these have {key} and {counter}")]
pub struct KeyLength {
    /// Bytes of the key.
    pub key: usize,
    /// Bytes of the counter block.
    pub counter: usize,
}

/// The name of our authenticated mode, as `encryption.cipherProvider` and as a meta have it.
pub const AUTHENTICATED: &str = "AESGCM";
/// The names of Java's cipher.
const JAVAS: [&str; 2] =
    ["AESCTRNOPADDING", "org.apache.flume.channel.file.encryption.AESCTRNoPaddingProvider"];

/// Why a file cannot be encrypted or decrypted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CipherError {
    /// The key is none, or the parameters are none.
    #[error(transparent)]
    Length(#[from] KeyLength),
    /// No cipher has this name.
    #[error("the cipher provider `{0}` is not known: there are AESCTRNOPADDING and AESGCM")]
    Unknown(String),
    /// The file was encrypted with another key.
    #[error("the key store has another key under the name `{0}`")]
    WrongKey(String),
}

/// Whether a cipher of this name is known, in any case of its letters.
pub fn is_known_cipher(name: &str) -> bool {
    is_authenticated(name) || JAVAS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether it is our authenticated mode, which Java cannot read.
pub fn is_authenticated(name: &str) -> bool {
    name.eq_ignore_ascii_case(AUTHENTICATED)
}

/// The cipher of one data file.
pub struct Cipher(Kind);

#[expect(clippy::large_enum_variant, reason = "one a data file, and the large one is the usual one")]
enum Kind {
    Stream { key: Key, counter: u128, mask: [u8; HEADER_LEN] },
    Sealed(Box<Sealed>),
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
    /// The cipher of a file, by what its meta says.
    ///
    /// # Errors
    /// The cipher is not known, or the key is none for it or another one.
    pub fn of(encryption: &Encryption, file: u32, key: &[u8]) -> Result<Self, CipherError> {
        let name = &encryption.cipher_provider;
        if !is_authenticated(name) {
            return match is_known_cipher(name) {
                true => Ok(Self::new(key, &encryption.parameters)?),
                false => Err(CipherError::Unknown(name.clone())),
            };
        }
        check_length(key)?;
        let sealed = Sealed::new(key, file, &encryption.parameters);
        let sealed = sealed.ok_or_else(|| CipherError::WrongKey(encryption.key_alias.clone()))?;
        Ok(Self(Kind::Sealed(Box::new(sealed))))
    }

    /// Encryption for a new file, with parameters of its own.
    ///
    /// # Errors
    /// The cipher is not known, the key is none for it, or there is no randomness.
    pub fn for_new(
        name: &str,
        alias: &str,
        file: u32,
        key: &[u8],
        random: &dyn Fn(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<(Encryption, Self)> {
        let parameters = if is_authenticated(name) {
            check_length(key).map_err(io::Error::other)?;
            sealed::new_parameters(key, file, random)?
        } else {
            // Twelve random bytes, and 1 as a big-endian number.
            let mut block = vec![0; 16];
            random(&mut block[..12])?;
            block[15] = 1;
            block
        };
        let encryption =
            Encryption { cipher_provider: name.to_owned(), key_alias: alias.to_owned(), parameters };
        let cipher = Self::of(&encryption, file, key).map_err(io::Error::other)?;
        Ok((encryption, cipher))
    }

    /// Java's cipher with this key, from this counter block on (field 3 of the meta's encryption).
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
        let counter = u128::from_be_bytes(block);
        let mut mask = [0; HEADER_LEN];
        key.apply(counter, &mut mask);
        Ok(Self(Kind::Stream { key, counter, mask }))
    }

    /// Bytes that a payload is longer on disk.
    pub fn overhead(&self) -> usize {
        match &self.0 {
            Kind::Stream { .. } => 0,
            Kind::Sealed(_) => TAG_LEN,
        }
    }

    /// Whether the meta has told that the key is the right one: then what cannot be decrypted is damage.
    pub fn proves_its_key(&self) -> bool {
        matches!(self.0, Kind::Sealed(_))
    }

    /// Decrypts the payload of a record at this offset. False: it is not what was written there, as far as the cipher can tell.
    pub fn open(&self, at: u64, payload: &[u8], plain: &mut Vec<u8>) -> bool {
        match &self.0 {
            Kind::Sealed(sealed) => sealed.open(at, payload, plain),
            Kind::Stream { key, counter, .. } => {
                plain.clear();
                plain.extend_from_slice(payload);
                key.apply(*counter, plain);
                true
            }
        }
    }

    /// Decrypts bytes from the start of a payload on, whether or not they are what was written.
    pub(crate) fn peek(&self, at: u64, bytes: &mut [u8]) {
        match &self.0 {
            Kind::Sealed(sealed) => sealed.peek(at, bytes),
            Kind::Stream { key, counter, .. } => key.apply(*counter, bytes),
        }
    }

    /// Encrypts whole records that lie end to end, as an encoder made them, to be written at this offset.
    pub fn encrypt_records(&self, mut at: u64, mut records: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(records.len());
        while let Frame::Record(len) = frame(records) {
            let Some((record, rest)) = records.split_at_checked(FRAME_LEN + len as usize) else { break };
            let start = out.len();
            out.extend_from_slice(record);
            match &self.0 {
                Kind::Stream { key, counter, .. } => key.apply(*counter, &mut out[start + FRAME_LEN..]),
                Kind::Sealed(sealed) => {
                    let tag = sealed.seal(at, &mut out[start + FRAME_LEN..]);
                    out.extend_from_slice(&tag);
                    let len = (len + TAG_LEN as u32).to_be_bytes();
                    out[start + 1..start + FRAME_LEN].copy_from_slice(&len);
                }
            }
            at += (out.len() - start) as u64;
            records = rest;
        }
        out
    }

    /// The key stream over the header that a record at this offset begins with.
    pub(crate) fn mask(&self, at: u64) -> [u8; HEADER_LEN] {
        match &self.0 {
            Kind::Stream { mask, .. } => *mask,
            Kind::Sealed(sealed) => sealed.mask(at),
        }
    }

    /// That key stream, where it is the same for all records.
    pub(crate) fn fixed_mask(&self) -> Option<&[u8; HEADER_LEN]> {
        match &self.0 {
            Kind::Stream { mask, .. } => Some(mask),
            Kind::Sealed(_) => None,
        }
    }
}

fn check_length(key: &[u8]) -> Result<(), KeyLength> {
    let wrong = KeyLength { key: key.len(), counter: 16 };
    if matches!(key.len(), 16 | 24 | 32) { Ok(()) } else { Err(wrong) }
}

impl Key {
    /// Encrypts or decrypts, in place, from this counter block on.
    fn apply(&self, mut counter: u128, payload: &mut [u8]) {
        // Eight blocks at a time, so that the processor can work on them side by side.
        for chunk in payload.chunks_mut(8 * 16) {
            let mut blocks = [Array([0_u8; 16]); 8];
            for block in &mut blocks {
                block.0 = counter.to_be_bytes();
                counter = counter.wrapping_add(1);
            }
            match self {
                Key::Bits128(key) => key.encrypt_blocks(&mut blocks),
                Key::Bits192(key) => key.encrypt_blocks(&mut blocks),
                Key::Bits256(key) => key.encrypt_blocks(&mut blocks),
            }
            for (part, block) in chunk.chunks_mut(16).zip(&blocks) {
                part.iter_mut().zip(&block.0).for_each(|(byte, stream)| *byte ^= stream);
            }
        }
    }
}
