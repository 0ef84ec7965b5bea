//! Java's numbers: how `valueOf` reads them, how `toString` and `String.format` write them, and how they are cast and rounded.

mod big;
pub mod digits;
mod float_text;
pub mod format;
mod hex_float;
mod parse;
#[cfg(test)]
mod tests;

pub use float_text::{double_to_string, float_to_string};
pub use format::{Arg, FormatError, FormatLocale, format};
pub use parse::{
    NumberError, parse_boolean, parse_double, parse_float, parse_int, parse_long, parse_long_radix,
};

/// `Math.round(double)`: half up (towards positive infinity), clamped to the range, NaN is 0.
pub fn round(value: f64) -> i64 {
    let floor = value.floor();
    let up = value - floor >= 0.5;
    (floor as i64).saturating_add(i64::from(up))
}

/// `(int) value`: cut towards zero, clamped, NaN is 0.
pub fn double_to_int(value: f64) -> i32 {
    value as i32
}

/// `(long) value`: cut towards zero, clamped, NaN is 0.
pub fn double_to_long(value: f64) -> i64 {
    value as i64
}
