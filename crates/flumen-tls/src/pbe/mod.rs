//! Password-based encryption: PKCS#12's own (RFC 7292, appendix B), PBES2 (RFC 8018) and the JDK's MD5 with Triple DES.

use aes::{Aes128, Aes192, Aes256};
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, InnerIvInit, KeyInit};
use des::TdesEde3;
use md5::Md5;
use rc2::Rc2;
use sha1::Sha1;
use sha2::Digest as _;
use zeroize::Zeroizing;

use crate::der::{self, Der, Element};
use crate::{KeyError, Password};

mod digest;
mod scheme;

pub(crate) use digest::{Digest, equal};
use scheme::{Cipher, Kind};
pub(crate) use scheme::{JKS_PROTECTION, Scheme, pbkdf2};

/// The most rounds of hashing that one value may ask for: the JDK's own limit. About three seconds of work.
pub(crate) const MAX_ITERATIONS: u64 = 5_000_000;

/// Checks a number of rounds before they are run.
pub(crate) fn checked_iterations(found: u64) -> Result<u32, KeyError> {
    match u32::try_from(found) {
        Ok(n) if n >= 1 && found <= MAX_ITERATIONS => Ok(n),
        Ok(0) => Err(KeyError::Malformed("a password hash of no rounds".to_owned())),
        _ => Err(KeyError::TooMuch { what: "rounds of password hashing", found, limit: MAX_ITERATIONS }),
    }
}

/// A password in the two spellings that PKCS#12 hashes.
pub(crate) struct Passphrase {
    pub(crate) bmp: Zeroizing<Vec<u8>>,
    pub(crate) utf8: Zeroizing<Vec<u8>>,
}

impl Passphrase {
    /// No password at all is the empty one here.
    pub(crate) fn new(password: Option<&Password>) -> Passphrase {
        match password {
            Some(password) => Passphrase {
                bmp: password.bmp_bytes(),
                utf8: Zeroizing::new(password.expose().as_bytes().to_vec()),
            },
            None => Passphrase::new(Some(&Password::new(""))),
        }
    }

    /// The other reading of an empty password: not even the closing zero bytes.
    fn nothing() -> Passphrase {
        Passphrase { bmp: Zeroizing::new(Vec::new()), utf8: Zeroizing::new(Vec::new()) }
    }

    /// Runs `f` with the password, and where that is empty and fails, once more in its other reading.
    pub(crate) fn with_retry<T, E>(
        password: &Password,
        mut f: impl FnMut(&Passphrase) -> Result<T, E>,
    ) -> Result<T, E> {
        let first = f(&Passphrase::new(Some(password)));
        if first.is_err() && password.expose().is_empty() { f(&Passphrase::nothing()) } else { first }
    }
}

impl Scheme {
    /// Decrypts, and takes the padding off. A wrong password shows as `WrongPassword` most times, and as rubbish one
    /// time in 256: callers must check what comes out.
    pub(crate) fn decrypt(&self, password: &Passphrase, data: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        match &self.kind {
            Kind::Pkcs12(cipher) => {
                let mut key = Zeroizing::new(vec![0; cipher.key_bytes()]);
                let mut iv = [0; 8];
                pkcs12_kdf(Digest::Sha1, &password.bmp, &self.salt, 1, self.iterations, &mut key);
                pkcs12_kdf(Digest::Sha1, &password.bmp, &self.salt, 2, self.iterations, &mut iv);
                decrypt(*cipher, &key, &iv, data)
            }
            Kind::Pbes2 { prf, cipher, iv } => {
                let mut key = Zeroizing::new(vec![0; cipher.key_bytes()]);
                prf.pbkdf2(&password.utf8, &self.salt, self.iterations, &mut key);
                decrypt(*cipher, &key, iv, data)
            }
            Kind::Md5TripleDes => {
                let salt = <[u8; 8]>::try_from(&self.salt[..])
                    .map_err(|_| KeyError::Malformed("a salt that is not 8 bytes long".to_owned()))?;
                let derived = md5_triple_des_key(&password.utf8, salt, self.iterations);
                decrypt(Cipher::TripleDes, &derived[..24], &derived[24..], data)
            }
        }
    }
}

/// CBC with PKCS#7 padding, in place on a copy that is wiped.
fn decrypt(cipher: Cipher, key: &[u8], iv: &[u8], data: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let bad_key = |_| KeyError::Malformed("a key of the wrong length".to_owned());
    match cipher {
        Cipher::TripleDes => cbc(TdesEde3::new_from_slice(key).map_err(bad_key)?, iv, data),
        Cipher::Rc2_40 | Cipher::Rc2_128 => cbc(Rc2::new_with_eff_key_len(key, key.len() * 8), iv, data),
        Cipher::Aes128 => cbc(Aes128::new_from_slice(key).map_err(bad_key)?, iv, data),
        Cipher::Aes192 => cbc(Aes192::new_from_slice(key).map_err(bad_key)?, iv, data),
        Cipher::Aes256 => cbc(Aes256::new_from_slice(key).map_err(bad_key)?, iv, data),
    }
}

fn cbc<C: BlockCipherDecrypt>(cipher: C, iv: &[u8], data: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let mode = Decryptor::inner_iv_slice_init(cipher, iv)
        .map_err(|_| KeyError::Malformed("an initialisation vector of the wrong length".to_owned()))?;
    let mut buffer = Zeroizing::new(data.to_vec());
    let length = mode.decrypt_padded::<Pkcs7>(&mut buffer).map_err(|_| KeyError::WrongPassword)?.len();
    buffer.truncate(length);
    Ok(buffer)
}

/// Fills `out` with key material of kind `id` (1 key, 2 initialisation vector, 3 MAC key): RFC 7292, B.2.
pub(crate) fn pkcs12_kdf(
    digest: Digest,
    password: &[u8],
    salt: &[u8],
    id: u8,
    iterations: u32,
    out: &mut [u8],
) {
    let v = digest.block_bytes();
    let filled = |bytes: &[u8]| bytes.len().div_ceil(v) * v;
    let mut input = Zeroizing::new(Vec::with_capacity(filled(salt) + filled(password)));
    input.extend(salt.iter().cycle().take(filled(salt)));
    input.extend(password.iter().cycle().take(filled(password)));
    let diversifier = vec![id; v];
    for piece in out.chunks_mut(digest.output_bytes()) {
        let mut hash = digest.repeated(&[&diversifier, &input], iterations);
        piece.copy_from_slice(&hash[..piece.len()]);
        let b: Zeroizing<Vec<u8>> = Zeroizing::new(hash.iter().copied().cycle().take(v).collect());
        hash.fill(0);
        for block in input.chunks_mut(v) {
            // block = block + b + 1, modulo 2^(8v)
            let mut carry = 1;
            for (byte, add) in block.iter_mut().zip(b.iter()).rev() {
                let sum = u16::from(*byte) + u16::from(*add) + carry;
                *byte = sum as u8;
                carry = sum >> 8;
            }
        }
    }
}

/// Key (24 bytes) and initialisation vector (8) of the JDK's `PBEWithMD5AndTripleDES`: each half of the salt is hashed
/// with the password, over and over. Where both halves are equal, the first is turned round.
fn md5_triple_des_key(password: &[u8], mut salt: [u8; 8], iterations: u32) -> Zeroizing<[u8; 32]> {
    if salt[..4] == salt[4..] {
        salt[..4].reverse();
    }
    let mut out = Zeroizing::new([0; 32]);
    for (half, out) in salt.chunks(4).zip(out.chunks_mut(16)) {
        let mut hash = Md5::new().chain_update(half).chain_update(password).finalize();
        for _ in 1..iterations {
            hash = Md5::new().chain_update(hash).chain_update(password).finalize();
        }
        out.copy_from_slice(&hash);
    }
    out
}

/// The JDK's own key protection of JKS (and of old JCEKS) key entries: SHA-1 of password and salt, chained, as a key
/// stream, and SHA-1 of password and key as a check. Weak, and what the format has.
pub(crate) fn jks_unprotect(password: &Password, protected: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    const HASH: usize = 20;
    let password = password.utf16_bytes();
    let Some(length) = protected.len().checked_sub(2 * HASH) else {
        return Err(KeyError::Malformed("a protected key that is too short".to_owned()));
    };
    let (salt, rest) = protected.split_at(HASH);
    let (sealed, check) = rest.split_at(length);
    let mut key = Zeroizing::new(sealed.to_vec());
    let mut stream = Sha1::new().chain_update(&*password).chain_update(salt).finalize();
    for piece in key.chunks_mut(HASH) {
        piece.iter_mut().zip(&stream).for_each(|(byte, mask)| *byte ^= mask);
        stream = Sha1::new().chain_update(&*password).chain_update(stream).finalize();
    }
    let found = Sha1::new().chain_update(&*password).chain_update(&*key).finalize();
    if equal(&found, check) { Ok(key) } else { Err(KeyError::WrongPassword) }
}

/// `EncryptedPrivateKeyInfo` (RFC 5958): its algorithm, still as DER, and the encrypted bytes.
pub(crate) fn encrypted_key_info(bytes: &[u8]) -> Result<(Element<'_>, &[u8]), KeyError> {
    let mut info = Der::new(bytes).sequence()?;
    let algorithm = info.take(der::SEQUENCE, "an encrypted key without an algorithm")?;
    Ok((algorithm, info.octet_string()?))
}

#[cfg(test)]
mod tests;
