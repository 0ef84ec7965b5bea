//! The mapping tables of the legacy charsets: unpacked from `tables/tables.bin` on first use.
//!
//! The file is a row of little-endian 16-bit numbers: the count of tables, then for each table the index of the table it is based on
//! (0xFFFF: none), the lengths of its two lists, and the lists. The first list changes the base's code-to-character map: start code,
//! kind (top two bits) and count; kind 0 is followed by the characters, 1 by the first of a rising run, 2 removes, 3 is followed by
//! characters of plane 2. The second lists characters whose encoding is not the (first) way back: character, plane (top two bits) and
//! count, codes; 0xFFFF means that it does not encode. `tables/CharsetTables.java` writes the file from a JDK's own charsets.

use std::sync::OnceLock;

static PACKED: &[u8] = include_bytes!("tables/tables.bin");

/// No such entry. No table maps anything to or from this value.
pub(super) const NONE: u16 = 0xFFFF;

/// A sparse map from 16 bits to 16 bits: 256 pages, the empty ones shared.
#[derive(Debug)]
pub(super) struct Paged {
    index: [u16; 256],
    pages: Vec<[u16; 256]>,
}

impl Paged {
    fn new() -> Self {
        Self { index: [0; 256], pages: vec![[NONE; 256]] }
    }

    pub(super) fn get(&self, key: u16) -> u16 {
        self.pages[self.index[usize::from(key >> 8)] as usize][usize::from(key & 0xFF)]
    }

    fn set(&mut self, key: u16, value: u16) {
        let slot = &mut self.index[usize::from(key >> 8)];
        if *slot == 0 {
            *slot = self.pages.len() as u16;
            self.pages.push([NONE; 256]);
        }
        self.pages[*slot as usize][usize::from(key & 0xFF)] = value;
    }
}

/// One charset's maps. A code is one byte, or two as high and low byte.
#[derive(Debug)]
pub(super) struct Table {
    decode: Paged,
    /// The codes whose character is in plane 2, less 0x20000.
    plane2: Paged,
    encode: Paged,
    /// Sorted; the characters beyond 16 bits.
    encode_wide: Vec<(u32, u16)>,
    lead: [bool; 256],
    /// Whether the bytes 00 to 7F are ASCII.
    pub(super) ascii: bool,
}

impl Table {
    /// The character of a code.
    pub(super) fn char_of(&self, code: u16) -> Option<char> {
        match self.decode.get(code) {
            NONE => match self.plane2.get(code) {
                NONE => None,
                low => char::from_u32(0x2_0000 + u32::from(low)),
            },
            unit => char::from_u32(u32::from(unit)),
        }
    }

    /// The code of a character.
    pub(super) fn code_of(&self, c: char) -> Option<u16> {
        let cp = u32::from(c);
        let code = match u16::try_from(cp) {
            Ok(unit) => self.encode.get(unit),
            Err(_) => {
                self.encode_wide.binary_search_by_key(&cp, |e| e.0).map_or(NONE, |i| self.encode_wide[i].1)
            }
        };
        (code != NONE).then_some(code)
    }

    /// Whether any two-byte code starts with this byte.
    pub(super) fn is_lead(&self, byte: u8) -> bool {
        self.lead[usize::from(byte)]
    }
}

/// The table with this index.
pub(super) fn table(index: usize) -> &'static Table {
    static TABLES: OnceLock<Vec<OnceLock<Table>>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| (0..packed().len()).map(|_| OnceLock::new()).collect());
    tables[index].get_or_init(|| unpack(index))
}

struct Packed {
    base: Option<usize>,
    changes: Vec<u16>,
    extras: Vec<u16>,
}

fn packed() -> &'static [Packed] {
    static ALL: OnceLock<Vec<Packed>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut numbers = PACKED.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]));
        let mut next = || numbers.next().unwrap_or(0);
        let count = next();
        (0..count)
            .map(|_| {
                let (base, changes, extras) = (next(), next(), next());
                Packed {
                    base: (base != NONE).then_some(usize::from(base)),
                    changes: (0..changes).map(|_| next()).collect(),
                    extras: (0..extras).map(|_| next()).collect(),
                }
            })
            .collect()
    })
}

/// Code to character for all 65,536 codes.
fn expand(index: usize) -> Vec<Option<u32>> {
    let packed = &packed()[index];
    let mut map = packed.base.map_or_else(|| vec![None; 65_536], expand);
    let mut list = packed.changes.iter().copied();
    while let (Some(start), Some(head)) = (list.next(), list.next()) {
        let (kind, count) = (head >> 14, usize::from(head & 0x3FFF));
        let start = usize::from(start);
        let first = if kind == 1 { list.next().unwrap_or(0) } else { 0 };
        for i in 0..count {
            map[start + i] = match kind {
                0 => list.next().map(u32::from),
                1 => Some(u32::from(first) + i as u32),
                2 => None,
                _ => list.next().map(|low| 0x2_0000 + u32::from(low)),
            };
        }
    }
    map
}

fn unpack(index: usize) -> Table {
    let mut table = Table {
        decode: Paged::new(),
        plane2: Paged::new(),
        encode: Paged::new(),
        encode_wide: Vec::new(),
        lead: [false; 256],
        ascii: true,
    };
    let mut wide = std::collections::BTreeMap::new();
    for (code, cp) in expand(index).into_iter().enumerate() {
        let code = code as u16;
        if code < 0x80 && cp != Some(u32::from(code)) {
            table.ascii = false;
        }
        let Some(cp) = cp else { continue };
        if code > 0xFF {
            table.lead[usize::from(code >> 8)] = true;
        }
        if let Ok(unit) = u16::try_from(cp) {
            table.decode.set(code, unit);
            if table.encode.get(unit) == NONE {
                table.encode.set(unit, code);
            }
        } else {
            table.plane2.set(code, cp as u16);
            wide.entry(cp).or_insert(code);
        }
    }
    let mut list = packed()[index].extras.iter().copied();
    while let (Some(low), Some(head)) = (list.next(), list.next()) {
        let first = u32::from(head >> 14) << 16 | u32::from(low);
        for cp in first..first + u32::from(head & 0x3FFF) {
            let code = list.next().unwrap_or(NONE);
            match u16::try_from(cp) {
                Ok(unit) => table.encode.set(unit, code),
                Err(_) => {
                    wide.insert(cp, code);
                }
            }
        }
    }
    table.encode_wide = wide.into_iter().collect();
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_unpacks_and_its_lists_end_where_they_should() {
        let numbers: usize = packed().iter().map(|p| 3 + p.changes.len() + p.extras.len()).sum();
        assert_eq!(PACKED.len(), 2 * (1 + numbers));
        for i in 0..packed().len() {
            assert!(packed()[i].base.is_none_or(|b| b < i), "table {i} is based on a later one");
            let t = table(i);
            let filled = (0..=u16::MAX).filter(|c| t.char_of(*c).is_some()).count();
            assert!(filled >= 128, "table {i} has {filled} entries");
        }
    }
}
