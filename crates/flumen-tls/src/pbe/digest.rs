//! The digests that key stores name, behind one type: hashing over and over, HMAC and PBKDF2.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest as Hash, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use subtle::ConstantTimeEq as _;

/// A digest, chosen by what a store says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digest {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Sha512_224,
    Sha512_256,
}

/// Compares without telling by its time where the difference is.
pub(crate) fn equal(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

impl Digest {
    /// By the object identifier of the digest itself.
    pub(crate) fn by_oid(oid: &[u8]) -> Option<Digest> {
        match oid {
            [0x2b, 0x0e, 0x03, 0x02, 0x1a] => Some(Digest::Sha1),
            [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, last] => match last {
                1 => Some(Digest::Sha256),
                2 => Some(Digest::Sha384),
                3 => Some(Digest::Sha512),
                4 => Some(Digest::Sha224),
                5 => Some(Digest::Sha512_224),
                6 => Some(Digest::Sha512_256),
                _ => None,
            },
            _ => None,
        }
    }

    /// By the object identifier of HMAC with the digest.
    pub(crate) fn by_hmac_oid(oid: &[u8]) -> Option<Digest> {
        match oid {
            [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, last] => match last {
                7 => Some(Digest::Sha1),
                8 => Some(Digest::Sha224),
                9 => Some(Digest::Sha256),
                10 => Some(Digest::Sha384),
                11 => Some(Digest::Sha512),
                12 => Some(Digest::Sha512_224),
                13 => Some(Digest::Sha512_256),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn output_bytes(self) -> usize {
        match self {
            Digest::Sha1 => 20,
            Digest::Sha224 | Digest::Sha512_224 => 28,
            Digest::Sha256 | Digest::Sha512_256 => 32,
            Digest::Sha384 => 48,
            Digest::Sha512 => 64,
        }
    }

    pub(crate) fn block_bytes(self) -> usize {
        match self {
            Digest::Sha1 | Digest::Sha224 | Digest::Sha256 => 64,
            Digest::Sha384 | Digest::Sha512 | Digest::Sha512_224 | Digest::Sha512_256 => 128,
        }
    }

    /// The digest of the parts, and the digest of that, `iterations` times in all.
    pub(crate) fn repeated(self, parts: &[&[u8]], iterations: u32) -> Vec<u8> {
        fn run<D: Hash>(parts: &[&[u8]], iterations: u32) -> Vec<u8> {
            let mut hash = parts.iter().fold(D::new(), |hash, part| hash.chain_update(part)).finalize();
            for _ in 1..iterations {
                hash = D::digest(&hash);
            }
            hash.to_vec()
        }
        match self {
            Digest::Sha1 => run::<Sha1>(parts, iterations),
            Digest::Sha224 => run::<Sha224>(parts, iterations),
            Digest::Sha256 => run::<Sha256>(parts, iterations),
            Digest::Sha384 => run::<Sha384>(parts, iterations),
            Digest::Sha512 => run::<Sha512>(parts, iterations),
            Digest::Sha512_224 => run::<Sha512_224>(parts, iterations),
            Digest::Sha512_256 => run::<Sha512_256>(parts, iterations),
        }
    }

    /// HMAC (RFC 2104); a key may have any length.
    pub(crate) fn hmac(self, key: &[u8], data: &[u8]) -> Vec<u8> {
        fn run<M: Mac + KeyInit>(key: &[u8], data: &[u8]) -> Vec<u8> {
            let mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
            mac.chain_update(data).finalize().into_bytes().to_vec()
        }
        match self {
            Digest::Sha1 => run::<Hmac<Sha1>>(key, data),
            Digest::Sha224 => run::<Hmac<Sha224>>(key, data),
            Digest::Sha256 => run::<Hmac<Sha256>>(key, data),
            Digest::Sha384 => run::<Hmac<Sha384>>(key, data),
            Digest::Sha512 => run::<Hmac<Sha512>>(key, data),
            Digest::Sha512_224 => run::<Hmac<Sha512_224>>(key, data),
            Digest::Sha512_256 => run::<Hmac<Sha512_256>>(key, data),
        }
    }

    /// PBKDF2 (RFC 8018, 5.2) with HMAC of this digest.
    pub(crate) fn pbkdf2(self, password: &[u8], salt: &[u8], iterations: u32, out: &mut [u8]) {
        match self {
            Digest::Sha1 => pbkdf2::pbkdf2_hmac::<Sha1>(password, salt, iterations, out),
            Digest::Sha224 => pbkdf2::pbkdf2_hmac::<Sha224>(password, salt, iterations, out),
            Digest::Sha256 => pbkdf2::pbkdf2_hmac::<Sha256>(password, salt, iterations, out),
            Digest::Sha384 => pbkdf2::pbkdf2_hmac::<Sha384>(password, salt, iterations, out),
            Digest::Sha512 => pbkdf2::pbkdf2_hmac::<Sha512>(password, salt, iterations, out),
            Digest::Sha512_224 => pbkdf2::pbkdf2_hmac::<Sha512_224>(password, salt, iterations, out),
            Digest::Sha512_256 => pbkdf2::pbkdf2_hmac::<Sha512_256>(password, salt, iterations, out),
        }
    }
}
