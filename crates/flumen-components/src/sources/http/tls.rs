//! TLS of the HTTP source: its settings, Java's process-wide ones, and those of Java's web server, made into one.

use super::{config::HttpConfig, jetty::SslContextFactory};
use flumen_core::{
    config::{Secret, Words},
    registry::{BuildError, Environment},
};
use flumen_tls::{
    Password,
    tls::{ClientAuth, StoreFile, TlsSettings},
};
use std::{path::PathBuf, sync::Arc};
use tokio_rustls::TlsAcceptor;

/// What TLS is asked for, or `None` without `ssl = true`. Opens no file.
///
/// # Errors
/// There is no key store, no password, or there are two passwords.
pub(super) fn settings(
    config: &HttpConfig,
    environment: &Environment,
    key: &dyn Fn(&str) -> String,
) -> Result<Option<TlsSettings>, BuildError> {
    if !config.ssl {
        return Ok(None);
    }
    let global = |property: &str, variable: &str| {
        environment
            .property(property)
            .or(environment.variables.get(variable).map(String::as_str))
            .map(str::to_owned)
    };
    let jetty = &config.ssl_context;
    let path = jetty.key_store_path.clone().or(config.keystore.clone());
    let path = path.or_else(|| global("javax.net.ssl.keyStore", "FLUME_SSL_KEYSTORE_PATH"));
    let path = path.ok_or_else(|| {
        BuildError::new(format!(
            "TLS needs a key store: set {}, or -Djavax.net.ssl.keyStore",
            key("keystore")
        ))
    })?;
    let password = reveal(jetty.key_store_password.as_ref().or(config.keystore_password.as_ref()));
    let password =
        password.or_else(|| global("javax.net.ssl.keyStorePassword", "FLUME_SSL_KEYSTORE_PASSWORD"));
    let password = password.ok_or_else(|| {
        let key = key("keystore-password");
        BuildError::new(format!(
            "TLS needs the password of {path:?}: set {key}, or -Djavax.net.ssl.keyStorePassword"
        ))
    })?;
    if reveal(jetty.key_manager_password.as_ref()).is_some_and(|other| other != password) {
        let key = key("SslContextFactory.keyManagerPassword");
        return Err(BuildError::new(format!(
            "{key} differs from the password of the key store: give keys and store one password (keytool -keypasswd)"
        )));
    }
    let type_name = jetty.key_store_type.clone().or(config.keystore_type.clone());
    let type_name = type_name.or_else(|| global("javax.net.ssl.keyStoreType", "FLUME_SSL_KEYSTORE_TYPE"));
    let global_list = |property: &str, variable: &str| {
        let words = global(property, variable).unwrap_or_default();
        words
            .split([',', ' '])
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let list = |first: &Option<Words>, second: &Option<Words>, property: &str, variable: &str| {
        let own = first.as_ref().or(second.as_ref());
        own.map_or_else(|| global_list(property, variable), |words| words.to_vec())
    };
    Ok(Some(TlsSettings {
        key_store: Some(StoreFile { path: path.into(), password: Some(Password::new(password)), type_name }),
        trust_store: trust_store(jetty, &global),
        include_protocols: list(
            &jetty.include_protocols,
            &config.include_protocols,
            "flume.ssl.include.protocols",
            "FLUME_SSL_INCLUDE_PROTOCOLS",
        ),
        exclude_protocols: list(
            &jetty.exclude_protocols,
            &config.exclude_protocols,
            "flume.ssl.exclude.protocols",
            "FLUME_SSL_EXCLUDE_PROTOCOLS",
        ),
        include_cipher_suites: list(
            &jetty.include_cipher_suites,
            &config.include_cipher_suites,
            "flume.ssl.include.cipherSuites",
            "FLUME_SSL_INCLUDE_CIPHERSUITES",
        ),
        exclude_cipher_suites: list(
            &jetty.exclude_cipher_suites,
            &config.exclude_cipher_suites,
            "flume.ssl.exclude.cipherSuites",
            "FLUME_SSL_EXCLUDE_CIPHERSUITES",
        ),
        client_auth: match (jetty.need_client_auth, jetty.want_client_auth) {
            (true, _) => ClientAuth::Need,
            (false, true) => ClientAuth::Want,
            (false, false) => ClientAuth::None,
        },
        ..TlsSettings::default()
    }))
}

fn trust_store(
    jetty: &SslContextFactory,
    global: &dyn Fn(&str, &str) -> Option<String>,
) -> Option<StoreFile> {
    let path = jetty.trust_store_path.clone();
    let path: PathBuf =
        path.or_else(|| global("javax.net.ssl.trustStore", "FLUME_SSL_TRUSTSTORE_PATH"))?.into();
    let password = reveal(jetty.trust_store_password.as_ref())
        .or_else(|| global("javax.net.ssl.trustStorePassword", "FLUME_SSL_TRUSTSTORE_PASSWORD"));
    let type_name = jetty.trust_store_type.clone();
    let type_name = type_name.or_else(|| global("javax.net.ssl.trustStoreType", "FLUME_SSL_TRUSTSTORE_TYPE"));
    Some(StoreFile { path, password: password.map(Password::new), type_name })
}

fn reveal(secret: Option<&Secret>) -> Option<String> {
    secret.map(|secret| secret.reveal().to_owned())
}

/// Opens the key store and makes what accepts connections. It reads files: for a thread that may block.
///
/// # Errors
/// The store cannot be read or used, or the settings leave no protocol or cipher suite; in words.
pub(super) fn acceptor(settings: &TlsSettings) -> Result<TlsAcceptor, String> {
    for warning in settings.warnings() {
        tracing::warn!(name = warning.name, reason = warning.reason, "a TLS setting changes nothing");
    }
    let mut config = settings.server_config().map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
