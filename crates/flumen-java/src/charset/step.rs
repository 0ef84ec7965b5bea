//! One step of decoding: what the next bytes mean, as a JDK's decoder sees them (how long a malformed sequence is decides how many
//! replacement characters appear).

use super::ErrorKind::{self, Malformed, Unmappable};
use super::names::{Info, Kind, Order};
use super::table::{Table, table};

/// What the next bytes are; the number says how many of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Char(char, usize),
    /// Half of a surrogate pair: only CESU-8 and UTF-32 give these.
    Half(u16, usize),
    /// A byte order mark or an escape sequence.
    Skip(usize),
    Bad(ErrorKind, usize),
    /// They go on after the end of what there is.
    More,
}

/// What a decoder remembers between steps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    order: Option<Order>,
    mode: Mode,
    before_shift: Mode,
}

/// The character set that an ISO-2022-JP escape sequence has chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    #[default]
    Ascii,
    Roman,
    Kanji,
    Kana,
}

/// The tables that a charset needs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tables {
    Unneeded,
    One(&'static Table),
    /// JIS X 0208 and 0212.
    Jis(&'static Table, &'static Table),
    /// The codes of two and of four bytes.
    Gb(&'static Table, &'static Table),
}

const JIS_X_0208: usize = 0;
const JIS_X_0212: usize = 1;
const GB_TWO: usize = 2;
const GB_FOUR: usize = 3;

impl Tables {
    pub(super) fn of(info: &Info) -> Self {
        match info.kind {
            Kind::Single | Kind::Double | Kind::Hkscs => Self::One(table(info.table)),
            Kind::EucJp | Kind::Iso2022Jp => Self::Jis(table(JIS_X_0208), table(JIS_X_0212)),
            Kind::Gb18030 => Self::Gb(table(GB_TWO), table(GB_FOUR)),
            _ => Self::Unneeded,
        }
    }

    /// Whether the bytes 00 to 7F are ASCII wherever a character may start.
    pub(super) fn keep_ascii(self, kind: Kind) -> bool {
        match (kind, self) {
            (Kind::Ascii | Kind::Latin1 | Kind::Utf8 | Kind::Cesu8 | Kind::EucJp | Kind::Gb18030, _) => true,
            (_, Self::One(t)) => t.ascii,
            _ => false,
        }
    }
}

/// The next step; `b` is never empty.
pub(super) fn step(kind: Kind, tables: Tables, state: &mut State, b: &[u8]) -> Step {
    match (kind, tables) {
        (Kind::Ascii, _) => ascii(b[0]),
        (Kind::Latin1, _) => Step::Char(char::from(b[0]), 1),
        (Kind::Utf8, _) => utf8(b),
        (Kind::Cesu8, _) => cesu8(b),
        (Kind::Utf16 { order, mark }, _) => utf16(order, mark, state, b),
        (Kind::Utf32 { order, .. }, _) => utf32(order, state, b),
        (Kind::Single, Tables::One(t)) => {
            t.char_of(u16::from(b[0])).map_or(Step::Bad(Unmappable, 1), |c| Step::Char(c, 1))
        }
        (Kind::Double, Tables::One(t)) => double(t, b),
        (Kind::Hkscs, Tables::One(t)) => match double(t, b) {
            Step::Bad(..) => Step::Bad(Unmappable, 2),
            other => other,
        },
        (Kind::EucJp, Tables::Jis(x0208, x0212)) => euc_jp(x0208, x0212, b),
        (Kind::Iso2022Jp, Tables::Jis(x0208, _)) => iso_2022_jp(x0208, state, b),
        (Kind::Gb18030, Tables::Gb(two, four)) => gb18030(two, four, b),
        _ => Step::Bad(Malformed, 1),
    }
}

fn ascii(byte: u8) -> Step {
    if byte < 0x80 { Step::Char(char::from(byte), 1) } else { Step::Bad(Malformed, 1) }
}

fn unit(value: u32, len: usize) -> Step {
    match char::from_u32(value) {
        Some(c) => Step::Char(c, len),
        None => Step::Half(value as u16, len),
    }
}

fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn utf8(b: &[u8]) -> Step {
    let rest = |byte: u8| u32::from(byte & 0x3F);
    match b[0] {
        lead @ 0..=0x7F => Step::Char(char::from(lead), 1),
        lead @ 0xC2..=0xDF => match b.get(1) {
            None => Step::More,
            Some(b2) if !continues(*b2) => Step::Bad(Malformed, 1),
            Some(b2) => unit(u32::from(lead & 0x1F) << 6 | rest(*b2), 2),
        },
        lead @ 0xE0..=0xEF => match three(lead, b) {
            Step::Half(_, len) => Step::Bad(Malformed, len),
            other => other,
        },
        lead @ 0xF0..=0xF4 => {
            let Some(b2) = b.get(1) else { return Step::More };
            let low = if lead == 0xF0 { 0x90 } else { 0x80 };
            let high = if lead == 0xF4 { 0x8F } else { 0xBF };
            if !(low..=high).contains(b2) {
                return Step::Bad(Malformed, 1);
            }
            match (b.get(2), b.get(3)) {
                (Some(b3), _) if !continues(*b3) => Step::Bad(Malformed, 2),
                (Some(_), Some(b4)) if !continues(*b4) => Step::Bad(Malformed, 3),
                (Some(b3), Some(b4)) => {
                    unit(u32::from(lead & 7) << 18 | rest(*b2) << 12 | rest(*b3) << 6 | rest(*b4), 4)
                }
                _ => Step::More,
            }
        }
        _ => Step::Bad(Malformed, 1),
    }
}

/// A sequence of three bytes, halves of pairs allowed.
fn three(lead: u8, b: &[u8]) -> Step {
    let Some(b2) = b.get(1) else { return Step::More };
    if !continues(*b2) || lead == 0xE0 && *b2 < 0xA0 {
        return Step::Bad(Malformed, 1);
    }
    match b.get(2) {
        None => Step::More,
        Some(b3) if !continues(*b3) => Step::Bad(Malformed, 2),
        Some(b3) => unit(u32::from(lead & 0xF) << 12 | u32::from(b2 & 0x3F) << 6 | u32::from(b3 & 0x3F), 3),
    }
}

fn cesu8(b: &[u8]) -> Step {
    match b[0] {
        lead @ 0xE0..=0xEF => three(lead, b),
        0xF0.. => Step::Bad(Malformed, 1),
        _ => utf8(b),
    }
}

fn utf16(default: Order, mark: bool, state: &mut State, b: &[u8]) -> Step {
    if b.len() < 2 {
        return Step::More;
    }
    let read = |at: usize, order| match order {
        Order::Big => u16::from_be_bytes([b[at], b[at + 1]]),
        Order::Little => u16::from_le_bytes([b[at], b[at + 1]]),
    };
    let order = match state.order {
        Some(order) => order,
        None => {
            let found = match read(0, Order::Big) {
                0xFEFF if mark => Some(Order::Big),
                0xFFFE if mark => Some(Order::Little),
                _ => None,
            };
            state.order = Some(found.unwrap_or(default));
            if found.is_some() {
                return Step::Skip(2);
            }
            default
        }
    };
    let first = read(0, order);
    match first {
        0xD800..=0xDBFF if b.len() < 4 => Step::More,
        0xD800..=0xDBFF => {
            let second = read(2, order);
            if !(0xDC00..=0xDFFF).contains(&second) {
                return Step::Bad(Malformed, 4);
            }
            let value = 0x1_0000 + ((u32::from(first) & 0x3FF) << 10 | u32::from(second) & 0x3FF);
            unit(value, 4)
        }
        0xDC00..=0xDFFF => Step::Bad(Malformed, 2),
        _ => unit(u32::from(first), 2),
    }
}

fn utf32(expected: Option<Order>, state: &mut State, b: &[u8]) -> Step {
    if b.len() < 4 {
        return Step::More;
    }
    let bytes = [b[0], b[1], b[2], b[3]];
    let order = match state.order {
        Some(order) => order,
        None => {
            let found = match u32::from_be_bytes(bytes) {
                0xFEFF if expected != Some(Order::Little) => Some(Order::Big),
                0xFFFE_0000 if expected != Some(Order::Big) => Some(Order::Little),
                _ => None,
            };
            let order = found.or(expected).unwrap_or(Order::Big);
            state.order = Some(order);
            if found.is_some() {
                return Step::Skip(4);
            }
            order
        }
    };
    let value = match order {
        Order::Big => u32::from_be_bytes(bytes),
        Order::Little => u32::from_le_bytes(bytes),
    };
    if value > 0x10_FFFF { Step::Bad(Malformed, 4) } else { unit(value, 4) }
}

fn double(t: &Table, b: &[u8]) -> Step {
    if let Some(c) = t.char_of(u16::from(b[0])) {
        return Step::Char(c, 1);
    }
    let Some(b2) = b.get(1) else { return Step::More };
    if t.is_lead(b[0])
        && let Some(c) = t.char_of(u16::from_be_bytes([b[0], *b2]))
    {
        return Step::Char(c, 2);
    }
    if !t.is_lead(b[0]) || t.is_lead(*b2) || t.char_of(u16::from(*b2)).is_some() {
        Step::Bad(Malformed, 1)
    } else {
        Step::Bad(Unmappable, 2)
    }
}

fn euc_jp(x0208: &Table, x0212: &Table, b: &[u8]) -> Step {
    let (found, len) = match (b[0], b.get(1), b.get(2)) {
        (lead @ 0..=0x7F, ..) => return Step::Char(char::from(lead), 1),
        (0x8F, Some(b2), Some(b3)) => (jis(x0212, *b2, *b3), 3),
        (0x8F, ..) | (_, None, _) => return Step::More,
        (0x8E, Some(b2), _) => (kana(b2.wrapping_sub(0x80)), 2),
        (lead, Some(b2), _) => (jis(x0208, lead, *b2), 2),
    };
    found.map_or(Step::Bad(Unmappable, len), |c| Step::Char(c, len))
}

fn jis(t: &Table, high: u8, low: u8) -> Option<char> {
    if high < 0x80 || low < 0x80 {
        return None;
    }
    t.char_of(u16::from_be_bytes([high - 0x80, low - 0x80]))
}

/// Half-width katakana: 21 to 5F.
fn kana(code: u8) -> Option<char> {
    (0x21..=0x5F).contains(&code).then(|| char::from_u32(0xFF40 + u32::from(code))).flatten()
}

fn iso_2022_jp(x0208: &Table, state: &mut State, b: &[u8]) -> Step {
    const ESCAPE: u8 = 0x1B;
    const SHIFT_OUT: u8 = 0x0E;
    const SHIFT_IN: u8 = 0x0F;
    match b[0] {
        0x80.. => return Step::Bad(Malformed, 1),
        ESCAPE => {
            let [_, second, third, ..] = b else { return Step::More };
            state.mode = match (second, third) {
                (b'(', b'B') => Mode::Ascii,
                (b'(', b'J') => Mode::Roman,
                (b'(', b'I') => Mode::Kana,
                (b'$', b'@' | b'B') => Mode::Kanji,
                (b'(' | b'$', _) => return Step::Bad(Malformed, 3),
                _ => return Step::Bad(Malformed, 2),
            };
            return Step::Skip(3);
        }
        SHIFT_OUT => {
            state.before_shift = state.mode;
            state.mode = Mode::Kana;
            return Step::Skip(1);
        }
        SHIFT_IN => {
            state.mode = state.before_shift;
            return Step::Skip(1);
        }
        _ => {}
    }
    match state.mode {
        Mode::Ascii => Step::Char(char::from(b[0]), 1),
        Mode::Roman => match b[0] {
            0x5C => Step::Char('\u{A5}', 1),
            0x7E => Step::Char('\u{203E}', 1),
            other => Step::Char(char::from(other), 1),
        },
        Mode::Kana if b[0] > 0x60 => Step::Bad(Malformed, 1),
        Mode::Kana => unit(0xFF40 + u32::from(b[0]), 1),
        Mode::Kanji => match b.get(1) {
            None => Step::More,
            Some(b2) => x0208
                .char_of(u16::from_be_bytes([b[0], *b2]))
                .map_or(Step::Bad(Unmappable, 2), |c| Step::Char(c, 2)),
        },
    }
}

fn gb18030(two: &Table, four: &Table, b: &[u8]) -> Step {
    match b[0] {
        lead @ 0..=0x7F => return Step::Char(char::from(lead), 1),
        0x80 | 0xFF => return Step::Bad(Malformed, 1),
        _ => {}
    }
    let Some(b2) = b.get(1) else { return Step::More };
    match b2 {
        0..=0x2F => return Step::Bad(Malformed, 1),
        0x30..=0x39 => {}
        _ => {
            return two
                .char_of(u16::from_be_bytes([b[0], *b2]))
                .map_or(Step::Bad(Malformed, 2), |c| Step::Char(c, 2));
        }
    }
    let [_, _, b3, b4, ..] = b else { return Step::More };
    if !(0x81..=0xFE).contains(b3) {
        return Step::Bad(Malformed, 3);
    }
    if !(0x30..=0x39).contains(b4) {
        return Step::Bad(Malformed, 4);
    }
    let at = |byte: u8, from: u8| u32::from(byte - from);
    let linear = ((at(b[0], 0x81) * 10 + at(*b2, 0x30)) * 126 + at(*b3, 0x81)) * 10 + at(*b4, 0x30);
    let found = match linear {
        0..=39_419 => four.char_of(linear as u16),
        GB_WIDE.. => char::from_u32(linear - GB_WIDE + 0x1_0000),
        _ => None,
    };
    found.map_or(Step::Bad(Malformed, 4), |c| Step::Char(c, 4))
}

/// Where the four-byte codes of U+10000 start, counted from 81308130.
pub(super) const GB_WIDE: u32 = 189_000;
