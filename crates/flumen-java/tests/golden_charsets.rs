//! Charsets against what a JDK's do.
#![allow(clippy::unwrap_used, reason = "what does not unwrap fails the test")]

mod golden;

use flumen_java::charset::{Charset, CodingError, NameError, OnError};
use golden::{Verdict, rows, unhex};

fn text(hex: &str) -> String {
    match hex.strip_prefix("utf16:") {
        Some(units) => golden::units(units),
        None => String::from_utf8(unhex(hex)).unwrap(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// `kind length@position`, as the golden files write it.
fn shown(error: &CodingError) -> String {
    format!("{} {}@{}", error.kind, error.length, error.position)
}

#[test]
fn names_and_aliases_are_java_s() {
    let mut verdict = Verdict::new("names", &[]);
    let names = golden::read("charsets/names.tsv");
    for row in rows(&names) {
        for name in std::iter::once(row[0]).chain(row[1].split_whitespace()) {
            let got = match Charset::for_name(name) {
                Ok(charset) => charset.name(),
                Err(NameError::Unsupported(canonical)) => canonical,
                Err(_) => "unknown",
            };
            verdict.check(row[0], name, got, row[0]);
        }
    }
    verdict.settle(900);
}

#[test]
fn look_ups_answer_as_in_java() {
    let mut verdict = Verdict::new("lookup", &[]);
    let lookups = golden::read("charsets/lookup.tsv");
    for row in rows(&lookups) {
        let got = match Charset::for_name(row[1]) {
            Ok(charset) => charset.name(),
            Err(NameError::Unsupported(canonical)) => canonical,
            Err(NameError::Unknown(_)) => "!UnsupportedCharsetException",
            Err(NameError::Illegal(_)) => "!IllegalCharsetNameException",
        };
        verdict.check(row[0], row[1], got, row[2]);
    }
    verdict.settle(558);
}

/// Decodes with pieces of `size` bytes.
fn in_pieces(
    charset: Charset,
    bytes: &[u8],
    size: usize,
    on_error: OnError,
) -> (Result<(), CodingError>, String) {
    let mut decoder = charset.decoder(on_error);
    let mut out = String::new();
    let mut result = Ok(());
    for piece in bytes.chunks(size) {
        result = result.and_then(|()| decoder.decode(piece, false, &mut out));
    }
    (result.and_then(|()| decoder.decode(&[], true, &mut out)), out)
}

fn by_character(charset: Charset, bytes: &[u8], on_error: OnError) -> String {
    let mut decoder = charset.decoder(on_error);
    let (mut out, mut at) = (String::new(), 0);
    let mut there = 0;
    loop {
        // As a reader would: more bytes only when they are asked for.
        match decoder.next_char(&bytes[at..there], there == bytes.len()).unwrap() {
            Some((c, n)) => {
                out.push(c);
                at += n;
            }
            None if there == bytes.len() => return out,
            None => there += 1,
        }
    }
}

#[test]
fn decoding_gives_java_s_texts_and_errors() {
    let mut verdict = Verdict::new("decode", &[]);
    let decode = golden::read("charsets/decode.tsv.gz");
    for row in rows(&decode) {
        let (id, bytes) = (row[0], unhex(row[2]));
        let charset = Charset::for_name(row[1]).unwrap();
        let expected = match row[3].strip_prefix("ok ") {
            Some(hex) => ("ok".to_owned(), text(hex)),
            None => {
                let (error, after) = row[3].split_once(" after ").unwrap();
                (error.to_owned(), text(after))
            }
        };
        let replaced = if row[4] == "=" { expected.1.clone() } else { text(row[4]) };
        let ignored = if row[5] == "=" { replaced.clone() } else { text(row[5]) };
        for size in [1, 2, 3, usize::MAX] {
            let (result, out) = in_pieces(charset, &bytes, size, OnError::Report);
            let got = result.map_or_else(|e| shown(&e), |()| "ok".to_owned());
            verdict.check(id, "report", (got, out), expected.clone());
            let (_, out) = in_pieces(charset, &bytes, size, OnError::Replace);
            verdict.check(id, "replace", out, replaced.clone());
            let (_, out) = in_pieces(charset, &bytes, size, OnError::Ignore);
            verdict.check(id, "ignore", out, ignored.clone());
        }
        verdict.check(
            id,
            "whole",
            charset.decode(&bytes, OnError::Replace).unwrap().into_owned(),
            replaced.clone(),
        );
        verdict.check(id, "by character", by_character(charset, &bytes, OnError::Replace), replaced);
        assert_eq!(row[6], "=", "new String differs from replace in {id}");
    }
    verdict.settle(6000 * 14);
}

#[test]
fn encoding_gives_java_s_bytes_and_errors() {
    let mut verdict = Verdict::new("encode", &[]);
    let encode = golden::read("charsets/encode.tsv");
    for row in rows(&encode) {
        let (id, text) = (row[0], text(row[2]));
        let charset = Charset::for_name(row[1]).unwrap();
        let (error, bytes) = row[3].split_once(" after ").or_else(|| row[3].split_once(' ')).unwrap();
        let mut out = Vec::new();
        let mut encoder = charset.encoder(OnError::Report);
        let result = encoder.encode(&text, &mut out);
        if result.is_ok() {
            encoder.finish(&mut out);
        }
        let got = result.map_or_else(|e| shown(&e), |()| "ok".to_owned());
        verdict.check(id, "report", (got, hex(&out)), (error.to_owned(), bytes.to_owned()));
        let replaced = if row[4] == "=" { bytes } else { row[4] };
        let ignored = if row[5] == "=" { replaced } else { row[5] };
        for (on_error, expected) in [(OnError::Replace, replaced), (OnError::Ignore, ignored)] {
            verdict.check(id, "whole", hex(&charset.encode(&text, on_error).unwrap()), expected.to_owned());
            let mut encoder = charset.encoder(on_error);
            let mut out = Vec::new();
            for c in text.chars() {
                encoder.encode(c.encode_utf8(&mut [0; 4]), &mut out).unwrap();
            }
            encoder.finish(&mut out);
            verdict.check(id, "by character", hex(&out), expected.to_owned());
        }
        assert_eq!(row[6], "=", "getBytes differs from replace in {id}");
    }
    verdict.settle(3000 * 5);
}

#[test]
fn one_byte_charsets_have_java_s_tables() {
    let mut verdict = Verdict::new("single", &[]);
    let single = golden::read("charsets/single.tsv");
    for row in rows(&single) {
        let charset = Charset::for_name(row[0]).unwrap();
        for (byte, expected) in row[1].split(' ').enumerate() {
            let got = match charset.decode(&[byte as u8], OnError::Report) {
                Ok(text) => format!("{:X}", text.chars().map(u32::from).next().unwrap()),
                Err(e) if e.kind == flumen_java::charset::ErrorKind::Malformed => "-".to_owned(),
                Err(_) => "?".to_owned(),
            };
            verdict.check(row[0], &format!("{byte:02X}"), got, expected.to_owned());
        }
    }
    verdict.settle(80 * 256);
}

#[test]
fn two_byte_charsets_have_java_s_tables() {
    let mut verdict = Verdict::new("double", &[]);
    let double = golden::read("charsets/double.tsv.gz");
    for row in rows(&double) {
        let charset = Charset::for_name(row[0]).unwrap();
        let lead = u8::from_str_radix(row[1], 16).unwrap();
        let mut expected = vec![None; 256];
        let hex = |text: &str| u32::from_str_radix(text, 16).unwrap();
        let mut rest = row[2];
        while !rest.is_empty() {
            if rest.as_bytes()[2] == b'=' {
                let end = rest.find(' ').unwrap_or(rest.len());
                let text =
                    rest[3..end].split('+').map(|cp| char::from_u32(hex(cp)).unwrap()).collect::<String>();
                expected[hex(&rest[..2]) as usize] = Some(text);
                rest = rest[end..].trim_start_matches(' ');
            } else {
                let (first, last) = (hex(&rest[..2]), hex(&rest[3..5]));
                let mut chars = rest[6..].chars();
                for trail in first..=last {
                    expected[trail as usize] = Some(chars.next().unwrap().to_string());
                }
                rest = chars.as_str().strip_prefix(' ').unwrap_or(chars.as_str());
            }
        }
        for (trail, expected) in expected.into_iter().enumerate() {
            let got = charset.decode(&[lead, trail as u8], OnError::Report).ok().map(|t| t.into_owned());
            verdict.check(row[0], &format!("{lead:02X}{trail:02X}"), got, expected);
        }
    }
    verdict.settle(700 * 256);
}

#[test]
fn one_way_encodings_are_java_s() {
    let mut verdict = Verdict::new("oneway", &[]);
    let oneway = golden::read("charsets/oneway.tsv");
    let mut unsupported = 0;
    for row in rows(&oneway) {
        let Ok(charset) = Charset::for_name(row[0]) else {
            unsupported += 1;
            continue;
        };
        for entry in row[1].split(' ').take_while(|e| *e != "...") {
            let (cp, rest) = entry.split_once('=').unwrap();
            let (bytes, back) = rest.split_once('>').unwrap();
            let c = char::from_u32(u32::from_str_radix(cp, 16).unwrap()).unwrap();
            let got = charset.encode(&c.to_string(), OnError::Report).unwrap().into_owned();
            verdict.check(row[0], cp, hex(&got), bytes.to_owned());
            let back: String = back
                .split('+')
                .map(|cp| char::from_u32(u32::from_str_radix(cp, 16).unwrap()).unwrap())
                .collect();
            let again = charset.decode(&got, OnError::Replace).unwrap().into_owned();
            verdict.check(row[0], cp, again, back);
        }
    }
    assert!(unsupported < 30, "{unsupported} charsets of the list are not supported");
    verdict.settle(1500);
}
