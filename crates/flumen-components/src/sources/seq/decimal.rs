//! A number in decimal digits that is counted up in place: a fraction of the cost of formatting each one.

/// Digits of the largest `u64`.
pub(super) const MOST_DIGITS: usize = 20;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Decimal {
    digits: [u8; MOST_DIGITS],
    /// Where the number begins in `digits`.
    start: usize,
}

impl Decimal {
    /// Zero.
    pub(super) fn new() -> Self {
        Self { digits: [b'0'; MOST_DIGITS], start: MOST_DIGITS - 1 }
    }

    /// The number's digits, without leading zeros.
    pub(super) fn text(&self) -> &[u8] {
        &self.digits[self.start..]
    }

    /// The next number. After twenty nines comes zero.
    pub(super) fn increment(&mut self) {
        for place in (0..MOST_DIGITS).rev() {
            if self.digits[place] < b'9' {
                self.digits[place] += 1;
                self.start = self.start.min(place);
                return;
            }
            self.digits[place] = b'0';
        }
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_as_formatting_does() {
        let mut decimal = Decimal::new();
        for n in 0..12_345_u32 {
            assert_eq!(decimal.text(), n.to_string().as_bytes());
            decimal.increment();
        }
    }

    #[test]
    fn it_begins_again_after_its_last_number() {
        let mut decimal = Decimal { digits: [b'9'; MOST_DIGITS], start: 0 };
        decimal.increment();
        assert_eq!(decimal.text(), b"0");
    }
}
