//! `Integer.valueOf` and its like.

use super::digits::digit;
use super::hex_float;

/// Not a number of that type: Java's `NumberFormatException`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not {what}")]
pub struct NumberError {
    /// What was read, cut after 100 characters.
    pub text: String,
    /// What it should be, with its range.
    pub what: &'static str,
}

fn wrong(text: &str, what: &'static str) -> NumberError {
    NumberError { text: text.chars().take(100).collect(), what }
}

/// `Integer.valueOf`: one sign, then digits of any script. No blanks.
pub fn parse_int(text: &str) -> Result<i32, NumberError> {
    integer(text, 10)
        .and_then(|v| i32::try_from(v).ok())
        .ok_or_else(|| wrong(text, "a whole number from -2147483648 to 2147483647"))
}

/// `Long.valueOf`: like [`parse_int`].
pub fn parse_long(text: &str) -> Result<i64, NumberError> {
    parse_long_radix(text, 10)
}

/// `Long.parseLong(text, radix)`, radix 2 to 36.
pub fn parse_long_radix(text: &str, radix: u32) -> Result<i64, NumberError> {
    integer(text, radix).ok_or_else(|| wrong(text, "a whole number of at most 64 bits"))
}

fn integer(text: &str, radix: u32) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    digits.chars().try_fold(0_i64, |value, c| {
        let d = i64::from(digit(c, radix)?);
        let value = value.checked_mul(i64::from(radix))?;
        if negative { value.checked_sub(d) } else { value.checked_add(d) }
    })
}

/// `Boolean.valueOf`: `true` in any case, everything else is false.
pub fn parse_boolean(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}

/// `Double.valueOf`: blanks around it, `1.`, `.5`, `1e3`, a last `d` or `f`, `NaN`, `Infinity`, hexadecimal with `p`.
pub fn parse_double(text: &str) -> Result<f64, NumberError> {
    match shape(text) {
        Some(Shape::Decimal(number)) => number.parse().ok(),
        Some(Shape::Hex(number)) => hex_float::double(number),
        Some(Shape::Special(value)) => Some(value),
        None => None,
    }
    .ok_or_else(|| wrong(text, "a number"))
}

/// `Float.valueOf`: like [`parse_double`], rounded once.
pub fn parse_float(text: &str) -> Result<f32, NumberError> {
    match shape(text) {
        Some(Shape::Decimal(number)) => number.parse().ok(),
        Some(Shape::Hex(number)) => hex_float::float(number),
        Some(Shape::Special(value)) => Some(value as f32),
        None => None,
    }
    .ok_or_else(|| wrong(text, "a number"))
}

enum Shape<'a> {
    /// What Rust reads the same way.
    Decimal(&'a str),
    /// Sign, `0x`, digits, `p`, exponent; checked by its reader.
    Hex(&'a str),
    Special(f64),
}

fn shape(text: &str) -> Option<Shape<'_>> {
    let text = crate::text::trim(text);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    match unsigned {
        "NaN" => return Some(Shape::Special(f64::NAN)),
        "Infinity" if negative => return Some(Shape::Special(f64::NEG_INFINITY)),
        "Infinity" => return Some(Shape::Special(f64::INFINITY)),
        _ => {}
    }
    let without_suffix = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
    if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        return Some(Shape::Hex(without_suffix));
    }
    let number = &without_suffix[without_suffix.len().min(text.len() - unsigned.len())..];
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(at) => (&number[..at], Some(&number[at + 1..])),
        None => (number, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let exponent_is_good = exponent.is_none_or(|e| {
        let digits = e.strip_prefix(['+', '-']).unwrap_or(e);
        !digits.is_empty() && all_digits(digits)
    });
    let good =
        all_digits(whole) && all_digits(fraction) && whole.len() + fraction.len() > 0 && exponent_is_good;
    good.then_some(Shape::Decimal(without_suffix))
}
