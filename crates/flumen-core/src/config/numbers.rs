//! Truth values and numbers, as Java reads them, and remarks behind them forgiven.

use std::num::{NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use super::property::PropertyValue;

/// Reads what Java's `Integer.valueOf` reads of trimmed text: an optional sign and digits.
pub(super) fn whole(text: &str, least: i128, most: i128) -> Result<i128, String> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("expected a whole number".to_owned());
    }
    match text.parse::<i128>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("expected a number from {least} to {most}")),
    }
}

/// The text before a remark (`128 # MB`, `true // on`), if there is one.
pub(super) fn without_remark(text: &str) -> Option<&str> {
    let text = text.trim();
    let starts = text.match_indices(['#', '/', ';']).find(|(at, _)| {
        let rest = &text[*at..];
        let begins = rest.starts_with('#') || rest.starts_with("//") || rest.starts_with(';');
        begins && text[..*at].ends_with([' ', '\t'])
    });
    starts.map(|(at, _)| text[..at].trim_end())
}

/// Parses the text before a remark.
pub(super) fn forgive_remark<T: PropertyValue>(text: &str) -> Option<(T, String)> {
    let text = without_remark(text)?;
    Some((T::parse(text).ok()?, text.to_owned()))
}

impl PropertyValue for bool {
    const KIND: &'static str = "`true` or `false`";

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            text if text.eq_ignore_ascii_case("true") => Ok(true),
            text if text.eq_ignore_ascii_case("false") => Ok(false),
            _ => Err("expected a truth value".to_owned()),
        }
    }

    /// Java's `Boolean.parseBoolean` takes everything but `true` for false.
    fn forgive(text: &str) -> Option<(Self, String)> {
        forgive_remark(text).or_else(|| Some((false, "false".to_owned())))
    }
}

/// A whole number of one Rust type.
macro_rules! whole_numbers {
    ($($type:ty),*) => { $(
        impl PropertyValue for $type {
            const KIND: &'static str = "a whole number";

            fn parse(text: &str) -> Result<Self, String> {
                let number = whole(text, <$type>::MIN as i128, <$type>::MAX as i128)?;
                <$type>::try_from(number).map_err(|error| error.to_string())
            }

            fn forgive(text: &str) -> Option<(Self, String)> {
                forgive_remark(text)
            }
        }
    )* };
}
whole_numbers!(u8, u16, u32, u64, usize, i32, i64);

/// A whole number that is not 0.
macro_rules! nonzero_numbers {
    ($($type:ident: $plain:ty),*) => { $(
        impl PropertyValue for $type {
            const KIND: &'static str = "a whole number above 0";

            fn parse(text: &str) -> Result<Self, String> {
                let number = whole(text, 1, <$plain>::MAX as i128)?;
                let plain = <$plain>::try_from(number).map_err(|error| error.to_string())?;
                $type::new(plain).ok_or_else(|| "expected a number above 0".to_owned())
            }

            fn forgive(text: &str) -> Option<(Self, String)> {
                forgive_remark(text)
            }
        }
    )* };
}
nonzero_numbers!(NonZeroU16: u16, NonZeroU32: u32, NonZeroU64: u64, NonZeroUsize: usize);

impl PropertyValue for f64 {
    const KIND: &'static str = "a number";

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // Java allows the suffix of its literals.
        let digits = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
        let allowed = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
        match digits.parse::<f64>() {
            Ok(number) if digits.bytes().all(allowed) && number.is_finite() => Ok(number),
            _ => Err("expected a number like `0.5`".to_owned()),
        }
    }

    fn forgive(text: &str) -> Option<(Self, String)> {
        forgive_remark(text)
    }
}

impl PropertyValue for String {
    const KIND: &'static str = "text";

    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl PropertyValue for PathBuf {
    const KIND: &'static str = "a path";

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("it is empty".to_owned()),
            text if text.contains('\0') => Err("it holds a zero character".to_owned()),
            text => Ok(PathBuf::from(text)),
        }
    }
}
