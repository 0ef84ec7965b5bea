//! Going through a text from match to match, and what is built on that: replacing and splitting.

use std::cell::RefCell;

use regex::bytes::CaptureLocations;

use super::Pattern;
use super::error::MatchError;
use super::replace::{Part, Replacement};
use super::text::{Joiner, inside_pair, unit_after};
use super::vm::{self, Anchor, Scratch, UNSET};

thread_local! {
    /// One working memory for each thread: a search never begins within another.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Where groups matched, to be used again for match after match of one pattern.
#[derive(Debug, Clone)]
pub struct Captures {
    places: Places,
    locations: Option<CaptureLocations>,
    slots: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Places {
    None,
    Locations,
    Slots,
}

impl Captures {
    pub(super) fn new(pattern: &Pattern) -> Captures {
        let locations = pattern.fast.as_ref().map(|fast| fast.expression().capture_locations());
        Captures { places: Places::None, locations, slots: Vec::with_capacity(pattern.program.groups * 2) }
    }

    /// Start and end of a group in bytes; 0 is the whole match. `None`: there was no match, the group took no part or
    /// does not exist.
    ///
    /// The place between the two UTF-16 units of a character outside the basic plane, where Java finds empty matches,
    /// is its offset + 2: see [`Pattern::text`].
    #[inline]
    pub fn get(&self, group: usize) -> Option<(usize, usize)> {
        match self.places {
            Places::None => None,
            Places::Locations => self.locations.as_ref()?.get(group),
            Places::Slots => {
                let (start, end) = (*self.slots.get(group * 2)?, *self.slots.get(group * 2 + 1)?);
                (start != UNSET).then_some((start, end))
            }
        }
    }
}

/// One search. `previous`: where `\G` holds; `last`: where the last match ended (only `\b{g}` asks).
pub(super) fn search(
    pattern: &Pattern,
    text: &[u8],
    from: usize,
    (previous, last): (usize, usize),
    anchor: Anchor,
    captures: Option<&mut Captures>,
) -> Result<Option<(usize, usize)>, MatchError> {
    if let Some(regex) = pattern.fast.as_ref().and_then(|fast| fast.for_text(text, anchor)) {
        return Ok(match captures {
            Some(Captures { places, locations: Some(locations), .. }) => {
                let found = regex.captures_read_at(locations, text, from);
                *places = if found.is_some() { Places::Locations } else { Places::None };
                found.map(|m| (m.start(), m.end()))
            }
            _ => regex.find_at(text, from).map(|m| (m.start(), m.end())),
        });
    }
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.last = last;
        let found = vm::search(&pattern.program, scratch, text, from, previous, anchor)
            .map_err(|_| MatchError::TooComplex { pattern: pattern.source.clone(), length: text.len() })?;
        if let Some(captures) = captures {
            captures.places = if found { Places::Slots } else { Places::None };
            captures.slots.clear();
            captures.slots.extend(&scratch.slots[..pattern.program.groups * 2]);
        }
        Ok(found.then(|| (scratch.slots[0], scratch.slots[1])))
    })
}

/// Match after match in one text, as `Matcher.find()` goes.
#[derive(Debug)]
pub struct Matches<'p, 't> {
    pattern: &'p Pattern,
    text: &'t [u8],
    last: Option<(usize, usize)>,
    done: bool,
}

impl<'p, 't> Matches<'p, 't> {
    pub(super) fn new(pattern: &'p Pattern, text: &'t [u8]) -> Matches<'p, 't> {
        Matches { pattern, text, last: None, done: false }
    }

    /// The next match; its groups in `captures` if wanted.
    ///
    /// # Errors
    /// [`MatchError::TooComplex`] when the search takes too many steps.
    #[inline]
    pub fn next(&mut self, captures: Option<&mut Captures>) -> Result<Option<(usize, usize)>, MatchError> {
        let from = match self.last {
            _ if self.done => None,
            None => Some(0),
            // After an empty match the search begins one UTF-16 unit later.
            Some((start, end)) if start == end => unit_after(self.text, end),
            Some((_, end)) => Some(end),
        };
        let Some(from) = from else {
            self.done = true;
            if let Some(captures) = captures {
                captures.places = Places::None;
            }
            return Ok(None);
        };
        let (previous, last) = self.last.map_or((from, 0), |(_, end)| (end, end));
        let found = search(self.pattern, self.text, from, (previous, last), Anchor::None, captures)?;
        self.done = found.is_none();
        self.last = found;
        Ok(found)
    }
}

/// Replaces the first match or all into `out`, which is emptied first; false (and `out` empty) if nothing matched.
pub(super) fn replace(
    pattern: &Pattern,
    text: &[u8],
    replacement: &Replacement,
    captures: &mut Captures,
    out: &mut Vec<u8>,
    all: bool,
) -> Result<bool, MatchError> {
    out.clear();
    let mut matches = Matches::new(pattern, text);
    let simple = matches!(&replacement.parts, Ok(parts) if parts.iter().all(|p| matches!(p, Part::Text(_))));
    let mut next = |captures: &mut Captures| matches.next(if simple { None } else { Some(captures) });
    let Some(mut found) = next(captures)? else { return Ok(false) };
    let parts = replacement.parts.as_ref().map_err(Clone::clone)?;
    let mut joiner = Joiner::new(out);
    let mut done = 0;
    loop {
        joiner.part(text, done, found.0);
        for part in parts {
            match part {
                Part::Text(bytes) => joiner.literal(bytes),
                Part::Group(group) => {
                    if let Some((start, end)) = captures.get(*group) {
                        joiner.part(text, start, end);
                    }
                }
            }
        }
        done = found.1;
        found = match all.then(|| next(captures)).transpose()?.flatten() {
            Some(found) => found,
            None => break,
        };
    }
    joiner.part(text, done, text.len());
    joiner.finish();
    Ok(true)
}

/// The parts of `text` between matches as start and end, into `out`, which is emptied first (`Pattern.split`).
pub(super) fn split(
    pattern: &Pattern,
    text: &[u8],
    limit: i32,
    out: &mut Vec<(usize, usize)>,
) -> Result<(), MatchError> {
    out.clear();
    let limited = usize::try_from(limit).ok().filter(|&l| l > 0);
    let mut matches = Matches::new(pattern, text);
    let mut index = 0;
    while limited.is_none_or(|limit| out.len() + 1 < limit) {
        let Some((start, end)) = matches.next(None)? else { break };
        // No empty part before an empty match at the start.
        if index == 0 && start == 0 && end == 0 {
            continue;
        }
        out.push((index, start));
        index = end;
    }
    if index == 0 {
        out.clear();
        out.push((0, text.len()));
        return Ok(());
    }
    out.push((index, text.len()));
    if limit == 0 {
        while out.last().is_some_and(|(start, end)| start == end) {
            out.pop();
        }
    }
    Ok(())
}

/// The text of a match or part. A half character at an end becomes `?`, as when Java writes it in UTF-8.
pub(super) fn piece(text: &[u8], (start, end): (usize, usize)) -> std::borrow::Cow<'_, [u8]> {
    if inside_pair(text, start).is_none() && inside_pair(text, end).is_none() {
        return text[start..end].into();
    }
    let mut out = Vec::new();
    let mut joiner = Joiner::new(&mut out);
    joiner.part(text, start, end);
    joiner.finish();
    out.into()
}
