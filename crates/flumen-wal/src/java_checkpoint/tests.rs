//! Checkpoints of Java Flume 1.11, and each way of not being one.

use super::{files::RingMeta, *};
use md5::{Digest, Md5};

const ORDER: u64 = 0x01a2_2cd7_a9a9;

/// Capacity 10, two events, the first in the last slot.
fn ring() -> Vec<u8> {
    let mut bytes = vec![0; 8 * (1029 + 10)];
    bytes[7] = 3;
    bytes[8..16].copy_from_slice(&ORDER.to_be_bytes());
    bytes[0x2028..0x2030].copy_from_slice(&0x1_0000_0062_u64.to_be_bytes());
    bytes[0x2070..0x2078].copy_from_slice(&0x1_0000_0036_u64.to_be_bytes());
    bytes
}

fn meta() -> Vec<u8> {
    let mut bytes = vec![0x24, 0x0d, 3, 0, 0, 0, 0x11];
    bytes.extend_from_slice(&ORDER.to_le_bytes());
    bytes.extend_from_slice(&[0x1d, 2, 0, 0, 0, 0x25, 9, 0, 0, 0]);
    bytes.extend_from_slice(&[0x2a, 0x0a, 0x0d, 1, 0, 0, 0, 0x15, 2, 0, 0, 0]);
    bytes
}

fn at(offset: u32) -> Pointer {
    Pointer { file: 1, offset }
}

#[test]
fn a_ring_is_read_in_order_over_its_end() {
    let checkpoint = decode(&ring(), Some(&meta()), None, None).unwrap();
    assert_eq!(decode(&ring(), Some(&meta()), None, Some(&[])), Err(Invalid::InFlight));
    assert_eq!((checkpoint.order, checkpoint.queue.as_slice()), (ORDER, [at(0x36), at(0x62)].as_slice()));
    let counts = [(1, 2)].into();
    assert_eq!(decode_meta(&meta()), Some(RingMeta { order: ORDER, size: 2, head: 9, counts }));
}

#[test]
fn fch_03_a_version_2_checkpoint_has_its_numbers_in_its_slots() {
    let mut two = ring();
    two[7] = 2;
    (two[23], two[31]) = (2, 9);
    // The first counter: two events of file 1.
    (two[43], two[47]) = (1, 2);
    assert_eq!(decode_ring(&two, None), Ok((ORDER, vec![at(0x36), at(0x62)])));
    assert_eq!(decode_ring(&two, Some(&meta())), Err(Invalid::Meta));
}

#[test]
fn fch_07_fch_08_fch_09_fch_42_what_is_not_whole_is_not_used() {
    let changed = |at: usize, byte: u8| {
        let mut bytes = ring();
        bytes[at] = byte;
        bytes
    };
    let meta = meta();
    for (what, bytes, invalid) in [
        ("marker", changed(39, 1), Invalid::Unfinished),
        ("upper bytes of the marker", changed(32, 0x40), Invalid::Unfinished),
        ("upper bytes of the version", changed(0, 1), Invalid::Damaged),
        ("write-order id", changed(15, 1), Invalid::Meta),
        ("an empty slot", changed(0x2028 + 3, 0), Invalid::Damaged),
        ("cut", ring()[..8 * 1029].to_vec(), Invalid::Damaged),
        ("cut within a slot", ring()[..8 * 1035 + 3].to_vec(), Invalid::Damaged),
        ("empty", Vec::new(), Invalid::Damaged),
    ] {
        assert_eq!(decode_ring(&bytes, Some(&meta)), Err(invalid), "{what}");
    }
    assert_eq!(decode_ring(&ring(), None), Err(Invalid::Meta));
    for len in 0..meta.len() {
        assert_eq!(decode_ring(&ring(), Some(&meta[..len])), Err(Invalid::Meta), "meta of {len} bytes");
    }
}

#[test]
fn fch_58_fch_59_open_transactions_are_read_and_checked() {
    let mut bytes =
        vec![0xaf, 0x05, 0xa2, 0x59, 0x90, 0xf3, 0xa8, 0x89, 0xa2, 0xd8, 0x3b, 0x86, 0x13, 0x87, 0x1a, 0xbe];
    for number in [0x01a2_2ce1_b3d6_u64, 2, 0x1_0000_0101, 0x1_0000_00d4, 0, 0] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    assert_eq!(decode_inflight(&bytes), Some(vec![(0x01a2_2ce1_b3d6, vec![at(0x101), at(0xd4)])]));
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(decode_inflight(&damaged), None);
    }
    assert_eq!(decode(&ring(), Some(&meta()), Some(&[1, 2, 3]), None), Err(Invalid::InFlight));

    // A count that reaches over the end.
    let mut rest = Vec::new();
    for number in [5_u64, u64::MAX, 0x1_0000_0007] {
        rest.extend_from_slice(&number.to_be_bytes());
    }
    let cut = [&Md5::digest(&rest)[..], &rest].concat();
    assert_eq!(decode_inflight(&cut), Some(vec![(5, vec![at(7)])]));
}

#[test]
fn a_snappy_stream_is_unpacked_within_its_limit() {
    let plain = vec![7; 50_000];
    let mut packed = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".to_vec();
    for block in plain.chunks(32 << 10) {
        let block = snap::raw::Encoder::new().compress_vec(block).unwrap();
        packed.extend_from_slice(&(block.len() as u32).to_be_bytes());
        packed.extend_from_slice(&block);
    }
    assert_eq!(files::unpack(&packed, 50_000), Some(plain));
    assert_eq!(files::unpack(&packed, 49_999), None);
    assert!(
        (0..packed.len())
            .all(|len| files::unpack(&packed[..len], 50_000).is_none_or(|out| out.len() < 50_000))
    );
}
