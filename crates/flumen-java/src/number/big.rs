//! Just enough arithmetic on large whole numbers to write a double.

use std::cmp::Ordering;

/// A whole number; 32 bits a word, the lowest first, no zero word at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Big(Vec<u32>);

impl Big {
    /// `value * 5^five * 2^two`
    pub(super) fn new(value: u64, five: u32, two: u32) -> Self {
        let mut big = Self(vec![value as u32, (value >> 32) as u32]);
        big.trim();
        for _ in 0..five {
            big.times(5);
        }
        let words = (two / 32) as usize;
        big.times(1 << (two % 32));
        if !big.0.is_empty() {
            big.0.splice(0..0, std::iter::repeat_n(0, words));
        }
        big
    }

    pub(super) fn times(&mut self, factor: u32) {
        let mut carry = 0_u64;
        for word in &mut self.0 {
            carry += u64::from(*word) * u64::from(factor);
            *word = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
        self.trim();
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut carry = 0_u64;
        let mut sum = Vec::with_capacity(self.0.len().max(other.0.len()) + 1);
        for i in 0..self.0.len().max(other.0.len()) {
            let word = |big: &Self| u64::from(big.0.get(i).copied().unwrap_or(0));
            carry += word(self) + word(other);
            sum.push(carry as u32);
            carry >>= 32;
        }
        sum.push(carry as u32);
        let mut big = Self(sum);
        big.trim();
        big
    }

    /// Divides by a number that is not much smaller, leaves the rest and gives the quotient.
    pub(super) fn divide(&mut self, by: &Self) -> u8 {
        let mut quotient = 0;
        while quotient < 10 && *self >= *by {
            self.minus(by);
            quotient += 1;
        }
        quotient
    }

    fn minus(&mut self, other: &Self) {
        let mut borrow = 0_i64;
        for (i, word) in self.0.iter_mut().enumerate() {
            borrow += i64::from(*word) - i64::from(other.0.get(i).copied().unwrap_or(0));
            *word = borrow as u32;
            borrow >>= 32;
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}
