//! Every key store that a JDK was asked to open, and every answer it gave, against ours.
#![allow(clippy::unwrap_used, reason = "a test may, in its functions too")]

use std::collections::BTreeMap;

use flumen_tls::{EntryKind, KeyError, KeyStore, Password, StoreError, StoreType};
use serde_json::Value;
use sha2::{Digest, Sha256};

mod golden;

/// Where our answer differs from the JDK's on purpose: store, type, store password, and why. The page "differences" has
/// a row for each.
const EXCEPTIONS: &[(&str, &str, Option<&str>, &str)] = &[
    (
        "openssl-nonascii-password.p12",
        "PKCS12",
        Some("pässwörd€"),
        "the password is right; a JDK knows ASCII only",
    ),
    (
        "openssl-nonascii-password.p12",
        "JKS",
        Some("pässwörd€"),
        "the password is right; a JDK knows ASCII only",
    ),
    (
        "openssl-aes128-192.p12",
        "JKS",
        Some("changeit"),
        "a JDK hides the reason behind that of the other format",
    ),
];

fn expected() -> BTreeMap<String, Value> {
    serde_json::from_slice(&golden::bytes("expected.json")).unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the JDK's exception means, in our words.
fn store_error(error: &Value) -> &'static str {
    let message = error["message"].as_str().unwrap_or_default();
    match error["class"].as_str().unwrap() {
        "java.io.EOFException" => "cut short",
        "java.io.IOException" if error["cause"] == "java.security.UnrecoverableKeyException" => {
            "wrong password"
        }
        "java.io.IOException" if message.contains("expecting the object identifier for AES cipher") => {
            "algorithm"
        }
        "java.io.IOException"
            if message == "Invalid keystore format"
                || message.starts_with("DerInputStream.getLength(): lengthTag=")
                || message.starts_with("toDerInputStream rejects tag type") =>
        {
            "not this type"
        }
        _ => panic!("{error}"),
    }
}

fn our_store_error(error: &StoreError) -> &'static str {
    match error {
        StoreError::CutShort => "cut short",
        StoreError::WrongPassword => "wrong password",
        StoreError::UnsupportedAlgorithm(_) => "algorithm",
        StoreError::NotThisType { .. } => "not this type",
        StoreError::Malformed(_) | StoreError::TooMuch { .. } => "malformed",
    }
}

fn key_error(error: &Value) -> &'static str {
    let message = error["message"].as_str().unwrap();
    if message.contains("not properly padded") || message == "Cannot recover key" {
        "wrong password"
    } else if message == "Password is not ASCII" {
        "not ASCII"
    } else if message.contains("null") {
        "no password"
    } else {
        panic!("{error}")
    }
}

fn our_key_error(error: &KeyError) -> &'static str {
    match error {
        KeyError::WrongPassword => "wrong password",
        KeyError::PasswordNotAscii => "not ASCII",
        KeyError::PasswordMissing => "no password",
        _ => "something else",
    }
}

/// An attempt's outcome as text, the JDK's or ours.
fn outcome_of_jdk(attempt: &Value) -> Vec<String> {
    if !attempt["error"].is_null() {
        return vec![store_error(&attempt["error"]).to_owned()];
    }
    let entry = |entry: &Value| {
        let hashes = match entry["kind"].as_str().unwrap() {
            "trustedCert" => vec![entry["certSha256"].as_str().unwrap()],
            _ => entry["chainSha256"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|hash| hash.as_str().unwrap())
                .collect(),
        };
        let key = match (&entry["error"], &entry["pkcs8Sha256"], &entry["keyHex"]) {
            (Value::Null, Value::Null, Value::Null) => String::new(),
            (Value::Null, Value::String(hash), _) | (Value::Null, _, Value::String(hash)) => {
                format!("{} {hash}", entry["algorithm"].as_str().unwrap())
            }
            (error, ..) => key_error(error).to_owned(),
        };
        format!("{} {} {hashes:?} {key}", entry["alias"], entry["kind"])
    };
    attempt["entries"].as_array().unwrap().iter().map(entry).collect()
}

fn our_outcome(bytes: &[u8], attempt: &Value) -> Vec<String> {
    let kind = StoreType::by_name(attempt["type"].as_str().unwrap()).unwrap();
    let password = attempt["storePassword"].as_str().map(Password::from);
    let store = match KeyStore::open(bytes, kind, password.as_ref()) {
        Ok(store) => store,
        Err(error) => return vec![our_store_error(&error).to_owned()],
    };
    let mut lines = Vec::new();
    let mut entries: Vec<_> = store.entries().collect();
    // As Java sorts text.
    entries.sort_by_key(|(alias, _)| alias.encode_utf16().collect::<Vec<_>>());
    for (alias, kind) in entries {
        let own = attempt["keyPasswords"][alias].as_str().map(Password::from);
        let password = own.as_ref().or(password.as_ref());
        let hashes: Vec<_> =
            store.certificates(alias).iter().map(|certificate| sha256(certificate.der())).collect();
        let (name, key) = match kind {
            EntryKind::TrustedCertificate => ("trustedCert", Ok(String::new())),
            EntryKind::PrivateKey => {
                let key = store.private_key(alias, password);
                ("privateKey", key.map(|key| format!("{} {}", key.algorithm(), sha256(key.pkcs8()))))
            }
            EntryKind::SecretKey => {
                let key = store.secret_key(alias, password);
                ("secretKey", key.map(|key| format!("{} {}", key.algorithm(), hex(key.expose()))))
            }
        };
        let key = key.unwrap_or_else(|error| our_key_error(&error).to_owned());
        lines.push(format!("{} {:?} {hashes:?} {key}", Value::from(alias), name));
    }
    lines
}

#[test]
fn every_attempt_of_the_jdk_has_the_same_outcome() {
    let expected = expected();
    assert_eq!(expected.len(), 94);
    let (mut n_attempts, mut wrong, mut used) = (0, Vec::new(), 0);
    for (name, file) in &expected {
        let bytes = golden::bytes(&format!("stores/{name}"));
        assert_eq!(
            sha256(&bytes),
            file["sha256"].as_str().unwrap(),
            "{name} is not the file that was opened"
        );
        for attempt in file["attempts"].as_array().unwrap() {
            n_attempts += 1;
            let (jdk, ours) = (outcome_of_jdk(attempt), our_outcome(&bytes, attempt));
            let password = attempt["storePassword"].as_str();
            let exception = EXCEPTIONS.iter().find(|(file, kind, store_password, _)| {
                file == name && attempt["type"] == *kind && *store_password == password
            });
            used += usize::from(exception.is_some());
            match (jdk == ours, exception) {
                (true, None) | (false, Some(_)) => {}
                (true, Some(_)) => wrong.push(format!("{name}: no exception any more: {ours:?}")),
                (false, None) => {
                    wrong.push(format!("{name} as {}, {password:?}:\n  {jdk:?}\n  {ours:?}", attempt["type"]))
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {n_attempts}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(used, EXCEPTIONS.len(), "an exception names no attempt");
    assert_eq!(n_attempts, 570);
    assert!(EXCEPTIONS.len() * 100 <= n_attempts);
}
