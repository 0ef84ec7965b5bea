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

#[test]
fn an_empty_password_may_be_hashed_as_nothing_at_all() {
    let safes = element(der::SEQUENCE, &[]);
    for (spelled, opens) in [(&[][..], true), (&[0, 0], true), (&[0, 1], false)] {
        let mut key = [0; 20];
        pbe::pkcs12_kdf(pbe::Digest::Sha1, spelled, SALT, 3, 2, &mut key);
        let mac = element(der::OCTET_STRING, &pbe::Digest::Sha1.hmac(&key, &safes));
        let info = sequence(&[&sequence(&[&oid(&[0x2b, 0x0e, 3, 2, 0x1a])]), &mac]);
        let mac = sequence(&[&info, &element(der::OCTET_STRING, SALT), &number(2)]);
        assert_eq!(opened(&file(&[], &mac), "").is_ok(), opens, "{spelled:?}");
    }
}

/// A certificate of these names; the numbers tell the keys of a name apart.
fn certificate(subject: &str, key: Option<u8>, issuer: &str, issuer_key: Option<u8>) -> Certificate {
    let name = |text: &str| {
        let attribute = sequence(&[&oid(&[0x55, 4, 3]), &element(0x0c, text.as_bytes())]);
        sequence(&[&element(der::SET, &attribute)])
    };
    let extension =
        |last, value: &[u8]| sequence(&[&oid(&[0x55, 0x1d, last]), &element(der::OCTET_STRING, value)]);
    let key = key.map(|id| extension(14, &element(der::OCTET_STRING, &[id])));
    let issuer_key = issuer_key.map(|id| extension(35, &sequence(&[&element(0x80, &[id])])));
    let extensions = sequence(&[&key.unwrap_or_default(), &issuer_key.unwrap_or_default()]);
    let empty = sequence(&[]);
    let extensions = element(der::context(3), &extensions);
    let signed = sequence(&[&number(1), &empty, &name(issuer), &empty, &name(subject), &empty, &extensions]);
    Certificate::parse(&sequence(&[&signed, &empty, &element(3, &[0])])).unwrap()
}

#[test]
fn an_issuer_is_found_by_name_and_key() {
    let known = [
        certificate("old", Some(1), "x", None),
        certificate("OLD", Some(2), "x", None),
        certificate("bare", None, "x", None),
    ];
    let issuers = Issuers::of(&known);
    let found = |name, key| {
        let issuer = issuers.issuer_of(&certificate("leaf", None, name, key));
        issuer.and_then(|issuer| known.iter().position(|certificate| certificate == issuer))
    };
    assert_eq!(
        [found("Old", Some(1)), found("old", Some(2)), found("old", Some(3))],
        [Some(0), Some(1), None]
    );
    assert_eq!(
        [found("old", None), found("bare", Some(1)), found("bare", None)],
        [Some(0), Some(2), Some(2)]
    );
    assert_eq!(found("nobody", None), None);
}
