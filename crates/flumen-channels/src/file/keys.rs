//! The keys of encrypted data files, from a JCEKS key store as Java Flume has it.

use super::config::Encryption;
use flumen_core::registry::BuildError;
use flumen_tls::{KeyStore, Password, StoreType};
use flumen_wal::log::Keys;
use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

/// Reads the key store and all keys that the settings name. Another key of the store is tried with the store's password when
/// a data file asks for it.
pub(super) fn read(settings: Encryption) -> Result<Keys, BuildError> {
    let store_password = password(&settings.password_file)?;
    let path = &settings.key_store;
    let bytes =
        fs::read(path).map_err(|error| BuildError::with(format!("key store {}", path.display()), error))?;
    let store = KeyStore::open(&bytes, StoreType::Jceks, Some(&store_password))
        .map_err(|error| BuildError::with(format!("key store {}", path.display()), error))?;
    let mut keys = BTreeMap::new();
    for alias in &settings.aliases {
        let own = match settings.passwords.get(alias) {
            Some(file) if file.exists() => Some(password(file)?),
            Some(file) => {
                tracing::warn!(
                    alias,
                    "no password file {}: the key store's password is used",
                    file.display()
                );
                None
            }
            None => None,
        };
        let key = store
            .secret_key(alias, Some(own.as_ref().unwrap_or(&store_password)))
            .map_err(|error| BuildError::with(format!("key `{alias}` of {}", path.display()), error))?;
        keys.insert(alias.to_lowercase(), key.expose().to_vec());
    }
    let key = move |alias: &str| -> Option<Vec<u8>> {
        let known = keys.get(&alias.to_lowercase()).cloned();
        known.or_else(|| Some(store.secret_key(alias, Some(&store_password)).ok()?.expose().to_vec()))
    };
    Ok(Keys {
        cipher_provider: settings.cipher,
        active_key: settings.active_key,
        key: Arc::new(key),
        random: Arc::new(|bytes| getrandom::fill(bytes).map_err(std::io::Error::other)),
    })
}

fn password(file: &Path) -> Result<Password, BuildError> {
    let text = fs::read_to_string(file)
        .map_err(|error| BuildError::with(format!("password file {}", file.display()), error))?;
    Ok(Password::new(text.trim()))
}
