//! Keys that came out of a key store: wiped when dropped, never printed.

use std::fmt;

use zeroize::Zeroizing;

use crate::KeyError;
use crate::der::{self, Der};

/// A private key as PKCS#8 (RFC 5958).
#[derive(Clone)]
pub struct PrivateKey {
    algorithm: &'static str,
    pkcs8: Zeroizing<Vec<u8>>,
}

impl PrivateKey {
    /// Java's name of the kind of key: `RSA`, `EC`, `EdDSA`, …
    pub fn algorithm(&self) -> &'static str {
        self.algorithm
    }

    /// The key as PKCS#8, in DER. Do not log it.
    pub fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    /// Takes PKCS#8 bytes after a look at their outside. What does not even look like a key means a wrong password most
    /// of the time; the caller knows.
    pub(crate) fn from_pkcs8(bytes: &[u8]) -> Result<PrivateKey, KeyError> {
        let whole = Der::new(bytes).take(der::SEQUENCE, "a private key is no private key")?;
        let mut parts = whole.reader();
        parts.unsigned()?;
        let oid = parts.sequence()?.oid()?;
        parts.octet_string()?;
        Ok(PrivateKey { algorithm: private_key_algorithm(oid)?, pkcs8: Zeroizing::new(whole.whole.to_vec()) })
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({}, ***)", self.algorithm)
    }
}

/// A secret key: an AES key, or a password that somebody keeps in a key store.
#[derive(Clone)]
pub struct SecretKey {
    algorithm: String,
    bytes: Zeroizing<Vec<u8>>,
}

impl SecretKey {
    pub(crate) fn new(algorithm: String, bytes: Zeroizing<Vec<u8>>) -> SecretKey {
        SecretKey { algorithm, bytes }
    }

    /// Reads the key of a PKCS#12 secret bag: PKCS#8's outside around the plain bytes.
    pub(crate) fn from_pkcs8(bytes: &[u8]) -> Result<SecretKey, KeyError> {
        let mut parts = Der::new(bytes).sequence()?;
        parts.unsigned()?;
        let oid = parts.sequence()?.oid()?;
        Ok(SecretKey::new(secret_key_algorithm(oid), Zeroizing::new(parts.octet_string()?.to_vec())))
    }

    /// Java's name of the algorithm, as stored: `AES`, `HmacSHA256`, …; says nothing about the length.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The bytes of the key. Do not log them.
    pub fn expose(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({}, ***)", self.algorithm)
    }
}

/// 1.2.840.113549.1.1.1, rsaEncryption.
pub(crate) const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
/// 1.2.840.10045.2.1, id-ecPublicKey.
pub(crate) const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];

fn private_key_algorithm(oid: &[u8]) -> Result<&'static str, KeyError> {
    match oid {
        RSA => Ok("RSA"),
        EC => Ok("EC"),
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10] => Ok("RSASSA-PSS"),
        [0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1] => Ok("DSA"),
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 3, 1] => Ok("DH"),
        [0x2b, 0x65, 0x6e | 0x6f] => Ok("XDH"),
        [0x2b, 0x65, 0x70 | 0x71] => Ok("EdDSA"),
        _ => Err(KeyError::UnsupportedAlgorithm(format!("the private key algorithm {}", der::dotted(oid)))),
    }
}

fn secret_key_algorithm(oid: &[u8]) -> String {
    let name = match oid {
        [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1] => "AES",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 3] => "PBEWithMD5AndDES",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 3, 4] => "ARCFOUR",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 3, 7] => "DESede",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 7] => "HmacSHA1",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 9] => "HmacSHA256",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 10] => "HmacSHA384",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 11] => "HmacSHA512",
        _ => return der::dotted(oid),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_never_printed() {
        let key = SecretKey::new("AES".to_owned(), Zeroizing::new(b"secret".to_vec()));
        assert_eq!(format!("{key:?}"), "SecretKey(AES, ***)");
    }

    #[test]
    fn an_unknown_algorithm_is_named() {
        let oid = der::element(der::SEQUENCE, &der::element(der::OID, &[0x2b, 0x65, 0x01]));
        let key =
            der::element(der::SEQUENCE, &[der::element(der::INTEGER, &[0]), oid, vec![4, 1, 7]].concat());
        let message = PrivateKey::from_pkcs8(&key).unwrap_err().to_string();
        assert_eq!(message, "the key uses the private key algorithm 1.3.101.1, which is not supported");
        assert_eq!(SecretKey::from_pkcs8(&key).unwrap().algorithm(), "1.3.101.1");
    }
}
