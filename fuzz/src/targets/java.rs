//! What a JDK does: charsets, numbers, dates, path escapes, regular expressions.

use flumen_java::{
    charset::{Charset, OnError},
    dates::{DateFormat, HostNames, JodaFormat, Locale, PathOptions, PathTemplate, Zone},
    number,
    regex::{Flags, Pattern},
};

/// The first line, and the rest.
fn two_parts(input: &[u8]) -> (String, &[u8]) {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let rest = input.get(at + 1..).unwrap_or_default();
    (String::from_utf8_lossy(&input[..at]).into_owned(), rest)
}

/// A charset's name, and bytes in it.
pub(super) fn charset(input: &[u8]) {
    let (name, bytes) = two_parts(input);
    let Ok(charset) = Charset::for_name(&name) else { return };
    for on_error in [OnError::Report, OnError::Replace, OnError::Ignore] {
        if let Ok(text) = charset.decode(bytes, on_error) {
            let _ = charset.encode(&text, on_error);
        }
    }
}

/// A text that may be a number, or a format.
pub(super) fn numbers(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let _ = (number::parse_int(&text), number::parse_long(&text), number::parse_double(&text));
    let arguments = [number::Arg::Long(-1), number::Arg::Double(1.5), number::Arg::Str("x")];
    let _ = number::format(number::FormatLocale::for_language_tag("en-US"), &text, &arguments);
}

/// A pattern, and a text to read with it.
pub(super) fn dates(input: &[u8]) {
    let (pattern, text) = two_parts(input);
    let text = String::from_utf8_lossy(text);
    for (locale, zone) in [("en_US", "America/New_York"), ("ar", "GMT+5:30"), ("zh_CN", "Asia/Shanghai")] {
        let (locale, zone) = (Locale::of_tag(locale), Zone::of_id(zone));
        if let Ok(format) = DateFormat::compile(&pattern, &locale, &zone) {
            let _ = format.parse(&text);
            let _ = format.clone().strict().parse(&text);
            for millis in [0, -1, 1_700_000_000_000, i64::MIN, i64::MAX] {
                let _ = format.parse(&format.format(millis));
            }
        }
        if let Ok(format) = JodaFormat::compile(&pattern, &locale, &zone, 1_700_000_000_000) {
            let _ = format.parse(&text);
        }
    }
}

/// A path with escapes.
pub(super) fn path(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let hosts = HostNames { localhost: "h".into(), ip: "127.0.0.1".into(), fqdn: "h.example".into() };
    let options = PathOptions { zone: Zone::utc(), locale: Locale::us(), rounding: None, hosts };
    let Ok(template) = PathTemplate::compile(&text, &options) else { return };
    let _ = (template.needs_timestamp(), template.headers().count(), template.as_constant());
    for now in [None, Some(1_700_000_000_000), Some(i64::MIN), Some(i64::MAX)] {
        let mut out = String::new();
        let _ = template.render(&mut out, |name| (name == "timestamp").then_some("1700000000000"), now);
    }
}

/// A pattern, and a text to search.
pub(super) fn regex(input: &[u8]) {
    let (pattern, text) = two_parts(input);
    for flags in [Flags::NONE, Flags::CASE_INSENSITIVE | Flags::MULTILINE, Flags::COMMENTS] {
        let Ok(pattern) = Pattern::compile(&pattern, flags) else { continue };
        if let Ok(Some((start, end))) = pattern.find(text) {
            assert!(start <= end && end <= text.len());
        }
        let mut captures = pattern.captures();
        let _ = pattern.matches(text, Some(&mut captures));
        let _ = pattern.replace_all(text, &pattern.replacement("<$0>"), &mut captures, &mut Vec::new());
        let _ = pattern.split(text, 0, &mut Vec::new());
    }
}
