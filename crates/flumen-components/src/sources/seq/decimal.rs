//! A number in decimal digits that is counted up in place: a fraction of the cost of formatting each one.

/// Digits of the largest `u64`.
pub(super) const MOST_DIGITS: usize = 20;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Decimal {
    /// The number's digits from the left, without the last one, and whatever behind them.
    digits: [u8; MOST_DIGITS],
    /// The last digit, by itself: what was just written in part is slow to read whole.
    last: u8,
    len: usize,
}

impl Decimal {
    /// Zero.
    pub(super) fn new() -> Self {
        Self { digits: [b'0'; MOST_DIGITS], last: b'0', len: 1 }
    }

    /// How many digits the number has.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Writes the digits, and something behind them: a copy of fixed length is a few instructions, one of any length a call.
    pub(super) fn write(&self, out: &mut [u8; MOST_DIGITS]) {
        *out = self.digits;
        out[self.len - 1] = self.last;
    }

    /// The next number. After twenty nines comes zero.
    pub(super) fn increment(&mut self) {
        if self.last < b'9' {
            self.last += 1;
            return;
        }
        self.last = b'0';
        for place in (0..self.len - 1).rev() {
            if self.digits[place] < b'9' {
                self.digits[place] += 1;
                return;
            }
            self.digits[place] = b'0';
        }
        if self.len == MOST_DIGITS {
            *self = Self::new();
            return;
        }
        self.digits[0] = b'1';
        self.digits[self.len] = b'0';
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(decimal: &Decimal) -> String {
        let mut out = [b'?'; MOST_DIGITS];
        decimal.write(&mut out);
        String::from_utf8(out[..decimal.len()].to_vec()).unwrap()
    }

    #[test]
    fn it_counts_as_formatting_does() {
        let mut decimal = Decimal::new();
        for n in 0..12_345_u32 {
            assert_eq!(text(&decimal), n.to_string());
            decimal.increment();
        }
    }

    #[test]
    fn it_begins_again_after_its_last_number() {
        let mut decimal = Decimal { digits: [b'9'; MOST_DIGITS], last: b'9', len: MOST_DIGITS };
        decimal.increment();
        assert_eq!(text(&decimal), "0");
    }
}
