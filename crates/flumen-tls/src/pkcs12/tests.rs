//! Files made by hand: hostile numbers, PBMAC1, indefinite lengths.

use super::*;
use crate::der::element;

const SALT: &[u8] = b"saltsalt";

fn oid(arcs: &[u8]) -> Vec<u8> {
    element(der::OID, arcs)
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    element(der::SEQUENCE, &parts.concat())
}

fn number(n: u32) -> Vec<u8> {
    element(der::INTEGER, &[&[0], &n.to_be_bytes()[..]].concat())
}

/// A file around the parts given.
fn file(contents: &[u8], mac: &[u8]) -> Vec<u8> {
    let safes = element(der::OCTET_STRING, &element(der::SEQUENCE, contents));
    let info = sequence(&[&oid(&[PKCS7, &[1]].concat()), &element(der::context(0), &safes)]);
    sequence(&[&number(3), &info, mac])
}

/// Encrypted contents that ask for so many rounds.
fn encrypted(iterations: u32) -> Vec<u8> {
    let scheme = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, 3];
    let parameters = sequence(&[&element(der::OCTET_STRING, SALT), &number(iterations)]);
    let algorithm = sequence(&[&oid(&scheme), &parameters]);
    let info = sequence(&[&oid(&[PKCS7, &[1]].concat()), &algorithm, &element(0x80, &[0; 16])]);
    let data = sequence(&[&number(0), &info]);
    sequence(&[&oid(&[PKCS7, &[6]].concat()), &element(der::context(0), &data)])
}

fn opened(bytes: &[u8], password: &str) -> Result<usize, StoreError> {
    open(bytes, Some(&Password::new(password))).map(|entries| entries.len())
}

#[test]
fn rounds_of_hashing_are_limited_before_they_run() {
    let too_many =
        StoreError::TooMuch { what: "rounds of password hashing", found: 5_000_001, limit: 5_000_000 };
    assert_eq!(opened(&file(&encrypted(5_000_001), &[]), "x"), Err(too_many));
    assert_eq!(opened(&file(&encrypted(1), &[]), "x"), Err(StoreError::WrongPassword));
    let mut rounds = 9_999_999;
    assert_eq!(spend(&mut rounds, 1), Ok(()));
    let error = spend(&mut rounds, 1).unwrap_err().to_string();
    assert_eq!(
        error,
        "the key store asks for 10000001 rounds of password hashing in all, and at most 10000000 are allowed"
    );
}

/// `MacData` with PBMAC1: PBKDF2 and HMAC, both with SHA-256.
fn pbmac1(safes: &[u8], key_bytes: u32) -> Vec<u8> {
    use pbe::Digest;
    let hmac = sequence(&[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 9])]);
    let parameters = sequence(&[&element(der::OCTET_STRING, SALT), &number(7), &number(key_bytes), &hmac]);
    let pbkdf2 = sequence(&[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 12]), &parameters]);
    let algorithm =
        sequence(&[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 14]), &sequence(&[&pbkdf2, &hmac])]);
    let mut key = [0; 32];
    Digest::Sha256.pbkdf2("pä".as_bytes(), SALT, 7, &mut key);
    let mac = element(der::OCTET_STRING, &Digest::Sha256.hmac(&key, safes));
    sequence(&[&sequence(&[&algorithm, &mac]), &element(der::OCTET_STRING, b"none"), &number(1)])
}

#[test]
fn pbmac1_is_checked() {
    let safes = element(der::SEQUENCE, &[]);
    let good = file(&[], &pbmac1(&safes, 32));
    assert_eq!(opened(&good, "pä"), Ok(0));
    assert_eq!(opened(&good, "pa"), Err(StoreError::WrongPassword));
    assert!(matches!(opened(&file(&[], &pbmac1(&safes, 65)), "pä"), Err(StoreError::Malformed(_))));
}

#[test]
fn indefinite_lengths_are_read() {
    let definite = file(&[], &[]);
    // The outermost sequence only.
    let indefinite = [&[0x30, 0x80], &definite[2..], &[0, 0]].concat();
    assert_eq!(opened(&indefinite, "x"), Ok(0));
    assert_eq!(opened(&indefinite[..indefinite.len() - 1], "x"), Err(StoreError::CutShort));
}

#[test]
fn too_many_bags_are_refused() {
    let bag = sequence(&[&oid(&[1]), &element(der::context(0), &[5, 0])]);
    let bags = |n| element(der::OCTET_STRING, &element(der::SEQUENCE, &bag.repeat(n)));
    let content = |n| sequence(&[&oid(&[PKCS7, &[1]].concat()), &element(der::context(0), &bags(n))]);
    assert_eq!(opened(&file(&content(10_000), &[]), "x"), Ok(0));
    let error = opened(&file(&content(10_001), &[]), "x").unwrap_err();
    assert_eq!(error, StoreError::TooMuch { what: "entries", found: 10_001, limit: 10_000 });
}
