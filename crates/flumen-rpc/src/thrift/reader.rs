//! Reads the parts of which messages are made, in either protocol, and never more than there is.

use super::{DecodeError, MAX_DEPTH, Protocol};
use std::ops::Range;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A truth value; the compact protocol writes that of a field into the field's header.
    Bool {
        in_header: bool,
    },
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    Struct,
    Map,
    /// A list or a set: they are written alike.
    List,
    Uuid,
}

/// The beginning of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: MessageKind,
    pub(super) sequence: i32,
    /// The method, as a range of the message.
    pub(super) name: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageKind {
    Call,
    Reply,
    Exception,
    OneWay,
}

impl MessageKind {
    fn of_number(number: u8) -> Result<Self, DecodeError> {
        Ok(match number {
            1 => Self::Call,
            2 => Self::Reply,
            3 => Self::Exception,
            4 => Self::OneWay,
            _ => return Err(DecodeError::Malformed("a message of an unknown type")),
        })
    }
}

/// A place in a message.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    protocol: Protocol,
}

/// How many bytes the type, the version and the length of a method's name may need: more is no beginning of a message.
const LONGEST_NAME: usize = 1_000;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], protocol: Protocol) -> Self {
        Self { bytes, at: 0, protocol }
    }

    /// What was not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The bytes of an earlier range.
    pub(super) fn slice(&self, range: Range<usize>) -> &'a [u8] {
        &self.bytes[range]
    }

    /// How much was read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Goes on behind `n` bytes that are known to be there.
    pub(super) fn advance(&mut self, n: usize) {
        debug_assert!(n <= self.rest().len());
        self.at += n;
    }

    /// Which protocol the message is written in, by its first bytes.
    pub(super) fn guess(bytes: &[u8]) -> Option<Protocol> {
        match bytes {
            [0x82, ..] => Some(Protocol::Compact),
            [0x80, 0x01, ..] | [0, 0, ..] => Some(Protocol::Binary),
            _ => None,
        }
    }

    pub(super) fn message(&mut self) -> Result<Header, DecodeError> {
        if Self::guess(self.bytes) != Some(self.protocol) {
            return Err(match Self::guess(self.bytes) {
                Some(other) => DecodeError::OtherProtocol(other),
                None => DecodeError::NotThrift,
            });
        }
        let (kind, sequence, name);
        match self.protocol {
            Protocol::Compact => {
                self.byte()?;
                let byte = self.byte()?;
                if byte & 0x1f != 1 {
                    return Err(DecodeError::Malformed("another version of the compact protocol"));
                }
                kind = byte >> 5;
                sequence = self.varint(5)? as i32;
                name = self.binary()?;
            }
            Protocol::Binary if self.bytes[0] == 0x80 => {
                let word = self.take::<4>()?;
                kind = word[3];
                name = self.binary()?;
                sequence = i32::from_be_bytes(self.take()?);
            }
            Protocol::Binary => {
                name = self.binary()?;
                kind = self.byte()?;
                sequence = i32::from_be_bytes(self.take()?);
            }
        }
        if name.len() > LONGEST_NAME {
            return Err(DecodeError::Malformed("a method with a name beyond all measure"));
        }
        Ok(Header { kind: MessageKind::of_number(kind)?, sequence, name })
    }

    /// The next field of a struct, or `None` at its end. `last` is the number of the field before, 0 at first.
    pub(super) fn field(&mut self, last: &mut i16) -> Result<Option<(Kind, i16)>, DecodeError> {
        let byte = self.byte()?;
        match self.protocol {
            Protocol::Binary => {
                if byte == 0 {
                    return Ok(None);
                }
                *last = i16::from_be_bytes(self.take()?);
            }
            Protocol::Compact => {
                if byte & 0x0f == 0 {
                    return Ok(None);
                }
                *last = match byte >> 4 {
                    // Numbers that do not fit are cut off, as by Java.
                    0 => self.zigzag(5)? as i16,
                    delta => last.wrapping_add(i16::from(delta)),
                };
            }
        }
        Ok(Some((self.kind(byte, true)?, *last)))
    }

    fn kind(&self, byte: u8, of_field: bool) -> Result<Kind, DecodeError> {
        let compact = self.protocol == Protocol::Compact;
        Ok(match (self.protocol, if compact { byte & 0x0f } else { byte }) {
            (Protocol::Compact, 1 | 2) => Kind::Bool { in_header: of_field },
            (Protocol::Binary, 2) => Kind::Bool { in_header: false },
            (_, 3) => Kind::Byte,
            (Protocol::Compact, 4) | (Protocol::Binary, 6) => Kind::I16,
            (Protocol::Compact, 5) | (Protocol::Binary, 8) => Kind::I32,
            (Protocol::Compact, 6) | (Protocol::Binary, 10) => Kind::I64,
            (Protocol::Compact, 7) | (Protocol::Binary, 4) => Kind::Double,
            (Protocol::Compact, 8) | (Protocol::Binary, 11) => Kind::Binary,
            (Protocol::Compact, 9 | 10) | (Protocol::Binary, 14 | 15) => Kind::List,
            (Protocol::Compact, 11) | (Protocol::Binary, 13) => Kind::Map,
            (_, 12) => Kind::Struct,
            (Protocol::Compact, 13) | (Protocol::Binary, 16) => Kind::Uuid,
            _ => return Err(DecodeError::Malformed("a value of an unknown type")),
        })
    }

    /// The beginning of a list: what its items are, and how many there are, at most as many as there are bytes.
    /// An empty list has items of any kind.
    pub(super) fn list(&mut self) -> Result<(Option<Kind>, usize), DecodeError> {
        let byte = self.byte()?;
        let count = match self.protocol {
            Protocol::Binary => self.length()?,
            Protocol::Compact if byte >> 4 == 15 => self.length()?,
            Protocol::Compact => usize::from(byte >> 4),
        };
        self.count(count)?;
        let kind = if count == 0 { None } else { Some(self.kind(byte, false)?) };
        Ok((kind, count))
    }

    /// The beginning of a map, as [`Self::list`].
    pub(super) fn map(&mut self) -> Result<(Option<(Kind, Kind)>, usize), DecodeError> {
        let (key, value, count);
        match self.protocol {
            Protocol::Binary => {
                (key, value) = (self.byte()?, self.byte()?);
                count = self.length()?;
            }
            Protocol::Compact => {
                count = self.length()?;
                let byte = if count == 0 { 0 } else { self.byte()? };
                (key, value) = (byte >> 4, byte & 0x0f);
            }
        }
        self.count(count)?;
        if count == 0 {
            return Ok((None, 0));
        }
        Ok((Some((self.kind(key, false)?, self.kind(value, false)?)), count))
    }

    /// No item of any kind is shorter than a byte.
    fn count(&self, count: usize) -> Result<(), DecodeError> {
        if count <= self.rest().len() { Ok(()) } else { Err(DecodeError::Short) }
    }

    pub(super) fn i32(&mut self) -> Result<i32, DecodeError> {
        match self.protocol {
            Protocol::Binary => Ok(i32::from_be_bytes(self.take()?)),
            Protocol::Compact => Ok(self.zigzag(5)? as i32),
        }
    }

    /// Where bytes or a text lie in the message.
    pub(super) fn binary(&mut self) -> Result<Range<usize>, DecodeError> {
        let len = self.length()?;
        self.count(len)?;
        let start = self.at;
        self.at += len;
        Ok(start..self.at)
    }

    /// Passes over a value that nobody asked for.
    pub(super) fn skip(&mut self, kind: Kind) -> Result<(), DecodeError> {
        self.skip_below(kind, 0)
    }

    fn skip_below(&mut self, kind: Kind, depth: u32) -> Result<(), DecodeError> {
        if depth > MAX_DEPTH {
            return Err(DecodeError::TooDeep);
        }
        match (kind, self.protocol) {
            (Kind::Bool { in_header: true }, _) => Ok(()),
            (Kind::Bool { .. } | Kind::Byte, _) => self.byte().map(drop),
            (Kind::I16 | Kind::I32, Protocol::Compact) => self.varint(5).map(drop),
            (Kind::I64, Protocol::Compact) => self.varint(10).map(drop),
            (Kind::I16, Protocol::Binary) => self.take::<2>().map(drop),
            (Kind::I32, Protocol::Binary) => self.take::<4>().map(drop),
            (Kind::I64, Protocol::Binary) | (Kind::Double, _) => self.take::<8>().map(drop),
            (Kind::Uuid, _) => self.take::<16>().map(drop),
            (Kind::Binary, _) => self.binary().map(drop),
            (Kind::Struct, _) => {
                let mut last = 0;
                while let Some((kind, _)) = self.field(&mut last)? {
                    self.skip_below(kind, depth + 1)?;
                }
                Ok(())
            }
            (Kind::List, _) => {
                if let (Some(kind), count) = self.list()? {
                    for _ in 0..count {
                        self.skip_below(kind, depth + 1)?;
                    }
                }
                Ok(())
            }
            (Kind::Map, _) => {
                if let (Some((key, value)), count) = self.map()? {
                    for _ in 0..count {
                        self.skip_below(key, depth + 1)?;
                        self.skip_below(value, depth + 1)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        let byte = *self.bytes.get(self.at).ok_or(DecodeError::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let bytes = self.rest().first_chunk::<N>().ok_or(DecodeError::Short)?;
        self.at += N;
        Ok(*bytes)
    }

    /// A length or a count: never negative.
    fn length(&mut self) -> Result<usize, DecodeError> {
        let length = match self.protocol {
            Protocol::Binary => i32::from_be_bytes(self.take()?),
            Protocol::Compact => self.varint(5)? as i32,
        };
        usize::try_from(length).map_err(|_| DecodeError::Malformed("a negative length"))
    }

    /// A number in groups of seven bits, the least significant first, of at most so many bytes.
    fn varint(&mut self, longest: u32) -> Result<u64, DecodeError> {
        let mut value = 0;
        for i in 0..longest {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DecodeError::Malformed("a number that does not end"))
    }

    fn zigzag(&mut self, longest: u32) -> Result<i64, DecodeError> {
        let value = self.varint(longest)?;
        let value = if longest == 5 { value & 0xffff_ffff } else { value };
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}
