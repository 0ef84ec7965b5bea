//! TLS of sources, sinks and clients: their settings and Java's process-wide ones, made into one.
//!
//! A component's own key wins, then the `-D` property, then the environment variable, as in Java Flume. The names of hosts
//! are not checked, and no client certificate is asked for, as Java's RPC clients and servers do.

use flumen_core::{
    config::{Configuration, Secret, Words},
    registry::{BuildError, Environment},
};
use flumen_tls::{
    Password,
    tls::{StoreFile, TlsSettings},
};
use std::sync::Arc;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// What a source says about TLS.
#[derive(Debug, Clone, Configuration)]
pub struct ServerTlsConfig {
    /// Whether clients must use TLS. It needs `keystore` and `keystore-password`, or the process-wide ones.
    #[property(default = "false")]
    pub ssl: bool,
    /// Key store file with the server's key and certificate. Unset: `-Djavax.net.ssl.keyStore`, then
    /// `FLUME_SSL_KEYSTORE_PATH`.
    pub keystore: Option<String>,
    /// Password of the key store and of its keys. Unset: `-Djavax.net.ssl.keyStorePassword`, then
    /// `FLUME_SSL_KEYSTORE_PASSWORD`.
    #[property(key = "keystore-password")]
    pub keystore_password: Option<Secret>,
    /// Type of the key store: JKS, JCEKS, PKCS12 or PEM. Unset: `-Djavax.net.ssl.keyStoreType`, then
    /// `FLUME_SSL_KEYSTORE_TYPE`, then JKS, which opens PKCS12 files too.
    #[property(key = "keystore-type")]
    pub keystore_type: Option<String>,
    /// TLS protocols to forbid, by Java's names. SSLv3 always is.
    #[property(key = "exclude-protocols")]
    pub exclude_protocols: Option<Words>,
    /// TLS protocols to allow; empty allows all. Exclusion wins.
    #[property(key = "include-protocols")]
    pub include_protocols: Option<Words>,
    /// Cipher suites to forbid, by Java's names.
    #[property(key = "exclude-cipher-suites")]
    pub exclude_cipher_suites: Option<Words>,
    /// Cipher suites to allow; empty allows all. Exclusion wins.
    #[property(key = "include-cipher-suites")]
    pub include_cipher_suites: Option<Words>,
}

/// What a sink or a client says about TLS.
#[derive(Debug, Clone, Configuration)]
pub struct ClientTlsConfig {
    /// Whether to use TLS.
    #[property(default = "false")]
    pub ssl: bool,
    /// Trust store file with the certificates to trust. Unset: `-Djavax.net.ssl.trustStore`, then
    /// `FLUME_SSL_TRUSTSTORE_PATH`, then what the operating system trusts.
    pub truststore: Option<String>,
    /// Password of the trust store; without one it is read unchecked. Unset: `-Djavax.net.ssl.trustStorePassword`, then
    /// `FLUME_SSL_TRUSTSTORE_PASSWORD`.
    #[property(key = "truststore-password")]
    pub truststore_password: Option<Secret>,
    /// Type of the trust store: JKS, JCEKS, PKCS12 or PEM. Unset: `-Djavax.net.ssl.trustStoreType`, then
    /// `FLUME_SSL_TRUSTSTORE_TYPE`, then JKS, which opens PKCS12 files too.
    #[property(key = "truststore-type")]
    pub truststore_type: Option<String>,
    /// TLS protocols to forbid, by Java's names. SSLv3 always is.
    #[property(key = "exclude-protocols")]
    pub exclude_protocols: Option<Words>,
    /// TLS protocols to allow; empty allows all. Exclusion wins.
    #[property(key = "include-protocols")]
    pub include_protocols: Option<Words>,
    /// Cipher suites to forbid, by Java's names.
    #[property(key = "exclude-cipher-suites")]
    pub exclude_cipher_suites: Option<Words>,
    /// Cipher suites to allow; empty allows all. Exclusion wins.
    #[property(key = "include-cipher-suites")]
    pub include_cipher_suites: Option<Words>,
}

impl ServerTlsConfig {
    /// What TLS is asked for, or `None` without `ssl = true`. Opens no file. `key` gives the whole name of a property.
    ///
    /// # Errors
    /// There is no key store, or no password.
    pub fn settings(
        &self,
        environment: &Environment,
        key: &dyn Fn(&str) -> String,
    ) -> Result<Option<TlsSettings>, BuildError> {
        if !self.ssl {
            return Ok(None);
        }
        let wide = Wide(environment);
        let path = wide.text(&self.keystore, "javax.net.ssl.keyStore", "FLUME_SSL_KEYSTORE_PATH");
        let path = path.ok_or_else(|| {
            let key = key("keystore");
            BuildError::new(format!("TLS needs a key store: set {key}, or -Djavax.net.ssl.keyStore"))
        })?;
        let password = reveal(&self.keystore_password);
        let password = wide.text(&password, "javax.net.ssl.keyStorePassword", "FLUME_SSL_KEYSTORE_PASSWORD");
        let password = password.ok_or_else(|| {
            let key = key("keystore-password");
            BuildError::new(format!(
                "TLS needs the password of {path:?}: set {key}, or -Djavax.net.ssl.keyStorePassword"
            ))
        })?;
        let type_name =
            wide.text(&self.keystore_type, "javax.net.ssl.keyStoreType", "FLUME_SSL_KEYSTORE_TYPE");
        let lists = [
            &self.include_protocols,
            &self.exclude_protocols,
            &self.include_cipher_suites,
            &self.exclude_cipher_suites,
        ];
        let key_store = StoreFile { path: path.into(), password: Some(Password::new(password)), type_name };
        Ok(Some(TlsSettings { key_store: Some(key_store), ..wide.limits(lists) }))
    }
}

impl ClientTlsConfig {
    /// What TLS is asked for, or `None` without `ssl = true`. Opens no file. With `trust_all` any certificate will do.
    pub fn settings(&self, environment: &Environment, trust_all: bool) -> Option<TlsSettings> {
        if !self.ssl {
            return None;
        }
        let wide = Wide(environment);
        let path = wide.text(&self.truststore, "javax.net.ssl.trustStore", "FLUME_SSL_TRUSTSTORE_PATH");
        let trust_store = path.map(|path| {
            let password = reveal(&self.truststore_password);
            let password =
                wide.text(&password, "javax.net.ssl.trustStorePassword", "FLUME_SSL_TRUSTSTORE_PASSWORD");
            let type_name =
                wide.text(&self.truststore_type, "javax.net.ssl.trustStoreType", "FLUME_SSL_TRUSTSTORE_TYPE");
            StoreFile { path: path.into(), password: password.map(Password::new), type_name }
        });
        let lists = [
            &self.include_protocols,
            &self.exclude_protocols,
            &self.include_cipher_suites,
            &self.exclude_cipher_suites,
        ];
        Some(TlsSettings { trust_store, trust_all, verify_host: false, ..wide.limits(lists) })
    }
}

fn reveal(secret: &Option<Secret>) -> Option<String> {
    secret.as_ref().map(|secret| secret.reveal().to_owned())
}

/// Settings for the whole process.
struct Wide<'a>(&'a Environment);

impl Wide<'_> {
    fn text(&self, own: &Option<String>, property: &str, variable: &str) -> Option<String> {
        let global = || self.0.property(property).or(self.0.variables.get(variable).map(String::as_str));
        own.clone().or_else(|| global().map(str::to_owned))
    }

    fn list(&self, own: &Option<Words>, property: &str, variable: &str) -> Vec<String> {
        if let Some(words) = own {
            return words.to_vec();
        }
        let text = self.text(&None, property, variable).unwrap_or_default();
        text.split([',', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    /// Protocols to include and exclude, then cipher suites.
    fn limits(&self, [ip, ep, ic, ec]: [&Option<Words>; 4]) -> TlsSettings {
        TlsSettings {
            include_protocols: self.list(ip, "flume.ssl.include.protocols", "FLUME_SSL_INCLUDE_PROTOCOLS"),
            exclude_protocols: self.list(ep, "flume.ssl.exclude.protocols", "FLUME_SSL_EXCLUDE_PROTOCOLS"),
            include_cipher_suites: self.list(
                ic,
                "flume.ssl.include.cipherSuites",
                "FLUME_SSL_INCLUDE_CIPHERSUITES",
            ),
            exclude_cipher_suites: self.list(
                ec,
                "flume.ssl.exclude.cipherSuites",
                "FLUME_SSL_EXCLUDE_CIPHERSUITES",
            ),
            ..TlsSettings::default()
        }
    }
}

/// Opens the key store and makes what accepts connections, on a thread that may block.
///
/// # Errors
/// The store cannot be read or used, or the settings leave no protocol or cipher suite; in words.
pub async fn acceptor(settings: &TlsSettings) -> Result<TlsAcceptor, String> {
    let config = load(settings, TlsSettings::server_config).await?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Opens the trust store and makes what dials, on a thread that may block.
///
/// # Errors
/// As [`acceptor`].
pub async fn connector(settings: &TlsSettings) -> Result<TlsConnector, String> {
    let config = load(settings, TlsSettings::client_config).await?;
    Ok(TlsConnector::from(Arc::new(config)))
}

async fn load<T: Send + 'static>(
    settings: &TlsSettings,
    make: fn(&TlsSettings) -> Result<T, flumen_tls::tls::TlsError>,
) -> Result<T, String> {
    let settings = settings.clone();
    let made = tokio::task::spawn_blocking(move || {
        for warning in settings.warnings() {
            tracing::warn!(name = warning.name, reason = warning.reason, "a TLS setting changes nothing");
        }
        make(&settings).map_err(|error| error.to_string())
    });
    made.await.map_err(|error| format!("the key store was not read: {error}"))?
}

#[cfg(test)]
mod tests;
