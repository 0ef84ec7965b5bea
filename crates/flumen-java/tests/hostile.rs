//! Any input at all: nothing panics, and what can be undone is undone.
#![allow(clippy::unwrap_used, reason = "what does not unwrap fails the test")]

use flumen_java::charset::{Charset, OnError};
use flumen_java::number::{self, Arg, FormatLocale};
use flumen_java::properties::{self, Encoding};
use flumen_java::text::{self, CaseLocale, Separator, Uuid, hash_order, mutf8, url};
use proptest::prelude::*;

fn any_charset() -> impl Strategy<Value = Charset> {
    let all: Vec<Charset> = Charset::all().collect();
    proptest::sample::select(all)
}

/// Bytes with many of those that mean something to some charset.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let telling = proptest::sample::select(vec![
        0x00, 0x0E, 0x0F, 0x1B, 0x24, 0x28, 0x30, 0x42, 0x5C, 0x7E, 0x80, 0x81, 0x8E, 0x8F, 0xA0, 0xBF, 0xC2,
        0xD8, 0xDC, 0xE0, 0xED, 0xF0, 0xF4, 0xFE, 0xFF,
    ]);
    proptest::collection::vec(prop_oneof![any::<u8>(), telling], 0..40)
}

/// Text with many of the characters that mean something in a properties file.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    let telling = proptest::sample::select(b"\\\\\\\n\n\r=: \t#!uD8a\xE9".to_vec());
    proptest::collection::vec(prop_oneof![3 => telling, 1 => any::<u8>()], 0..200)
}

proptest! {
    #[test]
    fn any_bytes_load_as_properties(bytes in lines()) {
        for encoding in [Encoding::Latin1, Encoding::Utf8] {
            let loaded = properties::load(&bytes, encoding);
            let n_lines = bytes.iter().filter(|b| matches!(b, b'\r' | b'\n')).count() as u32 + 1;
            let mut before = 0;
            for pair in loaded.pairs {
                prop_assert!(before < pair.first_line && pair.first_line <= pair.line && pair.line <= n_lines);
                before = pair.line;
            }
        }
        properties::sniff(&bytes);
    }

    #[test]
    fn escaped_pairs_come_back(pairs in proptest::collection::vec((".{0,12}", ".{0,12}"), 0..8)) {
        let escape = |text: &str| text.encode_utf16().map(|u| format!("\\u{u:04x}")).collect::<String>();
        let file: String = pairs.iter().map(|(k, v)| format!("  {}={}\n", escape(k), escape(v))).collect();
        let loaded = properties::load(file.as_bytes(), Encoding::Latin1);
        let got: Vec<(String, String)> = loaded.pairs.into_iter().map(|p| (p.key, p.value)).collect();
        prop_assert_eq!(got, pairs);
    }

    #[test]
    fn pieces_decode_like_the_whole(charset in any_charset(), bytes in bytes(), cuts in proptest::collection::vec(0..40_usize, 0..6)) {
        for on_error in [OnError::Replace, OnError::Ignore] {
            let whole = charset.decode(&bytes, on_error).unwrap();
            let mut cuts: Vec<usize> = cuts.iter().map(|c| (*c).min(bytes.len())).collect();
            cuts.sort_unstable();
            let (mut decoder, mut out, mut from) = (charset.decoder(on_error), String::new(), 0);
            for cut in cuts {
                decoder.decode(&bytes[from..cut], false, &mut out).unwrap();
                from = cut;
            }
            decoder.decode(&bytes[from..], true, &mut out).unwrap();
            prop_assert_eq!(&whole, &out);
        }
    }

    #[test]
    fn characters_decode_like_the_whole(charset in any_charset(), bytes in bytes()) {
        let whole = charset.decode(&bytes, OnError::Replace).unwrap();
        let (mut decoder, mut out, mut at) = (charset.decoder(OnError::Replace), String::new(), 0);
        while let Some((c, n)) = decoder.next_char(&bytes[at..], true).unwrap() {
            out.push(c);
            at += n;
        }
        prop_assert_eq!(whole, out);
    }

    #[test]
    fn text_comes_back_through_every_unicode_charset(text in "\\PC{0,30}") {
        for name in ["UTF-8", "CESU-8", "UTF-16", "UTF-16BE", "UTF-16LE", "x-UTF-16LE-BOM", "UTF-32", "UTF-32BE", "UTF-32LE", "X-UTF-32BE-BOM", "X-UTF-32LE-BOM", "GB18030"] {
            let charset = Charset::for_name(name).unwrap();
            let bytes = charset.encode(&text, OnError::Report).unwrap();
            prop_assert_eq!(charset.decode(&bytes, OnError::Report).unwrap(), text.as_str(), "{}", name);
        }
    }

    #[test]
    fn what_encodes_decodes_to_text_that_encodes_the_same(charset in any_charset(), text in "\\PC{0,30}") {
        let bytes = charset.encode(&text, OnError::Ignore).unwrap();
        let back = charset.decode(&bytes, OnError::Replace).unwrap();
        let again = charset.encode(&back, OnError::Ignore).unwrap();
        // One-way encodings change the text once; after that it stays. IBM tables fold some controls for good.
        let third = charset.decode(&again, OnError::Replace).unwrap();
        prop_assert_eq!(&charset.encode(&third, OnError::Ignore).unwrap(), &again);
    }

    #[test]
    fn any_name_is_looked_up(name in "\\PC{0,30}") {
        let _ = Charset::for_name(&name);
    }

    #[test]
    fn any_text_is_tried_as_a_number(text in "[-+0-9a-fxXpPeE.dDfF ]{0,40}|\\PC{0,20}") {
        let _ = (number::parse_int(&text), number::parse_long(&text), number::parse_float(&text), number::parse_boolean(&text));
        let _ = (number::parse_double(&text), Uuid::parse(&text));
    }

    #[test]
    fn numbers_come_back_from_their_text(bits in any::<u64>(), float in any::<u32>(), int in any::<i32>(), long in any::<i64>()) {
        let (d, f) = (f64::from_bits(bits), f32::from_bits(float));
        prop_assert_eq!(number::parse_double(&number::double_to_string(d)).unwrap().to_bits(), if d.is_nan() { f64::NAN.to_bits() } else { bits });
        prop_assert_eq!(number::parse_float(&number::float_to_string(f)).unwrap().to_bits(), if f.is_nan() { f32::NAN.to_bits() } else { float });
        prop_assert_eq!(number::parse_int(&int.to_string()), Ok(int));
        prop_assert_eq!(number::parse_long(&long.to_string()), Ok(long));
        let _ = number::round(d);
        if d.is_finite() {
            let hex = number::format(FormatLocale::ENGLISH, "%a", &[Arg::Double(d)]).unwrap();
            prop_assert_eq!(number::parse_double(&hex), Ok(d));
        }
    }

    #[test]
    fn any_format_is_tried(pattern in "(%[-#+ 0,(<]{0,3}[0-9]{0,2}(\\.[0-9]{1,2})?[a-zA-Z%$]?|\\PC){0,4}", int in any::<i32>(), bits in any::<u64>(), s in "\\PC{0,9}") {
        let args = [Arg::Int(int), Arg::Double(f64::from_bits(bits)), Arg::Str(&s), Arg::Null];
        for arg in &args {
            let _ = number::format(FormatLocale::for_language_tag("ar"), &pattern, &[arg.clone(), arg.clone()]);
        }
    }

    #[test]
    fn parts_join_to_the_text(t in "[a,. \r\n\u{85}é😀]{0,20}", limit in 1..5_i32) {
        prop_assert_eq!(text::split(&t, Separator::Text(","), -1).join(","), t.as_str());
        prop_assert_eq!(text::split(&t, Separator::Nothing, -1).concat(), t.as_str());
        for separator in [Separator::Blanks, Separator::CommaWithBlanks, Separator::CommasAndBlanks, Separator::LineEnd, Separator::AnyChar] {
            prop_assert!(text::split(&t, separator, limit).len() <= limit as usize);
            let n_kept: usize = text::split(&t, separator, -1).iter().map(|p| p.len()).sum();
            prop_assert!(n_kept <= t.len());
        }
    }

    #[test]
    fn coded_text_comes_back(t in any::<String>()) {
        prop_assert_eq!(url::decode(&url::encode(&t)), Ok(t.clone()));
        let mut out = Vec::new();
        mutf8::write(&t, &mut out).unwrap();
        prop_assert_eq!(mutf8::read(&out), Ok((t.clone(), out.len())));
        let _ = url::decode(&t);
    }

    #[test]
    fn any_bytes_are_tried_as_modified_utf_8(bytes in bytes()) {
        let _ = mutf8::read(&bytes);
    }

    #[test]
    fn case_and_order_agree(a in "\\PC{0,8}", b in "\\PC{0,8}") {
        prop_assert_eq!(text::compare(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
        prop_assert_eq!(text::compare_ignore_case(&a, &b).is_eq(), text::equals_ignore_case(&a, &b));
        prop_assert_eq!(text::length(&a), a.encode_utf16().count());
        for locale in [CaseLocale::English, CaseLocale::Turkish] {
            let _ = (text::to_lower(&a, locale), text::to_upper(&a, locale));
        }
    }

    #[test]
    fn an_order_names_every_key_once(keys in proptest::collection::hash_set("[a-z]{0,4}", 0..100)) {
        let keys: Vec<String> = keys.into_iter().collect();
        for made in [hash_order::Made::Empty, hash_order::Made::Copy, hash_order::Made::Set] {
            let mut order = hash_order::order(&keys, made);
            order.sort_unstable();
            prop_assert_eq!(order, (0..keys.len()).collect::<Vec<_>>());
        }
    }
}
