//! TLS by Java's names: key and trust stores, protocols and cipher suites, made into rustls configurations.
//!
//! The cryptography is aws-lc-rs. There are TLS 1.2 and 1.3, and the nine cipher suites that both sides still call safe;
//! other names of Java's are told apart into those that are known and not offered, and those that nobody knows.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, ServerConfig};
use thiserror::Error;

use crate::{EntryKind, KeyError, KeyStore, Password, StoreError, StoreType, file};

mod keys;
mod names;
mod told;
mod verify;

pub use names::NameWarning;
pub use told::handshake_failure;

/// A key store file, by the three settings that every Flume component has for one.
#[derive(Debug, Clone)]
pub struct StoreFile {
    /// The file.
    pub path: PathBuf,
    /// Its password, and that of its keys. `None`: a trust store is read unchecked, a key store cannot be used.
    pub password: Option<Password>,
    /// The type, by Java's name. `None`: `JKS`, which opens PKCS12 files too.
    pub type_name: Option<String>,
}

/// Whether a server asks its clients for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAuth {
    /// It does not ask.
    #[default]
    None,
    /// It asks, and checks what it gets; a client without one is welcome.
    Want,
    /// It asks, and a client without one is refused.
    Need,
}

/// The TLS settings of a component.
#[derive(Debug, Clone)]
pub struct TlsSettings {
    /// Own keys and certificates. A server needs them; a client has them where the server asks.
    pub key_store: Option<StoreFile>,
    /// Whom to trust. `None`: the certificates of the operating system.
    pub trust_store: Option<StoreFile>,
    /// Protocols to allow, by Java's names; empty: all.
    pub include_protocols: Vec<String>,
    /// Protocols to forbid. `SSLv3` always is.
    pub exclude_protocols: Vec<String>,
    /// Cipher suites to allow, by Java's names; empty: all.
    pub include_cipher_suites: Vec<String>,
    /// Cipher suites to forbid.
    pub exclude_cipher_suites: Vec<String>,
    /// For servers.
    pub client_auth: ClientAuth,
    /// For clients: any certificate will do. Whoever sits on the way can read along.
    pub trust_all: bool,
    /// For clients: the certificate must be for the host that was dialled.
    pub verify_host: bool,
}

impl Default for TlsSettings {
    /// Everything allowed that is safe, nobody asked, hosts verified.
    fn default() -> TlsSettings {
        TlsSettings {
            key_store: None,
            trust_store: None,
            include_protocols: Vec::new(),
            exclude_protocols: Vec::new(),
            include_cipher_suites: Vec::new(),
            exclude_cipher_suites: Vec::new(),
            client_auth: ClientAuth::None,
            trust_all: false,
            verify_host: true,
        }
    }
}

/// Why TLS settings make no configuration.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A server without a key store.
    #[error("TLS needs a key store, and none is set")]
    NoKeyStore,
    /// A type that no JDK knows, or that is not read.
    #[error("key store type {name:?} of {path:?} is not known: JKS, JCEKS, PKCS12 and PEM are")]
    UnknownStoreType {
        /// The file.
        path: PathBuf,
        /// The type.
        name: String,
    },
    /// The file was not read.
    #[error("key store {path:?} was not read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no store that opens with the password.
    #[error("key store {path:?} was not opened: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: StoreError,
    },
    /// A private key did not open. All keys of a store need the password of the store.
    #[error("private key `{alias}` of {path:?} was not read: {source}")]
    Key {
        /// The file.
        path: PathBuf,
        /// The entry.
        alias: String,
        /// Why.
        source: KeyError,
    },
    /// A private key cannot be used for TLS.
    #[error("private key `{alias}` of {path:?} is not usable for TLS: {reason}")]
    KeyNotUsable {
        /// The file.
        path: PathBuf,
        /// The entry.
        alias: String,
        /// Why.
        reason: String,
    },
    /// A key store without a private key that has a certificate.
    #[error("key store {path:?} has no private key with a certificate")]
    NoPrivateKey {
        /// The file.
        path: PathBuf,
    },
    /// Nothing to trust.
    #[error("{from} has no certificate that could be trusted")]
    NothingTrusted {
        /// Where they were looked for.
        from: String,
    },
    /// The settings leave no protocol.
    #[error("no TLS protocol is left{}", names::reasons(.0))]
    NoProtocol(Vec<NameWarning>),
    /// The settings leave no cipher suite.
    #[error("no cipher suite is left{}", names::reasons(.0))]
    NoCipherSuite(Vec<NameWarning>),
    /// The library refused; its own words.
    #[error("TLS was not set up: {0}")]
    Library(String),
}

impl TlsSettings {
    /// Takes a list as Flume's settings have it, separated by blanks.
    pub fn list(value: &str) -> Vec<String> {
        value.split_whitespace().map(str::to_owned).collect()
    }

    /// The names in the settings that change nothing, with the reason: to be logged once.
    pub fn warnings(&self) -> Vec<NameWarning> {
        let mut warnings = names::protocols(self).1;
        warnings.extend(names::cipher_suites(self).1);
        warnings
    }

    /// A server's configuration. It reads files: for the start of a component, not for an async task. Application
    /// protocols (ALPN) are the caller's to set.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn server_config(&self) -> Result<ServerConfig, TlsError> {
        let (provider, versions) = names::provider(self)?;
        let keys = keys::load(self.key_store.as_ref().ok_or(TlsError::NoKeyStore)?, &provider)?;
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions)
            .map_err(|error| TlsError::Library(error.to_string()))?;
        let builder = match self.client_auth {
            ClientAuth::None => builder.with_no_client_auth(),
            wanted => {
                let trusted = self.trusted()?;
                builder.with_client_cert_verifier(verify::of_clients(trusted, wanted, provider)?)
            }
        };
        Ok(builder.with_cert_resolver(Arc::new(keys)))
    }

    /// A client's configuration. It reads files: for the start of a component, not for an async task. Application
    /// protocols (ALPN) are the caller's to set.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let (provider, versions) = names::provider(self)?;
        let keys = self.key_store.as_ref().map(|store| keys::load(store, &provider)).transpose()?;
        let trusted = if self.trust_all { None } else { Some(self.trusted()?) };
        let verifier = verify::of_servers(trusted, self.verify_host, &provider);
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(|error| TlsError::Library(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        Ok(match keys {
            Some(keys) => builder.with_client_cert_resolver(Arc::new(keys)),
            None => builder.with_no_client_auth(),
        })
    }

    fn trusted(&self) -> Result<Trusted, TlsError> {
        let (certificates, from) = match &self.trust_store {
            Some(file) => {
                let store = file.open()?;
                // A key's own certificate is trusted as well, as by a JDK.
                let own = |(alias, kind)| {
                    (kind != EntryKind::SecretKey).then(|| store.certificate(alias)).flatten()
                };
                let certificates = store.entries().filter_map(own).map(|c| c.der().to_vec().into()).collect();
                let unopened = if file.password.is_none() { ", read without a password," } else { "" };
                (certificates, format!("trust store {:?}{unopened}", file.path))
            }
            None => {
                let certificates = rustls_native_certs::load_native_certs().certs;
                (certificates, "no trust store is set, and the operating system".to_owned())
            }
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.iter().cloned());
        if certificates.is_empty() {
            return Err(TlsError::NothingTrusted { from });
        }
        Ok(Trusted { roots: Arc::new(roots), certificates: certificates.into_iter().collect() })
    }
}

/// Whom to trust: what can vouch for others, and each certificate for itself.
struct Trusted {
    roots: Arc<RootCertStore>,
    certificates: std::collections::HashSet<rustls::pki_types::CertificateDer<'static>>,
}

impl StoreFile {
    /// Reads and opens the file.
    fn open(&self) -> Result<KeyStore, TlsError> {
        let name = self.type_name.as_deref().unwrap_or("JKS");
        let Some(kind) = StoreType::by_name(name) else {
            return Err(TlsError::UnknownStoreType { path: self.path.clone(), name: name.to_owned() });
        };
        let bytes =
            file::read(&self.path).map_err(|source| TlsError::Read { path: self.path.clone(), source })?;
        KeyStore::open(&bytes, kind, self.password.as_ref())
            .map_err(|source| TlsError::Open { path: self.path.clone(), source })
    }
}
