//! Key stores, opened with a right and a wrong password, and every entry read.

use flumen_tls::{KeyStore, Password, StoreType};

/// Opens bytes as each type of store.
pub(super) fn key_store(input: &[u8]) {
    for name in ["JKS", "JCEKS", "PKCS12"] {
        open(input, name);
    }
}

/// Opens bytes as PEM.
pub(super) fn pem(input: &[u8]) {
    open(input, "PEM");
}

fn open(input: &[u8], name: &str) {
    let kind = StoreType::by_name(name).expect("a known type");
    let password = Password::new("changeit");
    for password in [None, Some(&password)] {
        let Ok(store) = KeyStore::open(input, kind, password) else { continue };
        let aliases: Vec<String> = store.entries().map(|(alias, _)| alias.to_owned()).collect();
        for alias in aliases {
            let _ = (
                store.private_key(&alias, password),
                store.secret_key(&alias, password),
                store.certificates(&alias),
            );
        }
    }
}
