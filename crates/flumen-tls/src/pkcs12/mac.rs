//! The check of a PKCS#12 file as a whole: HMAC under a key from the password (RFC 7292, 4; PBMAC1 from RFC 9579).

use zeroize::Zeroizing;

use super::spend;
use crate::der::{self, Der, Element};
use crate::pbe::{self, Digest, Passphrase, checked_iterations};
use crate::{Password, StoreError};

/// 1.2.840.113549.1.5.14: PBMAC1, which newer JDKs and OpenSSL write on demand.
const PBMAC1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 14];
/// A PBMAC1 key is as long as a digest.
const MAX_KEY_BYTES: u64 = 64;

/// Checks `safes` against the `MacData` of the file.
pub(super) fn check(
    mac: Element<'_>,
    safes: &[u8],
    password: &Password,
    rounds: &mut u64,
) -> Result<(), StoreError> {
    let mut parts = mac.expect(der::SEQUENCE, "the integrity check is no sequence")?.reader();
    let mut info = parts.sequence()?;
    let mut algorithm = info.sequence()?;
    let expected = info.octet_string()?;
    let salt = parts.octet_string()?;
    let iterations = if parts.is_empty() { 1 } else { checked_iterations(parts.unsigned()?)? };
    let oid = algorithm.oid()?;
    let is_right: Box<dyn Fn(&Passphrase) -> bool> = if oid == PBMAC1 {
        let (salt, iterations, key_bytes, prf, digest) = pbmac1(algorithm.sequence()?)?;
        spend(rounds, iterations)?;
        Box::new(move |passphrase| {
            let mut key = Zeroizing::new(vec![0; key_bytes]);
            prf.pbkdf2(&passphrase.utf8, &salt, iterations, &mut key);
            pbe::equal(&digest.hmac(&key, safes), expected)
        })
    } else {
        let digest = Digest::by_oid(oid)
            .ok_or_else(|| StoreError::UnsupportedAlgorithm(format!("the digest {}", der::dotted(oid))))?;
        spend(rounds, iterations)?;
        Box::new(move |passphrase| {
            let mut key = Zeroizing::new(vec![0; digest.output_bytes()]);
            pbe::pkcs12_kdf(digest, &passphrase.bmp, salt, 3, iterations, &mut key);
            pbe::equal(&digest.hmac(&key, safes), expected)
        })
    };
    Passphrase::with_retry(password, |passphrase| {
        if is_right(passphrase) { Ok(()) } else { Err(StoreError::WrongPassword) }
    })
}

/// Salt, rounds, bytes of the key, digest of the derivation and digest of the check.
fn pbmac1(mut parameters: Der<'_>) -> Result<(Vec<u8>, u32, usize, Digest, Digest), StoreError> {
    let (salt, iterations, key_bytes, prf) = pbe::pbkdf2(parameters.sequence()?)?;
    let oid = parameters.sequence()?.oid()?;
    let digest = Digest::by_hmac_oid(oid).ok_or_else(|| {
        StoreError::UnsupportedAlgorithm(format!("the integrity check {}", der::dotted(oid)))
    })?;
    match key_bytes {
        Some(n @ 1..=MAX_KEY_BYTES) => Ok((salt, iterations, n as usize, prf, digest)),
        _ => Err(StoreError::Malformed("an integrity check whose key has no length".to_owned())),
    }
}
