//! What the golden cases leave out.

use super::*;
use std::cmp::Ordering;

#[test]
fn compare_is_by_units() {
    assert_eq!(compare("\u{10000}", "\u{E000}"), Ordering::Less);
    assert_eq!(compare("x\u{1F600}", "x\u{FFFF}"), Ordering::Less);
    assert_eq!(compare("\u{D7FF}", "\u{10000}"), Ordering::Less);
    assert_eq!(compare("\u{1F600}", "\u{1F601}"), Ordering::Less);
    assert_eq!(compare("a", "ab"), Ordering::Less);
    assert_eq!(compare("é", "é"), Ordering::Equal);
}

#[test]
fn letters_newer_than_java_17_have_no_case() {
    assert_eq!(to_upper("aꟁ", CaseLocale::English), "Aꟁ");
    assert_eq!(to_lower("AꟀΣ", CaseLocale::English), "aꟀσ");
    assert!(!equals_ignore_case("ꟁ", "Ꟁ"));
}

#[test]
fn turkish_i_keeps_its_dot() {
    assert_eq!(to_lower("TITLE İI\u{307}", CaseLocale::Turkish), "tıtle ii");
    assert_eq!(to_upper("title ı", CaseLocale::Turkish), "TİTLE I");
}

#[test]
fn a_search_that_goes_wrong_ends_the_splitting() {
    assert_eq!(split_by("abc", 0, |_, _| Some((2, 1))), ["abc"]);
    assert_eq!(split_by("aéb", 0, |_, from| (from == 0).then_some((2, 3))), ["aéb"]);
    assert_eq!(split("aéb", Separator::Text(""), 0), ["a", "é", "b"]);
}

#[test]
fn a_uuid_from_random_bytes_has_version_and_variant() {
    let uuid = Uuid::from_random_bytes([0xFF; 16]);
    assert_eq!(uuid.to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    assert_eq!((uuid.version(), uuid.variant()), (4, 2));
    assert_eq!(Uuid::parse(&uuid.to_string()), Ok(uuid));
    assert_eq!(uuid.bits(), (0xFFFF_FFFF_FFFF_4FFF, 0xBFFF_FFFF_FFFF_FFFF));
}

#[test]
fn a_map_of_equal_keys_shows_the_last_value() {
    assert_eq!(hash_order::map_to_string(&[("b", "1"), ("a", "2"), ("b", "3")]), "{a=2, b=3}");
    assert_eq!(hash_order::map_to_string::<&str, &str>(&[]), "{}");
}

#[test]
fn a_bucket_of_more_than_eight_makes_the_map_grow_early() {
    // As a JDK lists them; in 16 buckets, which 12 entries would leave, the last three would come in another order.
    let keys = [
        "AaAaAaAa", "AaAaAaBB", "AaAaBBAa", "AaAaBBBB", "AaBBAaAa", "AaBBAaBB", "AaBBBBAa", "AaBBBBBB",
        "BBAaAaAa", "host", "topic", "priority",
    ];
    let order: Vec<&str> =
        hash_order::order(&keys, hash_order::Made::Empty).into_iter().map(|i| keys[i]).collect();
    let expected = [
        "AaAaAaAa", "AaAaAaBB", "AaAaBBAa", "AaAaBBBB", "AaBBAaAa", "AaBBAaBB", "AaBBBBAa", "AaBBBBBB",
        "BBAaAaAa", "priority", "host", "topic",
    ];
    assert_eq!(order, expected);
}

#[test]
fn errors_name_the_way_out() {
    assert!(url::decode("a%zz").unwrap_err().to_string().contains("byte 1"));
    let long = "x".repeat(65_536);
    let mut out = Vec::new();
    assert_eq!(mutf8::write(&long, &mut out), Err(mutf8::Utf8Error::TooLong(65_536)));
    assert!(out.is_empty());
}
