//! `%e %f %g %a`: the digits of `toString`'s method, rounded half up.

use super::spec::Spec;
use super::{FormatError, FormatLocale, number, pad};
use crate::number::float_text::{Decimal, double_digits};

/// Writes a double.
pub(super) fn write(
    locale: FormatLocale,
    spec: &Spec<'_>,
    value: f64,
    out: &mut String,
) -> Result<(), FormatError> {
    if !value.is_finite() {
        let text = match (value.is_nan(), value < 0.0) {
            (true, _) => "NaN",
            (_, false) if spec.flags.has('+') => "+Infinity",
            (_, false) if spec.flags.has(' ') => " Infinity",
            (_, false) => "Infinity",
            (_, true) if spec.flags.has('(') => "(Infinity)",
            (_, true) => "-Infinity",
        };
        pad(spec, &if spec.is_upper() { text.to_ascii_uppercase() } else { text.to_owned() }, out);
        return Ok(());
    }
    let negative = value.is_sign_negative();
    let decimal = if value == 0.0 {
        Decimal { digits: vec![0], exponent: 1 }
    } else {
        double_digits(value.abs(), false)
    };
    let precision = spec.precision.unwrap_or(6);
    let text = match spec.conversion.to_ascii_lowercase() {
        'f' => fixed(decimal, precision, spec.flags.has('#')),
        'e' => scientific(decimal, precision, spec.flags.has('#')),
        'g' => general(decimal, precision.max(1)),
        _ if spec.precision.is_some() => {
            return Err(FormatError::Unsupported("%a with a precision".to_owned()));
        }
        _ => {
            write_hexadecimal(spec, negative, &hexadecimal(value.abs()), out);
            return Ok(());
        }
    };
    number(locale, spec, negative, &text, out)
}

fn fixed(mut decimal: Decimal, precision: usize, point: bool) -> String {
    decimal.round(decimal.exponent.saturating_add(precision as i32));
    let mut text = String::new();
    for place in (1..=decimal.exponent.max(1)).rev() {
        text.push(digit_at(&decimal, place));
    }
    if precision > 0 || point {
        text.push('.');
    }
    for place in 1..=precision as i32 {
        text.push(digit_at(&decimal, 1 - place));
    }
    text
}

/// The digit of a place: 1 is the units, 0 the tenths.
fn digit_at(decimal: &Decimal, place: i32) -> char {
    let index = usize::try_from(decimal.exponent - place).ok();
    let digit = index.and_then(|i| decimal.digits.get(i)).copied().unwrap_or(0);
    char::from(b'0' + digit)
}

fn scientific(mut decimal: Decimal, precision: usize, point: bool) -> String {
    decimal.round(precision as i32 + 1);
    let mut text = String::new();
    for i in 0..=precision {
        if i == 1 {
            text.push('.');
        }
        text.push(char::from(b'0' + decimal.digits.get(i).copied().unwrap_or(0)));
    }
    if precision == 0 && point {
        text.push('.');
    }
    let exponent = decimal.exponent - 1;
    let sign = if exponent < 0 { '-' } else { '+' };
    text + &format!("e{sign}{:02}", exponent.unsigned_abs())
}

fn general(decimal: Decimal, precision: usize) -> String {
    let mut rounded = decimal.clone();
    rounded.round(precision as i32);
    let exponent = rounded.exponent - 1;
    if exponent < -4 || exponent >= precision as i32 {
        scientific(decimal, precision - 1, false)
    } else {
        fixed(decimal, (precision as i32 - rounded.exponent).max(0) as usize, false)
    }
}

/// The zeros of the flag go after the `0x`; no locale's digits are used.
fn write_hexadecimal(spec: &Spec<'_>, negative: bool, digits: &str, out: &mut String) {
    let sign = match negative {
        true => "-",
        false if spec.flags.has('+') => "+",
        false if spec.flags.has(' ') => " ",
        false => "",
    };
    let missing = spec.width.unwrap_or(0).saturating_sub(sign.len() + 2 + digits.len());
    let zeros = "0".repeat(if spec.flags.has('0') { missing } else { 0 });
    let text = format!("{sign}0x{zeros}{digits}");
    pad(spec, &if spec.is_upper() { text.to_ascii_uppercase() } else { text }, out);
}

/// `Double.toHexString` without sign and `0x`.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    match (field, fraction) {
        (0, 0) => "0.0p0".to_owned(),
        (0, _) => format!("0.{digits}p-1022"),
        _ => format!("1.{digits}p{}", field - 1023),
    }
}
