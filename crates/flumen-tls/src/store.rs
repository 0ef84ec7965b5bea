//! Key stores of all types behind one interface: open, look up, unlock a key.

use std::collections::HashMap;
use std::fmt;

use crate::java::sealed::SealedObject;
use crate::pbe::{Passphrase, Scheme};
use crate::{Certificate, KeyError, Password, PrivateKey, SecretKey, StoreError, java, pbe, pem, pkcs12};
use zeroize::Zeroizing;

/// The most bytes that a key store may have: 16 MiB. Real ones have a few thousand, a store of all public CAs 200,000.
pub const MAX_STORE_BYTES: usize = 16 << 20;
/// The most entries that a key store may have.
pub const MAX_ENTRIES: usize = 10_000;

/// The types of key stores, by Java's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreType {
    /// The JDK's first own format. Also opens PKCS#12 files, as in a JDK.
    Jks,
    /// The JDK's second own format, with secret keys. Also opens JKS files, as in a JDK.
    Jceks,
    /// RFC 7292, as in a JDK: with secret keys and with trusted certificates that carry the JDK's mark. Also opens JKS
    /// files.
    Pkcs12,
    /// Certificates and at most one private key as PEM (RFC 7468) or as bare DER. No type of a JDK.
    Pem,
}

impl StoreType {
    /// By Java's name, in any case: `JKS`, `JCEKS`, `PKCS12` (or `PKCS#12`, `P12`), and `PEM`.
    pub fn by_name(name: &str) -> Option<StoreType> {
        let types = [
            ("JKS", StoreType::Jks),
            ("JCEKS", StoreType::Jceks),
            ("PKCS12", StoreType::Pkcs12),
            ("PKCS#12", StoreType::Pkcs12),
            ("P12", StoreType::Pkcs12),
            ("PEM", StoreType::Pem),
        ];
        types.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, found)| found)
    }
}

impl fmt::Display for StoreType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreType::Jks => "JKS",
            StoreType::Jceks => "JCEKS",
            StoreType::Pkcs12 => "PKCS12",
            StoreType::Pem => "PEM",
        })
    }
}

/// What an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A private key and, mostly, its certificates.
    PrivateKey,
    /// A secret key.
    SecretKey,
    /// A certificate to be trusted.
    TrustedCertificate,
}

impl EntryKind {
    fn name(self) -> &'static str {
        match self {
            EntryKind::PrivateKey => "private key",
            EntryKind::SecretKey => "secret key",
            EntryKind::TrustedCertificate => "trusted certificate",
        }
    }
}

/// An open key store. Its keys stay protected until they are asked for.
#[derive(Debug)]
pub struct KeyStore {
    entries: Vec<Entry>,
    by_alias: HashMap<String, usize>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) alias: String,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    PrivateKey { key: Protected, chain: Vec<Certificate> },
    SecretKey(Protected),
    TrustedCertificate(Certificate),
}

/// A key as it lies in the store.
pub(crate) enum Protected {
    /// `EncryptedPrivateKeyInfo` of a JKS file.
    Jks(Vec<u8>),
    /// `EncryptedPrivateKeyInfo` of a JCEKS file.
    Jceks(Vec<u8>),
    /// A sealed object of a JCEKS file.
    Sealed(SealedObject),
    /// `EncryptedPrivateKeyInfo` of a PKCS#12 file.
    Pkcs12(Vec<u8>),
    /// `EncryptedPrivateKeyInfo` of a PEM file.
    EncryptedPkcs8(Vec<u8>),
    /// A PEM file's key that lies open.
    Open(PrivateKey),
}

impl KeyStore {
    /// Opens a key store, whose bytes may be followed by others.
    ///
    /// Without a password JKS and JCEKS are not checked, and PKCS#12 is neither checked nor are its encrypted
    /// certificates seen. The empty password is a password.
    ///
    /// # Errors
    /// See [`StoreError`]; a store of more than [`MAX_STORE_BYTES`] bytes or [`MAX_ENTRIES`] entries, or one that asks for
    /// more than five million rounds of password hashing, is refused.
    pub fn open(bytes: &[u8], asked: StoreType, password: Option<&Password>) -> Result<KeyStore, StoreError> {
        if bytes.len() > MAX_STORE_BYTES {
            return Err(too_much("bytes", bytes.len(), MAX_STORE_BYTES));
        }
        let opened = match asked {
            StoreType::Jks => or_else(java::open(bytes, asked, password), || pkcs12::open(bytes, password)),
            StoreType::Jceks => java::open(bytes, asked, password),
            StoreType::Pkcs12 => {
                or_else(pkcs12::open(bytes, password), || java::open(bytes, StoreType::Jks, password))
            }
            StoreType::Pem => pem::open(bytes),
        };
        KeyStore::of(opened.map_err(|error| told(error, asked, bytes))?)
    }

    /// The entries' aliases and kinds, in the order of the file.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, EntryKind)> {
        self.entries.iter().map(|entry| (&*entry.alias, entry.kind()))
    }

    /// What the alias names; upper and lower case are the same.
    pub fn kind(&self, alias: &str) -> Option<EntryKind> {
        self.find(alias).map(Entry::kind)
    }

    /// The certificates of an entry: a private key's own first and then those that vouch for it, or the one that is
    /// trusted. Empty where there is no such entry, or it has none.
    pub fn certificates(&self, alias: &str) -> &[Certificate] {
        match self.find(alias).map(|entry| &entry.content) {
            Some(Content::PrivateKey { chain, .. }) => chain,
            Some(Content::TrustedCertificate(certificate)) => std::slice::from_ref(certificate),
            _ => &[],
        }
    }

    /// The first of the entry's certificates.
    pub fn certificate(&self, alias: &str) -> Option<&Certificate> {
        self.certificates(alias).first()
    }

    /// All certificates to be trusted, in the order of the file.
    pub fn trusted_certificates(&self) -> impl Iterator<Item = &Certificate> {
        self.entries.iter().filter_map(|entry| match &entry.content {
            Content::TrustedCertificate(certificate) => Some(certificate),
            _ => None,
        })
    }

    /// Unlocks a private key. Where a key has no password of its own, its password is the store's.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn private_key(&self, alias: &str, password: Option<&Password>) -> Result<PrivateKey, KeyError> {
        match &self.existing(alias)?.content {
            Content::PrivateKey { key, .. } => key.private_key(password),
            _ => Err(self.wrong_kind(alias, EntryKind::PrivateKey)),
        }
    }

    /// Unlocks a secret key. Where a key has no password of its own, its password is the store's.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn secret_key(&self, alias: &str, password: Option<&Password>) -> Result<SecretKey, KeyError> {
        match &self.existing(alias)?.content {
            Content::SecretKey(key) => key.secret_key(password),
            _ => Err(self.wrong_kind(alias, EntryKind::SecretKey)),
        }
    }

    /// Folds the aliases, and lets a later entry take the place of an earlier one of the same alias, as a JDK does.
    fn of(read: Vec<Entry>) -> Result<KeyStore, StoreError> {
        let mut store = KeyStore { entries: Vec::with_capacity(read.len()), by_alias: HashMap::new() };
        for mut entry in read {
            entry.alias = entry.alias.to_lowercase();
            match store.by_alias.get(&entry.alias) {
                Some(&at) => store.entries[at] = entry,
                None => {
                    store.by_alias.insert(entry.alias.clone(), store.entries.len());
                    store.entries.push(entry);
                }
            }
        }
        Ok(store)
    }

    fn find(&self, alias: &str) -> Option<&Entry> {
        self.by_alias.get(&alias.to_lowercase()).map(|&at| &self.entries[at])
    }

    fn existing(&self, alias: &str) -> Result<&Entry, KeyError> {
        self.find(alias).ok_or_else(|| KeyError::NoSuchAlias(alias.to_owned()))
    }

    fn wrong_kind(&self, alias: &str, wanted: EntryKind) -> KeyError {
        let found = self.kind(alias).map_or("nothing", EntryKind::name);
        KeyError::WrongKind { alias: alias.to_owned(), found, wanted: wanted.name() }
    }
}

impl Entry {
    fn kind(&self) -> EntryKind {
        match self.content {
            Content::PrivateKey { .. } => EntryKind::PrivateKey,
            Content::SecretKey(_) => EntryKind::SecretKey,
            Content::TrustedCertificate(_) => EntryKind::TrustedCertificate,
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::PrivateKey { chain, .. } => write!(f, "PrivateKey(***, {} certificates)", chain.len()),
            Content::SecretKey(_) => f.write_str("SecretKey(***)"),
            Content::TrustedCertificate(certificate) => certificate.fmt(f),
        }
    }
}

impl Protected {
    fn private_key(&self, password: Option<&Password>) -> Result<PrivateKey, KeyError> {
        match self {
            Protected::Open(key) => return Ok(key.clone()),
            Protected::Pkcs12(info) => return pkcs12::unlock(info, password, PrivateKey::from_pkcs8),
            _ => {}
        }
        let password = password.ok_or(KeyError::PasswordMissing)?;
        let plain = match self {
            Protected::Jks(info) => java::unlock_jks(info, password)?,
            Protected::Jceks(info) => java::unlock_jceks(info, password)?,
            Protected::EncryptedPkcs8(info) => unlock_pkcs8(info, password)?,
            _ => return Err(KeyError::Malformed("a secret key where a private key should be".to_owned())),
        };
        PrivateKey::from_pkcs8(&plain).map_err(rubbish)
    }

    fn secret_key(&self, password: Option<&Password>) -> Result<SecretKey, KeyError> {
        match self {
            Protected::Sealed(object) => object.unseal(password.ok_or(KeyError::PasswordMissing)?),
            Protected::Pkcs12(info) => pkcs12::unlock(info, password, SecretKey::from_pkcs8),
            _ => Err(KeyError::Malformed("a private key where a secret key should be".to_owned())),
        }
    }
}

fn unlock_pkcs8(info: &[u8], password: &Password) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let (algorithm, data) = pbe::encrypted_key_info(info)?;
    let scheme = Scheme::parse(algorithm)?;
    Passphrase::with_retry(password, |passphrase| scheme.decrypt(passphrase, data))
}

/// A key that opens and is rubbish was opened with a wrong password: one time in 256 the padding looks right.
pub(crate) fn rubbish(error: KeyError) -> KeyError {
    match error {
        KeyError::Malformed(_) => KeyError::WrongPassword,
        other => other,
    }
}

pub(crate) fn too_much(what: &'static str, found: usize, limit: usize) -> StoreError {
    StoreError::TooMuch { what, found: found as u64, limit: limit as u64 }
}

/// Tries a second format where the bytes are not of the first. A wrong password is final, and so is what only the
/// second format can know.
fn or_else<T>(
    first: Result<T, StoreError>,
    second: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let Err(StoreError::NotThisType { .. }) = first else { return first };
    match second() {
        Err(StoreError::NotThisType { .. } | StoreError::CutShort | StoreError::Malformed(_)) => first,
        done => done,
    }
}

/// Names the type that was asked for, and what the bytes look like instead.
fn told(error: StoreError, asked: StoreType, bytes: &[u8]) -> StoreError {
    let StoreError::NotThisType { .. } = error else { return error };
    let text = || std::str::from_utf8(&bytes[..bytes.len().min(64)]).is_ok();
    let looks_like = match bytes {
        [] => Some("an empty file"),
        [0xfe, 0xed, 0xfe, 0xed, ..] => Some("a JKS key store of a version that is not known"),
        [0xce, 0xce, 0xce, 0xce, ..] => Some("a JCEKS key store"),
        [0x30, ..] => Some("a PKCS12 key store, perhaps cut or damaged"),
        _ if bytes.starts_with(b"-----BEGIN ") => Some("a PEM file"),
        _ if text() => Some("text"),
        _ => None,
    };
    StoreError::NotThisType { asked, looks_like }
}
