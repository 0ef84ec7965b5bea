//! Stores that are cut or have a bit turned: an answer each time, soon, and never a panic.
#![allow(clippy::unwrap_used, reason = "a test may, in its functions too")]

use std::thread;

use flumen_tls::{EntryKind, KeyStore, Password, StoreError, StoreType};

mod golden;

const STORES: [(&str, StoreType, &str); 7] = [
    ("stores/mixed-secret.jceks", StoreType::Jceks, "changeit"),
    ("stores/hadoop-credentials.jceks", StoreType::Jceks, "none"),
    ("stores/client-ec.jks", StoreType::Jks, "changeit"),
    ("stores/openssl-ec-iter1.p12", StoreType::Pkcs12, "changeit"),
    ("stores/keytool-importpass.p12", StoreType::Pkcs12, "changeit"),
    ("pem/server.encrypted.key", StoreType::Pem, "changeit"),
    ("pem/server.pkcs8.der", StoreType::Pem, "changeit"),
];

/// Opens, and where that works, looks at all that is inside; gives the number of entries.
fn look(
    bytes: &[u8],
    kind: StoreType,
    password: Option<&Password>,
    with_keys: bool,
) -> Result<usize, StoreError> {
    let store = KeyStore::open(bytes, kind, password)?;
    for (alias, kind) in store.entries() {
        assert_eq!(store.kind(alias), Some(kind));
        store.certificates(alias);
        match kind {
            EntryKind::PrivateKey if with_keys => drop(store.private_key(alias, password)),
            EntryKind::SecretKey if with_keys => drop(store.secret_key(alias, password)),
            _ => {}
        }
    }
    Ok(store.entries().len())
}

#[test]
fn every_cut_is_refused() {
    for (name, kind, password) in STORES {
        let (bytes, password) = (golden::bytes(name), Password::new(password));
        assert!(look(&bytes, kind, Some(&password), true).is_ok(), "{name}");
        // The last line break of a PEM file may go.
        let end = bytes.trim_ascii_end().len().max(bytes.len() - 1);
        for length in 0..end {
            let cut = &bytes[..length];
            assert!(look(cut, kind, Some(&password), false).is_err(), "{name} cut to {length}");
            // Without a password JKS and JCEKS are not checked: only a cut in the checksum goes unseen.
            if let Ok(n_entries) = look(cut, kind, None, false) {
                assert!(length + 20 >= bytes.len() && n_entries > 0, "{name} cut to {length}, unchecked");
            }
        }
    }
}

/// Turns each `step`th bit and asks `check` what came of it.
fn flip(name: &str, step: usize, check: impl Fn(&[u8], usize) + Sync) {
    let bytes = golden::bytes(name);
    let n_threads = 2;
    thread::scope(|scope| {
        for first in 0..n_threads {
            let (bytes, check) = (&bytes, &check);
            scope.spawn(move || {
                let mut flipped = bytes.clone();
                for bit in (first * step..bytes.len() * 8).step_by(step * n_threads) {
                    flipped[bit / 8] ^= 1 << (bit % 8);
                    check(&flipped, bit);
                    flipped[bit / 8] ^= 1 << (bit % 8);
                }
            });
        }
    });
}

#[test]
fn a_turned_bit_is_seen_where_there_is_a_checksum() {
    for (name, kind, password) in &STORES[..3] {
        flip(name, 1, |bytes, bit| {
            let opened = look(bytes, *kind, Some(&Password::new(*password)), false);
            assert!(opened.is_err(), "{name}: bit {bit}");
        });
    }
}

#[test]
fn a_turned_bit_is_no_panic() {
    for (name, kind, password) in STORES {
        // Keys of JCEKS take 200,000 rounds each: fewer of them.
        let step = if kind == StoreType::Jceks { 997 } else { 29 };
        flip(name, step, |bytes, _| {
            drop(look(bytes, kind, Some(&Password::new(password)), true));
            // Unchecked, so that the damage reaches the keys.
            let Ok(store) = KeyStore::open(bytes, kind, None) else { return };
            for (alias, kind) in store.entries() {
                let password = Password::new(password);
                match kind {
                    EntryKind::PrivateKey => drop(store.private_key(alias, Some(&password))),
                    EntryKind::SecretKey => drop(store.secret_key(alias, Some(&password))),
                    EntryKind::TrustedCertificate => {}
                }
            }
        });
    }
}

#[test]
fn a_store_beyond_all_measure_is_refused_unread() {
    let bytes = vec![0xfe; flumen_tls::MAX_STORE_BYTES + 1];
    let error = KeyStore::open(&bytes, StoreType::Jks, None).unwrap_err();
    assert_eq!(error.to_string(), "the key store asks for 16777217 bytes, and at most 16777216 are allowed");
}
