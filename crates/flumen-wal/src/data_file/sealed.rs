//! `AESGCM`, our authenticated encryption: every record is sealed with a nonce of its own, and what was changed is not decrypted.
//!
//! Each file has a key of its own, HKDF-SHA-256 of the key in the key store, with a random salt of the file. The nonce of a record
//! is its offset in the file, which is written once, so that none is used twice; it is not stored. A stored payload is the
//! encrypted payload and its tag of 16 bytes; the length in the frame covers both. The frame stays in clear.
//!
//! The parameters in the meta (its field 5.3), 52 bytes: salt, 32 | check of the key, 16 | CRC-32C of both, 4, little endian. By
//! the check a wrong key is told from a damaged record, by the CRC a damaged meta from a wrong key.

use crate::record::HEADER_LEN;
use aes::{
    Aes256,
    cipher::{Array, BlockCipherEncrypt, KeyInit},
};
use aes_gcm::{AeadInOut, Aes256Gcm, Nonce, Tag};
use hkdf::Hkdf;
use sha2::Sha256;
use std::io;

/// Bytes of the tag behind each payload.
pub(super) const TAG_LEN: usize = 16;
const SALT_LEN: usize = 32;
const CHECK_LEN: usize = 16;
/// Bytes of the parameters in a meta.
const PARAMETERS_LEN: usize = SALT_LEN + CHECK_LEN + 4;

/// The cipher of one file.
pub(super) struct Sealed {
    gcm: Aes256Gcm,
    /// For the first bytes of a record, which are looked at before its tag.
    block: Aes256,
}

/// Whether the parameters of a meta are as they were written.
pub(super) fn are_whole(parameters: &[u8]) -> bool {
    parameters.len() == PARAMETERS_LEN
        && parameters
            .split_last_chunk::<4>()
            .is_some_and(|(body, crc)| crc32c::crc32c(body).to_le_bytes() == *crc)
}

/// The parameters of a new file.
pub(super) fn new_parameters(
    key: &[u8],
    file: u32,
    random: &dyn Fn(&mut [u8]) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let mut out = vec![0; SALT_LEN];
    random(&mut out)?;
    let check = derive(key, &out, file).1;
    out.extend_from_slice(&check);
    let crc = crc32c::crc32c(&out);
    out.extend_from_slice(&crc.to_le_bytes());
    Ok(out)
}

/// The key of a file, and the check of it.
fn derive(key: &[u8], salt: &[u8], file: u32) -> ([u8; 32], [u8; CHECK_LEN]) {
    let hkdf = Hkdf::<Sha256>::new(Some(salt), key);
    let (mut own, mut check) = ([0; 32], [0; CHECK_LEN]);
    let number = file.to_be_bytes();
    hkdf.expand_multi_info(&[b"flumen log key", &number], &mut own)
        .expect("32 bytes are within the limit of HKDF");
    hkdf.expand_multi_info(&[b"flumen log check", &number], &mut check)
        .expect("16 bytes are within the limit of HKDF");
    (own, check)
}

impl Sealed {
    /// `None`: the parameters were made with another key.
    pub(super) fn new(key: &[u8], file: u32, parameters: &[u8]) -> Option<Self> {
        let salt = parameters.get(..SALT_LEN)?;
        let (own, check) = derive(key, salt, file);
        if parameters.get(SALT_LEN..SALT_LEN + CHECK_LEN)? != check {
            return None;
        }
        Some(Self { gcm: Aes256Gcm::new(&Array(own)), block: Aes256::new(&Array(own)) })
    }

    /// Encrypts a payload in place, and gives its tag.
    pub(super) fn seal(&self, at: u64, payload: &mut [u8]) -> [u8; TAG_LEN] {
        let tag = self.gcm.encrypt_inout_detached(&nonce(at), b"", payload.into());
        tag.expect("a payload is far below the 64 GiB that are the limit").0
    }

    /// Decrypts a payload with its tag behind it. False: it is not what was written there.
    pub(super) fn open(&self, at: u64, stored: &[u8], plain: &mut Vec<u8>) -> bool {
        plain.clear();
        let Some((payload, tag)) = stored.split_last_chunk::<TAG_LEN>() else { return false };
        plain.extend_from_slice(payload);
        self.gcm
            .decrypt_inout_detached(&nonce(at), b"", plain.as_mut_slice().into(), &Tag::from(*tag))
            .is_ok()
    }

    /// Decrypts without looking at a tag: for what is damaged anyway.
    pub(super) fn peek(&self, at: u64, bytes: &mut [u8]) {
        for (i, chunk) in bytes.chunks_mut(16).enumerate() {
            let stream = self.stream(at, i as u32);
            chunk.iter_mut().zip(stream).for_each(|(byte, stream)| *byte ^= stream);
        }
    }

    /// The key stream over the header of a record at this offset.
    pub(super) fn mask(&self, at: u64) -> [u8; HEADER_LEN] {
        let mut mask = [0; HEADER_LEN];
        self.peek(at, &mut mask);
        mask
    }

    /// Block `i` of the key stream of GCM: the nonce, and a counter that begins with 2 (1 is for the tag).
    fn stream(&self, at: u64, i: u32) -> [u8; 16] {
        let mut counter = [0_u8; 16];
        counter[4..12].copy_from_slice(&at.to_be_bytes());
        counter[12..].copy_from_slice(&i.wrapping_add(2).to_be_bytes());
        let mut block = Array(counter);
        self.block.encrypt_block(&mut block);
        block.0
    }
}

/// Four zeros and the offset of the record.
fn nonce(at: u64) -> Nonce<<Aes256Gcm as aes_gcm::AeadCore>::NonceSize> {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&at.to_be_bytes());
    bytes.into()
}
