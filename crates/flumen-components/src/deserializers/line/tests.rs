//! Lines of every charset, cut anywhere.

use super::*;
use flumen_core::{config::Settings, config::read};
use proptest::prelude::*;
use std::io;

/// A text that is read a few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Input for Slow<'_> {
    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
        let rest = self.0.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        let n = rest.len().min(self.1).min(buffer.capacity() - buffer.len());
        buffer.extend_from_slice(&rest[..n]);
        Ok(n)
    }
}

fn line(pairs: &[(&str, &str)]) -> LineDeserializer {
    LineDeserializer::new(read::<LineConfig>(&Settings::from_pairs("d", pairs), &[]).0.unwrap())
}

fn text(charset: &str, on_bad: OnBadText) -> TextInput {
    TextInput { charset: charset.to_owned(), on_bad }
}

fn utf_8() -> TextInput {
    text("UTF-8", OnBadText::Fail)
}

fn started(pairs: &[(&str, &str)], content: &[u8], text: &TextInput, place: Place) -> LineDeserializer {
    let mut deserializer = line(pairs);
    deserializer.start(&Slow(content, 7), text, place).unwrap();
    deserializer
}

/// The bodies of the next batch, and whether what follows is bad.
fn batch(
    deserializer: &mut LineDeserializer,
    content: &[u8],
    events: usize,
) -> (Vec<Vec<u8>>, Option<String>) {
    let mut batch = Batch::new();
    let most = Most { events, bytes: usize::MAX };
    let read = deserializer.read(&Slow(content, 1000), &Headers::new(), most, &mut batch);
    let bodies = batch.iter().map(|event| event.body.to_vec()).collect();
    (bodies, read.err().map(|error| error.to_string()))
}

/// All bodies, as text.
fn all(pairs: &[(&str, &str)], content: &[u8], text: &TextInput) -> Vec<String> {
    let mut deserializer = started(pairs, content, text, Place::default());
    let mut all = Vec::new();
    loop {
        let (bodies, bad) = batch(&mut deserializer, content, 3);
        assert_eq!(bad, None);
        if bodies.is_empty() {
            return all;
        }
        all.extend(bodies.into_iter().map(|body| String::from_utf8(body).unwrap()));
    }
}

#[test]
fn ser_01_ser_02_lines_come_in_order_and_none_is_made_up_at_the_end() {
    let content: String = (0..8).map(|n| format!("line {n}\n")).collect();
    let expected: Vec<String> = (0..8).map(|n| format!("line {n}")).collect();
    assert_eq!(all(&[], content.as_bytes(), &utf_8()), expected);
    let mut deserializer = started(&[], content.as_bytes(), &utf_8(), Place::default());
    assert_eq!(batch(&mut deserializer, content.as_bytes(), 5).0.len(), 5);
    assert_eq!(batch(&mut deserializer, content.as_bytes(), 10).0.len(), 3);
    assert!(batch(&mut deserializer, content.as_bytes(), 10).0.is_empty());
}

#[test]
fn ser_14_ser_15_ser_33_a_place_leads_back_to_the_line_behind_it() {
    let content = b"line 1\nline 2\n";
    let mut deserializer = started(&[], content, &utf_8(), Place::default());
    assert_eq!(batch(&mut deserializer, content, 1).0, [b"line 1"]);
    let place = deserializer.place();
    assert_eq!(batch(&mut deserializer, content, 10).0, [b"line 2"]);
    let mut again = started(&[], content, &utf_8(), place);
    assert_eq!(batch(&mut again, content, 10).0, [b"line 2"]);
    assert!(batch(&mut again, content, 10).0.is_empty());
}

#[test]
fn ser_16_a_long_line_is_cut_and_one_of_just_that_length_is_followed_by_an_empty_event() {
    let ten = [("maxLineLength", "10")];
    let alphabet = b"abcdefghijklmnopqrstuvwxyz\n";
    assert_eq!(all(&ten, alphabet, &utf_8()), ["abcdefghij", "klmnopqrst", "uvwxyz"]);
    assert_eq!(all(&ten, b"0123456789\nx\n", &utf_8()), ["0123456789", "", "x"]);
    assert_eq!(all(&ten, b"0123456789", &utf_8()), ["0123456789"]);
    // Characters are counted, and none is cut in two: an emoji counts as two.
    assert_eq!(all(&ten, "é".repeat(12).as_bytes(), &utf_8()), ["é".repeat(10), "é".repeat(2)]);
    assert_eq!(all(&ten, "🚀".repeat(6).as_bytes(), &utf_8()), ["🚀".repeat(5), "🚀".to_owned()]);
    let odd = format!("x{}\n", "🚀".repeat(6));
    assert_eq!(all(&ten, odd.as_bytes(), &utf_8()), [format!("x{}", "🚀".repeat(4)), "🚀🚀".to_owned()]);
    assert_eq!(all(&[("maxLineLength", "1")], "🚀a".as_bytes(), &utf_8()), ["🚀", "a"]);
}

#[test]
fn ser_24_ser_27_characters_are_whole_wherever_a_piece_ends() {
    let content = "日本語のテキスト\n🚀é\n".repeat(20);
    for piece in 1..9 {
        let mut deserializer = line(&[]);
        let input = Slow(content.as_bytes(), piece);
        deserializer.start(&input, &utf_8(), Place::default()).unwrap();
        let mut batch = Batch::new();
        let most = Most { events: 1000, bytes: usize::MAX };
        deserializer.read(&input, &Headers::new(), most, &mut batch).unwrap();
        let joined: Vec<u8> = batch.iter().flat_map(|event| [event.body, b"\n"].concat()).collect();
        assert_eq!(joined, content.as_bytes());
    }
    let shift_jis = b"1234567\x88\x9f\n8\n";
    assert_eq!(all(&[], shift_jis, &text("Shift_JIS", OnBadText::Fail)), ["1234567亜", "8"]);
}

#[test]
fn ser_26_a_byte_order_mark_counts_for_the_whole_file_also_after_a_restart() {
    let little: Vec<u8> = "\u{feff}🚀\nx\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "\u{feff}🚀\nx\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for content in [little, big] {
        let utf_16 = text("UTF-16", OnBadText::Fail);
        assert_eq!(all(&[], &content, &utf_16), ["🚀", "x"]);
        let mut deserializer = started(&[], &content, &utf_16, Place::default());
        assert_eq!(batch(&mut deserializer, &content, 1).0, ["🚀".as_bytes()]);
        let mut again = started(&[], &content, &utf_16, deserializer.place());
        assert_eq!(batch(&mut again, &content, 1).0, [b"x"]);
    }
}

#[test]
fn ser_28_what_is_no_text_is_told_with_its_place_and_what_is_before_it_is_there() {
    let content = b"good\nalso good\nbad \xe9 here\n";
    let mut deserializer = started(&[], content, &utf_8(), Place::default());
    let (bodies, bad) = batch(&mut deserializer, content, 10);
    assert_eq!(bodies, [&b"good"[..], b"also good"]);
    assert_eq!(deserializer.place().offset, 15);
    let bad = bad.unwrap();
    assert!(bad.starts_with("at byte 19: ") && bad.contains("decodeErrorPolicy"), "{bad}");
    // 0x81 means nothing in this one.
    let mut deserializer = started(&[], b"x\x81\n", &text("windows-1252", OnBadText::Fail), Place::default());
    assert!(batch(&mut deserializer, b"x\x81\n", 1).1.is_some());
}

#[test]
fn ser_29_ser_30_ser_31_bad_bytes_are_replaced_one_by_one_or_left_out() {
    let content = b"Latin1: (\xe9)\nLong: (\xe0\x80\xaf)\nNonUnicode: (\xf8\xa1\xa1\xa1\xa1)\n";
    let left_out = ["Latin1: ()", "Long: ()", "NonUnicode: ()"];
    assert_eq!(all(&[], content, &text("UTF-8", OnBadText::Ignore)), left_out);
    let replaced = ["Latin1: (\u{fffd})", "Long: (\u{fffd}\u{fffd}\u{fffd})"];
    let all_replaced = all(&[], content, &text("UTF-8", OnBadText::Replace));
    assert_eq!(all_replaced[..2], replaced);
    assert_eq!(all_replaced[2], format!("NonUnicode: ({})", "\u{fffd}".repeat(5)));
    assert_eq!(all(&[], b"In: \x81\n", &text("windows-1252", OnBadText::Replace)), ["In: \u{fffd}"]);
}

#[test]
fn c_15_an_incomplete_character_at_the_end_is_left_out_as_in_java() {
    for on_bad in [OnBadText::Fail, OnBadText::Replace, OnBadText::Ignore] {
        assert_eq!(all(&[], b"x\nlast\xe2\x82", &text("UTF-8", on_bad)), ["x", "last"]);
        assert_eq!(all(&[], b"x\n\xe2\x82", &text("UTF-8", on_bad)), ["x"]);
    }
}

#[test]
fn bodies_are_in_the_output_charset() {
    let pairs = [("outputCharset", "ISO-8859-1")];
    let mut deserializer = started(&pairs, "é日\n".as_bytes(), &utf_8(), Place::default());
    assert_eq!(batch(&mut deserializer, "é日\n".as_bytes(), 1).0, [b"\xe9?"]);
    assert_eq!(all(&[], b"gr\xfc\xdfe\n", &text("ISO-8859-1", OnBadText::Fail)), ["grüße"]);
}

#[test]
fn a_batch_ends_with_the_event_that_reaches_its_bytes() {
    let content = b"12345\n12345\n12345\n";
    let mut deserializer = started(&[], content, &utf_8(), Place::default());
    let mut batch = Batch::new();
    let most = Most { events: 100, bytes: 6 };
    deserializer.read(&Slow(content, 100), &Headers::new(), most, &mut batch).unwrap();
    assert_eq!(batch.len(), 2);
}

/// Java's way: one character after the other.
fn reference(content: &str, max_units: usize) -> Vec<String> {
    let (mut events, mut event, mut units, mut chars) =
        (Vec::new(), String::new(), 0, content.chars().peekable());
    let mut read_any = false;
    while let Some(c) = chars.next() {
        read_any = true;
        if c == '\n' {
            events.push(std::mem::take(&mut event));
            (units, read_any) = (0, false);
            continue;
        }
        event.push(c);
        units += c.len_utf16();
        let next_is_too_wide = chars.peek().is_some_and(|c| *c != '\n' && units + c.len_utf16() > max_units);
        if units >= max_units || next_is_too_wide {
            events.push(std::mem::take(&mut event));
            (units, read_any) = (0, false);
        }
    }
    if read_any {
        events.push(event);
    }
    events
}

proptest! {
    #[test]
    fn ser_22_ser_23_ser_37_lines_are_those_that_java_reads_in_utf_8_and_utf_16(
        content in "[a-c\nöß日🚀]{0,60}",
        max in 1_usize..12,
    ) {
        let max_text = max.to_string();
        let pairs = [("maxLineLength", max_text.as_str())];
        let expected = reference(&content, max);
        prop_assert_eq!(&all(&pairs, content.as_bytes(), &utf_8()), &expected);
        let wide: Vec<u8> = content.encode_utf16().flat_map(u16::to_be_bytes).collect();
        prop_assert_eq!(&all(&pairs, &wide, &text("UTF-16BE", OnBadText::Fail)), &expected);
    }

    #[test]
    fn ser_32_ser_34_ser_35_ser_36_from_each_place_the_rest_is_the_same(
        content in prop::collection::vec(any::<u8>(), 0..200),
        max in 1_u32..20,
    ) {
        let max_text = max.to_string();
        let pairs = [("maxLineLength", max_text.as_str())];
        let replace = text("UTF-8", OnBadText::Replace);
        let whole = all(&pairs, &content, &replace);
        let mut deserializer = started(&pairs, &content, &replace, Place::default());
        let mut n_read = 0;
        loop {
            let place = deserializer.place();
            let mut again = started(&pairs, &content, &replace, place);
            let (rest, _) = batch(&mut again, &content, usize::MAX);
            let rest: Vec<String> = rest.into_iter().map(|body| String::from_utf8(body).unwrap()).collect();
            prop_assert_eq!(&rest[..], &whole[n_read..]);
            if batch(&mut deserializer, &content, 1).0.is_empty() {
                break;
            }
            n_read += 1;
        }
        prop_assert_eq!(n_read, whole.len());
    }
}
