//! Key stores as the PEM texts that librdkafka takes.

use flumen_tls::{Certificate, EntryKind, KeyStore, MAX_STORE_BYTES, Password, StoreType};
use std::{fs::File, io::Read, path::Path};

/// Opens a store of a type by Java's name; `JKS` without one.
///
/// # Errors
/// In words, with the path.
pub(super) fn open(
    path: &Path,
    type_name: Option<&str>,
    password: Option<&Password>,
) -> Result<KeyStore, String> {
    let name = type_name.unwrap_or("JKS");
    let kind = StoreType::by_name(name)
        .ok_or_else(|| format!("key store type `{name}` is not known: JKS, JCEKS, PKCS12 and PEM are"))?;
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(MAX_STORE_BYTES as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("key store {path:?} was not read: {error}"))?;
    KeyStore::open(&bytes, kind, password)
        .map_err(|error| format!("key store {path:?} was not opened: {error}"))
}

/// All certificates to be trusted. A key's own certificate is trusted as well, as by a JDK.
pub(super) fn trusted(store: &KeyStore, path: &str) -> Result<String, String> {
    let own = |(alias, kind)| (kind != EntryKind::SecretKey).then(|| store.certificate(alias)).flatten();
    let text: String = store.entries().filter_map(own).map(certificate).collect();
    if text.is_empty() {
        return Err(format!(
            "trust store {path} has no certificate that could be trusted, read with this password"
        ));
    }
    Ok(text)
}

/// The first private key with its certificates.
pub(super) fn own(
    store: &KeyStore,
    path: &str,
    password: Option<&Password>,
) -> Result<(String, String), String> {
    let (alias, _) = store
        .entries()
        .find(|(alias, kind)| *kind == EntryKind::PrivateKey && !store.certificates(alias).is_empty())
        .ok_or_else(|| format!("key store {path} has no private key with a certificate"))?;
    let key = store.private_key(alias, password);
    let key = key.map_err(|error| format!("private key `{alias}` of {path} was not read: {error}"))?;
    let chain = store.certificates(alias).iter().map(certificate).collect();
    Ok((block("PRIVATE KEY", key.pkcs8()), chain))
}

fn certificate(certificate: &Certificate) -> String {
    block("CERTIFICATE", certificate.der())
}

/// A block of PEM (RFC 7468).
fn block(label: &str, der: &[u8]) -> String {
    use base64ct::{Base64, Encoding};
    let text = Base64::encode_string(der);
    let mut lines = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        lines.push_str(line);
        lines.push('\n');
        rest = after;
    }
    lines.push_str(&format!("-----END {label}-----\n"));
    lines
}
