//! Key derivations against numbers from the RFCs and from a JDK.

use super::*;

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn md5_triple_des(salt: [u8; 8]) -> Scheme {
    Scheme { kind: Kind::Md5TripleDes, salt: salt.to_vec(), iterations: 3 }
}

/// `Cipher.getInstance("PBEWithMD5AndTripleDES")`, password `abc`, 3 rounds, text `hello`.
#[test]
fn md5_with_triple_des_also_with_equal_salt_halves() {
    let password = Passphrase::new(Some(&Password::new("abc")));
    for (salt, sealed) in
        [([1, 2, 3, 4, 1, 2, 3, 4], "53be10d7d589ac78"), ([1, 2, 3, 4, 5, 6, 7, 8], "bbfc2cdf16782008")]
    {
        let plain = md5_triple_des(salt).decrypt(&password, &hex(sealed)).unwrap();
        assert_eq!(*plain, *b"hello");
    }
}

/// The well-known vector for password `smeg`: key and vector for one round of SHA-1.
#[test]
fn pkcs12_key_derivation() {
    let password = Password::new("smeg").bmp_bytes();
    let (mut key, mut iv) = ([0; 24], [0; 8]);
    pkcs12_kdf(Digest::Sha1, &password, &hex("0A58CF64530D823F"), 1, 1, &mut key);
    pkcs12_kdf(Digest::Sha1, &password, &hex("0A58CF64530D823F"), 2, 1, &mut iv);
    assert_eq!(key[..], hex("8AAAE6297B6CB04642AB5B077851284EB7128F1A2A7FBCA3"));
    assert_eq!(iv[..], hex("79993DFE048D3B76"));
}

/// RFC 6070, the second vector.
#[test]
fn pbkdf2() {
    let mut out = [0; 20];
    Digest::Sha1.pbkdf2(b"password", b"salt", 2, &mut out);
    assert_eq!(out[..], hex("ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"));
}

#[test]
fn rounds_have_a_limit_that_the_error_tells() {
    assert_eq!(checked_iterations(MAX_ITERATIONS), Ok(5_000_000));
    let error = checked_iterations(MAX_ITERATIONS + 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the key asks for 5000001 rounds of password hashing, and at most 5000000 are allowed"
    );
    assert!(checked_iterations(u64::from(u32::MAX) + 2).is_err());
    assert!(checked_iterations(0).is_err());
}

#[test]
fn a_protected_key_of_any_length_is_no_panic() {
    for length in 0..64 {
        assert!(jks_unprotect(&Password::new("x"), &vec![7; length]).is_err());
    }
}
