//! Line numbers, errors and limits; what Java makes of files is in the golden test.

use super::*;

fn pairs(text: &str) -> Vec<(String, String, u32, u32)> {
    let loaded = load(text.as_bytes(), Encoding::Utf8);
    loaded.pairs.into_iter().map(|p| (p.key, p.value, p.first_line, p.line)).collect()
}

fn pair_at(key: &str, value: &str, first_line: u32, line: u32) -> (String, String, u32, u32) {
    (key.to_owned(), value.to_owned(), first_line, line)
}

#[test]
fn a_pair_has_the_line_of_its_key() {
    let text = "# comment\n\na=1\r\nb=2\\\r\n   3\rc=4\n\\\n\\\n  d=5\n! e\n  f";
    let expected = [
        pair_at("a", "1", 3, 3),
        pair_at("b", "23", 4, 4),
        pair_at("c", "4", 6, 6),
        pair_at("d", "5", 7, 9),
        pair_at("f", "", 11, 11),
    ];
    assert_eq!(pairs(text), expected);
}

#[test]
fn a_comment_or_blank_line_after_a_lone_backslash_starts_anew() {
    assert_eq!(pairs("\\\n# no\na=1"), [pair_at("a", "1", 3, 3)]);
    assert_eq!(pairs("\\\n\na=1"), [pair_at("a", "1", 3, 3)]);
}

#[test]
fn a_backslash_on_the_last_line_is_an_empty_pair_unless_cr_lf_follows() {
    assert_eq!(pairs("\\"), [pair_at("", "", 1, 1)]);
    assert_eq!(pairs("a\n\\\n"), [pair_at("a", "", 1, 1), pair_at("", "", 2, 2)]);
    assert_eq!(pairs("\\\r\n"), []);
}

#[test]
fn a_bad_escape_is_told_with_its_own_line_and_text() {
    let loaded = load(b"a=1\nb=x\\\n  C:\\users\nc=3", Encoding::Latin1);
    assert_eq!(loaded.pairs.len(), 1);
    let error = loaded.error.unwrap();
    assert_eq!(error, LoadError::BadEscape { line: 3, first_line: 2, text: "\\users".to_owned() });
    assert!(error.to_string().starts_with("line 3: \"\\users\" is no character"), "{error}");
    let cut = load("k=\\u12é".as_bytes(), Encoding::Utf8);
    assert_eq!(cut.error, Some(LoadError::BadEscape { line: 1, first_line: 1, text: "\\u12é".to_owned() }));
}

#[test]
fn halves_of_pairs_join_only_where_they_touch() {
    assert_eq!(pairs("a=\\uD83D\\uDE00")[0].1, "😀");
    assert_eq!(pairs("a=\\uD83D\\\n \\uDE00")[0].1, "😀");
    assert_eq!(pairs("a=\\uD83Dx\\uDE00")[0].1, "\u{FFFD}x\u{FFFD}");
    assert_eq!(pairs("\\uD83D=\\uDE00")[0].0, "\u{FFFD}");
}

#[test]
fn latin_1_and_utf_8_differ_only_beyond_ascii() {
    let bytes = "ключ=é".as_bytes();
    assert_eq!(load(bytes, Encoding::Utf8).pairs[0].value, "é");
    assert_eq!(load(bytes, Encoding::Latin1).pairs[0].value, "Ã©");
    assert_eq!(load(b"a=\xED\xA0\x80\xE9", Encoding::Utf8).pairs[0].value, "\u{FFFD}\u{FFFD}");
}

#[test]
fn too_many_pairs_are_refused_with_the_line() {
    let text = "a\n".repeat(MAX_PAIRS + 1);
    let loaded = load(text.as_bytes(), Encoding::Latin1);
    assert_eq!(loaded.pairs.len(), MAX_PAIRS);
    assert_eq!(loaded.error, Some(LoadError::TooMany { line: MAX_PAIRS as u32 + 1 }));
    assert_eq!(load(&text.as_bytes()[2..], Encoding::Latin1).error, None);
}

#[test]
fn large_hostile_files_are_read_in_one_go() {
    const SIZE: usize = 8 << 20;
    for (unit, n_pairs) in [
        ("\\", 1),
        ("\\\n", 1),
        ("a\\\n", 1),
        ("#x\n", 0),
        (" ", 0),
        ("\n", 0),
        ("=", 1),
        ("\\uD83D", 1),
        ("a\\", 1),
    ] {
        let text = unit.repeat(SIZE / unit.len());
        for encoding in [Encoding::Latin1, Encoding::Utf8] {
            let loaded = load(text.as_bytes(), encoding);
            assert_eq!((loaded.pairs.len(), loaded.error), (n_pairs, None), "{unit:?}");
        }
    }
    let garbage = vec![0xFF; SIZE];
    assert_eq!(load(&garbage, Encoding::Utf8).pairs[0].key.chars().count(), SIZE);
}

#[test]
fn files_that_are_no_text_are_recognised() {
    assert_eq!(sniff(b"a=1\n"), None);
    assert_eq!(sniff("a=é".as_bytes()), None);
    assert_eq!(sniff(b""), None);
    assert_eq!(sniff(b"\xEF\xBB\xBFa=1"), Some(NotText::Utf8Mark));
    assert_eq!(sniff(b"\xFF\xFEa\0"), Some(NotText::Utf16));
    assert_eq!(sniff(b"\xFE\xFF\0a"), Some(NotText::Utf16));
    assert_eq!(sniff(b"\xFF\xFE\0\0a\0\0\0"), Some(NotText::Utf32));
    assert_eq!(sniff(b"\0\0\xFE\xFF\0\0\0a"), Some(NotText::Utf32));
    assert_eq!(sniff(b"a=1\r\nb\rc\n\0"), Some(NotText::Nul { line: 4, offset: 9 }));
    assert_eq!(sniff(b"a\0=\x001\0"), Some(NotText::Nul { line: 1, offset: 1 }));
}
