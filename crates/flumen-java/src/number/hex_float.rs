//! Hexadecimal floating point numbers such as `0x1.8p3`, rounded to the nearest even as Java does.

/// Reads `[+-]0x…p…` as a double.
pub(super) fn double(text: &str) -> Option<f64> {
    let parts = parts(text)?;
    let bits = pack(&parts, 52, 1023);
    Some(f64::from_bits(bits | u64::from(parts.negative) << 63))
}

/// Reads it as a float.
pub(super) fn float(text: &str) -> Option<f32> {
    let parts = parts(text)?;
    let bits = pack(&parts, 23, 127) as u32;
    Some(f32::from_bits(bits | u32::from(parts.negative) << 31))
}

/// The value is `mantissa * 2^exponent`, a little more if `sticky`.
struct Parts {
    negative: bool,
    mantissa: u64,
    sticky: bool,
    exponent: i64,
}

fn parts(text: &str) -> Option<Parts> {
    let negative = text.starts_with('-');
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let body = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X"))?;
    let (digits, power) = body.split_once(['p', 'P'])?;
    let power_digits = power.strip_prefix(['+', '-']).unwrap_or(power);
    if power_digits.is_empty() || !power_digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let power = power_digits.parse::<i64>().unwrap_or(i64::MAX).min(1 << 40);
    let power = if body.contains("p-") || body.contains("P-") { -power } else { power };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut mantissa, mut sticky, mut exponent) = (0_u64, false, power);
    for (in_fraction, c) in whole.chars().map(|c| (false, c)).chain(fraction.chars().map(|c| (true, c))) {
        let digit = u64::from(c.to_digit(16)?);
        if mantissa >> 58 == 0 {
            mantissa = mantissa << 4 | digit;
            exponent -= if in_fraction { 4 } else { 0 };
        } else {
            sticky |= digit != 0;
            exponent += if in_fraction { 0 } else { 4 };
        }
    }
    Some(Parts { negative, mantissa, sticky, exponent })
}

/// The bits without the sign of a number with `fraction_bits` and this exponent bias.
fn pack(parts: &Parts, fraction_bits: i64, bias: i64) -> u64 {
    let infinity = (2 * bias as u64 + 1) << fraction_bits;
    if parts.mantissa == 0 {
        return 0;
    }
    let top = 63 - i64::from(parts.mantissa.leading_zeros()) + parts.exponent;
    if top > bias {
        return infinity;
    }
    // The weight of the last bit that can be kept: that of a subnormal at least.
    let last = (top - fraction_bits).max(1 - bias - fraction_bits);
    let shift = last - parts.exponent;
    let (kept, rest, half) = if shift <= 0 {
        (u128::from(parts.mantissa) << -shift, 0, 0)
    } else if shift > 64 {
        (0, 1, 2)
    } else {
        let wide = u128::from(parts.mantissa);
        (wide >> shift, wide & ((1 << shift) - 1), 1_u128 << (shift - 1))
    };
    let up = rest > half && half > 0 || half > 0 && rest == half && (parts.sticky || kept & 1 == 1);
    let kept = kept as u64 + u64::from(up);
    let is_normal = top >= 1 - bias;
    let exponent_field = if is_normal { (top + bias - 1) as u64 } else { 0 };
    // A carry out of the fraction goes on into the exponent, as it should; a normal number brings its hidden bit along.
    kept + (exponent_field << fraction_bits)
}
