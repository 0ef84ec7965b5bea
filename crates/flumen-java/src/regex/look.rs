//! Tests of a place: line ends, words, clusters, back-references, and where a look-behind begins.

use super::ast::{Assert, Behind, Fold};
use super::text::{char_at, char_before, unit_after, unit_before};
use super::unicode::{WORDS, lower, upper};
use super::vm::{Machine, UNSET};

fn ends_line(c: u32, unix: bool) -> bool {
    c == 10 || (!unix && matches!(c, 13 | 0x85 | 0x2028 | 0x2029))
}

impl Machine<'_> {
    pub(super) fn holds(&self, assert: Assert, pos: usize) -> bool {
        match assert {
            Assert::Begin => pos == 0,
            Assert::End => pos == self.text.len(),
            Assert::LineBegin { unix } => self.line_begin(pos, unix),
            Assert::Dollar { unix, multiline } => self.dollar(pos, unix, multiline),
            Assert::LastMatch => pos == self.previous,
            Assert::Word { negated, unicode } => {
                (self.word_ends_at(pos, unicode) != self.word_begins_at(pos, unicode)) != negated
            }
            Assert::Grapheme => self.cluster_begins(pos),
        }
    }

    /// Not at the end of the text, even after a line end, and not between `\r` and `\n`.
    fn line_begin(&self, pos: usize, unix: bool) -> bool {
        if pos == self.text.len() {
            return false;
        }
        match char_before(self.text, pos) {
            None => true,
            Some((13, _)) if !unix => self.text[pos] != b'\n',
            Some((c, _)) => ends_line(c, unix),
        }
    }

    fn dollar(&self, pos: usize, unix: bool, multiline: bool) -> bool {
        let Some((c, end)) = char_at(self.text, pos) else { return true };
        if !ends_line(c, unix) {
            return false;
        }
        if c == 10 && !unix && pos > 0 && self.text[pos - 1] == b'\r' {
            return false;
        }
        multiline || end == self.text.len() || (!unix && &self.text[pos..] == b"\r\n")
    }

    fn is_word(c: u32, unicode: bool) -> bool {
        if unicode { WORDS.word.has(c) } else { c == 0x5F || WORDS.letter_or_digit.has(c) }
    }

    fn word_ends_at(&self, pos: usize, unicode: bool) -> bool {
        char_before(self.text, pos).is_some_and(|(c, _)| {
            Self::is_word(c, unicode)
                || (WORDS.mark.has(c) && unit_before(self.text, pos).is_some_and(|p| self.has_base(p)))
        })
    }

    fn word_begins_at(&self, pos: usize, unicode: bool) -> bool {
        char_at(self.text, pos)
            .is_some_and(|(c, _)| Self::is_word(c, unicode) || (WORDS.mark.has(c) && self.has_base(pos)))
    }

    /// A mark counts as part of a word if only marks stand between it and a letter or digit.
    fn has_base(&self, mut pos: usize) -> bool {
        while let Some((c, _)) = char_at(self.text, pos) {
            if WORDS.letter_or_digit.has(c) {
                return true;
            }
            match unit_before(self.text, pos) {
                Some(before) if WORDS.mark.has(c) => pos = before,
                _ => return false,
            }
        }
        false
    }

    /// Java counts clusters from the end of the last match or part.
    fn cluster_begins(&self, pos: usize) -> bool {
        if pos == 0 || pos == self.text.len() {
            return true;
        }
        if super::text::inside_pair(self.text, pos).is_some() {
            return false;
        }
        super::grapheme::end_of_cluster(self.text, self.scratch.last.min(self.text.len())) <= pos
    }

    /// Where the text of `group` ends if it stands at `pos` again.
    pub(super) fn refer(&self, group: u32, fold: Fold, pos: usize) -> Option<usize> {
        let start = *self.scratch.slots.get(2 * group as usize)?;
        let end = *self.scratch.slots.get(2 * group as usize + 1)?;
        // Slots behind those of the groups are registers.
        if group as usize >= self.program.groups || start == UNSET {
            return None;
        }
        let (mut from, mut at) = (start, pos);
        while from < end {
            let (a, next_from) = char_at(self.text, from)?;
            let (b, next_at) = char_at(self.text, at)?;
            let same = match fold {
                _ if a == b => true,
                Fold::Exact => false,
                Fold::Ascii => a < 128 && b < 128 && (a as u8).eq_ignore_ascii_case(&(b as u8)),
                Fold::Unicode => upper(a) == upper(b) || lower(upper(a)) == lower(upper(b)),
            };
            if !same {
                return None;
            }
            (from, at) = (next_from, next_at);
        }
        Some(at)
    }
}

/// `count` UTF-16 units back; none if the text begins later.
fn units_back(text: &[u8], mut pos: usize, count: usize) -> Option<usize> {
    if count > pos {
        return None;
    }
    for _ in 0..count {
        pos = unit_before(text, pos)?;
    }
    Some(pos)
}

/// `count` UTF-16 units on; none past the end.
fn units_on(text: &[u8], mut pos: usize, count: usize) -> Option<usize> {
    if count > text.len() {
        return None;
    }
    for _ in 0..count {
        pos = unit_after(text, pos)?;
    }
    Some(pos)
}

/// The units of `count` characters before `pos`, or as many as there are. Java negates the number first: a number that
/// has become negative by overflow counts characters behind `pos`, and the most negative one none.
fn units_of(text: &[u8], pos: usize, count: i32) -> usize {
    let (mut at, mut units) = (pos, 0);
    for _ in 0..count.unsigned_abs() {
        if count == i32::MIN {
            break;
        }
        let next = if count > 0 { char_before(text, at) } else { char_at(text, at) };
        let Some((c, there)) = next else { break };
        units += if c >= 0x1_0000 { 2 } else { 1 };
        at = there;
    }
    units
}

/// The first and the last place from which a look-behind at `pos` tries to match up to `pos`, going back.
///
/// Java computes in 32 bits and wraps: with two unlimited parts the last place lies behind the first and nothing is
/// tried.
pub(super) fn places_behind(text: &[u8], pos: usize, range: Behind) -> (Option<usize>, usize) {
    let all = range.max == i32::MIN || range.max as usize >= pos;
    let (first, last) = if range.supplementary {
        let far = range.max > 0 && all;
        let last = if far { Some(0) } else { units_back(text, pos, units_of(text, pos, range.max)) };
        (units_back(text, pos, units_of(text, pos, range.min)), last.or(Some(0)))
    } else {
        let last = match range.max {
            _ if all && range.max >= 0 || range.max == i32::MIN => Some(0),
            max @ 0.. => units_back(text, pos, max as usize).or(Some(0)),
            // A place behind this one; from some place on its number overflows too and lies before the text.
            max => match units_back(text, pos, (i32::MAX as u32 - max.unsigned_abs()) as usize + 1) {
                Some(_) => Some(0),
                None => units_on(text, pos, max.unsigned_abs() as usize),
            },
        };
        (usize::try_from(range.min).ok().and_then(|min| units_back(text, pos, min)), last)
    };
    match (first, last) {
        (Some(first), Some(last)) if first >= last => (Some(first), last),
        _ => (None, 0),
    }
}

/// The place to try after `start`, not before `last`.
pub(super) fn place_before(text: &[u8], whole: bool, start: usize, last: usize) -> Option<usize> {
    let before = if whole { char_before(text, start).map(|(_, p)| p) } else { unit_before(text, start) };
    before.filter(|&p| p >= last)
}
