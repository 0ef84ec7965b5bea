//! `java.util.UUID`.

use crate::number::digits::digit;
use md5::{Digest, Md5};
use std::fmt;

/// 128 bits; shown as `550e8400-e29b-41d4-a716-446655440000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Uuid {
    high: u64,
    low: u64,
}

/// Not a UUID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UuidError {
    /// Not five parts between four hyphens, or too long: Java's `IllegalArgumentException`.
    #[error("\"{0}\" is no UUID: it has five groups of hexadecimal digits with hyphens between them")]
    Shape(String),
    /// A part is no hexadecimal number: Java's `NumberFormatException`.
    #[error("\"{0}\" is no UUID: a group is not hexadecimal")]
    Digits(String),
}

impl Uuid {
    /// `new UUID(high, low)`.
    pub fn from_bits(high: u64, low: u64) -> Self {
        Self { high, low }
    }

    /// Version 4 from 16 random bytes: `UUID.randomUUID` once the random bytes are there.
    pub fn from_random_bytes(bytes: [u8; 16]) -> Self {
        Self::versioned(bytes, 4)
    }

    /// `UUID.nameUUIDFromBytes`: version 3, from the MD5 of the bytes.
    pub fn from_name(bytes: &[u8]) -> Self {
        Self::versioned(Md5::digest(bytes).into(), 3)
    }

    fn versioned(mut bytes: [u8; 16], version: u8) -> Self {
        bytes[6] = bytes[6] & 0x0F | version << 4;
        bytes[8] = bytes[8] & 0x3F | 0x80;
        let all = u128::from_be_bytes(bytes);
        Self { high: (all >> 64) as u64, low: all as u64 }
    }

    /// `UUID.fromString`: groups may be shorter, and longer ones lose their upper bits; at most 36 characters in all.
    pub fn parse(text: &str) -> Result<Self, UuidError> {
        let shape = || UuidError::Shape(text.chars().take(60).collect());
        if super::length(text) > 36 {
            return Err(shape());
        }
        let parts: Vec<&str> = text.split('-').collect();
        let [a, b, c, d, e] = parts[..] else { return Err(shape()) };
        let number = |part: &str, bits: u32| {
            group(part)
                .map(|value| value & (u64::MAX >> (64 - bits)))
                .ok_or_else(|| UuidError::Digits(text.to_owned()))
        };
        let high = number(a, 32)? << 32 | number(b, 16)? << 16 | number(c, 16)?;
        let low = number(d, 16)? << 48 | number(e, 48)?;
        Ok(Self { high, low })
    }

    /// Bits 12 to 15 of the upper half.
    pub fn version(self) -> u32 {
        (self.high >> 12 & 0xF) as u32
    }

    /// 2 for the usual layout; 0, 6 and 7 for others.
    pub fn variant(self) -> u32 {
        match self.low >> 61 {
            0..=3 => 0,
            4 | 5 => 2,
            other => other as u32,
        }
    }

    /// The upper and the lower 64 bits.
    pub fn bits(self) -> (u64, u64) {
        (self.high, self.low)
    }
}

/// `Long.parseLong(part, 16)` of a part without `-`: at most 63 bits, a `+` in front is accepted.
fn group(part: &str) -> Option<u64> {
    let digits = part.strip_prefix('+').unwrap_or(part);
    if digits.is_empty() {
        return None;
    }
    digits.chars().try_fold(0_u64, |value, c| {
        let next = value.checked_mul(16)? | u64::from(digit(c, 16)?);
        (next >> 63 == 0).then_some(next)
    })
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (h, l) = (self.high, self.low);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            h >> 32,
            h >> 16 & 0xFFFF,
            h & 0xFFFF,
            l >> 48,
            l & 0xFFFF_FFFF_FFFF
        )
    }
}
