//! Examples, limits, and the comparison of the two ways to match.

use std::io::Read;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

#[expect(clippy::disallowed_methods, reason = "what a search costs is real time")]
fn now() -> Instant {
    Instant::now()
}

fn pattern(source: &str) -> Pattern {
    Pattern::compile(source, Flags::NONE).unwrap()
}

/// The same pattern without the quick way.
fn exact(source: &str, flags: Flags) -> Option<Pattern> {
    let mut pattern = Pattern::compile(source, flags).ok()?;
    pattern.fast = None;
    Some(pattern)
}

/// All matches with their groups; `None` when given up.
fn all(pattern: &Pattern, text: &[u8]) -> Option<Vec<Vec<Option<(usize, usize)>>>> {
    let mut captures = pattern.captures();
    let mut matches = pattern.find_all(text);
    let mut out = Vec::new();
    while matches.next(Some(&mut captures)).ok()?.is_some() {
        out.push((0..=pattern.group_count()).map(|k| captures.get(k)).collect());
    }
    Some(out)
}

fn replaced(source: &str, text: &str, replacement: &str) -> String {
    let pattern = pattern(source);
    let (mut captures, mut out) = (pattern.captures(), Vec::new());
    let replacement = pattern.replacement(replacement);
    match pattern.replace_all(text.as_bytes(), &replacement, &mut captures, &mut out) {
        Ok(true) => String::from_utf8(out).unwrap(),
        Ok(false) => text.to_owned(),
        Err(e) => format!("error: {e}"),
    }
}

#[test]
fn groups_names_and_places() {
    let pattern = pattern(r"(?<key>\w+)=(\d+)?");
    let mut captures = pattern.captures();
    assert_eq!(pattern.group_count(), 2);
    assert_eq!(pattern.group_names().collect::<Vec<_>>(), [("key", 1)]);
    assert!(pattern.find_captures(b"  ab=12", &mut captures).unwrap());
    assert_eq!(
        [captures.get(0), captures.get(1), captures.get(2)],
        [Some((2, 7)), Some((2, 4)), Some((5, 7))]
    );
    assert!(pattern.find_captures("é=".as_bytes(), &mut captures).is_ok_and(|found| !found));
    assert_eq!(captures.get(0), None);
    assert!(pattern.find_captures(b"k=", &mut captures).unwrap());
    assert_eq!((captures.get(2), captures.get(3)), (None, None));
    assert_eq!(pattern.find_at(b"a=1 b=2", 1).unwrap(), Some((4, 7)));
    assert_eq!(pattern.find_at(b"a=1", 9).unwrap(), None);
}

#[test]
fn replacement_errors_are_told_only_when_something_matches() {
    assert_eq!(replaced("(a)(b)", "xabx", "$2$12-$0"), "xba2-abx");
    assert_eq!(replaced("x*", "😀", "-"), "-?-?-");
    assert_eq!(replaced("x*", "😀", ""), "😀");
    assert_eq!(replaced("a", "bbb", "$"), "bbb");
    assert_eq!(replaced("b", "bbb", "$"), "error: Illegal group reference: group index is missing");
    assert_eq!(replaced("b", "bbb", "$3"), "error: No group 3");
}

#[test]
fn split_as_java_does() {
    let split = |source: &str, text: &str, limit| {
        let mut parts = Vec::new();
        pattern(source).split(text.as_bytes(), limit, &mut parts).unwrap();
        parts.iter().map(|&(from, to)| text[from..to].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(split(r"\s+", " a  b ", 0), ["", "a", "b"]);
    assert_eq!(split(r"\s+", " a  b ", -1), ["", "a", "b", ""]);
    assert_eq!(split(",", "a,b,c", 2), ["a", "b,c"]);
    assert_eq!(split(",", "", 0), [""]);
    assert_eq!(split(",", ",", 0), Vec::<String>::new());
}

#[test]
fn bytes_that_are_no_utf8_read_as_replacement_characters() {
    let text = b"a\xFFb\xE2\x82c";
    assert_eq!(all(&pattern("a.b.c"), text), Some(vec![vec![Some((0, 6))]]));
    assert_eq!(all(&pattern("[^a-z]"), text), Some(vec![vec![Some((1, 2))], vec![Some((3, 5))]]));
    assert!(pattern("b").is_found(text).unwrap());
    assert!(pattern("a.b(?=\u{FFFD}c)").is_found(text).unwrap());
    assert!(!pattern("é").is_found(b"\xE9").unwrap());
    assert_eq!(all(&pattern("x*"), b"\xF0\x9F").map(|m| m.len()), Some(2));
}

#[test]
fn runaway_patterns_are_given_up() {
    let text = [b"a".repeat(5000), b"!".to_vec()].concat();
    for source in [
        r"^(?:(?:a+)+b|(a)\1{5000}c)$(?!x)",
        r"(?:(a)|a|aa)*\1{3}b",
        r"((a*)*)*(?<=b)",
        r"(?=a)(a?){40}a{40}b(?!c)",
    ] {
        let begin = now();
        let result = pattern(source).find(&text);
        assert!(begin.elapsed() < Duration::from_secs(20), "{source} took {:?}", begin.elapsed());
        if let Err(e) = result {
            assert!(e.to_string().contains("needs too many steps on a text of 5001 bytes"), "{e}");
        }
    }
    let error = pattern(r"(?:(?:a+)+)+(?=b)\1?b").find(&text).unwrap_err();
    assert!(matches!(error, MatchError::TooComplex { length: 5001, .. }));
}

#[test]
fn long_texts_do_not_overflow_a_stack_as_in_java() {
    let text = b"ab\n".repeat(20_000);
    for source in [r"(a|b|\n)*", r"(.|\n)*", r"(?:a|b|\n)*(?!x)", r"(?>a|b|\n)*+(?!x)"] {
        assert!(pattern(source).matches(&text, None).unwrap(), "{source}");
    }
}

#[test]
fn what_is_too_big_is_refused() {
    let refused = |source: String| Pattern::compile(&source, Flags::NONE).unwrap_err().description;
    assert_eq!(refused("(".repeat(1000)), "groups or classes are nested more than 200 deep");
    assert_eq!(refused("[a".repeat(1000)), "groups or classes are nested more than 200 deep");
    assert_eq!(refused("[a&&".repeat(1000)), "groups or classes are nested more than 200 deep");
    assert_eq!(refused("()".repeat(2001)), "the pattern has more than 2000 groups");
    assert_eq!(refused("a".repeat(65_537)), "the pattern has more than 65536 characters");
    assert_eq!(refused(format!("[a{}]", "&&[a]".repeat(1001))), "the class has more than 1000 intersections");
}

#[test]
fn long_classes_and_patterns_compile() {
    for (repeated, whole) in [
        ("c-d", "[a&&[b]X]"),
        ("[b]", "[a&&[b]X]"),
        ("a|", "Xb"),
        ("(a)", "X"),
        ("[a]*", "X(?=b)"),
        ("é", "[X]"),
    ] {
        let source = whole.replace('X', &repeated.repeat(2000));
        assert!(pattern(&source).is_found(b"b").is_ok(), "{whole} with {repeated}");
    }
    assert!(Pattern::compile(&format!("[a&&[b]{}]", "c-d".repeat(20_000)), Flags::NONE).is_ok());
}

#[test]
fn big_counts_cost_nothing() {
    for source in [
        "(?:a{2147483647}){2147483647}",
        "(?:){2147483647}b",
        "(?:(?:a?){1000}){1000}(?=b)",
        "(?<=a{0,2147483647})b",
    ] {
        assert!(pattern(source).find(b"aaab").is_ok(), "{source}");
    }
    assert!(pattern("(?:){2147483647}b").is_found(b"b").unwrap());
}

#[test]
fn what_users_write_takes_the_quick_way() {
    for source in [
        r"^\d{4}-\d\d-\d\d .*ERROR",
        r"(\d+):(\w+)",
        r".*\.log$",
        r"\bfoo\b",
        r"(?i)warn|error",
        r"[^,]+,",
        r"^$",
        "a|b",
    ] {
        assert!(pattern(source).fast.is_some(), "{source}");
    }
    for source in [r"a(?=b)", r"(a)\1", r"a++b", r"((a)|b)*", r"(a*)*", r"(?m)^a$", r"\Ga", r"\R"] {
        assert!(pattern(source).fast.is_none(), "{source}");
    }
}

/// Patterns and texts of the golden cases: both ways, also with a line end, an emoji or a bad byte at the end of the text.
#[test]
fn both_ways_agree_on_the_golden_cases() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/regex/cases.jsonl.gz");
    let mut cases = String::new();
    flate2::read::GzDecoder::new(&std::fs::read(path).unwrap()[..]).read_to_string(&mut cases).unwrap();
    let mut compared = 0;
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let source = case["pattern"].as_str().unwrap();
        let quick = Pattern::compile(source, Flags::NONE).ok().filter(|p| p.fast.is_some());
        let (Some(quick), Some(exact)) = (quick, exact(source, Flags::NONE)) else { continue };
        for end in [&b""[..], b"\n", b"\r\n", "😀".as_bytes(), b"\xC3"] {
            let text = [case["input"].as_str().unwrap().as_bytes(), end].concat();
            assert_eq!(all(&quick, &text), all(&exact, &text), "{source} on {text:?}");
            let whole = (quick.matches(&text, None), exact.matches(&text, None));
            assert_eq!(whole.0, whole.1, "{source} on the whole of {text:?}");
            assert_eq!(
                quick.looking_at(&text, None),
                exact.looking_at(&text, None),
                "{source} at the start of {text:?}"
            );
            compared += 1;
        }
    }
    assert!(compared > 10_000, "{compared}");
}

fn simple_pattern() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        6 => "[abcé]",
        1 => Just(".".to_owned()),
        1 => "[$^]",
        2 => proptest::sample::select(vec![r"\d", r"\w", r"\W", r"\b", r"\B", r"\z", "[^a]", "[a-c]", r"\p{L}", "😀", "(?i)", "(?s)"]).prop_map(str::to_owned),
    ];
    let leaf = proptest::collection::vec(atom, 0..3).prop_map(|atoms| atoms.concat());
    leaf.prop_recursive(4, 24, 3, |inner| {
        let quantifier =
            proptest::sample::select(vec!["", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{2,}?"]);
        prop_oneof![
            (inner.clone(), quantifier.clone()).prop_map(|(p, q)| format!("({p}){q}")),
            (inner.clone(), quantifier).prop_map(|(p, q)| format!("(?:{p}){q}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}|{b}")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("{a}{b}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_agree(source in simple_pattern(), text in "[abcé1 \n\r😀B]{0,10}") {
        let Some(exact) = exact(&source, Flags::NONE) else { return Ok(()) };
        let quick = pattern(&source);
        prop_assert_eq!(all(&quick, text.as_bytes()), all(&exact, text.as_bytes()));
        prop_assert_eq!(quick.matches(text.as_bytes(), None), exact.matches(text.as_bytes(), None));
    }

    #[test]
    fn no_pattern_and_no_text_panics_or_takes_long(
        source in proptest::collection::vec(proptest::sample::select(vec![
            "a", "b", "é", "😀", ".", "*", "+", "?", "{2}", "{0,}", "{", "}", "(", "(", ")", ")", "[", "[^", "]", "|", "^", "$", "\\", "\\d",
            "\\b", "\\1", "\\G", "\\R", "\\X", "\\Q", "\\E", "\\p{", "\\pL", "\\x{", "\\ud83d", "(?", "(?:", "(?=", "(?!", "(?<=", "(?<!",
            "(?>", "(?<n>", "\\k<n>", "(?i)", "(?x)", "(?U)", "&&", "-", "#", " ", "1", ",", "<", ">", "\\b{g}", "++", "*?",
        ]), 0..14),
        text in proptest::collection::vec(proptest::sample::select(vec![
            &b"a"[..], b"b", b"1", b"\n", b"\r", b" ", b"\xC3\xA9", b"\xF0\x9F\x98\x80", b"\xF0\x9F", b"\x80", b"\xFF", b"\xED\xA0\x80",
        ]), 0..20),
    ) {
        let (source, text) = (source.concat(), text.concat());
        let begin = now();
        for flags in [Flags::NONE, Flags::COMMENTS | Flags::CASE_INSENSITIVE, Flags::LITERAL, Flags::MULTILINE | Flags::UNICODE_CASE] {
            if let Ok(pattern) = Pattern::compile(&source, flags) {
                let (mut captures, mut out, mut parts) = (pattern.captures(), Vec::new(), Vec::new());
                let _ = all(&pattern, &text);
                let _ = pattern.matches(&text, Some(&mut captures));
                let _ = pattern.looking_at(&text, None);
                let _ = pattern.replace_all(&text, &pattern.replacement("<$0>"), &mut captures, &mut out);
                if pattern.split(&text, 0, &mut parts).is_ok() {
                    for part in parts {
                        let _ = Pattern::text(&text, part);
                    }
                }
            }
        }
        prop_assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn any_text_is_read_the_same_in_both_directions(text in proptest::collection::vec(any::<u8>(), 0..40)) {
        let (mut pos, mut forward, mut backward) = (0, Vec::new(), Vec::new());
        while let Some((c, end)) = text::char_at(&text, pos) {
            forward.push((c, pos, end));
            pos = end;
        }
        prop_assert_eq!(pos, text.len());
        while let Some((c, start)) = text::char_before(&text, pos) {
            backward.push((c, start, pos));
            pos = start;
        }
        backward.reverse();
        prop_assert_eq!(forward, backward);
    }
}
