//! `inflightputs` and `inflighttakes`: an MD5 of the rest, then transaction id, count and pointers of each open transaction,
//! all as big-endian 64-bit numbers, and two zeros that read as a transaction of nothing.

use crate::place::Pointer;
use md5::{Digest, Md5};

/// Reads one of the two. `None`: the checksum is wrong. A count that reaches over the end is cut, as in Java.
pub fn decode(bytes: &[u8]) -> Option<Vec<(u64, Vec<Pointer>)>> {
    let (digest, rest) = bytes.split_first_chunk::<16>()?;
    if Md5::digest(rest)[..] != digest[..] {
        return None;
    }
    let mut numbers =
        rest.chunks_exact(8).map(|chunk| chunk.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
    let mut transactions = Vec::new();
    while let (Some(transaction), Some(count)) = (numbers.next(), numbers.next()) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let pointers: Vec<Pointer> = numbers.by_ref().take(count).map(Pointer::unpack).collect();
        if !pointers.is_empty() {
            transactions.push((transaction, pointers));
        }
    }
    Some(transactions)
}
