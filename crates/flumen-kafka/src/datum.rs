//! An event as one Avro datum: Flume's record `AvroFlumeEvent` (a map of headers, bytes of the body), without a schema before it.

use flumen_core::event::{Event, EventHeaders, Headers, Text};
use flumen_java::text::hash_order::{Made, order};
use std::ops::Range;

/// Entries that a datum may have; real ones have a handful.
const MAX_HEADERS: usize = 100_000;

/// Appends an event, with its headers in the order in which Java's map has them.
pub(crate) fn encode(event: Event<'_>, out: &mut Vec<u8>) {
    encode_headers(&event.headers, out);
    put(event.body, out);
}

/// Appends the headers of an event: what is the same for a batch is encoded once.
pub(crate) fn encode_headers(headers: &EventHeaders<'_>, out: &mut Vec<u8>) {
    let entries: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    if !entries.is_empty() {
        zigzag(entries.len() as i64, out);
        let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
        for place in order(&names, Made::Empty) {
            let (name, value) = entries[place];
            put(name.as_bytes(), out);
            put(value.as_bytes(), out);
        }
    }
    zigzag(0, out);
}

/// Appends bytes with their length before them.
pub(crate) fn put(bytes: &[u8], out: &mut Vec<u8>) {
    zigzag(bytes.len() as i64, out);
    out.extend_from_slice(bytes);
}

fn zigzag(n: i64, out: &mut Vec<u8>) {
    let mut rest = ((n << 1) ^ (n >> 63)) as u64;
    while rest > 0x7f {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Reads a datum: its headers, and where its body lies. What follows the body is left alone, as by Java.
///
/// # Errors
/// It is no such datum; in words.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Headers, Range<usize>), &'static str> {
    let mut reader = Reader { bytes, at: 0 };
    let mut pairs: Vec<(Text, Text)> = Vec::new();
    loop {
        let mut count = reader.long()?;
        if count == 0 {
            break;
        }
        if count < 0 {
            // The size of the block in bytes follows, for who would skip it.
            count = count.checked_neg().ok_or("its map is too large")?;
            reader.long()?;
        }
        let count = usize::try_from(count).ok().filter(|count| count + pairs.len() <= MAX_HEADERS);
        for _ in 0..count.ok_or("its map is too large")? {
            let (name, value) = (reader.text()?, reader.text()?);
            pairs.push((Text::from(name), Text::from(value)));
        }
    }
    let body = reader.range()?;
    Ok((Headers::from_pairs(pairs), body))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn long(&mut self) -> Result<i64, &'static str> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or("it ends too early")?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err("a number in it is too long")
    }

    fn range(&mut self) -> Result<Range<usize>, &'static str> {
        let len = usize::try_from(self.long()?).map_err(|_| "a length in it is below 0")?;
        let end =
            self.at.checked_add(len).filter(|end| *end <= self.bytes.len()).ok_or("it ends too early")?;
        let range = self.at..end;
        self.at = end;
        Ok(range)
    }

    fn text(&mut self) -> Result<&'a str, &'static str> {
        let range = self.range()?;
        std::str::from_utf8(&self.bytes[range]).map_err(|_| "a header in it is no UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flumen_core::event::Batch;

    fn encoded(headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let mut batch = Batch::new();
        batch.push(headers.iter().copied().collect(), body.to_vec());
        let mut out = Vec::new();
        encode(batch.get(0).unwrap(), &mut out);
        out
    }

    #[test]
    fn the_bytes_are_those_of_the_schema() {
        assert_eq!(encoded(&[], b"ab"), [0, 4, b'a', b'b']);
        assert_eq!(encoded(&[("k", "vw")], b""), [2, 2, b'k', 4, b'v', b'w', 0, 0]);
    }

    #[test]
    fn what_was_written_is_read_and_blocks_with_sizes_too() {
        let written = encoded(&[("topic", "t"), ("key", "k"), ("zzz", "ä")], b"body");
        let (headers, body) = decode(&written).unwrap();
        assert_eq!((headers.len(), &*headers.get("zzz").unwrap().to_string()), (3, "ä"));
        assert_eq!(&written[body], b"body");
        // A block of one entry with its size, then one without.
        let blocks = [1, 8, 2, b'a', 2, b'b', 2, 2, b'c', 2, b'd', 0, 2, b'x'];
        let (headers, body) = decode(&blocks).unwrap();
        assert_eq!((headers.len(), body), (2, 13..14));
    }

    #[test]
    fn what_is_no_datum_is_refused() {
        let bad: [(&[u8], &str); 6] = [
            (&[], "it ends too early"),
            (&[2, 2, b'k'], "it ends too early"),
            (&[0, 8, b'x'], "it ends too early"),
            (&[0, 1], "a length in it is below 0"),
            (&[0xff; 20], "a number in it is too long"),
            (&[2, 2, 0xff, 2, b'v', 0, 0], "a header in it is no UTF-8"),
        ];
        for (bytes, why) in bad {
            assert_eq!(decode(bytes).unwrap_err(), why);
        }
        let mut many = Vec::new();
        zigzag(i64::MAX, &mut many);
        assert_eq!(decode(&many).unwrap_err(), "its map is too large");
        let mut least = Vec::new();
        zigzag(i64::MIN, &mut least);
        assert_eq!(decode(&least).unwrap_err(), "its map is too large");
    }
}
