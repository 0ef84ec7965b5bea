//! Where a record lies: a file and an offset, and a run of neighbouring puts.

use std::fmt;

/// The place of a record: the number of its data file, and the offset of its first byte (the operation byte).
///
/// Packed as Java Flume packs it: file in the upper 32 bits, offset in the lower. File 0 does not exist, so that the packed
/// value 0 can mean "none".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer {
    /// Number of the data file, from 1; unique over all directories of a log.
    pub file: u32,
    /// Offset in the file, in bytes.
    pub offset: u32,
}

impl Pointer {
    /// As one number, which sorts by file and then by offset.
    pub fn pack(self) -> u64 {
        u64::from(self.file) << 32 | u64::from(self.offset)
    }

    /// The opposite of [`Pointer::pack`].
    pub fn unpack(packed: u64) -> Self {
        Self { file: (packed >> 32) as u32, offset: packed as u32 }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "log-{} at {}", self.file, self.offset)
    }
}

/// Neighbouring puts of one data file, as they are delivered: no other put lies between them, but commits and takes may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Where the record of the first event begins.
    pub start: Pointer,
    /// How many events there are.
    pub count: u32,
    /// Bytes of their bodies.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fch_52_a_pointer_packs_file_and_offset_into_one_number() {
        assert_eq!(Pointer { file: 1, offset: 1 }.pack(), 4_294_967_297);
        assert_eq!(Pointer { file: 1, offset: 2 }.pack(), 4_294_967_298);
        let far = Pointer { file: i32::MAX as u32, offset: u32::MAX };
        assert_eq!(Pointer::unpack(far.pack()), far);
        assert!(Pointer { file: 1, offset: 9 } < Pointer { file: 2, offset: 1 });
    }
}
