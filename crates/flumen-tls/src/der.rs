//! A strict reader of ASN.1 DER (X.690), and a converter for the indefinite lengths that some PKCS#12 writers use.

use std::borrow::Cow;

use crate::{KeyError, StoreError};

/// How deep indefinite lengths may nest.
const MAX_DEPTH: usize = 32;

pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const NULL: u8 = 0x05;
pub(crate) const OID: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;
const CONSTRUCTED: u8 = 0x20;

/// `[n]`, constructed.
pub(crate) const fn context(n: u8) -> u8 {
    0xa0 | n
}

/// What is wrong with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DerError {
    /// They end before what they announce.
    Cut,
    /// Something else stands there, named for the message.
    Bad(&'static str),
}

impl From<DerError> for StoreError {
    fn from(error: DerError) -> StoreError {
        // Not `CutShort`: a part can end too early although the whole does not.
        StoreError::Malformed(match error {
            DerError::Cut => "a part of it ends too early".to_owned(),
            DerError::Bad(what) => what.to_owned(),
        })
    }
}

impl From<DerError> for KeyError {
    fn from(error: DerError) -> KeyError {
        KeyError::Malformed(match error {
            DerError::Cut => "it ends too early".to_owned(),
            DerError::Bad(what) => what.to_owned(),
        })
    }
}

/// One element: its tag, what is in it, and all of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    pub(crate) tag: u8,
    pub(crate) value: &'a [u8],
    pub(crate) whole: &'a [u8],
}

impl<'a> Element<'a> {
    /// Reads what is in the element, one after another.
    pub(crate) fn reader(&self) -> Der<'a> {
        Der { rest: self.value }
    }

    /// Asks for a tag.
    pub(crate) fn expect(self, tag: u8, what: &'static str) -> Result<Element<'a>, DerError> {
        if self.tag == tag { Ok(self) } else { Err(DerError::Bad(what)) }
    }

    /// The bytes of an octet string under any tag: one piece, or the pieces of a constructed one put together.
    pub(crate) fn octets(&self) -> Result<Cow<'a, [u8]>, DerError> {
        if self.tag & CONSTRUCTED == 0 {
            return Ok(Cow::Borrowed(self.value));
        }
        let mut pieces = self.reader();
        let mut joined = Vec::new();
        while let Some(piece) = pieces.next()? {
            joined.extend_from_slice(
                piece.expect(OCTET_STRING, "a piece of an octet string is something else")?.value,
            );
        }
        Ok(Cow::Owned(joined))
    }
}

/// Reads elements from bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Der<'a> {
    rest: &'a [u8],
}

impl<'a> Der<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Der<'a> {
        Der { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next element, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Element<'a>>, DerError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (tag, header, length) = head(self.rest)?;
        let length = length.ok_or(DerError::Bad("an indefinite length where none may be"))?;
        let end = header.checked_add(length).ok_or(DerError::Bad("a length is too big"))?;
        let whole = self.rest.get(..end).ok_or(DerError::Cut)?;
        self.rest = &self.rest[end..];
        Ok(Some(Element { tag, value: &whole[header..], whole }))
    }

    /// The next element, which must be there.
    pub(crate) fn any(&mut self) -> Result<Element<'a>, DerError> {
        self.next()?.ok_or(DerError::Bad("something is missing at the end"))
    }

    /// The next element, of this tag.
    pub(crate) fn take(&mut self, tag: u8, what: &'static str) -> Result<Element<'a>, DerError> {
        self.any()?.expect(tag, what)
    }

    /// The next element, if it is there and of this tag.
    pub(crate) fn optional(&mut self, tag: u8) -> Result<Option<Element<'a>>, DerError> {
        match self.rest.first() {
            Some(&next) if next == tag => self.next(),
            _ => Ok(None),
        }
    }

    pub(crate) fn sequence(&mut self) -> Result<Der<'a>, DerError> {
        Ok(self.take(SEQUENCE, "a sequence was expected")?.reader())
    }

    pub(crate) fn oid(&mut self) -> Result<&'a [u8], DerError> {
        Ok(self.take(OID, "an object identifier was expected")?.value)
    }

    pub(crate) fn octet_string(&mut self) -> Result<&'a [u8], DerError> {
        Ok(self.take(OCTET_STRING, "an octet string was expected")?.value)
    }

    /// A whole number of at most 63 bits, not negative.
    pub(crate) fn unsigned(&mut self) -> Result<u64, DerError> {
        let value = self.take(INTEGER, "a number was expected")?.value;
        match value {
            [] => Err(DerError::Bad("a number without digits")),
            [first, ..] if *first & 0x80 != 0 => Err(DerError::Bad("a number is negative")),
            _ if value.len() > 8 => Err(DerError::Bad("a number is too big")),
            _ => Ok(value.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))),
        }
    }
}

/// Tag, length of the header, and length of the value (`None`: indefinite).
fn head(bytes: &[u8]) -> Result<(u8, usize, Option<usize>), DerError> {
    let &tag = bytes.first().ok_or(DerError::Cut)?;
    if tag & 0x1f == 0x1f {
        return Err(DerError::Bad("a tag of more than one byte"));
    }
    let &first = bytes.get(1).ok_or(DerError::Cut)?;
    match first {
        0..=0x7f => Ok((tag, 2, Some(usize::from(first)))),
        0x80 => Ok((tag, 2, None)),
        0x81..=0x84 => {
            let n = usize::from(first & 0x7f);
            let digits = bytes.get(2..2 + n).ok_or(DerError::Cut)?;
            let length = digits.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
            let length = usize::try_from(length).map_err(|_| DerError::Bad("a length is too big"))?;
            Ok((tag, 2 + n, Some(length)))
        }
        _ => Err(DerError::Bad("a length is too big")),
    }
}

/// The first element of `bytes`, with definite lengths only; bytes after it are left out.
pub(crate) fn definite(bytes: &[u8]) -> Result<Cow<'_, [u8]>, DerError> {
    match head(bytes)? {
        (_, header, Some(length)) => {
            let end = header.checked_add(length).ok_or(DerError::Bad("a length is too big"))?;
            Ok(Cow::Borrowed(bytes.get(..end).ok_or(DerError::Cut)?))
        }
        (_, _, None) => {
            let mut out = Vec::new();
            convert(bytes, &mut out, MAX_DEPTH)?;
            Ok(Cow::Owned(out))
        }
    }
}

/// Appends the first element of `bytes` to `out` with a definite length; gives the number of bytes it took.
fn convert(bytes: &[u8], out: &mut Vec<u8>, depth: usize) -> Result<usize, DerError> {
    let (tag, header, length) = head(bytes)?;
    if let Some(length) = length {
        // What has a definite length is taken as it is: writers that stream use indefinite ones all the way down.
        let end = header.checked_add(length).ok_or(DerError::Bad("a length is too big"))?;
        out.extend_from_slice(bytes.get(..end).ok_or(DerError::Cut)?);
        return Ok(end);
    }
    if tag & CONSTRUCTED == 0 || depth == 0 {
        return Err(DerError::Bad("an indefinite length where none may be"));
    }
    let mut inner = Vec::new();
    let mut at = header;
    loop {
        let rest = &bytes[at..];
        if rest.starts_with(&[0, 0]) {
            out.extend(element(tag, &inner));
            return Ok(at + 2);
        }
        at += convert(rest, &mut inner, depth - 1)?;
    }
}

/// An element as DER.
pub(crate) fn element(tag: u8, value: &[u8]) -> Vec<u8> {
    let length = (value.len() as u64).to_be_bytes();
    let digits = &length[length.iter().position(|byte| *byte != 0).unwrap_or(7)..];
    // All the room at once: the value may be a key, and growing would leave copies of it.
    let mut out = Vec::with_capacity(value.len() + 2 + digits.len());
    out.push(tag);
    match value.len() {
        0..=0x7f => out.extend_from_slice(digits),
        _ => {
            out.push(0x80 | digits.len() as u8);
            out.extend_from_slice(digits);
        }
    }
    out.extend_from_slice(value);
    out
}

/// An object identifier in its dotted spelling, for messages.
pub(crate) fn dotted(oid: &[u8]) -> String {
    let mut arcs: Vec<u64> = Vec::new();
    let mut arc: u64 = 0;
    for byte in oid.iter().take(64) {
        arc = arc.wrapping_shl(7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            if arcs.is_empty() {
                let first = (arc / 40).min(2);
                arcs.extend([first, arc - first * 40]);
            } else {
                arcs.push(arc);
            }
            arc = 0;
        }
    }
    arcs.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indefinite_lengths_become_definite() {
        // SEQUENCE { [0] { OCTET STRING in two pieces } }, all indefinite, and a byte after it.
        let ber = [0x30, 0x80, 0xa0, 0x80, 0x24, 0x80, 4, 1, 7, 4, 1, 8, 0, 0, 0, 0, 0, 0, 9];
        let der = definite(&ber).unwrap();
        assert_eq!(*der, [0x30, 10, 0xa0, 8, 0x24, 6, 4, 1, 7, 4, 1, 8]);
        let mut outer = Der::new(&der).sequence().unwrap();
        let inner = outer.take(context(0), "").unwrap().reader().any().unwrap();
        assert_eq!(*inner.octets().unwrap(), [7, 8]);
        for n in 0..ber.len() - 1 {
            assert!(definite(&ber[..n]).is_err(), "{n}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let ber = [0x30, 0x80].repeat(100_000);
        assert_eq!(definite(&ber), Err(DerError::Bad("an indefinite length where none may be")));
    }

    #[test]
    fn numbers() {
        let read = |bytes: &[u8]| Der::new(bytes).unsigned();
        assert_eq!(read(&[2, 2, 1, 0]), Ok(256));
        assert_eq!(read(&[2, 1, 0x80]), Err(DerError::Bad("a number is negative")));
        assert_eq!(read(&[2, 0]), Err(DerError::Bad("a number without digits")));
        assert_eq!(read(&[2, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0]), Err(DerError::Bad("a number is too big")));
        assert_eq!(read(&[2, 4, 1]), Err(DerError::Cut));
        assert_eq!(read(&[2, 0x85, 0, 0, 0, 0, 1, 1]), Err(DerError::Bad("a length is too big")));
    }

    #[test]
    fn dotted_names() {
        assert_eq!(dotted(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01]), "1.2.840.113549.1");
        assert_eq!(dotted(&[0x2b, 0x65, 0x70]), "1.3.101.112");
        assert_eq!(dotted(&[0x60, 0x86]), "2.16");
        assert_eq!(dotted(&[]), "");
    }

    #[test]
    fn elements_are_written_with_the_shortest_length() {
        assert_eq!(element(4, &[1])[..3], [4, 1, 1]);
        assert_eq!(element(4, &[0; 128])[..3], [4, 0x81, 128]);
        assert_eq!(element(4, &[0; 256])[..4], [4, 0x82, 1, 0]);
        assert_eq!(element(4, &[]), [4, 0]);
    }
}
