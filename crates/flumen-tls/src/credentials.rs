//! Hadoop's credential stores: passwords kept by name in JCEKS files (`hadoop credential create …`).

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::{KeyError, KeyStore, Password, StoreError, StoreType, file};

/// The password of a store for which nobody set one.
const DEFAULT_PASSWORD: &str = "none";
/// How many stores a path may list.
const MAX_PROVIDERS: usize = 64;

/// Why a credential store did not open or a credential was not read.
#[derive(Debug, Error)]
pub enum CredentialsError {
    /// The path lists nothing.
    #[error("no credential provider path is set")]
    NoProviderPath,
    /// The path lists too much.
    #[error("the credential provider path lists {0} stores, and at most {MAX_PROVIDERS} are allowed")]
    TooManyProviders(usize),
    /// A kind of provider that is not read, or no provider at all.
    #[error("credential provider {provider:?} is not supported: {reason}")]
    UnsupportedProvider {
        /// As written in the path.
        provider: String,
        /// What is supported instead.
        reason: &'static str,
    },
    /// The file was not read.
    #[error("credential store {path:?} was not read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no store that opens with the password.
    #[error("credential store {path:?} was not opened: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: StoreError,
    },
    /// The store has the credential but does not give it out.
    #[error("credential {alias:?} of {path:?} was not read: {source}")]
    Key {
        /// The name of the credential.
        alias: String,
        /// The file.
        path: PathBuf,
        /// Why.
        source: KeyError,
    },
}

/// Open credential stores, in the order of their path.
#[derive(Debug)]
pub struct Credentials {
    stores: Vec<(PathBuf, KeyStore)>,
    password: Password,
}

/// The password of credential stores, as Hadoop finds it: the value of the variable `HADOOP_CREDSTORE_PASSWORD` where it
/// is set, even to nothing; else the trimmed content of the password file where one is named; else `none`.
pub fn store_password(variable: Option<&str>, password_file: Option<&str>) -> Password {
    // Java's trim: all control characters and the blank, and no other white space.
    let trimmed = |content: &str| Password::new(content.trim_matches(|c| c <= ' '));
    match (variable, password_file) {
        (Some(value), _) => Password::new(value),
        (None, Some(content)) => trimmed(content),
        (None, None) => Password::new(DEFAULT_PASSWORD),
    }
}

impl Credentials {
    /// Opens the stores of a provider path: `jceks://file/some/path` and `localjceks://file/some/path`, several of them
    /// separated by commas. A file that is not there (or has no byte) is an empty store, as for Hadoop. `user:///`, the
    /// credentials of a job, is always empty.
    ///
    /// This reads files and is meant for the start of a program, not for an async task.
    ///
    /// # Errors
    /// See [`CredentialsError`]. One bad store makes the whole path fail, as for Hadoop.
    pub fn open(provider_path: &str, password: Password) -> Result<Credentials, CredentialsError> {
        let providers: Vec<&str> =
            provider_path.split(',').map(str::trim).filter(|p| !p.is_empty()).collect();
        match providers.len() {
            0 => return Err(CredentialsError::NoProviderPath),
            1..=MAX_PROVIDERS => {}
            n => return Err(CredentialsError::TooManyProviders(n)),
        }
        let mut stores = Vec::new();
        for provider in providers {
            let Some(path) = path_of(provider)? else { continue };
            let bytes = match file::read(&path) {
                Ok(bytes) if bytes.is_empty() => continue,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(CredentialsError::Read { path, source }),
            };
            match KeyStore::open(&bytes, StoreType::Jceks, Some(&password)) {
                Ok(store) => stores.push((path, store)),
                Err(source) => return Err(CredentialsError::Open { path, source }),
            }
        }
        Ok(Credentials { stores, password })
    }

    /// The credential of this name (in any case) from the first store that has it; `None` where none has.
    ///
    /// # Errors
    /// [`CredentialsError::Key`] where the first store that has it does not give it out.
    pub fn get(&self, alias: &str) -> Result<Option<Password>, CredentialsError> {
        let Some((path, store)) = self.stores.iter().find(|(_, store)| store.kind(alias).is_some()) else {
            return Ok(None);
        };
        match store.secret_key(alias, Some(&self.password)) {
            Ok(key) => Ok(Some(Password::new(String::from_utf8_lossy(key.expose())))),
            Err(source) => Err(CredentialsError::Key { alias: alias.to_owned(), path: path.clone(), source }),
        }
    }
}

/// The file of a provider; `None` for one that never has anything.
fn path_of(provider: &str) -> Result<Option<PathBuf>, CredentialsError> {
    let unsupported =
        |reason| Err(CredentialsError::UnsupportedProvider { provider: provider.to_owned(), reason });
    let Some((scheme, rest)) = provider.split_once(':') else {
        return unsupported("write jceks://file/path");
    };
    match scheme.to_ascii_lowercase().as_str() {
        "jceks" | "localjceks" => {}
        "user" => return Ok(None),
        "bcfks" | "localbcfks" => return unsupported("BCFKS stores are not read, use jceks://file/path"),
        _ => return unsupported("write jceks://file/path"),
    }
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    if !matches!(authority, "file" | "file@" | "") {
        return unsupported("only stores on this machine are read, as jceks://file/path: copy it here");
    }
    match path.starts_with('/').then(|| decoded(path)).flatten() {
        Some(path) => Ok(Some(PathBuf::from(path))),
        None => unsupported("the path must be absolute, as in jceks://file/path"),
    }
}

/// Takes `%20` and the like apart, as a URI has them.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers() {
        let path = |provider| path_of(provider).ok().map(|path| path.map(|path| path.display().to_string()));
        for provider in
            ["jceks://file/a/b%20c", "localjceks://file/a/b%20c", "jceks:///a/b%20c", "JCEKS:/a/b%20c"]
        {
            assert_eq!(path(provider), Some(Some("/a/b c".to_owned())), "{provider}");
        }
        assert_eq!(path("user:///"), Some(None));
        for refused in [
            "jceks://hdfs@nn/a",
            "bcfks://file/a",
            "jceks://file",
            "/a",
            "kms://x/a",
            "jceks://file/%zz",
            "jceks:a",
        ] {
            assert_eq!(path(refused), None, "{refused}");
        }
    }

    #[test]
    fn the_password_is_from_the_variable_then_the_file_then_the_default() {
        let found = |variable, file| store_password(variable, file).expose().to_owned();
        assert_eq!(found(Some(" v "), Some("f")), " v ");
        assert_eq!(found(Some(""), Some("f")), "");
        assert_eq!(found(None, Some("\t f\u{a0}\r\n")), "f\u{a0}");
        assert_eq!(found(None, None), "none");
    }
}
