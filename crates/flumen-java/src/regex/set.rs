//! Sets of code points (surrogates included) as sorted ranges, with a bitmap for ASCII.

/// A set of code points. Ranges are sorted, do not overlap and do not touch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CharSet {
    ranges: Vec<(u32, u32)>,
    ascii: [u64; 2],
}

/// The last code point.
pub(super) const MAX: u32 = 0x10_FFFF;

impl CharSet {
    /// True if the set holds `cp`.
    #[inline]
    pub(super) fn has(&self, cp: u32) -> bool {
        if cp < 128 {
            return self.ascii[(cp >> 6) as usize] >> (cp & 63) & 1 == 1;
        }
        let after = self.ranges.partition_point(|r| r.0 <= cp);
        after > 0 && self.ranges[after - 1].1 >= cp
    }

    /// The set of the given ranges, in any order.
    pub(super) fn new(mut ranges: Vec<(u32, u32)>) -> CharSet {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        let mut ascii = [0u64; 2];
        for &(from, to) in &merged {
            for cp in from..=to.min(127) {
                ascii[(cp >> 6) as usize] |= 1 << (cp & 63);
            }
        }
        CharSet { ranges: merged, ascii }
    }

    /// The set of one code point.
    pub(super) fn one(cp: u32) -> CharSet {
        CharSet::new(vec![(cp, cp)])
    }

    /// Sorted ranges, ends included.
    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// The only member, if there is exactly one.
    pub(super) fn single(&self) -> Option<u32> {
        match self.ranges[..] {
            [(from, to)] if from == to => Some(from),
            _ => None,
        }
    }

    pub(super) fn union(&self, other: &CharSet) -> CharSet {
        CharSet::new([&self.ranges[..], &other.ranges[..]].concat())
    }

    pub(super) fn negate(&self) -> CharSet {
        let mut out = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(from, to) in &self.ranges {
            if from > next {
                out.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= MAX {
            out.push((next, MAX));
        }
        CharSet::new(out)
    }

    pub(super) fn intersect(&self, other: &CharSet) -> CharSet {
        let (mut a, mut b) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        let mut out = Vec::new();
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            let (from, to) = (x.0.max(y.0), x.1.min(y.1));
            if from <= to {
                out.push((from, to));
            }
            if x.1 < y.1 {
                a.next();
            } else {
                b.next();
            }
        }
        CharSet::new(out)
    }

    pub(super) fn minus(&self, other: &CharSet) -> CharSet {
        self.intersect(&other.negate())
    }

    /// True if some member is in `from..=to`.
    pub(super) fn meets(&self, from: u32, to: u32) -> bool {
        self.ranges.iter().any(|r| r.0 <= to && r.1 >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged_and_set_operations_hold() {
        let set = CharSet::new(vec![(5, 9), (0, 4), (20, 30), (25, 200)]);
        assert_eq!(set.ranges(), [(0, 9), (20, 200)]);
        assert!(set.has(150) && set.has(20) && !set.has(10) && !set.has(201));
        assert_eq!(set.negate().negate(), set);
        assert_eq!(set.intersect(&CharSet::new(vec![(8, 22)])).ranges(), [(8, 9), (20, 22)]);
        assert_eq!(set.minus(&CharSet::one(3)).ranges(), [(0, 2), (4, 9), (20, 200)]);
    }
}
