//! Encoding, whole or piece by piece.

use super::names::{Info, Kind, Order};
use super::step::{GB_WIDE, Mode, Tables};
use super::{Charset, CodingError, ErrorKind, OnError};

/// Turns text into the bytes of a charset, in pieces of any size.
#[derive(Debug, Clone)]
pub struct Encoder {
    info: &'static Info,
    tables: Tables,
    on_error: OnError,
    ascii: bool,
    started: bool,
    mode: Mode,
    position: u64,
}

impl Encoder {
    pub(super) fn new(charset: Charset, on_error: OnError) -> Self {
        let info = charset.info();
        let tables = Tables::of(info);
        let ascii = tables.keep_ascii(info.kind);
        Self { info, tables, on_error, ascii, started: false, mode: Mode::Ascii, position: 0 }
    }

    /// Appends the bytes of `text` to `out`. On an error `out` has what came before; its position counts UTF-16 units.
    pub fn encode(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), CodingError> {
        if matches!(self.info.kind, Kind::Utf8) {
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        let mut rest = text;
        while !rest.is_empty() {
            if self.ascii {
                let n = rest.bytes().position(|b| b >= 0x80).unwrap_or(rest.len());
                out.extend_from_slice(&rest.as_bytes()[..n]);
                self.position += n as u64;
                rest = &rest[n..];
            }
            let Some(c) = rest.chars().next() else { break };
            if !self.started {
                self.started = true;
                self.start(out);
            }
            if !self.char(c, out) {
                self.unmappable(c, out)?;
            }
            self.position += c.len_utf16() as u64;
            rest = &rest[c.len_utf8()..];
        }
        Ok(())
    }

    /// Ends the text: ISO-2022-JP goes back to ASCII.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.shift(Mode::Ascii, out);
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        match self.info.kind {
            Kind::Utf16 { order, mark: true } => wide16(0xFEFF, order, out),
            Kind::Utf32 { order, mark: true } => wide32(0xFEFF, order, out),
            _ => {}
        }
    }

    fn unmappable(&mut self, c: char, out: &mut Vec<u8>) -> Result<(), CodingError> {
        match self.on_error {
            OnError::Report => {
                return Err(CodingError {
                    kind: ErrorKind::Unmappable,
                    length: c.len_utf16(),
                    position: self.position,
                });
            }
            OnError::Replace => {
                if self.info.kind == Kind::Iso2022Jp {
                    self.shift(Mode::Kanji, out);
                }
                out.extend_from_slice(&self.info.replacement);
            }
            OnError::Ignore => {}
        }
        Ok(())
    }

    fn shift(&mut self, mode: Mode, out: &mut Vec<u8>) {
        if self.mode != mode {
            self.mode = mode;
            out.extend_from_slice(match mode {
                Mode::Ascii => b"\x1B(B",
                Mode::Roman => b"\x1B(J",
                Mode::Kanji => b"\x1B$B",
                Mode::Kana => b"\x1B(I",
            });
        }
    }

    /// Writes one character, if the charset has it.
    fn char(&mut self, c: char, out: &mut Vec<u8>) -> bool {
        let cp = u32::from(c);
        match (self.info.kind, self.tables) {
            (Kind::Ascii, _) if cp < 0x80 => out.push(cp as u8),
            (Kind::Latin1, _) if cp < 0x100 => out.push(cp as u8),
            (Kind::Cesu8, _) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    crate::text::mutf8::write_unit(*unit, out);
                }
            }
            (Kind::Utf16 { order, .. }, _) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    wide16(*unit, order, out);
                }
            }
            (Kind::Utf32 { order, .. }, _) => wide32(cp, order, out),
            (Kind::Single | Kind::Double | Kind::Hkscs, Tables::One(t)) => {
                match t.code_of(c).map(u16::to_be_bytes) {
                    Some([0, byte]) => out.push(byte),
                    Some(bytes) => out.extend_from_slice(&bytes),
                    None => return false,
                }
            }
            (Kind::EucJp, Tables::Jis(x0208, x0212)) => match cp {
                0xA5 => out.push(0x5C),
                0x203E => out.push(0x7E),
                0xFF61..=0xFF9F => out.extend_from_slice(&[0x8E, (cp - 0xFEC0) as u8]),
                _ => {
                    if let Some(code) = x0208.code_of(c) {
                        out.extend_from_slice(&(code | 0x8080).to_be_bytes());
                    } else if let Some(code) = x0212.code_of(c) {
                        out.push(0x8F);
                        out.extend_from_slice(&(code | 0x8080).to_be_bytes());
                    } else {
                        return false;
                    }
                }
            },
            (Kind::Iso2022Jp, Tables::Jis(x0208, _)) => {
                let (mode, code) = match cp {
                    0..=0x7F => (Mode::Ascii, cp as u16),
                    0xA5 => (Mode::Roman, 0x5C),
                    0x203E => (Mode::Roman, 0x7E),
                    0xFF61..=0xFF9F => (Mode::Kana, (cp - 0xFF40) as u16),
                    _ => match x0208.code_of(c) {
                        Some(code) => (Mode::Kanji, code),
                        None => return false,
                    },
                };
                self.shift(mode, out);
                match code.to_be_bytes() {
                    [0, byte] => out.push(byte),
                    bytes => out.extend_from_slice(&bytes),
                }
            }
            (Kind::Gb18030, Tables::Gb(two, four)) => {
                if let Some(code) = two.code_of(c) {
                    out.extend_from_slice(&code.to_be_bytes());
                } else if let Some(linear) = four.code_of(c) {
                    gb_four(u32::from(linear), out);
                } else if cp >= 0x1_0000 {
                    gb_four(cp - 0x1_0000 + GB_WIDE, out);
                } else {
                    return false;
                }
            }
            _ => return false,
        }
        true
    }
}

fn wide16(unit: u16, order: Order, out: &mut Vec<u8>) {
    out.extend_from_slice(&match order {
        Order::Big => unit.to_be_bytes(),
        Order::Little => unit.to_le_bytes(),
    });
}

fn wide32(value: u32, order: Option<Order>, out: &mut Vec<u8>) {
    out.extend_from_slice(&match order {
        Some(Order::Little) => value.to_le_bytes(),
        _ => value.to_be_bytes(),
    });
}

fn gb_four(linear: u32, out: &mut Vec<u8>) {
    let digit = |value: u32, from: u32| (value + from) as u8;
    out.extend_from_slice(&[
        digit(linear / 12_600, 0x81),
        digit(linear / 1_260 % 10, 0x30),
        digit(linear / 10 % 126, 0x81),
        digit(linear % 10, 0x30),
    ]);
}
