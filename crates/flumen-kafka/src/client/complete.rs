//! What a client needs beside its own settings when it is made: key stores, and what holds for the whole process.

use super::{ClientSettings, jaas, native, pem};
use flumen_core::registry::Environment;
use flumen_tls::Password;
use rdkafka::ClientConfig;
use std::{io::Read, path::Path};

/// A JAAS file is never longer, in bytes.
const MAX_LOGINS: u64 = 1 << 20;
/// The property that names a JAAS file.
const LOGINS: &str = "java.security.auth.login.config";

/// Each store with Java's keys of the client, the `-D` properties and the variables of the process.
const STORES: [(&str, &str, &str, &str); 6] = [
    ("ssl.keystore.location", "javax.net.ssl.keyStore", "FLUME_SSL_KEYSTORE_PATH", "path"),
    ("ssl.keystore.password", "javax.net.ssl.keyStorePassword", "FLUME_SSL_KEYSTORE_PASSWORD", ""),
    ("ssl.keystore.type", "javax.net.ssl.keyStoreType", "FLUME_SSL_KEYSTORE_TYPE", ""),
    ("ssl.truststore.location", "javax.net.ssl.trustStore", "FLUME_SSL_TRUSTSTORE_PATH", "path"),
    ("ssl.truststore.password", "javax.net.ssl.trustStorePassword", "FLUME_SSL_TRUSTSTORE_PASSWORD", ""),
    ("ssl.truststore.type", "javax.net.ssl.trustStoreType", "FLUME_SSL_TRUSTSTORE_TYPE", ""),
];

/// The whole of a client's settings. It reads files: not for an async task.
///
/// # Errors
/// A store or a login cannot be read or used; in words.
pub(crate) fn complete(settings: &ClientSettings, environment: &Environment) -> Result<ClientConfig, String> {
    let mut settings = settings.clone();
    if settings.has_tls() {
        add_wide(&mut settings, environment);
        add_stores(&mut settings)?;
    }
    let sasl = settings.get("security.protocol").is_some_and(|protocol| protocol.starts_with("sasl"));
    if sasl && !settings.java.contains_key("sasl.jaas.config") {
        add_login(&mut settings, environment)?;
    }
    Ok(native(&settings))
}

/// Stores that are set for the whole process, where the client has none of its own.
pub(super) fn add_wide(settings: &mut ClientSettings, environment: &Environment) {
    for (key, property, variable, _) in STORES {
        let wide = environment.property(property).or(environment.variables.get(variable).map(String::as_str));
        if let Some(wide) = wide
            && !settings.java.contains_key(key)
        {
            settings.java.insert(key.to_owned(), wide.to_owned());
        }
    }
}

fn add_stores(settings: &mut ClientSettings) -> Result<(), String> {
    let java = settings.java.clone();
    let get = |key: &str| java.get(key).map(String::as_str).filter(|text| !text.is_empty());
    let password = |key: &str| get(key).map(Password::new);
    if let Some(path) = get("ssl.truststore.location") {
        let store = pem::open(
            Path::new(path),
            get("ssl.truststore.type"),
            password("ssl.truststore.password").as_ref(),
        )?;
        settings.or_set("ssl.ca.pem", pem::trusted(&store, path)?);
    } else if let Some(certificates) = get("ssl.truststore.certificates") {
        settings.or_set("ssl.ca.pem", certificates);
    }
    if let Some(path) = get("ssl.keystore.location") {
        let own = password("ssl.keystore.password");
        let store = pem::open(Path::new(path), get("ssl.keystore.type"), own.as_ref())?;
        let (key, chain) = pem::own(&store, path, password("ssl.key.password").or(own).as_ref())?;
        settings.or_set("ssl.key.pem", key);
        settings.or_set("ssl.certificate.pem", chain);
    } else if let (Some(key), Some(chain)) = (get("ssl.keystore.key"), get("ssl.keystore.certificate.chain"))
    {
        settings.or_set("ssl.key.pem", key);
        settings.or_set("ssl.certificate.pem", chain);
        if let Some(password) = get("ssl.key.password") {
            settings.or_set("ssl.key.password", password);
        }
    }
    Ok(())
}

/// The login of the JAAS file that the process was started with.
fn add_login(settings: &mut ClientSettings, environment: &Environment) -> Result<(), String> {
    let Some(path) = environment.property(LOGINS) else { return Ok(()) };
    let path = path.strip_prefix("file:").unwrap_or(path);
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MAX_LOGINS).read_to_string(&mut text));
    read.map_err(|error| format!("-D{LOGINS}={path} was not read: {error}"))?;
    match jaas::parse_file(&text) {
        Ok(Some(login)) => jaas::apply(&login, settings).map_err(|why| format!("-D{LOGINS}={path}: {why}")),
        Ok(None) => Ok(()),
        Err(why) => Err(format!("-D{LOGINS}={path}: {why}")),
    }
}
