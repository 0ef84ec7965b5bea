//! `checkpoint`, an array of big-endian 64-bit slots, and `checkpoint.meta`, a protobuf message.

use super::{FIRST_COUNTER, HEAD_SLOTS, Invalid};
use crate::{
    place::Pointer,
    record::wire::{Value, Wire},
};
use std::collections::{BTreeMap, BTreeSet};

/// What `checkpoint.meta` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingMeta {
    /// Write-order id of the checkpoint.
    pub order: u64,
    /// Events in the ring.
    pub size: u32,
    /// Where the first of them is.
    pub head: u32,
    /// For each data file how many events of it are in the ring.
    pub counts: BTreeMap<u32, u32>,
}

/// Reads `checkpoint.meta`. `None`: damaged, or of another version than 3.
pub fn decode_meta(bytes: &[u8]) -> Option<RingMeta> {
    let mut outer = Wire::new(bytes);
    let mut wire = outer.delimited().ok()?;
    let (mut version, mut order, mut size, mut head) = (None, None, None, None);
    let mut counts = BTreeMap::new();
    while !wire.is_empty() {
        match wire.field().ok()? {
            (1, Value::Fixed32(value)) => version = Some(value),
            (2, Value::Fixed64(value)) => order = Some(value),
            (3, Value::Fixed32(value)) => size = Some(value),
            (4, Value::Fixed32(value)) => head = Some(value),
            (5, Value::Bytes(bytes)) => {
                let (file, count) = decode_count(bytes)?;
                counts.insert(file, count);
            }
            _ => return None,
        }
    }
    (version? == 3).then_some(RingMeta { order: order?, size: size?, head: head?, counts })
}

fn decode_count(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut wire = Wire::new(bytes);
    let (mut file, mut count) = (None, None);
    while !wire.is_empty() {
        match wire.field().ok()? {
            (1, Value::Fixed32(value)) => file = Some(value),
            (2, Value::Fixed32(value)) => count = Some(value),
            _ => return None,
        }
    }
    Some((file?, count?))
}

/// Reads `checkpoint` with its meta, or alone where it is of version 2: the write-order id, and what waits in order.
///
/// # Errors
/// It is damaged, unfinished, or the meta is of another one.
pub fn decode_ring(bytes: &[u8], meta: Option<&[u8]>) -> Result<(u64, Vec<Pointer>), Invalid> {
    let slots = bytes.len() as u64 / 8;
    if !bytes.len().is_multiple_of(8) || slots <= HEAD_SLOTS {
        return Err(Invalid::Damaged);
    }
    let capacity = slots - HEAD_SLOTS;
    let slot = |i: u64| {
        let at = i as usize * 8;
        bytes[at..].first_chunk::<8>().map_or(0, |slot| u64::from_be_bytes(*slot))
    };
    let version = slot(0);
    if version != 2 && version != 3 {
        return Err(Invalid::Damaged);
    }
    if slot(4) != 0 {
        return Err(Invalid::Unfinished);
    }
    let ring = match (version, meta) {
        (3, Some(meta)) => decode_meta(meta).filter(|meta| meta.order == slot(1)).ok_or(Invalid::Meta)?,
        (2, None) => {
            let number = |i| u32::try_from(slot(i)).map_err(|_| Invalid::Damaged);
            let counters = (FIRST_COUNTER..HEAD_SLOTS).map(|i| Pointer::unpack(slot(i)));
            let counts = counters.filter(|of| of.file > 0).map(|of| (of.file, of.offset)).collect();
            RingMeta { order: slot(1), size: number(2)?, head: number(3)?, counts }
        }
        _ => return Err(Invalid::Meta),
    };
    if u64::from(ring.size) > capacity || u64::from(ring.head) >= capacity {
        return Err(Invalid::Damaged);
    }
    let mut queue = Vec::with_capacity(ring.size as usize);
    for i in 0..u64::from(ring.size) {
        let pointer = Pointer::unpack(slot(HEAD_SLOTS + (u64::from(ring.head) + i) % capacity));
        if pointer.file == 0 {
            return Err(Invalid::Damaged);
        }
        queue.push(pointer);
    }
    if is_told_twice(&ring, &queue) { Ok((ring.order, queue)) } else { Err(Invalid::Damaged) }
}

/// Nothing has a checksum here, but how many events are of which file is said beside the ring; and none is in it twice.
fn is_told_twice(ring: &RingMeta, queue: &[Pointer]) -> bool {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for pointer in queue {
        *counts.entry(pointer.file).or_default() += 1;
    }
    let said = ring.counts.iter().filter(|(_, count)| **count > 0);
    let distinct: BTreeSet<u64> = queue.iter().map(|pointer| pointer.pack()).collect();
    counts.iter().eq(said) && distinct.len() == queue.len()
}

/// Unpacks `checkpoint.snappy`: a 16-byte header (magic and two versions), then blocks of snappy with their lengths before them,
/// as the snappy-java library writes streams. `None`: damaged, or more than `limit` bytes.
pub(super) fn unpack(bytes: &[u8], limit: u64) -> Option<Vec<u8>> {
    /// The longest block that is unpacked; the library makes blocks of 32 KiB.
    const MAX_BLOCK: usize = 16 << 20;
    let mut rest = bytes.strip_prefix(b"\x82SNAPPY\0")?.get(8..)?;
    let mut out = Vec::new();
    let mut decoder = snap::raw::Decoder::new();
    while let Some((len, behind)) = rest.split_first_chunk::<4>() {
        let (block, behind) = behind.split_at_checked(u32::from_be_bytes(*len) as usize)?;
        let unpacked = snap::raw::decompress_len(block).ok().filter(|len| *len <= MAX_BLOCK)?;
        if out.len() as u64 + unpacked as u64 > limit {
            return None;
        }
        out.extend_from_slice(&decoder.decompress_vec(block).ok()?);
        rest = behind;
    }
    rest.is_empty().then_some(out)
}
