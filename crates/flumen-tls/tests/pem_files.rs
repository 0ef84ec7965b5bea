//! Keys and certificates as PEM and DER: the same as in the key stores made of them.
#![allow(clippy::unwrap_used, reason = "a test may, in its functions too")]

use flumen_tls::{EntryKind, KeyError, KeyStore, Password, StoreType};

mod golden;

fn open(name: &str) -> KeyStore {
    let opened = KeyStore::open(&golden::bytes(&format!("pem/{name}")), StoreType::Pem, None);
    opened.unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn changeit() -> Password {
    Password::new("changeit")
}

fn pkcs8(store: &KeyStore, alias: &str) -> Vec<u8> {
    store.private_key(alias, Some(&changeit())).unwrap().pkcs8().to_vec()
}

/// The key and the chain that a JDK sees.
fn of_jdk(name: &str, alias: &str) -> (Vec<u8>, Vec<Vec<u8>>) {
    let bytes = golden::bytes(&format!("stores/{name}"));
    let store = KeyStore::open(&bytes, StoreType::Pkcs12, Some(&changeit())).unwrap();
    (pkcs8(&store, alias), store.certificates(alias).iter().map(|c| c.der().to_vec()).collect())
}

fn certificates(name: &str) -> Vec<Vec<u8>> {
    let store = open(name);
    assert!(store.entries().all(|(_, kind)| kind == EntryKind::TrustedCertificate), "{name}");
    store.trusted_certificates().map(|certificate| certificate.der().to_vec()).collect()
}

#[test]
fn a_key_is_the_same_in_every_spelling() {
    let (server, _) = of_jdk("server.p12", "server");
    for name in
        ["server.key", "server.pkcs1.key", "server.encrypted.key", "server.pkcs8.der", "server.combined.pem"]
    {
        let store = open(name);
        assert_eq!(store.kind("key"), Some(EntryKind::PrivateKey), "{name}");
        assert_eq!(pkcs8(&store, "key"), server, "{name}");
    }
    // OpenSSL's spellings have the public key in them as well, which a JDK drops: the private number is the same.
    let (server_ec, _) = of_jdk("server-ec.p12", "server-ec");
    let number = &server_ec[server_ec.len() - 32..];
    for name in ["server-ec.key", "server-ec.sec1.key"] {
        let store = open(name);
        assert_eq!(store.private_key("key", None).unwrap().algorithm(), "EC");
        assert!(pkcs8(&store, "key").windows(32).any(|window| window == number), "{name}");
    }
}

#[test]
fn an_encrypted_key_wants_its_password() {
    let store = open("server.encrypted.key");
    assert_eq!(store.private_key("key", None).unwrap_err(), KeyError::PasswordMissing);
    assert_eq!(store.private_key("key", Some(&Password::new("wrong"))).unwrap_err(), KeyError::WrongPassword);
}

#[test]
fn certificates_are_those_of_the_stores() {
    let (_, chain) = of_jdk("server.p12", "server");
    assert_eq!(chain.len(), 2);
    assert_eq!(certificates("server.chain.crt"), chain);
    assert_eq!(certificates("server.crt"), chain[..1]);
    assert_eq!(certificates("server.der"), chain[..1]);
    assert_eq!(certificates("ca.crt"), chain[1..]);
    let combined: Vec<_> =
        open("server.combined.pem").certificates("key").iter().map(|c| c.der().to_vec()).collect();
    assert_eq!(combined, chain);
}

#[test]
fn every_file_opens() {
    let files = std::fs::read_dir(golden::path("pem")).unwrap();
    let names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 32);
    for name in names {
        let store = open(&name);
        match store.kind("key") {
            Some(_) => assert!(store.private_key("key", Some(&changeit())).is_ok(), "{name}"),
            None => assert!(store.trusted_certificates().count() > 0, "{name}"),
        }
    }
}
