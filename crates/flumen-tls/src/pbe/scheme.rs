//! Reads an `AlgorithmIdentifier` of password-based encryption: which scheme, with which salt and how many rounds.

use super::{Digest, checked_iterations};
use crate::KeyError;
use crate::der::{self, Der, Element};

/// How something was encrypted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scheme {
    pub(super) kind: Kind,
    pub(super) salt: Vec<u8>,
    pub(crate) iterations: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Key and vector from PKCS#12's own derivation with SHA-1.
    Pkcs12(Cipher),
    /// Key from PBKDF2.
    Pbes2 { prf: Digest, cipher: Cipher, iv: Vec<u8> },
    /// The JDK's `PBEWithMD5AndTripleDES`.
    Md5TripleDes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cipher {
    TripleDes,
    Rc2_40,
    Rc2_128,
    Aes128,
    Aes192,
    Aes256,
}

impl Cipher {
    pub(super) fn key_bytes(self) -> usize {
        match self {
            Cipher::Rc2_40 => 5,
            Cipher::Rc2_128 | Cipher::Aes128 => 16,
            Cipher::TripleDes | Cipher::Aes192 => 24,
            Cipher::Aes256 => 32,
        }
    }
}

/// 1.3.6.1.4.1.42.2.17.1.1: the JDK's own key protection.
pub(crate) const JKS_PROTECTION: &[u8] = &[0x2b, 6, 1, 4, 1, 0x2a, 2, 17, 1, 1];
/// 1.3.6.1.4.1.42.2.19.1: PBEWithMD5AndTripleDES.
const MD5_TRIPLE_DES: &[u8] = &[0x2b, 6, 1, 4, 1, 0x2a, 2, 19, 1];
/// 1.2.840.113549.1.12.1: the schemes of PKCS#12.
const PKCS12_SCHEMES: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1];
/// 1.2.840.113549.1.5: the schemes of PKCS#5.
const PKCS5_SCHEMES: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5];
const DES_EDE3_CBC: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 3, 7];
/// 2.16.840.1.101.3.4.1: AES, its modes below.
const AES: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1];

impl Scheme {
    /// Reads an algorithm with its parameters.
    pub(crate) fn parse(algorithm: Element<'_>) -> Result<Scheme, KeyError> {
        let mut parts = algorithm.expect(der::SEQUENCE, "an algorithm is no algorithm")?.reader();
        let oid = parts.oid()?;
        let name = |name: &str| Err(KeyError::UnsupportedAlgorithm(name.to_owned()));
        match oid.split_last() {
            Some((3, PKCS12_SCHEMES)) => Scheme::simple(parts.sequence()?, Kind::Pkcs12(Cipher::TripleDes)),
            Some((5, PKCS12_SCHEMES)) => Scheme::simple(parts.sequence()?, Kind::Pkcs12(Cipher::Rc2_128)),
            Some((6, PKCS12_SCHEMES)) => Scheme::simple(parts.sequence()?, Kind::Pkcs12(Cipher::Rc2_40)),
            Some((1, PKCS12_SCHEMES)) => name("128-bit RC4 (pbeWithSHAAnd128BitRC4)"),
            Some((2, PKCS12_SCHEMES)) => name("40-bit RC4 (pbeWithSHAAnd40BitRC4)"),
            Some((4, PKCS12_SCHEMES)) => name("Triple DES with two keys (pbeWithSHAAnd2-KeyTripleDES-CBC)"),
            Some((3, PKCS5_SCHEMES)) => name("DES (pbeWithMD5AndDES-CBC)"),
            Some((10, PKCS5_SCHEMES)) => name("DES (pbeWithSHA1AndDES-CBC)"),
            Some((13, PKCS5_SCHEMES)) => Scheme::pbes2(parts.sequence()?),
            _ if oid == MD5_TRIPLE_DES => Scheme::simple(parts.sequence()?, Kind::Md5TripleDes),
            _ => name(&format!("the encryption algorithm {}", der::dotted(oid))),
        }
    }

    /// The scheme of a sealed object, whose parameters stand apart from their name.
    pub(crate) fn md5_triple_des(parameters: &[u8]) -> Result<Scheme, KeyError> {
        Scheme::simple(Der::new(parameters).sequence()?, Kind::Md5TripleDes)
    }

    /// What a JDK refuses in a PKCS#12 file although it could be read: kept, so that a store works with either.
    pub(crate) fn if_jdk_reads_it(self) -> Result<Scheme, KeyError> {
        let refused = match self.kind {
            Kind::Pbes2 { cipher: Cipher::Aes192, .. } => {
                "AES-192 (the JDK's key stores know AES-128 and AES-256)"
            }
            Kind::Pbes2 { cipher: Cipher::TripleDes, .. } => {
                "PBES2 with Triple DES (the JDK's key stores know AES)"
            }
            _ => return Ok(self),
        };
        Err(KeyError::UnsupportedAlgorithm(refused.to_owned()))
    }

    /// Only this one fits the key entries of JCEKS.
    pub(crate) fn is_md5_triple_des(&self) -> bool {
        self.kind == Kind::Md5TripleDes
    }

    fn simple(mut parameters: Der<'_>, kind: Kind) -> Result<Scheme, KeyError> {
        let salt = parameters.octet_string()?.to_vec();
        Ok(Scheme { kind, salt, iterations: checked_iterations(parameters.unsigned()?)? })
    }

    fn pbes2(mut parameters: Der<'_>) -> Result<Scheme, KeyError> {
        let (salt, iterations, length, prf) = pbkdf2(parameters.sequence()?)?;
        let mut encryption = parameters.sequence()?;
        let oid = encryption.oid()?;
        let cipher = match oid.split_last() {
            Some((2, AES)) => Cipher::Aes128,
            Some((22, AES)) => Cipher::Aes192,
            Some((42, AES)) => Cipher::Aes256,
            _ if oid == DES_EDE3_CBC => Cipher::TripleDes,
            _ => return Err(KeyError::UnsupportedAlgorithm(format!("the cipher {}", der::dotted(oid)))),
        };
        if length.is_some_and(|length| length != cipher.key_bytes() as u64) {
            return Err(KeyError::Malformed("a key length that is not the cipher's".to_owned()));
        }
        let iv = encryption.octet_string()?.to_vec();
        Ok(Scheme { kind: Kind::Pbes2 { prf, cipher, iv }, salt, iterations })
    }
}

/// Salt, rounds, key length if said, and digest of a PBKDF2 `AlgorithmIdentifier` (RFC 8018, A.2).
pub(crate) fn pbkdf2(mut function: Der<'_>) -> Result<(Vec<u8>, u32, Option<u64>, Digest), KeyError> {
    let oid = function.oid()?;
    if oid.split_last() != Some((&12, PKCS5_SCHEMES)) {
        return Err(KeyError::UnsupportedAlgorithm(format!("the key derivation {}", der::dotted(oid))));
    }
    let mut parameters = function.sequence()?;
    let salt = parameters.octet_string()?.to_vec();
    let iterations = checked_iterations(parameters.unsigned()?)?;
    let mut ahead = parameters;
    let length = match ahead.optional(der::INTEGER)? {
        Some(_) => Some(parameters.unsigned()?),
        None => None,
    };
    let prf = match parameters.optional(der::SEQUENCE)? {
        None => Digest::Sha1,
        Some(algorithm) => {
            let oid = algorithm.reader().oid()?;
            Digest::by_hmac_oid(oid).ok_or_else(|| {
                KeyError::UnsupportedAlgorithm(format!("the pseudo-random function {}", der::dotted(oid)))
            })?
        }
    };
    Ok((salt, iterations, length, prf))
}
