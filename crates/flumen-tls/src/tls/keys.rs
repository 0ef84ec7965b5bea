//! The keys of a key store for rustls, and which of them to show.

use std::fmt;
use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::{StoreFile, TlsError};
use crate::EntryKind;

/// Keys with their certificates, in the order of the store.
pub(super) struct Keys(Vec<Arc<CertifiedKey>>);

/// Opens a store and all private keys in it that have a certificate, with the password of the store.
pub(super) fn load(file: &StoreFile, provider: &CryptoProvider) -> Result<Keys, TlsError> {
    let store = file.open()?;
    let mut keys = Vec::new();
    for (alias, kind) in store.entries() {
        let chain = store.certificates(alias);
        if kind != EntryKind::PrivateKey || chain.is_empty() {
            continue;
        }
        let key = store.private_key(alias, file.password.as_ref()).map_err(|source| TlsError::Key {
            path: file.path.clone(),
            alias: alias.to_owned(),
            source,
        })?;
        let not_usable = |reason: String| TlsError::KeyNotUsable {
            path: file.path.clone(),
            alias: alias.to_owned(),
            reason: format!("{} key: {reason}", key.algorithm()),
        };
        let der = PrivatePkcs8KeyDer::from(key.pkcs8().to_vec()).into();
        let signer =
            provider.key_provider.load_private_key(der).map_err(|error| not_usable(error.to_string()))?;
        let chain = chain.iter().map(|certificate| certificate.der().to_vec().into()).collect();
        let certified = CertifiedKey::new(chain, signer);
        match certified.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {}
            Err(error) => return Err(not_usable(error.to_string())),
        }
        keys.push(Arc::new(certified));
    }
    if keys.is_empty() { Err(TlsError::NoPrivateKey { path: file.path.clone() }) } else { Ok(Keys(keys)) }
}

impl Keys {
    /// The first key that can sign what the other side can check, as a JDK picks.
    fn pick(&self, schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.iter().find(|key| key.key.choose_scheme(schemes).is_some()).cloned()
    }
}

impl ResolvesServerCert for Keys {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.pick(hello.signature_schemes())
    }
}

impl ResolvesClientCert for Keys {
    fn resolve(&self, _issuers: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.pick(schemes)
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({})", self.0.len())
    }
}
