//! Which puts of a file there are, and which of them wait: about four bytes an event while a replay runs.

use std::collections::BTreeMap;

/// Events of one block: as many as a mask has bits.
const BLOCK: u32 = 128;

/// The puts of one data file, by offset.
#[derive(Debug, Default)]
pub(super) struct FileIndex {
    blocks: BTreeMap<u32, Block>,
    /// Where the last put was found: the next one that is asked for lies right behind it, most times.
    found: Option<(u32, Place)>,
}

/// A put within its block.
#[derive(Debug, Clone, Copy)]
struct Place {
    i: u32,
    offset: u32,
    body_len: u32,
    /// Where the next one begins among the packed.
    next: usize,
}

/// Neighbouring puts. The key of a block is the offset of its first.
#[derive(Debug)]
struct Block {
    /// For each put, the distance to the one before (0 for the first) and the length of its body, as varints.
    packed: Vec<u8>,
    len: u32,
    last: u32,
    live: u128,
    /// Whether its first put is the next one behind the block before.
    follows: bool,
}

/// A put that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Put {
    pub(super) offset: u32,
    pub(super) body_len: u32,
    pub(super) live: bool,
}

impl FileIndex {
    /// Adds a put, and says whether it is the next one behind the put before it in the index. Puts between two others of a stretch are not added later: one that is not behind the stretch before it is
    /// there already.
    pub(super) fn push(&mut self, offset: u32, body_len: u32, follows: bool) {
        let before = self.blocks.range_mut(..=offset).next_back();
        if before.as_ref().is_some_and(|(_, block)| block.last >= offset) {
            return;
        }
        if let Some((_, block)) = before
            && block.len < BLOCK
            && follows
        {
            put_varint(&mut block.packed, offset - block.last);
            put_varint(&mut block.packed, body_len);
            block.len += 1;
            block.last = offset;
            return;
        }
        let mut packed = Vec::with_capacity(16);
        put_varint(&mut packed, 0);
        put_varint(&mut packed, body_len);
        self.blocks.entry(offset).or_insert(Block { packed, len: 1, last: offset, live: 0, follows });
    }

    /// Says that a put waits, or that it does not. `None`: there is none at this offset. `Some(before)`: what was true before.
    pub(super) fn set_live(&mut self, offset: u32, live: bool) -> Option<bool> {
        let (first, block) = self.blocks.range_mut(..=offset).next_back()?;
        if offset > block.last {
            return None;
        }
        let known = self.found.filter(|(of, place)| of == first && place.offset <= offset);
        let mut place = known.map_or_else(|| block.first(*first), |(_, place)| place);
        while place.offset < offset {
            place = block.behind(place)?;
        }
        self.found = Some((*first, place));
        (place.offset == offset).then(|| block.set(place.i, live))
    }

    /// Says so of all puts from one offset to another, both included, and how many of them were not so before.
    pub(super) fn set_all(&mut self, from: u32, to: u32, live: bool) -> u64 {
        let start = self.blocks.range(..=from).next_back().map_or(from, |(first, _)| *first);
        let mut n_changed = 0;
        for (first, block) in self.blocks.range_mut(start..=to) {
            // A put that was noted last is the one that is asked for most.
            if from == block.last {
                n_changed += u64::from(block.set(block.len - 1, live) != live);
                continue;
            }
            let mut place = Some(block.first(*first));
            while let Some(put) = place.filter(|put| put.offset <= to) {
                if put.offset >= from {
                    n_changed += u64::from(block.set(put.i, live) != live);
                }
                place = block.behind(put);
            }
        }
        n_changed
    }

    /// Puts from one offset to another, both included.
    pub(super) fn range(&self, from: u32, to: u32) -> impl Iterator<Item = Put> {
        let start = self.blocks.range(..=from).next_back().map_or(from, |(first, _)| *first);
        self.blocks
            .range(start..)
            .take_while(move |(first, _)| **first <= to)
            .flat_map(|(first, block)| block.puts(*first))
            .filter(move |put| (from..=to).contains(&put.offset))
    }

    /// The put right before the one at this offset, if it is known that none is between.
    pub(super) fn before(&self, offset: u32) -> Option<u32> {
        if self.blocks.get(&offset).is_some_and(|block| !block.follows) {
            return None;
        }
        let (first, block) = self.blocks.range(..offset).next_back()?;
        block.puts(*first).map(|put| put.offset).take_while(|other| *other < offset).last()
    }
}

impl Block {
    fn puts(&self, first: u32) -> impl Iterator<Item = Put> + use<'_> {
        std::iter::successors(Some(self.first(first)), |place| self.behind(*place)).map(|place| Put {
            offset: place.offset,
            body_len: place.body_len,
            live: self.live >> place.i & 1 == 1,
        })
    }

    fn first(&self, first: u32) -> Place {
        let mut rest = self.packed.as_slice();
        take_varint(&mut rest);
        let body_len = take_varint(&mut rest);
        Place { i: 0, offset: first, body_len, next: self.packed.len() - rest.len() }
    }

    fn behind(&self, place: Place) -> Option<Place> {
        let mut rest = self.packed.get(place.next..).filter(|rest| !rest.is_empty())?;
        let offset = place.offset + take_varint(&mut rest);
        let body_len = take_varint(&mut rest);
        Some(Place { i: place.i + 1, offset, body_len, next: self.packed.len() - rest.len() })
    }

    /// Says whether it waited before.
    fn set(&mut self, i: u32, live: bool) -> bool {
        let bit = 1_u128 << i;
        let before = self.live & bit != 0;
        self.live = if live { self.live | bit } else { self.live & !bit };
        before
    }
}

fn put_varint(out: &mut Vec<u8>, value: u32) {
    crate::record::wire::put_varint(out, value);
}

fn take_varint(bytes: &mut &[u8]) -> u32 {
    let (mut value, mut shift) = (0, 0);
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_index_holds_what_a_plain_map_holds(
            gaps in prop::collection::vec((1_u32..5000, 0_u32..100_000), 1..600),
            lives in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
            early in 0_usize..300,
        ) {
            let mut offset = 0;
            let puts: Vec<(u32, u32)> =
                gaps.iter().map(|(gap, len)| { offset += gap; (offset, *len) }).collect();
            // A later part first, as after a checkpoint, and then the part before it.
            let early = early.min(puts.len());
            let mut index = FileIndex::default();
            for (i, (offset, len)) in puts.iter().enumerate().skip(early).chain(puts.iter().enumerate().take(early)) {
                index.push(*offset, *len, i != 0 && i != early);
            }
            let mut live = std::collections::BTreeSet::new();
            for at in &lives {
                let offset = at.get(&puts).0;
                prop_assert_eq!(index.set_live(offset, true), Some(!live.insert(offset)));
            }
            for (offset, _) in puts.iter().step_by(7) {
                prop_assert_eq!(index.set_live(*offset, false), Some(live.remove(offset)));
            }
            let expected: Vec<Put> = puts
                .iter()
                .map(|(offset, len)| Put { offset: *offset, body_len: *len, live: live.contains(offset) })
                .collect();
            prop_assert_eq!(index.range(0, u32::MAX).collect::<Vec<_>>(), expected.clone());
            let (from, to) = (puts[puts.len() / 3].0, puts[puts.len() / 2].0);
            let part: Vec<Put> =
                expected.iter().copied().filter(|put| put.offset >= from && put.offset <= to).collect();
            prop_assert_eq!(index.range(from, to).collect::<Vec<_>>(), part);
            prop_assert_eq!(index.set_live(offset + 1, true), None);
            for (i, pair) in puts.windows(2).enumerate() {
                let before = (i + 1 != early).then_some(pair[0].0);
                prop_assert_eq!(index.before(pair[1].0), before);
            }
            prop_assert_eq!(index.before(puts[0].0), None);
        }
    }
}
