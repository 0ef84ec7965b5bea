//! Avro's binary encoding, as far as the protocol needs it: varints, blocks, strings.

use super::MAX_ITEMS;
use std::ops::Range;

/// Why bytes are no Avro datum of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end before the datum does.
    #[error("the bytes end in the middle of a value")]
    Short,
    /// A number takes more than the 10 bytes of a 64-bit varint.
    #[error("a number is longer than 10 bytes")]
    LongNumber,
    /// A length or count is below zero.
    #[error("a length is below zero: {0}")]
    Negative(i64),
    /// A union or an enum has no such branch.
    #[error("branch {0} of {1} is not there")]
    Branch(i64, &'static str),
    /// More items than one call may have.
    #[error("more than {MAX_ITEMS} {0} in one call")]
    TooMany(&'static str),
    /// Values lie within values beyond any use.
    #[error("values are nested too deeply")]
    Deep,
    /// There are bytes behind the end.
    #[error("{0} bytes stand behind the last value")]
    Rest(usize),
}

/// Reads values one after the other. Every length is checked against the bytes that are left before it is used.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader that begins at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Where it is: the number of bytes that were read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Goes on behind `n` bytes, which the caller has seen in [`Self::rest`].
    pub(super) fn skip(&mut self, n: usize) {
        self.at += n;
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// # Errors
    /// There are bytes left.
    pub fn end(&self) -> Result<(), WireError> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(WireError::Rest(self.bytes.len() - self.at)) }
    }

    /// One byte.
    ///
    /// # Errors
    /// There is none.
    pub fn byte(&mut self) -> Result<u8, WireError> {
        let byte = *self.bytes.get(self.at).ok_or(WireError::Short)?;
        self.at += 1;
        Ok(byte)
    }

    /// A whole number: a zig-zag varint (Avro specification, "Primitive Types").
    ///
    /// # Errors
    /// The bytes end, or there are too many of them.
    pub fn long(&mut self) -> Result<i64, WireError> {
        let mut number = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            // The tenth byte has one bit of a 64-bit number; what stands above it is dropped, as Java does.
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok((number >> 1) as i64 ^ -((number & 1) as i64));
            }
        }
        Err(WireError::LongNumber)
    }

    /// A length of something that follows.
    fn length(&mut self) -> Result<usize, WireError> {
        let length = self.long()?;
        let length = usize::try_from(length).map_err(|_| WireError::Negative(length))?;
        if length > self.bytes.len() - self.at { Err(WireError::Short) } else { Ok(length) }
    }

    /// `string` or `bytes`: where its bytes are.
    ///
    /// # Errors
    /// They are not all there.
    pub fn range(&mut self) -> Result<Range<usize>, WireError> {
        let length = self.length()?;
        let start = self.at;
        self.at += length;
        Ok(start..self.at)
    }

    /// `string` or `bytes`.
    ///
    /// # Errors
    /// They are not all there.
    pub fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        self.range().map(|range| &self.bytes[range])
    }

    /// So many bytes as they are.
    ///
    /// # Errors
    /// They are not all there.
    pub fn fixed(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        if length > self.bytes.len() - self.at {
            return Err(WireError::Short);
        }
        let start = self.at;
        self.at += length;
        Ok(&self.bytes[start..self.at])
    }

    /// How many items the next block of an array or map has; 0 ends it. A count below zero is followed by a size in bytes, which
    /// is read over.
    ///
    /// # Errors
    /// The bytes end, or the count cannot be.
    pub fn block(&mut self) -> Result<u64, WireError> {
        let count = self.long()?;
        if count < 0 {
            self.long()?;
        }
        Ok(count.unsigned_abs())
    }

    /// A map of bytes, as metadata is; `f` gets each entry.
    ///
    /// # Errors
    /// It is not all there, or has too many entries.
    pub fn map(&mut self, mut f: impl FnMut(&'a [u8], &'a [u8])) -> Result<(), WireError> {
        let mut n_items = 0;
        loop {
            let count = self.block()?;
            if count == 0 {
                return Ok(());
            }
            n_items += count;
            if n_items > MAX_ITEMS {
                return Err(WireError::TooMany("metadata entries"));
            }
            for _ in 0..count {
                f(self.bytes()?, self.bytes()?);
            }
        }
    }
}

/// Appends a whole number.
pub(super) fn put_long(out: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    while rest >= 0x80 {
        out.push((rest as u8) | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends a length or count.
pub(super) fn put_length(out: &mut Vec<u8>, length: usize) {
    put_long(out, i64::try_from(length).unwrap_or(i64::MAX));
}

/// Appends `string` or `bytes`.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_at_every_length() {
        for number in [0, -1, 1, 63, 64, -64, -65, 8191, 8192, i64::from(i32::MAX), i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            put_long(&mut bytes, number);
            let mut reader = Reader::new(&bytes);
            assert_eq!((reader.long(), reader.end()), (Ok(number), Ok(())));
            assert_eq!(Reader::new(&bytes[..bytes.len() - 1]).long(), Err(WireError::Short));
        }
        assert_eq!(Reader::new(&[0xff; 11]).long(), Err(WireError::LongNumber));
    }

    #[test]
    fn a_length_is_checked_before_it_is_used() {
        let mut bytes = Vec::new();
        put_long(&mut bytes, i64::from(i32::MAX));
        bytes.extend([1, 2, 3]);
        assert_eq!(Reader::new(&bytes).bytes(), Err(WireError::Short));
        assert_eq!(Reader::new(&[1]).bytes(), Err(WireError::Negative(-1)));
        assert_eq!(Reader::new(&[2, 7]).bytes(), Ok(&[7][..]));
    }

    #[test]
    fn a_map_in_blocks_of_known_size_is_the_same_map() {
        // A block of -1 entries and 4 bytes, a block of 1 entry, the end.
        let bytes = [0x01, 0x08, 2, b'a', 2, b'1', 0x02, 2, b'b', 0, 0];
        let mut entries = Vec::new();
        let mut reader = Reader::new(&bytes);
        reader.map(|name, value| entries.push((name.to_vec(), value.to_vec()))).unwrap();
        assert_eq!(entries, [(b"a".to_vec(), b"1".to_vec()), (b"b".to_vec(), Vec::new())]);
        assert_eq!(reader.end(), Ok(()));
        let endless = [0xfe, 0xff, 0xff, 0xff, 0x0f];
        assert_eq!(Reader::new(&endless).map(|_, _| ()), Err(WireError::TooMany("metadata entries")));
    }
}
