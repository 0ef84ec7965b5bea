//! X.509 certificates as far as key stores need them: whole bytes, and names to build chains by.

use std::fmt;
use std::sync::Arc;

use crate::der::{self, Der, DerError, SEQUENCE, SET};

/// 2.5.29.14 and 2.5.29.35.
const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1d, 14];
const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 35];

/// A certificate: its DER bytes (RFC 5280), looked into only for its names. Nothing is verified here.
/// Clones share the bytes: the certificate of a CA is in many chains.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate(Arc<Parts>);

#[derive(PartialEq, Eq)]
struct Parts {
    der: Vec<u8>,
    issuer: Vec<u8>,
    subject: Vec<u8>,
    key_id: Option<Vec<u8>>,
    issuer_key_id: Option<Vec<u8>>,
}

impl Certificate {
    /// The certificate as DER.
    pub fn der(&self) -> &[u8] {
        &self.0.der
    }

    /// Reads the first element of `bytes`; what follows it is left out, as a JDK does.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Certificate, DerError> {
        let whole = Der::new(bytes).take(SEQUENCE, "a certificate is no certificate")?;
        let mut parts = whole.reader();
        let mut signed = parts.sequence()?;
        signed.optional(der::context(0))?;
        signed.take(der::INTEGER, "a certificate without a serial number")?;
        signed.sequence()?;
        let issuer = signed.take(SEQUENCE, "a certificate without an issuer")?;
        signed.sequence()?;
        let subject = signed.take(SEQUENCE, "a certificate without a subject")?;
        signed.sequence()?;
        let mut key_id = None;
        let mut issuer_key_id = None;
        while let Some(part) = signed.next()? {
            if part.tag == der::context(3) {
                let mut extensions = part.reader().sequence()?;
                while let Some(extension) = extensions.next()? {
                    let mut extension = extension.expect(SEQUENCE, "an extension is no extension")?.reader();
                    let oid = extension.oid()?;
                    extension.optional(der::BOOLEAN)?;
                    let mut value = Der::new(extension.octet_string()?);
                    match oid {
                        SUBJECT_KEY_ID => key_id = Some(value.octet_string()?.to_vec()),
                        AUTHORITY_KEY_ID => {
                            issuer_key_id = value.sequence()?.optional(0x80)?.map(|id| id.value.to_vec());
                        }
                        _ => {}
                    }
                }
            }
        }
        parts.sequence()?;
        parts.take(0x03, "a certificate without a signature")?;
        let (issuer, subject) = (canonical_name(issuer.reader())?, canonical_name(subject.reader())?);
        Ok(Certificate(Arc::new(Parts { der: whole.whole.to_vec(), issuer, subject, key_id, issuer_key_id })))
    }

    /// The issuer's name, spelled so that equal names are equal bytes.
    pub(crate) fn issuer(&self) -> &[u8] {
        &self.0.issuer
    }

    /// The subject's name, spelled so that equal names are equal bytes.
    pub(crate) fn subject(&self) -> &[u8] {
        &self.0.subject
    }

    /// What tells keys of one name apart, where the certificate says it.
    pub(crate) fn key_id(&self) -> Option<&[u8]> {
        self.0.key_id.as_deref()
    }

    /// The issuer's [`key_id`](Certificate::key_id), where the certificate says it.
    pub(crate) fn issuer_key_id(&self) -> Option<&[u8]> {
        self.0.issuer_key_id.as_deref()
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({} bytes)", self.0.der.len())
    }
}

/// A spelling in which equal names are equal bytes: `PrintableString` and `UTF8String` are one, case and runs of blanks
/// do not count (RFC 5280, 7.1, as the JDK compares names).
fn canonical_name(mut name: Der<'_>) -> Result<Vec<u8>, DerError> {
    let mut out = Vec::new();
    while let Some(set) = name.next()? {
        let mut parts = Vec::new();
        let mut attributes = set.expect(SET, "a name is no name")?.reader();
        while let Some(attribute) = attributes.next()? {
            let mut attribute = attribute.expect(SEQUENCE, "a name is no name")?.reader();
            let oid = attribute.oid()?;
            let value = attribute.any()?;
            let text =
                matches!(value.tag, 0x0c | 0x13).then(|| std::str::from_utf8(value.value).ok()).flatten();
            let value = match text {
                Some(text) => {
                    let words: Vec<&str> = text.split_whitespace().collect();
                    der::element(0x0c, words.join(" ").to_lowercase().as_bytes())
                }
                None => value.whole.to_vec(),
            };
            parts.push([der::element(der::OID, oid), value].concat());
        }
        parts.sort_unstable();
        out.extend(der::element(SET, &parts.concat()));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(tag: u8, text: &str) -> Vec<u8> {
        let attribute = [der::element(der::OID, &[0x55, 4, 3]), der::element(tag, text.as_bytes())].concat();
        der::element(SET, &der::element(SEQUENCE, &attribute))
    }

    #[test]
    fn names_are_compared_as_the_jdk_does() {
        let canonical = |tag, text| canonical_name(Der::new(&name(tag, text))).unwrap();
        assert_eq!(canonical(0x13, "Test  CA "), canonical(0x0c, "test ca"));
        assert_ne!(canonical(0x13, "Test CA"), canonical(0x0c, "test cb"));
        assert_ne!(canonical(0x1e, "Test CA"), canonical(0x0c, "test ca"));
    }
}
