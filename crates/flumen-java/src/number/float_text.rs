//! `Double.toString` and `Float.toString` as before JDK 19: not always the shortest text, so Rust's own will not do.
//!
//! The method is that of Steele and White as Java's `FloatingDecimal` has it: digits are taken until the rest is smaller than half
//! the distance to the next number, with a few early exits that this follows step by step.

use super::big::Big;

/// `Double.toString` of JDK 17.
pub fn double_to_string(value: f64) -> String {
    match special(value) {
        Some(text) => text.to_owned(),
        None => java_format(value < 0.0, &double_digits(value.abs(), true)),
    }
}

/// `Float.toString` of JDK 17.
pub fn float_to_string(value: f32) -> String {
    match special(f64::from(value)) {
        Some(text) => text.to_owned(),
        None => java_format(value < 0.0, &float_digits(value.abs())),
    }
}

fn special(value: f64) -> Option<&'static str> {
    Some(match value {
        v if v.is_nan() => "NaN",
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        v if v == 0.0 && v.is_sign_negative() => "-0.0",
        0.0 => "0.0",
        _ => return None,
    })
}

/// The value is 0.d₁d₂d₃… times ten to `exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    /// 0 to 9 each, at least one.
    pub(super) digits: Vec<u8>,
    pub(super) exponent: i32,
}

/// The digits of a positive, finite number. `short`: stop after the first digit if that is enough, as `toString` does.
pub(super) fn double_digits(value: f64, short: bool) -> Decimal {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    if field == 0 {
        let zeros = fraction.leading_zeros() as i32;
        let shift = zeros - 11;
        digits(1 - shift - 1023, fraction << shift, 64 - zeros, short)
    } else {
        digits(field - 1023, fraction | 1 << 52, 53, short)
    }
}

fn float_digits(value: f32) -> Decimal {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 23) as i32, u64::from(bits & ((1 << 23) - 1)));
    if field == 0 {
        let zeros = fraction.leading_zeros() as i32 - 32;
        let shift = zeros - 8;
        digits(1 - shift - 127, (fraction << shift) << 29, 32 - zeros, true)
    } else {
        digits(field - 127, (fraction | 1 << 23) << 29, 24, true)
    }
}

/// Bits of five to the powers 0 to 26.
const FIVE_BITS: [i32; 27] =
    [0, 3, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28, 31, 33, 35, 38, 40, 42, 45, 47, 49, 52, 54, 56, 59, 61];

fn five_bits(power: i32) -> i32 {
    FIVE_BITS.get(power as usize).copied().unwrap_or(power * 3)
}

/// `fraction`: 53 bits, the highest set; `binary`: the power of two of that bit; `significant`: how many bits are exact.
fn digits(binary: i32, fraction: u64, significant: i32, short: bool) -> Decimal {
    let tail = fraction.trailing_zeros() as i32;
    let n_bits = 53 - tail;
    let tiny = (n_bits - binary - 1).max(0);
    if (-21..=62).contains(&binary) && tiny == 0 {
        let insignificant =
            if binary > significant { insignificant_digits(binary - significant - 1) } else { 0 };
        let whole = if binary >= 52 { fraction << (binary - 52) } else { fraction >> (52 - binary) };
        return long_digits(whole, insignificant);
    }
    let mut exponent = estimate(fraction, binary);
    let b5 = (-exponent).max(0);
    let s5 = exponent.max(0);
    let mut b2 = b5 + tiny + binary;
    let mut s2 = s5 + tiny;
    let mut m2 = b2 - significant;
    let fraction = fraction >> tail;
    b2 -= n_bits - 1;
    let common = b2.min(s2);
    b2 -= common;
    s2 -= common;
    m2 -= common;
    // The next smaller number of a power of two is nearer.
    if n_bits == 1 {
        m2 -= 1;
    }
    if m2 < 0 {
        b2 -= m2;
        s2 -= m2;
        m2 = 0;
    }
    let scale = Scale { fraction, b5, b2, s5, s2, m2 };
    let b_bits = n_bits + b2 + five_bits(b5);
    let s_bits = s2 + 1 + five_bits(s5 + 1);
    let run = if b_bits < 32 && s_bits < 32 {
        small::<i32>(&scale, &mut exponent, short)
    } else if b_bits < 64 && s_bits < 64 {
        small::<i64>(&scale, &mut exponent, short)
    } else {
        large(&scale, &mut exponent, short)
    };
    let mut decimal = Decimal { digits: run.digits, exponent: exponent + 1 };
    let odd = decimal.digits.last().is_some_and(|d| d % 2 == 1);
    if run.high && (!run.low || run.difference > 0 || run.difference == 0 && odd) {
        round_up(&mut decimal);
    }
    decimal
}

/// The number is `fraction * 5^b5 * 2^b2`, over `5^s5 * 2^s2`; half a unit of its last place is `5^b5 * 2^m2` over the same.
struct Scale {
    fraction: u64,
    b5: i32,
    b2: i32,
    s5: i32,
    s2: i32,
    m2: i32,
}

struct Run {
    digits: Vec<u8>,
    low: bool,
    high: bool,
    /// Sign of the rest less one half.
    difference: i64,
}

/// Java's machine arithmetic: it wraps, and the method knows.
trait Machine: Copy + PartialOrd {
    fn wrap(value: i64) -> Self;
    fn wide(self) -> i64;
}

impl Machine for i32 {
    fn wrap(value: i64) -> Self {
        value as i32
    }
    fn wide(self) -> i64 {
        i64::from(self)
    }
}

impl Machine for i64 {
    fn wrap(value: i64) -> Self {
        value
    }
    fn wide(self) -> i64 {
        self
    }
}

fn small<T: Machine>(scale: &Scale, exponent: &mut i32, short: bool) -> Run {
    let five = |power: i32| 5_i64.wrapping_pow(power as u32);
    let shifted = |value: i64, by: i32| T::wrap(value.wrapping_shl(by as u32)).wide();
    let mut b = shifted(T::wrap((scale.fraction as i64).wrapping_mul(five(scale.b5))).wide(), scale.b2);
    let s = shifted(five(scale.s5), scale.s2);
    let mut m = shifted(five(scale.b5), scale.m2);
    let tens = T::wrap(s.wrapping_mul(10)).wide();
    let mut take = |m: &mut i64| {
        let q = (b / s) as u8;
        b = T::wrap((b % s).wrapping_mul(10)).wide();
        *m = T::wrap(m.wrapping_mul(10)).wide();
        let high = T::wrap(b.wrapping_add(*m)).wide() > tens;
        (q, b < *m, high, b)
    };
    let mut digits = Vec::new();
    let (q, mut low, mut high, mut rest) = take(&mut m);
    if q == 0 && !high {
        *exponent -= 1;
    } else {
        digits.push(q);
    }
    if !short || *exponent < -3 || *exponent >= 8 {
        (low, high) = (false, false);
    }
    while !low && !high {
        let q;
        (q, low, high, rest) = take(&mut m);
        if m <= 0 {
            (low, high) = (true, true);
        }
        digits.push(q);
    }
    Run { digits, low, high, difference: T::wrap(rest.wrapping_shl(1).wrapping_sub(tens)).wide() }
}

fn large(scale: &Scale, exponent: &mut i32, short: bool) -> Run {
    let s = Big::new(1, scale.s5 as u32, scale.s2 as u32);
    let mut b = Big::new(scale.fraction, scale.b5 as u32, scale.b2 as u32);
    let mut m = Big::new(1, scale.b5 as u32, scale.m2 as u32);
    let mut tens = s.clone();
    tens.times(10);
    let mut take = || {
        let q = b.divide(&s);
        b.times(10);
        m.times(10);
        (q, b < m, tens <= b.plus(&m), b.clone())
    };
    let mut digits = Vec::new();
    let (q, mut low, mut high, mut rest) = take();
    if q == 0 && !high {
        *exponent -= 1;
    } else {
        digits.push(q);
    }
    if !short || *exponent < -3 || *exponent >= 8 {
        (low, high) = (false, false);
    }
    while !low && !high {
        let q;
        (q, low, high, rest) = take();
        digits.push(q);
    }
    rest.times(2);
    Run { digits, low, high, difference: rest.cmp(&tens) as i64 }
}

/// The power of ten of the first digit, or one more.
#[expect(clippy::approx_constant, reason = "Java's own constant, of which the last digits matter")]
fn estimate(fraction: u64, binary: i32) -> i32 {
    let one_to_two = f64::from_bits(1023 << 52 | fraction & ((1 << 52) - 1));
    let log = (one_to_two - 1.5) * 0.289529654 + 0.176091259 + f64::from(binary) * 0.301029995663981;
    log.floor() as i32
}

/// How many decimal digits are below a bit of this weight: Java's table, which is short of the exact value in places.
fn insignificant_digits(power: i32) -> u32 {
    const DIGITS: [u32; 64] = [
        0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 9,
        10, 10, 10, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15, 15, 16, 16, 16, 17, 17,
        17, 18, 18, 18, 19,
    ];
    if power > 1 { DIGITS.get(power as usize).copied().unwrap_or(0) } else { 0 }
}

fn long_digits(value: u64, insignificant: u32) -> Decimal {
    let ten = 10_u64.pow(insignificant);
    let up = insignificant > 0 && value % ten >= ten / 2;
    let value = value / ten + u64::from(up);
    let mut digits: Vec<u8> = value.to_string().bytes().map(|b| b - b'0').collect();
    let exponent = digits.len() as i32 + insignificant as i32;
    while digits.len() > 1 && digits.last() == Some(&0) {
        digits.pop();
    }
    Decimal { digits, exponent }
}

/// Adds one to the last digit.
fn round_up(decimal: &mut Decimal) {
    for digit in decimal.digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    if let Some(first) = decimal.digits.first_mut() {
        *first = 1;
    }
    decimal.exponent += 1;
}

impl Decimal {
    /// Rounds half up to so many digits; nothing happens where there are not more, or `keep` is negative.
    pub(super) fn round(&mut self, keep: i32) {
        let Ok(keep) = usize::try_from(keep) else { return };
        let Some(next) = self.digits.get(keep).copied() else { return };
        self.digits.truncate(keep);
        if keep == 0 {
            self.digits.push(u8::from(next >= 5));
            self.exponent += i32::from(next >= 5);
        } else if next >= 5 {
            round_up(self);
        }
    }
}

fn java_format(negative: bool, decimal: &Decimal) -> String {
    let text: String = decimal.digits.iter().map(|d| char::from(b'0' + d)).collect();
    let mut out = String::from(if negative { "-" } else { "" });
    match decimal.exponent {
        e @ 1..=7 => {
            let whole = text.len().min(e as usize);
            out += &text[..whole];
            out.extend(std::iter::repeat_n('0', e as usize - whole));
            out.push('.');
            out += if whole < text.len() { &text[whole..] } else { "0" };
        }
        e @ -2..=0 => {
            out += "0.";
            out.extend(std::iter::repeat_n('0', -e as usize));
            out += &text;
        }
        e => {
            out += &text[..1];
            out.push('.');
            out += if text.len() > 1 { &text[1..] } else { "0" };
            out += &format!("E{}", e - 1);
        }
    }
    out
}
