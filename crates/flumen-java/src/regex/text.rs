//! A text in UTF-8 seen as Java sees it: characters and UTF-16 units.
//!
//! Positions are byte offsets. The place between the two UTF-16 units of a character outside the basic plane is written
//! as its offset + 2. Bytes that are no UTF-8 read as U+FFFD, one for each part that Java's decoder replaces.

const REPLACEMENT: u32 = 0xFFFD;

fn continues(text: &[u8], pos: usize) -> bool {
    text.get(pos).is_some_and(|b| b & 0xC0 == 0x80)
}

/// The character that begins at `pos` (not a continuation byte of one) and its length.
#[inline]
fn decode(text: &[u8], pos: usize) -> (u32, usize) {
    let first = text[pos];
    if first < 0x80 {
        return (u32::from(first), 1);
    }
    decode_long(text, pos)
}

fn decode_long(text: &[u8], pos: usize) -> (u32, usize) {
    let low = |at: usize| u32::from(text[at] & 0x3F);
    let first = text[pos];
    if !continues(text, pos + 1) {
        return (REPLACEMENT, 1);
    }
    let second = text[pos + 1];
    match first {
        0xC2..=0xDF => (u32::from(first & 0x1F) << 6 | low(pos + 1), 2),
        0xE0..=0xEF => {
            if first == 0xE0 && second < 0xA0 {
                return (REPLACEMENT, 1);
            }
            if !continues(text, pos + 2) {
                return (REPLACEMENT, 2);
            }
            if first == 0xED && second >= 0xA0 {
                return (REPLACEMENT, 3);
            }
            (u32::from(first & 0x0F) << 12 | low(pos + 1) << 6 | low(pos + 2), 3)
        }
        0xF0..=0xF4 => {
            if (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90) {
                return (REPLACEMENT, 1);
            }
            if !continues(text, pos + 2) {
                return (REPLACEMENT, 2);
            }
            if !continues(text, pos + 3) {
                return (REPLACEMENT, 3);
            }
            (u32::from(first & 7) << 18 | low(pos + 1) << 12 | low(pos + 2) << 6 | low(pos + 3), 4)
        }
        _ => (REPLACEMENT, 1),
    }
}

/// The character around `pos` if `pos` is between its two units.
#[inline]
pub(super) fn inside_pair(text: &[u8], pos: usize) -> Option<u32> {
    if pos < 2 || !continues(text, pos) || text[pos - 2] < 0xF0 {
        return None;
    }
    match decode(text, pos - 2) {
        (c, 4) => Some(c),
        _ => None,
    }
}

fn high(c: u32) -> u32 {
    0xD800 + ((c - 0x1_0000) >> 10)
}

fn low(c: u32) -> u32 {
    0xDC00 + (c & 0x3FF)
}

/// `codePointAt`: the character at `pos` (the low half between two units) and where it ends; `None` at the end.
#[inline]
pub(super) fn char_at(text: &[u8], pos: usize) -> Option<(u32, usize)> {
    let first = *text.get(pos)?;
    if first < 0x80 {
        return Some((u32::from(first), pos + 1));
    }
    if first & 0xC0 == 0x80 {
        return Some(match inside_pair(text, pos) {
            Some(c) => (low(c), pos + 2),
            None => (REPLACEMENT, pos + 1),
        });
    }
    let (c, length) = decode_long(text, pos);
    Some((c, pos + length))
}

/// `codePointBefore`: the character that ends at `pos` (the high half between two units) and where it begins.
#[inline]
pub(super) fn char_before(text: &[u8], pos: usize) -> Option<(u32, usize)> {
    let last = *text.get(pos.checked_sub(1)?)?;
    if last < 0x80 {
        return Some((u32::from(last), pos - 1));
    }
    if let Some(c) = inside_pair(text, pos) {
        return Some((high(c), pos - 2));
    }
    for back in 1..=4.min(pos) {
        let start = pos - back;
        if text[start] & 0xC0 != 0x80 {
            let (c, length) = decode(text, start);
            return Some(if length == back { (c, start) } else { (REPLACEMENT, pos - 1) });
        }
    }
    Some((REPLACEMENT, pos - 1))
}

/// One UTF-16 unit back.
pub(super) fn unit_before(text: &[u8], pos: usize) -> Option<usize> {
    let (c, start) = char_before(text, pos)?;
    Some(if c >= 0x1_0000 { start + 2 } else { start })
}

/// One UTF-16 unit on.
pub(super) fn unit_after(text: &[u8], pos: usize) -> Option<usize> {
    let (c, end) = char_at(text, pos)?;
    Some(if c >= 0x1_0000 { pos + 2 } else { end })
}

/// Output that joins two halves of a character again and writes a half that stays alone as `?`, as Java does in UTF-8.
pub(super) struct Joiner<'o> {
    out: &'o mut Vec<u8>,
    half: Option<[u8; 2]>,
}

impl<'o> Joiner<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Joiner<'o> {
        Joiner { out, half: None }
    }

    /// Adds `text[from..to]`.
    pub(super) fn part(&mut self, text: &[u8], from: usize, to: usize) {
        if from >= to {
            return;
        }
        let (mut from, mut end) = (from, to);
        if inside_pair(text, from).is_some() {
            match self.half.take() {
                Some(half) => {
                    self.out.extend(half);
                    self.out.extend(&text[from..from + 2]);
                }
                None => self.out.push(b'?'),
            }
            from += 2;
        }
        let cut = to > from && inside_pair(text, to).is_some();
        if cut {
            end -= 2;
        }
        if from < end || cut {
            self.flush();
        }
        self.out.extend(&text[from..end.max(from)]);
        if cut {
            self.half = Some([text[end], text[end + 1]]);
        }
    }

    /// Adds bytes that stand for themselves.
    pub(super) fn literal(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.flush();
            self.out.extend(bytes);
        }
    }

    fn flush(&mut self) {
        if self.half.take().is_some() {
            self.out.push(b'?');
        }
    }

    /// Writes what is left over.
    pub(super) fn finish(mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_bytes_read_as_one_replacement_for_each_part_that_java_replaces() {
        let text = b"a\xED\xA0\x80\xE2\x82A\xC0\x80\xF4\x90\x80\x80\xF0\x9F\x98\x80\x80";
        let mut forward = vec![];
        let mut pos = 0;
        while let Some((c, end)) = char_at(text, pos) {
            forward.push((c, pos, end));
            pos = end;
        }
        let replaced = forward.iter().filter(|f| f.0 == 0xFFFD).count();
        assert_eq!(replaced, 1 + 1 + 2 + 4 + 1);
        let mut backward = vec![];
        while let Some((c, start)) = char_before(text, pos) {
            backward.push((c, start, pos));
            pos = start;
        }
        backward.reverse();
        assert_eq!(forward, backward);
    }

    #[test]
    fn a_pair_has_a_place_inside() {
        let text = "a😀b".as_bytes();
        assert_eq!(unit_after(text, 1), Some(3));
        assert_eq!(unit_after(text, 3), Some(5));
        assert_eq!(unit_before(text, 5), Some(3));
        assert_eq!(char_at(text, 3), Some((0xDE00, 5)));
        assert_eq!(char_before(text, 3), Some((0xD83D, 1)));
    }

    #[test]
    fn halves_are_joined_again_or_written_as_question_marks() {
        let text = "a😀b".as_bytes();
        let mut out = Vec::new();
        let mut joiner = Joiner::new(&mut out);
        joiner.part(text, 0, 3);
        joiner.part(text, 3, 6);
        joiner.part(text, 0, 3);
        joiner.literal(b"-");
        joiner.part(text, 3, 5);
        joiner.finish();
        assert_eq!(String::from_utf8_lossy(&out), "a😀ba?-?");
    }
}
