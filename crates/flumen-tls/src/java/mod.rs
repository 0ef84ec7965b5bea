//! JKS and JCEKS files: the JDK's own formats, read as its sources write them.
//!
//! A file is: magic number, version, number of entries, the entries, and SHA-1 of password, a fixed phrase and all that
//! comes before. Numbers have four bytes, big end first; texts are Java's modified UTF-8 after a length of two bytes.

use std::borrow::Cow;

use sha1::{Digest as _, Sha1};
use zeroize::Zeroizing;

use crate::pbe::{self, Passphrase, Scheme};
use crate::store::{Content, Entry, MAX_ENTRIES, Protected, too_much};
use crate::{Certificate, KeyError, Password, StoreError, StoreType};

pub(crate) mod sealed;
mod serial;

use sealed::SealedObject;

const JKS_MAGIC: u32 = 0xfeed_feed;
const JCEKS_MAGIC: u32 = 0xcece_cece;
/// What the JDK puts between password and contents before it hashes them.
const WHITENER: &[u8] = b"Mighty Aphrodite";

/// Reads a JKS file, or where JCEKS is asked for, either.
pub(crate) fn open(
    bytes: &[u8],
    asked: StoreType,
    password: Option<&Password>,
) -> Result<Vec<Entry>, StoreError> {
    let mut reader = Reader { bytes, at: 0 };
    let magic = reader.u32();
    let wrong_type = StoreError::NotThisType { asked, looks_like: None };
    match magic {
        Ok(JKS_MAGIC) => {}
        Ok(JCEKS_MAGIC) if asked == StoreType::Jceks => {}
        Ok(_) => return Err(wrong_type),
        Err(error) => return Err(error),
    }
    let is_jceks = magic == Ok(JCEKS_MAGIC);
    let version = reader.u32()?;
    if !matches!(version, 1 | 2) {
        return Err(wrong_type);
    }
    // A JDK takes a negative count for none.
    let count = reader.u32()? as i32;
    let mut entries = Vec::new();
    for _ in 0..count.max(0) {
        if entries.len() == MAX_ENTRIES {
            return Err(too_much("entries", count as usize, MAX_ENTRIES));
        }
        entries.push(reader.entry(version, is_jceks)?);
    }
    if let Some(password) = password {
        let body = &bytes[..reader.at];
        let digest = reader.take(20)?;
        let expected = Sha1::new()
            .chain_update(&*password.utf16_bytes())
            .chain_update(WHITENER)
            .chain_update(body)
            .finalize();
        if !pbe::equal(&expected, digest) {
            return Err(StoreError::WrongPassword);
        }
    }
    Ok(entries)
}

/// Unlocks a private key of a JKS file.
pub(crate) fn unlock_jks(info: &[u8], password: &Password) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let (algorithm, data) = pbe::encrypted_key_info(info)?;
    if algorithm.reader().oid()? != pbe::JKS_PROTECTION {
        return Err(KeyError::UnsupportedAlgorithm("another key protection than that of JKS".to_owned()));
    }
    pbe::jks_unprotect(password, data)
}

/// Unlocks a private key of a JCEKS file.
pub(crate) fn unlock_jceks(info: &[u8], password: &Password) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let (algorithm, data) = pbe::encrypted_key_info(info)?;
    if algorithm.reader().oid()? == pbe::JKS_PROTECTION {
        return pbe::jks_unprotect(password, data);
    }
    let scheme = Scheme::parse(algorithm)?;
    if !scheme.is_md5_triple_des() {
        return Err(KeyError::UnsupportedAlgorithm("another key protection than those of JCEKS".to_owned()));
    }
    unlock_md5_triple_des(&scheme, data, password)
}

fn unlock_md5_triple_des(
    scheme: &Scheme,
    data: &[u8],
    password: &Password,
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if password.ascii().is_none() {
        return Err(KeyError::PasswordNotAscii);
    }
    scheme.decrypt(&Passphrase::new(Some(password)), data)
}

/// Reads big-endian numbers and counted bytes.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], StoreError> {
        let taken = self.bytes[self.at..].get(..n).ok_or(StoreError::CutShort)?;
        self.at += n;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, StoreError> {
        Ok(self.take(4)?.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
    }

    /// Bytes after a length of four bytes.
    fn counted(&mut self) -> Result<&'a [u8], StoreError> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    /// Text after a length of two bytes.
    fn text(&mut self) -> Result<String, StoreError> {
        let length = self.take(2)?;
        let bytes = self.take(usize::from(length[0]) << 8 | usize::from(length[1]))?;
        match modified_utf8(bytes) {
            Some(text) => Ok(text.into_owned()),
            None => Err(StoreError::Malformed("a text is not Java's UTF-8".to_owned())),
        }
    }

    fn certificate(&mut self, version: u32) -> Result<Certificate, StoreError> {
        if version == 2 {
            let kind = self.text()?;
            if !kind.eq_ignore_ascii_case("X.509") && !kind.eq_ignore_ascii_case("X509") {
                return Err(StoreError::UnsupportedAlgorithm(format!("a certificate of type {kind:?}")));
            }
        }
        Ok(Certificate::parse(self.counted()?)?)
    }

    fn entry(&mut self, version: u32, is_jceks: bool) -> Result<Entry, StoreError> {
        let tag = self.u32()?;
        if !matches!((tag, is_jceks), (1 | 2, _) | (3, true)) {
            return Err(StoreError::Malformed(format!("an entry of unknown kind {tag}")));
        }
        let alias = self.text()?;
        self.take(8)?; // the time of its making
        let content = match tag {
            1 => {
                let info = self.counted()?.to_vec();
                let n_certificates = self.u32()? as i32;
                let mut chain = Vec::new();
                for _ in 0..n_certificates.max(0) {
                    chain.push(self.certificate(version)?);
                }
                let key = if is_jceks { Protected::Jceks(info) } else { Protected::Jks(info) };
                Content::PrivateKey { key, chain }
            }
            2 => Content::TrustedCertificate(self.certificate(version)?),
            _ => {
                let (object, n_bytes) = SealedObject::read(&self.bytes[self.at..])?;
                self.at += n_bytes;
                Content::SecretKey(Protected::Sealed(object))
            }
        };
        Ok(Entry { alias, content })
    }
}

/// Java's modified UTF-8: NUL in two bytes, and characters beyond U+FFFF as two surrogates of three bytes each. A lone
/// surrogate, which no Rust text can hold, makes it `None`.
fn modified_utf8(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(Cow::Borrowed(text));
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let continued = |byte: u8| (byte & 0xc0 == 0x80).then_some(u16::from(byte & 0x3f));
        (rest, units) = match *rest {
            [] => return String::from_utf16(&units).ok().map(Cow::Owned),
            [a @ 0..=0x7f, ref rest @ ..] => (rest, push(units, u16::from(a))),
            [a @ 0xc0..=0xdf, b, ref rest @ ..] => {
                (rest, push(units, u16::from(a & 0x1f) << 6 | continued(b)?))
            }
            [a @ 0xe0..=0xef, b, c, ref rest @ ..] => {
                (rest, push(units, u16::from(a & 0x0f) << 12 | continued(b)? << 6 | continued(c)?))
            }
            _ => return None,
        };
    }
}

fn push(mut units: Vec<u16>, unit: u16) -> Vec<u16> {
    units.push(unit);
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modified_utf8_is_read() {
        assert_eq!(modified_utf8("ä中".as_bytes()).unwrap(), "ä中");
        assert_eq!(modified_utf8(&[0x61, 0xc0, 0x80]).unwrap(), "a\0");
        assert_eq!(modified_utf8(&[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]).unwrap(), "😀");
        assert_eq!(modified_utf8(&[0xed, 0xa0, 0xbd]), None);
        assert_eq!(modified_utf8(&[0xe4, 0xb8]), None);
        assert_eq!(modified_utf8(&[0xc3, 0x28]), None);
        assert_eq!(modified_utf8(&[0xff]), None);
    }

    #[test]
    fn a_huge_count_costs_nothing() {
        let mut bytes = vec![0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2, 0x7f, 0xff, 0xff, 0xff];
        assert_eq!(open(&bytes, StoreType::Jks, None).unwrap_err(), StoreError::CutShort);
        bytes.extend([0, 0, 0, 1, 0, 1, b'a', 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]);
        assert_eq!(open(&bytes, StoreType::Jks, None).unwrap_err(), StoreError::CutShort);
    }
}
