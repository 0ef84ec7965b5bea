//! Reading the few protobuf forms that records and metas use, from a slice, without copying.

/// The bytes do not hold what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Short;

/// A slice that is eaten from the front.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wire<'a> {
    rest: &'a [u8],
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

impl<'a> Wire<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Short> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or(Short)?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(Short)?;
        self.rest = rest;
        Ok(*head)
    }

    /// A varint of at most 32 bits. Longer ones do not occur in these files.
    pub(crate) fn varint(&mut self) -> Result<u32, Short> {
        let mut value = 0_u64;
        for (i, &byte) in self.rest.iter().take(5).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.rest = &self.rest[i + 1..];
                return u32::try_from(value).map_err(|_| Short);
            }
        }
        Err(Short)
    }

    /// A message with its length before it.
    pub(crate) fn delimited(&mut self) -> Result<Wire<'a>, Short> {
        let len = self.varint()? as usize;
        Ok(Wire::new(self.take(len)?))
    }

    /// The next field: its number and value. Varints and groups are not used in these files, and are refused.
    pub(crate) fn field(&mut self) -> Result<(u32, Value<'a>), Short> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => Value::Bytes(self.delimited()?.rest),
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return Err(Short),
        };
        Ok((tag >> 3, value))
    }
}

/// Appends a varint.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// How many bytes a varint takes.
pub(crate) const fn varint_len(value: u32) -> usize {
    match value {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        0x4000..=0x1f_ffff => 3,
        0x20_0000..=0xfff_ffff => 4,
        _ => 5,
    }
}
