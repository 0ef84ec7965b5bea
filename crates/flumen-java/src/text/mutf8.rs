//! Modified UTF-8: `DataOutput.writeUTF` and `DataInput.readUTF` (the Java class file and serialization formats).

/// Why a text cannot be written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Utf8Error {
    /// The length field has 16 bits.
    #[error("a text of {0} bytes is too long for modified UTF-8: 65535 is the most")]
    TooLong(usize),
    /// The bytes end before the text does.
    #[error("the bytes end within a text of modified UTF-8")]
    Ended,
    /// A byte that cannot stand there.
    #[error("malformed modified UTF-8 at byte {0} of the text")]
    Malformed(usize),
}

/// Appends length and bytes of a text; nothing on an error.
pub fn write(text: &str, out: &mut Vec<u8>) -> Result<(), Utf8Error> {
    write_units(text.encode_utf16(), out)
}

/// The same for UTF-16 units, which may be half pairs.
pub fn write_units(units: impl Iterator<Item = u16> + Clone, out: &mut Vec<u8>) -> Result<(), Utf8Error> {
    let length: usize = units.clone().map(|u| if u == 0 { 2 } else { width(u) }).sum();
    let field = u16::try_from(length).map_err(|_| Utf8Error::TooLong(length))?;
    out.reserve(length + 2);
    out.extend_from_slice(&field.to_be_bytes());
    for unit in units {
        if unit == 0 {
            out.extend_from_slice(&[0xC0, 0x80]);
        } else {
            write_unit(unit, out);
        }
    }
    Ok(())
}

fn width(unit: u16) -> usize {
    match unit {
        0..=0x7F => 1,
        0x80..=0x7FF => 2,
        _ => 3,
    }
}

/// One unit as UTF-8 would have it, halves of pairs too (CESU-8).
pub(crate) fn write_unit(unit: u16, out: &mut Vec<u8>) {
    let last = |bits: u16| 0x80 | (bits & 0x3F) as u8;
    match width(unit) {
        1 => out.push(unit as u8),
        2 => out.extend_from_slice(&[0xC0 | (unit >> 6) as u8, last(unit)]),
        _ => out.extend_from_slice(&[0xE0 | (unit >> 12) as u8, last(unit >> 6), last(unit)]),
    }
}

/// Reads a text and says how many bytes it took. A half pair becomes U+FFFD.
pub fn read(bytes: &[u8]) -> Result<(String, usize), Utf8Error> {
    read_units(bytes).map(|(units, n)| (String::from_utf16_lossy(&units), n))
}

/// The same as UTF-16 units, with nothing lost. Over-long forms are accepted, sequences of four bytes are not.
pub fn read_units(bytes: &[u8]) -> Result<(Vec<u16>, usize), Utf8Error> {
    let [high, low, rest @ ..] = bytes else { return Err(Utf8Error::Ended) };
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    let text = rest.get(..length).ok_or(Utf8Error::Ended)?;
    let mut units = Vec::with_capacity(length);
    let mut at = 0;
    while at < length {
        let more = |n: usize| match text.get(at + n) {
            Some(b) if b & 0xC0 == 0x80 => Ok(u16::from(b & 0x3F)),
            _ => Err(Utf8Error::Malformed(at)),
        };
        let lead = u16::from(text[at]);
        let (unit, used) = match lead >> 4 {
            0..=7 => (lead, 1),
            12 | 13 => ((lead & 0x1F) << 6 | more(1)?, 2),
            14 => ((lead & 0xF) << 12 | more(1)? << 6 | more(2)?, 3),
            _ => return Err(Utf8Error::Malformed(at)),
        };
        units.push(unit);
        at += used;
    }
    Ok((units, length + 2))
}
