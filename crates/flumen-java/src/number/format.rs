//! `String.format`: all conversions but dates (`%t`).

mod floats;
mod spec;

use super::float_text::double_to_string;
use crate::text;
use spec::{Flags, Spec, specs};

/// An argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg<'a> {
    /// `Integer`.
    Int(i32),
    /// `Long`.
    Long(i64),
    /// `Double`.
    Double(f64),
    /// `Boolean`.
    Bool(bool),
    /// `Character`.
    Char(char),
    /// `String`.
    Str(&'a str),
    /// `null`.
    Null,
}

/// A pattern that cannot be used, or not with these arguments; each is named as in Java.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// `UnknownFormatConversionException`.
    #[error("the format has the unknown conversion '{0}': write %% for a percent sign")]
    UnknownConversion(char),
    /// `MissingFormatArgumentException`.
    #[error("the format asks for an argument that is not there: {0}")]
    MissingArgument(String),
    /// `IllegalFormatConversionException`.
    #[error("the format's %{0} does not fit its argument")]
    WrongArgument(char),
    /// `MissingFormatWidthException`.
    #[error("the format needs a width in {0}")]
    MissingWidth(String),
    /// `FormatFlagsConversionMismatchException`.
    #[error("the format's %{0} cannot have the flag '{1}'")]
    FlagMismatch(char, char),
    /// `IllegalFormatPrecisionException`.
    #[error("the format's %{0} cannot have a precision")]
    Precision(char),
    /// `IllegalFormatFlagsException` and `DuplicateFormatFlagsException`.
    #[error("the format's flags exclude each other, or one is there twice: {0}")]
    Flags(String),
    /// `IllegalFormatWidthException`.
    #[error("the format's {0} cannot have a width")]
    Width(String),
    /// `IllegalFormatCodePointException`.
    #[error("{0:#x} is no character")]
    CodePoint(i32),
    /// A date conversion, a width or precision above [`MAX_WIDTH`], `%a` with a precision: Java has them, Flumen does not.
    #[error("the format's {0} is not supported")]
    Unsupported(String),
}

/// A width or precision above this is refused.
pub const MAX_WIDTH: usize = 100_000;

/// The signs that a locale writes numbers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatLocale {
    zero: char,
    group: char,
    point: char,
}

impl FormatLocale {
    /// English and the root locale.
    pub const ENGLISH: Self = Self { zero: '0', group: ',', point: '.' };

    /// By language tag: the languages of most of the world's Flume users, English for the rest.
    pub fn for_language_tag(tag: &str) -> Self {
        let (group, point) = match tag.split(['-', '_']).next().unwrap_or_default() {
            "ar" => return Self { zero: '\u{660}', group: '\u{66C}', point: '\u{66B}' },
            "de" if tag.ends_with("AT") => ('\u{A0}', ','),
            "de" if tag.ends_with("CH") || tag.ends_with("LI") => ('\u{2019}', '.'),
            "de" | "es" | "it" | "nl" | "tr" | "id" | "da" | "el" => ('.', ','),
            "pt" if tag.ends_with("PT") => ('\u{A0}', ','),
            "pt" => ('.', ','),
            "fr" => ('\u{202F}', ','),
            "ru" | "uk" | "pl" | "cs" | "sk" | "sv" | "fi" | "nb" | "no" | "hu" | "bg" => ('\u{A0}', ','),
            _ => return Self::ENGLISH,
        };
        Self { zero: '0', group, point }
    }
}

/// `String.format(locale, pattern, args)`. Half a surrogate pair (a precision can cut one) is U+FFFD.
pub fn format(locale: FormatLocale, pattern: &str, args: &[Arg<'_>]) -> Result<String, FormatError> {
    let (mut ordinary, mut last) = (0, None);
    let mut out = String::with_capacity(pattern.len());
    let pieces = specs(pattern)?;
    for (literal, spec) in pieces {
        out += literal;
        let Some(spec) = spec else { continue };
        match spec.conversion {
            'n' => out.push('\n'),
            '%' => pad(&spec, "%", &mut out),
            _ => {
                let index = match (spec.index, last) {
                    (_, last) if spec.flags.has('<') => last,
                    (Some(0) | None, _) => {
                        ordinary += 1;
                        Some(ordinary - 1)
                    }
                    (Some(n), _) => Some(n - 1),
                };
                last = index;
                let arg = index.and_then(|i| args.get(i));
                let arg = arg.ok_or_else(|| FormatError::MissingArgument(spec.text.to_owned()))?;
                one(locale, &spec, arg, &mut out)?;
            }
        }
    }
    Ok(out)
}

fn one(locale: FormatLocale, spec: &Spec<'_>, arg: &Arg<'_>, out: &mut String) -> Result<(), FormatError> {
    let wrong = || Err(FormatError::WrongArgument(spec.conversion));
    let text = match (spec.conversion.to_ascii_lowercase(), arg) {
        ('b', Arg::Bool(b)) => b.to_string(),
        ('b', _) => (*arg != Arg::Null).to_string(),
        (_, Arg::Null) => "null".to_owned(),
        ('s', _) => shown(arg),
        ('h', _) => format!("{:x}", hash(arg)),
        ('c', Arg::Char(c)) => c.to_string(),
        ('c', Arg::Int(i)) => match u32::try_from(*i) {
            Ok(cp @ 0..=0x10_FFFF) => char::from_u32(cp).unwrap_or(char::REPLACEMENT_CHARACTER).to_string(),
            _ => return Err(FormatError::CodePoint(*i)),
        },
        ('d', Arg::Int(i)) => return number(locale, spec, *i < 0, &i.unsigned_abs().to_string(), out),
        ('d', Arg::Long(l)) => return number(locale, spec, *l < 0, &l.unsigned_abs().to_string(), out),
        ('x', Arg::Int(i)) => return bits(spec, &format!("{i:x}"), "0x", out),
        ('x', Arg::Long(l)) => return bits(spec, &format!("{l:x}"), "0x", out),
        ('o', Arg::Int(i)) => return bits(spec, &format!("{i:o}"), "0", out),
        ('o', Arg::Long(l)) => return bits(spec, &format!("{l:o}"), "0", out),
        ('e' | 'f' | 'g' | 'a', Arg::Double(d)) => return floats::write(locale, spec, *d, out),
        _ => return wrong(),
    };
    let text = spec.precision.map_or_else(|| text.clone(), |units| cut(&text, units));
    let text = if spec.is_upper() { text::to_upper(&text, text::CaseLocale::English) } else { text };
    pad(spec, &text, out);
    Ok(())
}

fn shown(arg: &Arg<'_>) -> String {
    match arg {
        Arg::Int(i) => i.to_string(),
        Arg::Long(l) => l.to_string(),
        Arg::Double(d) => double_to_string(*d),
        Arg::Bool(b) => b.to_string(),
        Arg::Char(c) => c.to_string(),
        Arg::Str(s) => (*s).to_owned(),
        Arg::Null => "null".to_owned(),
    }
}

/// `hashCode()`
fn hash(arg: &Arg<'_>) -> i32 {
    let fold = |bits: u64| (bits ^ bits >> 32) as i32;
    match arg {
        Arg::Int(i) => *i,
        Arg::Long(l) => fold(*l as u64),
        Arg::Double(d) => fold(if d.is_nan() { 0x7FF8 << 48 } else { d.to_bits() }),
        Arg::Bool(b) => {
            if *b {
                1231
            } else {
                1237
            }
        }
        Arg::Char(c) => u32::from(*c) as i32,
        Arg::Str(s) => text::hash_code(s),
        Arg::Null => 0,
    }
}

/// The first units of a text.
fn cut(text: &str, units: usize) -> String {
    let mut left = units;
    let mut out = String::new();
    for c in text.chars() {
        match left.checked_sub(c.len_utf16()) {
            Some(rest) => left = rest,
            None => {
                if left > 0 {
                    out.push(char::REPLACEMENT_CHARACTER);
                }
                break;
            }
        }
        out.push(c);
    }
    out
}

fn pad(spec: &Spec<'_>, text: &str, out: &mut String) {
    let missing = spec.width.unwrap_or(0).saturating_sub(text::length(text));
    let blanks = std::iter::repeat_n(' ', missing);
    if spec.flags.has('-') {
        out.push_str(text);
        out.extend(blanks);
    } else {
        out.extend(blanks);
        out.push_str(text);
    }
}

/// Writes digits with sign, grouping and zeros. `digits` may have a `.`; grouping ends there.
fn number(
    locale: FormatLocale,
    spec: &Spec<'_>,
    negative: bool,
    digits: &str,
    out: &mut String,
) -> Result<(), FormatError> {
    let flags = spec.flags;
    let (before, after) = match (negative, flags.has('(')) {
        (true, true) => ("(", ")"),
        (true, false) => ("-", ""),
        (false, _) if flags.has('+') => ("+", ""),
        (false, _) if flags.has(' ') => (" ", ""),
        _ => ("", ""),
    };
    let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let mut body = String::new();
    for (i, c) in digits.char_indices() {
        match c {
            '0'..='9' => {
                body.push(local_digit(locale, c));
                let left = whole.saturating_sub(i + 1);
                if flags.has(',') && i < whole && left > 0 && left % 3 == 0 {
                    body.push(locale.group);
                }
            }
            '.' => body.push(locale.point),
            other => body.push(other),
        }
    }
    let missing = spec.width.unwrap_or(0).saturating_sub(before.len() + after.len() + text::length(&body));
    let zeros = if flags.has('0') { missing } else { 0 };
    let zeros: String = std::iter::repeat_n(locale.zero, zeros).collect();
    let text = format!("{before}{zeros}{body}{after}");
    pad(spec, &if spec.is_upper() { text.to_ascii_uppercase() } else { text }, out);
    Ok(())
}

fn local_digit(locale: FormatLocale, c: char) -> char {
    char::from_u32(u32::from(locale.zero) + (u32::from(c) - 0x30)).unwrap_or(c)
}

fn bits(spec: &Spec<'_>, digits: &str, prefix: &str, out: &mut String) -> Result<(), FormatError> {
    for flag in ['(', '+', ' ', ','] {
        if spec.flags.has(flag) {
            return Err(FormatError::FlagMismatch(spec.conversion, flag));
        }
    }
    let plain = Spec { flags: Flags::default().with_padding(spec.flags), ..spec.clone() };
    let prefix = if spec.flags.has('#') { prefix } else { "" };
    let missing = spec.width.unwrap_or(0).saturating_sub(prefix.len() + digits.len());
    let zeros = "0".repeat(if spec.flags.has('0') { missing } else { 0 });
    let text = format!("{prefix}{zeros}{digits}");
    pad(&plain, &if spec.is_upper() { text.to_ascii_uppercase() } else { text }, out);
    Ok(())
}
