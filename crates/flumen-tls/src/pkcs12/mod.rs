//! PKCS#12 files (RFC 7292), read as a JDK 17 reads them: which entries it sees, under which alias, with which chain.

use std::collections::HashMap;

use crate::der::{self, Der, DerError};
use crate::pbe::{self, MAX_ITERATIONS, Passphrase, Scheme};
use crate::store::{Content, Entry, Protected, rubbish};
use crate::{Certificate, KeyError, Password, StoreError, StoreType};

mod bags;
mod mac;

use bags::Bags;

/// The longest chain of certificates that is put together for a key.
const MAX_CHAIN: usize = 64;
/// 1.2.840.113549.1.7: the content types of PKCS#7; data and encrypted data below it.
const PKCS7: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7];

/// Reads a file. Without a password, encrypted parts are left out and nothing is checked.
pub(crate) fn open(bytes: &[u8], password: Option<&Password>) -> Result<Vec<Entry>, StoreError> {
    let wrong_type = StoreError::NotThisType { asked: StoreType::Pkcs12, looks_like: None };
    if !matches!(bytes.first(), None | Some(&der::SEQUENCE)) {
        return Err(wrong_type);
    }
    let file = der::definite(bytes).map_err(|error| match error {
        DerError::Cut => StoreError::CutShort,
        DerError::Bad(_) => wrong_type,
    })?;
    let mut file = Der::new(&file).sequence()?;
    if file.unsigned()? != 3 {
        return Err(StoreError::Malformed("not version 3 of PKCS12".to_owned()));
    }
    let (kind, content) = content_info(file.sequence()?)?;
    if kind != Some(&1) {
        return Err(StoreError::UnsupportedAlgorithm("a PKCS12 signature in place of a password".to_owned()));
    }
    let safes = data(content)?;
    let mut bags = Bags::default();
    let mut rounds = 0;
    let mut contents = Der::new(&safes).sequence()?;
    while let Some(info) = contents.next()? {
        match content_info(info.expect(der::SEQUENCE, "a content is no sequence")?.reader())? {
            (Some(1), content) => bags.load(&data(content)?)?,
            (Some(6), content) => {
                if let Some(password) = password {
                    load_encrypted(&mut bags, content, password, &mut rounds)?;
                }
            }
            _ => {
                return Err(StoreError::UnsupportedAlgorithm(
                    "PKCS12 contents locked with a public key".to_owned(),
                ));
            }
        }
    }
    if let (Some(password), Some(mac)) = (password, file.next()?) {
        mac::check(mac, &safes, password, &mut rounds)?;
    }
    Ok(entries(bags))
}

/// Unlocks a key and reads what comes out. No password is the empty one here, as in a JDK.
pub(crate) fn unlock<T>(
    info: &[u8],
    password: Option<&Password>,
    read: impl Fn(&[u8]) -> Result<T, KeyError>,
) -> Result<T, KeyError> {
    let (algorithm, data) = pbe::encrypted_key_info(info)?;
    let scheme = Scheme::parse(algorithm)?.if_jdk_reads_it()?;
    let attempt = |passphrase: &Passphrase| read(&scheme.decrypt(passphrase, data)?).map_err(rubbish);
    match password {
        Some(password) => Passphrase::with_retry(password, attempt),
        None => attempt(&Passphrase::new(None)).map_err(|error| match error {
            KeyError::WrongPassword => KeyError::PasswordMissing,
            other => other,
        }),
    }
}

/// The last arc of a content's type, and what is in it.
fn content_info(mut info: Der<'_>) -> Result<(Option<&u8>, Der<'_>), StoreError> {
    let oid = info.oid()?;
    let last = oid.split_last().filter(|(_, rest)| *rest == PKCS7).map(|(last, _)| last);
    Ok((last, info.take(der::context(0), "a content without its contents")?.reader()))
}

fn data(mut content: Der<'_>) -> Result<std::borrow::Cow<'_, [u8]>, StoreError> {
    let octets = content.any()?;
    if octets.tag & 0x1f != der::OCTET_STRING {
        return Err(StoreError::Malformed("a content that is no octet string".to_owned()));
    }
    Ok(octets.octets()?)
}

/// Adds up the rounds of hashing that a file asks for before they are run: many parts must not do what one may not.
fn spend(rounds: &mut u64, more: u32) -> Result<(), StoreError> {
    const LIMIT: u64 = 2 * MAX_ITERATIONS;
    *rounds += u64::from(more);
    if *rounds <= LIMIT {
        return Ok(());
    }
    Err(StoreError::TooMuch { what: "rounds of password hashing in all", found: *rounds, limit: LIMIT })
}

/// `EncryptedData` (RFC 5652, 8): decrypts, and reads the bags.
fn load_encrypted(
    bags: &mut Bags,
    mut content: Der<'_>,
    password: &Password,
    rounds: &mut u64,
) -> Result<(), StoreError> {
    let mut encrypted = content.sequence()?;
    encrypted.unsigned()?;
    let mut info = encrypted.sequence()?;
    info.oid()?;
    let scheme = Scheme::parse(info.take(der::SEQUENCE, "encrypted contents without an algorithm")?)?;
    let scheme = scheme.if_jdk_reads_it()?;
    let sealed = info.any()?;
    if sealed.tag & 0xdf != 0x80 {
        return Err(StoreError::Malformed("encrypted contents are missing".to_owned()));
    }
    let sealed = sealed.octets()?;
    spend(rounds, scheme.iterations)?;
    let opened = Passphrase::with_retry(password, |passphrase| {
        let plain = scheme.decrypt(passphrase, &sealed)?;
        bags.load(&plain)
    });
    opened.map_err(|error| match error {
        StoreError::UnsupportedAlgorithm(_) | StoreError::TooMuch { .. } => error,
        _ => StoreError::WrongPassword,
    })
}

/// Certificates by what their subjects are called in the certificates that they issued.
struct Issuers<'a> {
    by_name: HashMap<&'a [u8], &'a Certificate>,
    by_name_and_key: HashMap<(&'a [u8], Option<&'a [u8]>), &'a Certificate>,
}

impl<'a> Issuers<'a> {
    fn of(certificates: &'a [Certificate]) -> Issuers<'a> {
        let mut issuers = Issuers { by_name: HashMap::new(), by_name_and_key: HashMap::new() };
        for certificate in certificates {
            let name = certificate.subject();
            issuers.by_name.entry(name).or_insert(certificate);
            issuers.by_name_and_key.entry((name, certificate.key_id())).or_insert(certificate);
        }
        issuers
    }

    /// The first of the issuer's name; where both sides say which key it is, that must be the same.
    fn issuer_of(&self, certificate: &Certificate) -> Option<&'a Certificate> {
        let name = certificate.issuer();
        match certificate.issuer_key_id() {
            None => self.by_name.get(name).copied(),
            key => [key, None].iter().find_map(|key| self.by_name_and_key.get(&(name, *key)).copied()),
        }
    }
}

/// Gives each private key its chain.
fn entries(bags: Bags) -> Vec<Entry> {
    let issuers = Issuers::of(&bags.all_certificates);
    let chain = |key: &bags::Key| {
        let mut chain: Vec<Certificate> = Vec::new();
        let mut next = bags.certificate_of(key);
        while let Some(certificate) = next {
            if chain.len() == MAX_CHAIN || chain.contains(certificate) {
                break;
            }
            chain.push(certificate.clone());
            if certificate.issuer() == certificate.subject() {
                break;
            }
            next = issuers.issuer_of(certificate);
        }
        chain
    };
    let contents = bags.items.iter().map(|item| match item {
        bags::Item::PrivateKey(key) => Entry {
            alias: key.alias.clone(),
            content: Content::PrivateKey { key: Protected::Pkcs12(key.info.clone()), chain: chain(key) },
        },
        bags::Item::SecretKey { alias, info } => {
            Entry { alias: alias.clone(), content: Content::SecretKey(Protected::Pkcs12(info.clone())) }
        }
        bags::Item::Trusted { alias, certificate } => {
            Entry { alias: alias.clone(), content: Content::TrustedCertificate(certificate.clone()) }
        }
    });
    contents.collect()
}

#[cfg(test)]
mod tests;
