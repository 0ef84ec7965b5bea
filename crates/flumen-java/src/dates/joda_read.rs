//! Matches a text against a Joda-Time pattern.

use super::joda::{Element, JodaError, JodaField, JodaFormat};
use super::joda_fields::Bucket;
use super::text::matches_at;
use super::zone::Zone;

/// Zone names that `z` reads, which are not those of the locale.
const ZONE_NAMES: [(&str, &str); 11] = [
    ("UTC", "UTC"),
    ("GMT", "UTC"),
    ("UT", "UTC"),
    ("EST", "America/New_York"),
    ("EDT", "America/New_York"),
    ("CST", "America/Chicago"),
    ("CDT", "America/Chicago"),
    ("MST", "America/Denver"),
    ("MDT", "America/Denver"),
    ("PST", "America/Los_Angeles"),
    ("PDT", "America/Los_Angeles"),
];

/// The longest id of a zone is well below.
const MAX_ZONE_ID: usize = 40;

pub(crate) fn parse(format: &JodaFormat, text: &str) -> Result<i64, JodaError> {
    let mut bucket = Bucket::new(&format.zone);
    let mut at = 0;
    for element in &format.elements {
        at = read(format, element, text, at, &mut bucket).map_err(JodaError::Malformed)?;
    }
    if at < text.len() {
        return Err(JodaError::Malformed(at));
    }
    bucket.instant()
}

/// The byte after what `element` takes at byte `at`, or the byte that is wrong.
fn read(
    format: &JodaFormat,
    element: &Element,
    text: &str,
    at: usize,
    bucket: &mut Bucket,
) -> Result<usize, usize> {
    match element {
        Element::Literal(literal) => matches_at(text, at, literal).map(|len| at + len).ok_or(at),
        Element::Number { field, max_digits, signed } => {
            let (value, end) = number(text, at, *max_digits, *signed).ok_or(at)?;
            bucket.save(*field, value);
            Ok(end)
        }
        Element::TwoDigitYear { field, pivot, lenient } => {
            let (value, end) = two_digit_year(text, at, *pivot, *lenient).ok_or(at)?;
            bucket.save(*field, value);
            Ok(end)
        }
        Element::Text(field) => {
            let (value, end) = name(format, *field, text, at).ok_or(at)?;
            bucket.save(*field, value);
            Ok(end)
        }
        Element::Fraction(max_digits) => {
            let digits = digits(text, at, *max_digits);
            if digits.is_empty() {
                return Err(at);
            }
            let padded = digits.bytes().chain(*b"00").take(3);
            bucket.save(
                JodaField::MillisOfSecond,
                padded.fold(0, |value, digit| value * 10 + i32::from(digit - b'0')),
            );
            Ok(at + digits.len())
        }
        Element::Offset => offset(text, at, bucket),
        Element::ZoneId => {
            let rest = &text.as_bytes()[at..];
            let part_of_id = |b: &&u8| b.is_ascii_alphanumeric() || b"+-_/".contains(b);
            let longest = rest.iter().take(MAX_ZONE_ID).take_while(part_of_id).count();
            let (zone, len) = (1..=longest)
                .rev()
                .find_map(|len| Some((Zone::find(&text[at..at + len])?, len)))
                .ok_or(at)?;
            bucket.set_zone(zone);
            Ok(at + len)
        }
        Element::ZoneName => {
            let found = ZONE_NAMES.iter().find(|(name, _)| text[at..].starts_with(name)).ok_or(at)?;
            bucket.set_zone(Zone::of_id(found.1));
            Ok(at + found.0.len())
        }
    }
}

/// At most `max` ASCII digits at byte `at`.
fn digits(text: &str, at: usize, max: usize) -> &str {
    let rest = &text[at..];
    let count = rest.bytes().take(max).take_while(u8::is_ascii_digit).count();
    &rest[..count]
}

/// A number of at most `max` digits; the sign does not count.
fn number(text: &str, at: usize, max: usize, signed: bool) -> Option<(i32, usize)> {
    let sign = text[at..].chars().next().filter(|c| signed && matches!(c, '+' | '-'));
    let start = at + sign.map_or(0, char::len_utf8);
    let digits = digits(text, start, max);
    let value: i32 = digits.parse().ok()?;
    Some((if sign == Some('-') { -value } else { value }, start + digits.len()))
}

/// Two digits are put into the window. Lenient reading takes other lengths and a sign literally.
fn two_digit_year(text: &str, at: usize, pivot: i32, lenient: bool) -> Option<(i32, usize)> {
    if lenient {
        let (value, end) = number(text, at, text.len(), true)?;
        if end - at != 2 || !text.as_bytes()[at].is_ascii_digit() {
            return Some((value, end));
        }
    }
    let digits = digits(text, at, 2);
    if digits.len() < 2 {
        return None;
    }
    let value: i32 = digits.parse().ok()?;
    let low = pivot - 50;
    let of_low = low.rem_euclid(100);
    Some((value + low + if value < of_low { 100 } else { 0 } - of_low, at + 2))
}

/// The longest name, short or long, as it is or in upper or lower case as a whole.
fn name(format: &JodaFormat, field: JodaField, text: &str, at: usize) -> Option<(i32, usize)> {
    let names = format.locale.names;
    let lists: [(i32, &[&str]); 2] = match field {
        JodaField::Era => [(0, &names.eras_short), (0, &["BCE", "CE"])],
        JodaField::MonthOfYear => [(1, &names.months_short), (1, &names.months_long)],
        JodaField::HalfDayOfDay => [(0, &names.halves), (0, &[])],
        // Sunday is first in the lists and 0 here: 7.
        _ => [(0, &names.days_short), (0, &names.days_long)],
    };
    let mut best: Option<(i32, usize)> = None;
    for (first, list) in lists {
        for (value, name) in (first..).zip(list.iter()) {
            let Some(len) = matches_at(text, at, name).filter(|len| best.is_none_or(|best| *len > best.1))
            else {
                continue;
            };
            let found = &text[at..at + len];
            if found == *name || found == name.to_uppercase() || found == name.to_lowercase() {
                best = Some((value, len));
            }
        }
    }
    let (value, len) = best?;
    let value = if field == JodaField::DayOfWeek && value == 0 { 7 } else { value };
    Some((value, at + len))
}

/// `Z`, `+hh`, `+hhmm`, `+hh:mm`, and so on down to milliseconds.
fn offset(text: &str, at: usize, bucket: &mut Bucket) -> Result<usize, usize> {
    if let Some(len) = matches_at(text, at, "Z") {
        bucket.set_offset(0);
        return Ok(at + len);
    }
    let bytes = text.as_bytes();
    let negative = match bytes.get(at) {
        Some(b'-') => true,
        Some(b'+') => false,
        _ => return Err(at),
    };
    if bytes.len() - at < 2 {
        return Err(at);
    }
    let mut at = at + 1;
    let two = |at: usize, max: i32| {
        let digits = digits(text, at, 2);
        let value = digits.parse::<i32>().ok().filter(|value| digits.len() == 2 && *value <= max);
        value.ok_or(at)
    };
    let mut total = two(at, 23)? * 3_600_000;
    at += 2;
    let colon = bytes.get(at) == Some(&b':');
    for unit in [60_000, 1000] {
        if colon && bytes.get(at) == Some(&b':') {
            at += 1;
        } else if colon || digits(text, at, 1).is_empty() {
            bucket.set_offset(if negative { -total } else { total });
            return Ok(at);
        }
        total += two(at, 59)? * unit;
        at += 2;
    }
    let fraction_at = match bytes.get(at) {
        Some(b'.' | b',') if colon => at + 1,
        Some(_) if !colon => at,
        _ => bytes.len(),
    };
    let fraction = digits(text, fraction_at, 3);
    if fraction.is_empty() && fraction_at > at && fraction_at < bytes.len() {
        return Err(fraction_at);
    }
    if !fraction.is_empty() {
        total += fraction
            .bytes()
            .chain(*b"00")
            .take(3)
            .fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
        at = fraction_at + fraction.len();
    }
    bucket.set_offset(if negative { -total } else { total });
    Ok(at)
}
