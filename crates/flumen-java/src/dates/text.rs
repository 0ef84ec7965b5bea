//! Comparing and counting text as Java's date parser does: case of single characters, digits of any script.

/// The zero of each set of decimal digits in the basic plane (Unicode 13, as in JDK 17).
const ZEROS: [u32; 37] = [
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50,
    0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40,
    0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
];

/// Value of a decimal digit of any script.
pub(crate) fn digit(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.is_ascii_digit().then(|| c as u8 - b'0');
    }
    let c = u32::from(c);
    let zero = *ZEROS.get(ZEROS.partition_point(|zero| *zero <= c).checked_sub(1)?)?;
    (c - zero < 10).then_some((c - zero) as u8)
}

/// The length in bytes of what matches `name` at byte `at` of `text`, without regard to case.
pub(crate) fn matches_at(text: &str, at: usize, name: &str) -> Option<usize> {
    let rest = text.get(at..)?;
    let mut chars = rest.chars();
    for wanted in name.chars() {
        let c = chars.next()?;
        if c != wanted && fold(c) != fold(wanted) {
            return None;
        }
    }
    Some(rest.len() - chars.as_str().len())
}

/// Upper, then lower case, where that is a single character.
fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let single = |mut mapped: std::char::ToUppercase| match (mapped.next(), mapped.next()) {
        (Some(upper), None) => upper,
        _ => c,
    };
    let upper = single(c.to_uppercase());
    let mut lower = upper.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => upper,
    }
}

/// A whole number at byte `at`, as `java.text.DecimalFormat` reads it for dates: its value as Java's `intValue` gives it
/// and the byte after it. `end` is where the text ends for this field. `minus` is the sign in front of negative numbers.
pub(crate) fn number(text: &str, at: usize, end: usize, minus: &str) -> Option<(i32, usize)> {
    let window = text.get(at..end)?;
    let (negative, digits) = match window.strip_prefix(minus) {
        Some(rest) => (true, rest),
        None => (false, window),
    };
    let mut read = Digits::default();
    let mut used = read.take(digits);
    if used == 0 {
        return None;
    }
    if let Some(exponent) = digits[used..].strip_prefix('E') {
        let (sign, exponent_digits) = match exponent.strip_prefix(minus) {
            Some(rest) => (-1, rest),
            None => (1, exponent),
        };
        let mut power = Digits::default();
        let len = power.take(exponent_digits);
        if len > 0 {
            used += 1 + (exponent.len() - exponent_digits.len()) + len;
            return Some((scaled(read, power, sign, negative), at + (window.len() - digits.len()) + used));
        }
    }
    Some((read.int_value(negative), at + (window.len() - digits.len()) + used))
}

/// `1E3` is 1000 to Java's number reader; nobody writes it, but the text must end where Java ends it.
fn scaled(read: Digits, power: Digits, sign: i32, negative: bool) -> i32 {
    let power = i32::try_from(power.value.unwrap_or(u64::MAX)).unwrap_or(400).min(400) * sign;
    let value = read.value.unwrap_or(u64::MAX) as f64 * 10f64.powi(power);
    let value = if negative { -value } else { value };
    if value.abs() < 9.2e18 { value as i64 as i32 } else { value as i32 }
}

/// Decimal digits read so far; no value once they do not fit.
#[derive(Clone, Copy)]
struct Digits {
    value: Option<u64>,
}

impl Default for Digits {
    fn default() -> Self {
        Self { value: Some(0) }
    }
}

impl Digits {
    /// Takes digits from the front of `text` and says how many bytes they are.
    fn take(&mut self, text: &str) -> usize {
        for (index, c) in text.char_indices() {
            let Some(digit) = digit(c) else { return index };
            self.value = self.value.and_then(|value| value.checked_mul(10)?.checked_add(u64::from(digit)));
        }
        text.len()
    }

    /// What fits into 64 bits is cut to 32, what does not is the largest or smallest number.
    fn int_value(self, negative: bool) -> i32 {
        match self.value {
            Some(value) if value <= i64::MAX as u64 => {
                let value = value as i64 as i32;
                if negative { value.wrapping_neg() } else { value }
            }
            Some(value) if negative && value == 1 << 63 => 0,
            _ if negative => i32::MIN,
            _ => i32::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_any_script_count_and_letters_end_a_number() {
        assert_eq!(number("२०२४-01", 0, 15, "-"), Some((2024, 12)));
        assert_eq!(number("x-7", 1, 3, "-"), Some((-7, 3)));
        assert_eq!(number("1e3", 0, 3, "-"), Some((1, 1)));
        assert_eq!(number("1E3", 0, 3, "-"), Some((1000, 3)));
        assert_eq!(number("1E", 0, 2, "-"), Some((1, 1)));
        assert_eq!(number("-", 0, 1, "-"), None);
        assert_eq!(number("99999999999", 0, 11, "-"), Some((1_215_752_191, 11)));
        assert_eq!(number("99999999999999999999", 0, 20, "-"), Some((i32::MAX, 20)));
    }

    #[test]
    fn case_is_that_of_single_characters() {
        assert_eq!(matches_at("MÄRZ 1", 0, "März"), Some(5));
        assert_eq!(matches_at("ma", 0, "März"), None);
        assert_eq!(matches_at("ss", 0, "ß"), None);
    }
}
