//! The bags of a PKCS#12 file (RFC 7292, 4.2), with a JDK's rules about names and about what belongs together.

use crate::der::{self, Der};
use crate::store::{MAX_ENTRIES, too_much};
use crate::{Certificate, StoreError};

/// 1.2.840.113549.1.12.10.1: the kinds of bags.
const BAGS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 10, 1];
const SHROUDED_KEY: u8 = 2;
const CERTIFICATE: u8 = 3;
const SECRET: u8 = 5;
/// 1.2.840.113549.1.9: attributes, of which a friendly name is 20 and a local key number 21.
const ATTRIBUTES: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9];
/// 2.16.840.1.113894.746875.1.1: the JDK's mark of a trusted certificate.
const TRUSTED_KEY_USAGE: &[u8] = &[0x60, 0x86, 0x48, 1, 0x86, 0xf9, 0x66, 0xad, 0xca, 0x7b, 1, 1];
/// What stands for a missing local key number, where there is one private key only.
const ONLY_KEY: &[u8] = b"01";

/// All bags of a file, sorted.
#[derive(Default)]
pub(super) struct Bags {
    /// What becomes an entry, in the order of the file.
    pub(super) items: Vec<Item>,
    /// Every certificate, for chains.
    pub(super) all_certificates: Vec<Certificate>,
    /// Those without the JDK's mark: certificates of private keys and of their CAs.
    certificates: Vec<Named>,
    n_bags: usize,
    n_private_keys: usize,
    n_unnamed: usize,
}

pub(super) enum Item {
    PrivateKey(Key),
    SecretKey { alias: String, info: Vec<u8> },
    Trusted { alias: String, certificate: Certificate },
}

/// A private key, still encrypted.
pub(super) struct Key {
    pub(super) alias: String,
    key_id: Vec<u8>,
    pub(super) info: Vec<u8>,
}

struct Named {
    certificate: Certificate,
    key_id: Option<Vec<u8>>,
    /// In lower case.
    alias: Option<String>,
}

#[derive(Default)]
struct Attributes {
    alias: Option<String>,
    key_id: Option<Vec<u8>>,
    is_trusted: bool,
}

impl Bags {
    /// Adds the bags of one part of a file, or none of them: a part that was opened with a wrong password may look right
    /// at first.
    pub(super) fn load(&mut self, contents: &[u8]) -> Result<(), StoreError> {
        let before = (self.items.len(), self.all_certificates.len(), self.certificates.len());
        let counts = (self.n_bags, self.n_private_keys, self.n_unnamed);
        self.load_all(contents).inspect_err(|_| {
            self.items.truncate(before.0);
            self.all_certificates.truncate(before.1);
            self.certificates.truncate(before.2);
            (self.n_bags, self.n_private_keys, self.n_unnamed) = counts;
        })
    }

    fn load_all(&mut self, contents: &[u8]) -> Result<(), StoreError> {
        let mut contents = Der::new(contents).sequence()?;
        let mut index = 0;
        while let Some(bag) = contents.next()? {
            self.n_bags += 1;
            if self.n_bags > MAX_ENTRIES {
                return Err(too_much("entries", self.n_bags, MAX_ENTRIES));
            }
            self.load_one(bag.expect(der::SEQUENCE, "a bag is no bag")?.reader(), index == 0)?;
            index += 1;
        }
        Ok(())
    }

    fn load_one(&mut self, mut bag: Der<'_>, is_first: bool) -> Result<(), StoreError> {
        let oid = bag.oid()?;
        let content = bag.take(der::context(0), "a bag without its contents")?.reader().any()?;
        let attributes = attributes(bag)?;
        match oid.split_last() {
            Some((&SHROUDED_KEY, BAGS)) => {
                self.n_private_keys += 1;
                // A key that no certificate can be found for is skipped, unless it is the only one.
                let only = (self.n_private_keys == 1).then(|| ONLY_KEY.to_vec());
                if let Some(key_id) = attributes.key_id.or(only) {
                    let alias = self.name(attributes.alias);
                    self.items.push(Item::PrivateKey(Key { alias, key_id, info: content.whole.to_vec() }));
                }
            }
            Some((&SECRET, BAGS)) => {
                let info = wrapped(content)?;
                let alias = self.name(attributes.alias);
                self.items.push(Item::SecretKey { alias, info });
            }
            Some((&CERTIFICATE, BAGS)) => {
                let certificate = Certificate::parse(&wrapped(content)?)?;
                self.all_certificates.push(certificate.clone());
                if attributes.is_trusted {
                    let alias = self.name(attributes.alias);
                    self.items.push(Item::Trusted { alias, certificate });
                } else {
                    let only = (self.n_private_keys == 1 && is_first).then(|| ONLY_KEY.to_vec());
                    let key_id = attributes.key_id.or(only);
                    let alias = attributes.alias.map(|alias| alias.to_lowercase());
                    self.certificates.push(Named { certificate, key_id, alias });
                }
            }
            // Keys that lie open, revocation lists and bags of bags: a JDK passes over them in silence.
            _ => {}
        }
        Ok(())
    }

    /// The alias, or the next number for want of one.
    fn name(&mut self, alias: Option<String>) -> String {
        alias.unwrap_or_else(|| {
            self.n_unnamed += 1;
            self.n_unnamed.to_string()
        })
    }

    /// The key's own certificate: the same number and name, or else the same number, or else the same name.
    pub(super) fn certificate_of(&self, key: &Key) -> Option<&Certificate> {
        let has_id = |named: &&Named| named.key_id.as_ref() == Some(&key.key_id);
        let folded = key.alias.to_lowercase();
        let has_alias =
            |named: &&Named| named.alias.as_ref().is_some_and(|alias| alias.to_lowercase() == folded);
        let both = self.certificates.iter().filter(has_id).find(has_alias);
        let last = || self.certificates.iter().rev();
        both.or_else(|| last().find(has_id))
            .or_else(|| last().find(has_alias))
            .map(|named| &named.certificate)
    }
}

/// What a certificate bag or a secret bag wraps: a type, and in `[0]` an octet string.
fn wrapped(content: der::Element<'_>) -> Result<Vec<u8>, StoreError> {
    let mut parts = content.expect(der::SEQUENCE, "a bag's contents are no sequence")?.reader();
    parts.oid()?;
    let octets = parts.take(der::context(0), "a bag's contents are missing")?.reader().any()?;
    Ok(octets.octets()?.into_owned())
}

fn attributes(mut bag: Der<'_>) -> Result<Attributes, StoreError> {
    let mut found = Attributes::default();
    let Some(set) = bag.optional(der::SET)? else { return Ok(found) };
    let mut set = set.reader();
    while let Some(attribute) = set.next()? {
        let mut attribute = attribute.expect(der::SEQUENCE, "an attribute is no attribute")?.reader();
        let oid = attribute.oid()?;
        let mut values = attribute.take(der::SET, "an attribute without values")?.reader();
        match oid.split_last() {
            Some((20, ATTRIBUTES)) => found.alias = Some(bmp(values.take(0x1e, "a name is no text")?.value)?),
            Some((21, ATTRIBUTES)) => found.key_id = Some(values.octet_string()?.to_vec()),
            _ if oid == TRUSTED_KEY_USAGE => found.is_trusted = true,
            _ => {}
        }
    }
    Ok(found)
}

/// UTF-16, big end first.
fn bmp(bytes: &[u8]) -> Result<String, StoreError> {
    let units: Vec<u16> =
        bytes.chunks_exact(2).map(|pair| u16::from(pair[0]) << 8 | u16::from(pair[1])).collect();
    match String::from_utf16(&units) {
        Ok(text) if bytes.len().is_multiple_of(2) => Ok(text),
        _ => Err(StoreError::Malformed("a name is no text".to_owned())),
    }
}
