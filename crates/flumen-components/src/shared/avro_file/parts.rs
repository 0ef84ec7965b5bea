//! The parts of a container file: a header with a map, then blocks, each with its count, its length and the marker behind it.

use super::{CODEC_KEY, Codec, MOST_BLOCK_BYTES, NotAvro, SCHEMA_KEY, SYNC_BYTES};
use flumen_core::serialize::{DeserializeError, Input};
use std::io;

const MAGIC: &[u8; 4] = b"Obj\x01";
/// What is read at a time where it is not known how much there is.
const STEP: usize = 64 << 10;
/// Bytes and entries of a header, at most. A schema of some megabytes has been seen.
const MOST_HEADER_BYTES: usize = 16 << 20;
const MOST_ENTRIES: i64 = 10_000;
/// A number of 64 bits takes no more bytes.
const LONGEST_NUMBER: usize = 10;

/// What stands in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) metadata: Vec<(String, Vec<u8>)>,
    pub(crate) sync: [u8; SYNC_BYTES],
    /// Bytes of all of it: the first block begins here.
    pub(crate) len: usize,
}

impl Header {
    pub(crate) fn get(&self, key: &str) -> Option<&[u8]> {
        self.metadata.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_slice())
    }

    /// The schema's text.
    pub(crate) fn schema(&self) -> Result<&str, NotAvro> {
        let schema =
            self.get(SCHEMA_KEY).ok_or_else(|| NotAvro::new("there is no schema in front of the file"))?;
        std::str::from_utf8(schema).map_err(|_| NotAvro::new("the schema in front of the file is not UTF-8"))
    }

    pub(crate) fn codec(&self) -> Result<Codec, NotAvro> {
        let Some(name) = self.get(CODEC_KEY) else { return Ok(Codec::Null) };
        let name = String::from_utf8_lossy(name);
        Codec::of_name(&name).ok_or_else(|| NotAvro::new(format!("there is no codec `{name}`")))
    }

    /// The header at the start of these bytes; `None` where they end within it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, NotAvro> {
        if !bytes.starts_with(MAGIC) {
            return match MAGIC.starts_with(bytes) {
                true => Ok(None),
                false => Err(NotAvro::new("it is no Avro data file: it does not begin with `Obj`")),
            };
        }
        let mut rest = &bytes[MAGIC.len()..];
        let mut metadata = Vec::new();
        loop {
            let Some(count) = number(&mut rest)? else { return Ok(None) };
            if count == 0 {
                break;
            }
            if count < 0 && number(&mut rest)?.is_none() {
                return Ok(None);
            }
            let entries = count.saturating_abs();
            if entries > MOST_ENTRIES - metadata.len() as i64 {
                return Err(NotAvro::new(format!("the header has more than {MOST_ENTRIES} entries")));
            }
            for _ in 0..entries {
                let Some(key) = text(&mut rest)? else { return Ok(None) };
                let Some(value) = text(&mut rest)? else { return Ok(None) };
                metadata.push((String::from_utf8_lossy(key).into_owned(), value.to_vec()));
            }
        }
        let Some(sync) = rest.first_chunk::<SYNC_BYTES>() else { return Ok(None) };
        Ok(Some(Self { metadata, sync: *sync, len: bytes.len() - rest.len() + SYNC_BYTES }))
    }
}

/// A number in zig-zag coding, taken off the front; `None` where the bytes end within it.
fn number(rest: &mut &[u8]) -> Result<Option<i64>, NotAvro> {
    let mut value = 0_u64;
    for (n, byte) in rest.iter().take(LONGEST_NUMBER).enumerate() {
        value |= u64::from(byte & 0x7f).wrapping_shl(7 * n as u32);
        if byte & 0x80 == 0 {
            *rest = &rest[n + 1..];
            return Ok(Some((value >> 1) as i64 ^ -((value & 1) as i64)));
        }
    }
    if rest.len() >= LONGEST_NUMBER { Err(NotAvro::new("a number is too long")) } else { Ok(None) }
}

/// A length and so many bytes.
fn text<'a>(rest: &mut &'a [u8]) -> Result<Option<&'a [u8]>, NotAvro> {
    let Some(len) = number(rest)? else { return Ok(None) };
    let len = usize::try_from(len).map_err(|_| NotAvro::new("a length is negative"))?;
    if len > MOST_HEADER_BYTES {
        return Err(NotAvro::new("a part of the header is too long"));
    }
    let Some((text, after)) = rest.split_at_checked(len) else { return Ok(None) };
    *rest = after;
    Ok(Some(text))
}

/// A number, taken off the front; `None` where there is none.
pub(crate) fn take_number(rest: &mut &[u8]) -> Option<i64> {
    number(rest).ok().flatten()
}

/// A number as [`Schema`](super::Schema) needs it: taken off the front of a datum, where it must be whole.
pub(super) fn whole_number(rest: &mut &[u8]) -> Result<i64, NotAvro> {
    number(rest)?.ok_or_else(|| NotAvro::new("a datum ends within a number"))
}

/// Appends a number in zig-zag coding.
pub(crate) fn zigzag(value: i64, out: &mut Vec<u8>) {
    let mut value = ((value << 1) ^ (value >> 63)) as u64;
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    zigzag(text.len() as i64, out);
    out.extend_from_slice(text);
}

/// Appends a header.
pub(crate) fn write_header(metadata: &[(&str, &[u8])], sync: &[u8; SYNC_BYTES], out: &mut Vec<u8>) {
    out.extend_from_slice(MAGIC);
    if !metadata.is_empty() {
        zigzag(metadata.len() as i64, out);
    }
    for (key, value) in metadata {
        put_text(key.as_bytes(), out);
        put_text(value, out);
    }
    zigzag(0, out);
    out.extend_from_slice(sync);
}

/// Appends a block of `count` data.
pub(crate) fn write_block(count: i64, packed: &[u8], sync: &[u8; SYNC_BYTES], out: &mut Vec<u8>) {
    zigzag(count, out);
    put_text(packed, out);
    out.extend_from_slice(sync);
}

/// The header of a file.
pub(crate) fn read_header(input: &dyn Input) -> Result<Header, DeserializeError> {
    let mut bytes = Vec::new();
    loop {
        let wanted = (bytes.len() * 2).max(STEP);
        let all = fill(input, 0, wanted, &mut bytes)?;
        let bad = |reason: NotAvro| DeserializeError::Bad { offset: 0, reason: reason.0 };
        match Header::parse(&bytes).map_err(bad)? {
            Some(header) => return Ok(header),
            None if all => {
                return Err(bad(NotAvro::new("it ends within what stands in front of an Avro file")));
            }
            None if bytes.len() >= MOST_HEADER_BYTES => {
                return Err(bad(NotAvro::new(format!("its header has more than {MOST_HEADER_BYTES} bytes"))));
            }
            None => {}
        }
    }
}

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Data in it.
    pub(crate) count: i64,
    pub(crate) packed: Vec<u8>,
    /// Where the next one begins.
    pub(crate) end: u64,
}

/// The block that begins at `offset`; `None` at the end of the file.
pub(crate) fn next_block(
    input: &dyn Input,
    offset: u64,
    sync: &[u8; SYNC_BYTES],
) -> Result<Option<Block>, DeserializeError> {
    let bad = |reason: String| DeserializeError::Bad { offset, reason };
    let mut bytes = Vec::new();
    fill(input, offset, STEP, &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let torn = || bad("the file ends within a block: it was not written to its end".to_owned());
    let mut rest = &*bytes;
    let count = number(&mut rest).map_err(|error| bad(error.0))?.ok_or_else(torn)?;
    let len = number(&mut rest).map_err(|error| bad(error.0))?.ok_or_else(torn)?;
    let len = usize::try_from(len).ok().filter(|len| *len <= MOST_BLOCK_BYTES);
    let (Some(len), true) = (len, count >= 0) else {
        return Err(bad(format!("a block with a length beyond {MOST_BLOCK_BYTES} bytes, or less than none")));
    };
    let start = bytes.len() - rest.len();
    let end = start + len + SYNC_BYTES;
    // Room is made as bytes come: a length alone allocates nothing.
    while bytes.len() < end {
        let wanted = (bytes.len() * 2).min(end);
        if fill(input, offset, wanted, &mut bytes)? && bytes.len() < end {
            return Err(torn());
        }
    }
    if bytes[start + len..end] != *sync {
        return Err(bad("the marker behind a block is not that of the file: it is damaged".to_owned()));
    }
    bytes.truncate(start + len);
    bytes.drain(..start);
    Ok(Some(Block { count, packed: bytes, end: offset + end as u64 }))
}

/// Where the first block behind the next marker at or after `offset` begins; `None` where there is none.
pub(crate) fn sync_after(input: &dyn Input, offset: u64, sync: &[u8; SYNC_BYTES]) -> io::Result<Option<u64>> {
    let (mut at, mut bytes) = (offset, Vec::new());
    loop {
        let all = fill(input, at, STEP, &mut bytes)?;
        if let Some(place) = memchr::memmem::find(&bytes, sync) {
            return Ok(Some(at + (place + SYNC_BYTES) as u64));
        }
        if all {
            return Ok(None);
        }
        let passed = bytes.len() - (SYNC_BYTES - 1);
        at += passed as u64;
        bytes.drain(..passed);
    }
}

/// Reads until `buffer`, which holds what is from `offset` on, has `wanted` bytes. True where there are no more.
fn fill(input: &dyn Input, offset: u64, wanted: usize, buffer: &mut Vec<u8>) -> io::Result<bool> {
    while buffer.len() < wanted {
        buffer.reserve_exact(wanted - buffer.len());
        let at = offset + buffer.len() as u64;
        if input.read_at(buffer, at)? == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
