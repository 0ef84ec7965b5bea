//! CRC-32C: of short bytes by the processor's own instruction, of long ones by folding, which waits less for itself.

use crc_fast::{CrcAlgorithm, Digest};

/// From here on folding is faster.
const LONG: usize = 256;

/// The checksum of these bytes.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    if bytes.len() < LONG { crc32c::crc32c(bytes) } else { crc_fast::crc32_iscsi(bytes) }
}

/// The checksum of what had this one, with these bytes behind it.
pub(crate) fn crc32c_append(before: u32, bytes: &[u8]) -> u32 {
    if bytes.len() < LONG {
        return crc32c::crc32c_append(before, bytes);
    }
    let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, u64::from(!before));
    digest.update(bytes);
    digest.finalize() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_the_same_checksum() {
        let bytes: Vec<u8> = (0..5_000_u32).map(|n| (n * 31 % 251) as u8).collect();
        for len in [0, 1, 5, 255, 256, 257, 511, 550, 1_100, 4_096, 5_000] {
            let expected = crc32c::crc32c(&bytes[..len]);
            assert_eq!(crc32c(&bytes[..len]), expected, "{len}");
            for cut in [0, 5, 300] {
                let (one, other) = bytes[..len].split_at(cut.min(len));
                assert_eq!(crc32c_append(crc32c(one), other), expected, "{len} cut at {cut}");
            }
        }
        assert_eq!(crc32c(b"123456789"), 0xe306_9283, "the known one");
    }
}
