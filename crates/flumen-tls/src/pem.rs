//! Certificates and private keys as PEM (RFC 7468) or bare DER: PKCS#8, open or encrypted, PKCS#1 and SEC1.

use base64ct::{Base64, Encoding as _};
use zeroize::Zeroizing;

use crate::der::{self, Der};
use crate::store::{Content, Entry, MAX_ENTRIES, Protected, too_much};
use crate::{Certificate, PrivateKey, StoreError, StoreType, key};

/// The alias of the private key of a PEM file.
const KEY_ALIAS: &str = "key";

/// Reads a file. With a private key in it, it is one entry `key`, whose chain are all certificates in their order;
/// without, each certificate is a trusted one, by the names `1`, `2`, ….
pub(crate) fn open(bytes: &[u8]) -> Result<Vec<Entry>, StoreError> {
    let mut found = Found { key: None, certificates: Vec::new() };
    match text(bytes) {
        Some(text) => found.read_text(text)?,
        None if bytes.first().is_some_and(|first| *first != der::SEQUENCE) => {
            return Err(StoreError::NotThisType { asked: StoreType::Pem, looks_like: None });
        }
        None => {
            let whole = der::definite(bytes).map_err(|error| match error {
                der::DerError::Cut => StoreError::CutShort,
                der::DerError::Bad(_) => StoreError::NotThisType { asked: StoreType::Pem, looks_like: None },
            })?;
            found.read_der(&whole)?;
        }
    }
    let Found { key, certificates } = found;
    match key {
        None if certificates.is_empty() => {
            Err(StoreError::NotThisType { asked: StoreType::Pem, looks_like: None })
        }
        None => {
            let trusted = certificates.into_iter().enumerate();
            Ok(trusted
                .map(|(n, c)| Entry { alias: (n + 1).to_string(), content: Content::TrustedCertificate(c) })
                .collect())
        }
        Some(key) => {
            let content = Content::PrivateKey { key, chain: certificates };
            Ok(vec![Entry { alias: KEY_ALIAS.to_owned(), content }])
        }
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| text.contains("-----BEGIN "))
}

struct Found {
    key: Option<Protected>,
    certificates: Vec<Certificate>,
}

impl Found {
    fn read_text(&mut self, text: &str) -> Result<(), StoreError> {
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            let Some(label) = line.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----"))
            else {
                continue;
            };
            let mut body = Zeroizing::new(String::with_capacity(text.len().min(8192)));
            loop {
                let line = lines.next().ok_or(StoreError::CutShort)?;
                if line.strip_prefix("-----END ").and_then(|rest| rest.strip_suffix("-----")) == Some(label) {
                    break;
                }
                if line.starts_with("-----") {
                    return Err(StoreError::Malformed(format!(
                        "the end of the PEM block {label:?} is missing"
                    )));
                }
                if line.starts_with("DEK-Info:") {
                    let name =
                        "OpenSSL's old encryption of PEM files (`openssl pkcs8 -topk8` writes one that is)";
                    return Err(StoreError::UnsupportedAlgorithm(name.to_owned()));
                }
                body.push_str(line);
            }
            self.block(label, &body)?;
        }
        Ok(())
    }

    fn block(&mut self, label: &str, body: &str) -> Result<(), StoreError> {
        let wanted = matches!(
            label,
            "CERTIFICATE"
                | "X509 CERTIFICATE"
                | "TRUSTED CERTIFICATE"
                | "PRIVATE KEY"
                | "ENCRYPTED PRIVATE KEY"
                | "RSA PRIVATE KEY"
                | "EC PRIVATE KEY"
        );
        if !wanted {
            if label.ends_with("PRIVATE KEY") {
                return Err(StoreError::UnsupportedAlgorithm(format!("a PEM block {label:?}")));
            }
            return Ok(());
        }
        let decoded = Base64::decode_vec(body).map(Zeroizing::new);
        let decoded =
            decoded.map_err(|_| StoreError::Malformed(format!("the PEM block {label:?} is not base64")))?;
        if label.ends_with("CERTIFICATE") {
            return self.add_certificate(&decoded);
        }
        self.add_key(&decoded)
    }

    fn read_der(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let mut parts = Der::new(bytes).sequence()?;
        let first = parts.any()?;
        match first.tag {
            // A certificate is two sequences and a signature; an encrypted key is one and an octet string.
            der::SEQUENCE if parts.optional(der::SEQUENCE)?.is_some() => self.add_certificate(bytes),
            _ => self.add_key(bytes),
        }
    }

    fn add_certificate(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if self.certificates.len() == MAX_ENTRIES {
            return Err(too_much("certificates", MAX_ENTRIES + 1, MAX_ENTRIES));
        }
        self.certificates.push(Certificate::parse(bytes)?);
        Ok(())
    }

    /// Takes a key of any of the four spellings, which their second element tells apart.
    fn add_key(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if self.key.is_some() {
            return Err(StoreError::Malformed("more than one private key in a PEM file".to_owned()));
        }
        let whole = Der::new(bytes).take(der::SEQUENCE, "a private key is no private key")?;
        let mut parts = whole.reader();
        let (first, second) = (parts.any()?, parts.any()?);
        let open = |pkcs8: &[u8]| PrivateKey::from_pkcs8(pkcs8).map(Protected::Open);
        self.key = Some(match (first.tag, second.tag) {
            (der::SEQUENCE, der::OCTET_STRING) => Protected::EncryptedPkcs8(whole.whole.to_vec()),
            (der::INTEGER, der::SEQUENCE) => open(whole.whole)?,
            (der::INTEGER, der::INTEGER) => {
                let parameters = der::element(der::NULL, &[]);
                open(&pkcs8(key::RSA, &parameters, whole.whole))?
            }
            (der::INTEGER, der::OCTET_STRING) => {
                let curve = parts.optional(der::context(0))?;
                let curve =
                    curve.ok_or_else(|| StoreError::Malformed("an EC key without its curve".to_owned()))?;
                let public_key = parts.optional(der::context(1))?.map_or(&[][..], |element| element.whole);
                let inner = Zeroizing::new([first.whole, second.whole, public_key].concat());
                let inner = Zeroizing::new(der::element(der::SEQUENCE, &inner));
                open(&pkcs8(key::EC, curve.value, &inner))?
            }
            _ => return Err(StoreError::Malformed("a private key is no private key".to_owned())),
        });
        Ok(())
    }
}

/// Puts PKCS#8 around a key of a form of its own.
fn pkcs8(algorithm: &[u8], parameters: &[u8], key: &[u8]) -> Zeroizing<Vec<u8>> {
    let algorithm = der::element(der::SEQUENCE, &[&der::element(der::OID, algorithm), parameters].concat());
    let key = Zeroizing::new(der::element(der::OCTET_STRING, key));
    let inner = Zeroizing::new([&der::element(der::INTEGER, &[0]), &*algorithm, &key].concat());
    Zeroizing::new(der::element(der::SEQUENCE, &inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        open(text.as_bytes()).map(|entries| entries.len()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_told() {
        let block =
            |label: &str, body: &str| format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
        assert_eq!(error("-----BEGIN CERTIFICATE-----\nAAAA\n"), StoreError::CutShort.to_string());
        assert!(error(&block("CERTIFICATE", "A*")).ends_with("the PEM block \"CERTIFICATE\" is not base64"));
        assert!(error(&block("CERTIFICATE", "MAA=")).contains("something is missing at the end"));
        assert!(error(&block("DSA PRIVATE KEY", "MAA=")).contains("\"DSA PRIVATE KEY\""));
        assert!(
            error(&block("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00"))
                .contains("pkcs8 -topk8")
        );
        assert!(error("-----BEGIN CERTIFICATE-----\n-----END PRIVATE KEY-----").contains("is missing"));
        assert_eq!(error(&block("PUBLIC KEY", "*")), "not a PEM key store");
        assert_eq!(error("hello"), "not a PEM key store");
    }
}
