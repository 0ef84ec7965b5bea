//! Java's regular expressions (`java.util.regex` of JDK 17) on bytes.
//!
//! A pattern is parsed as Java parses it, errors included. Most patterns of configurations run on the `regex` crate;
//! the others, and the texts on which answers could differ, run on a matcher that backtracks exactly as Java does but
//! stops after a number of steps instead of running for ever or overflowing the stack.
//!
//! Texts are UTF-8; bytes that are not read as U+FFFD, one for each part that Java's decoder would replace, and stay as
//! they are in what is copied from the text. Positions are byte offsets.

mod ast;
mod class;
mod classes;
mod compile;
mod error;
mod escape;
mod fast;
mod grapheme;
mod group;
mod look;
mod matcher;
mod parse;
mod quote;
mod replace;
mod set;
mod study;
mod text;
mod unicode;
mod vm;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::BitOr;

pub use error::{MatchError, PatternError, ReplacementError};
pub use matcher::{Captures, Matches};
pub use replace::Replacement;

use compile::Program;
use fast::Fast;
use vm::Anchor;

/// Flags of `Pattern.compile`. CANON_EQ is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// `(?d)`: only `\n` ends a line.
    pub const UNIX_LINES: Flags = Flags(1);
    /// `(?i)`: case of ASCII letters does not count.
    pub const CASE_INSENSITIVE: Flags = Flags(2);
    /// `(?x)`: blanks and comments in the pattern.
    pub const COMMENTS: Flags = Flags(4);
    /// `(?m)`: `^` and `$` at every line.
    pub const MULTILINE: Flags = Flags(8);
    /// The pattern is plain text.
    pub const LITERAL: Flags = Flags(16);
    /// `(?s)`: `.` matches line ends.
    pub const DOTALL: Flags = Flags(32);
    /// `(?u)`: with `(?i)`, case of no letter counts.
    pub const UNICODE_CASE: Flags = Flags(64);
    /// `(?U)`: `\w`, `\d`, `\s` and POSIX classes know all of Unicode.
    pub const UNICODE_CHARACTER_CLASS: Flags = Flags(256);

    fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 == flag.0
    }

    fn without(self, flag: Flags) -> Flags {
        Flags(self.0 & !flag.0)
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// A compiled pattern. Cheap to use from many threads at once; compile it once, at configuration.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    names: Vec<(String, u32)>,
    program: Program,
    fast: Option<Fast>,
}

impl Pattern {
    /// Compiles `pattern`. Limits: 65,536 characters, 2000 groups, 200 levels of nesting.
    ///
    /// # Errors
    /// [`PatternError`] with Java's description and index.
    pub fn compile(pattern: &str, flags: Flags) -> Result<Pattern, PatternError> {
        let tree = parse::parse(pattern, flags)?;
        let program = compile::compile(&tree);
        let fast = Fast::new(&tree);
        Ok(Pattern { source: pattern.to_owned(), names: tree.names, program, fast })
    }

    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Number of groups without the whole match.
    pub fn group_count(&self) -> usize {
        self.program.groups - 1
    }

    /// Names of groups with their numbers.
    pub fn group_names(&self) -> impl Iterator<Item = (&str, usize)> {
        self.names.iter().map(|(name, group)| (name.as_str(), *group as usize))
    }

    /// A buffer for the places of groups, to be used again for every text.
    pub fn captures(&self) -> Captures {
        Captures::new(self)
    }

    /// True if the pattern is found somewhere in `text` (`Matcher.find()`).
    ///
    /// # Errors
    /// [`MatchError::TooComplex`] when the search takes too many steps; so for all searches.
    #[inline]
    pub fn is_found(&self, text: &[u8]) -> Result<bool, MatchError> {
        if let Some(regex) = self.fast.as_ref().and_then(|fast| fast.for_text(text, Anchor::None)) {
            return Ok(regex.is_match(text));
        }
        Ok(self.find(text)?.is_some())
    }

    /// The first match.
    ///
    /// # Errors
    /// See [`Pattern::is_found`].
    pub fn find(&self, text: &[u8]) -> Result<Option<(usize, usize)>, MatchError> {
        self.find_at(text, 0)
    }

    /// The first match that begins at byte `from` or later; what is before still counts for `^`, `\b` and look-behind
    /// (`Matcher.find(int)`). Nothing is found beyond the end of `text`.
    ///
    /// # Errors
    /// See [`Pattern::is_found`].
    pub fn find_at(&self, text: &[u8], from: usize) -> Result<Option<(usize, usize)>, MatchError> {
        if from > text.len() {
            return Ok(None);
        }
        matcher::search(self, text, from, (from, 0), Anchor::None, None)
    }

    /// The first match with its groups in `captures`, which must come from this pattern; true if there is one.
    ///
    /// # Errors
    /// See [`Pattern::is_found`].
    #[inline]
    pub fn find_captures(&self, text: &[u8], captures: &mut Captures) -> Result<bool, MatchError> {
        Ok(matcher::search(self, text, 0, (0, 0), Anchor::None, Some(captures))?.is_some())
    }

    /// True if the whole text matches (`Matcher.matches()`).
    ///
    /// # Errors
    /// See [`Pattern::is_found`].
    pub fn matches(&self, text: &[u8], captures: Option<&mut Captures>) -> Result<bool, MatchError> {
        Ok(matcher::search(self, text, 0, (0, 0), Anchor::Both, captures)?.is_some())
    }

    /// The match at the very start, if there is one (`Matcher.lookingAt()`).
    ///
    /// # Errors
    /// See [`Pattern::is_found`].
    pub fn looking_at(
        &self,
        text: &[u8],
        captures: Option<&mut Captures>,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        matcher::search(self, text, 0, (0, 0), Anchor::Start, captures)
    }

    /// Match after match.
    pub fn find_all<'p, 't>(&'p self, text: &'t [u8]) -> Matches<'p, 't> {
        Matches::new(self, text)
    }

    /// Makes a replacement text ready: `$1`, `${name}`, `\` before any character.
    pub fn replacement(&self, text: &str) -> Replacement {
        Replacement::new(text.as_bytes(), self.group_count(), &self.names)
    }

    /// Replaces every match into `out`, which is emptied first. False, and `out` empty, if nothing matched: the text
    /// stays as it is.
    ///
    /// # Errors
    /// [`MatchError::Replacement`] if the replacement is wrong and something matched, and see [`Pattern::is_found`].
    pub fn replace_all(
        &self,
        text: &[u8],
        replacement: &Replacement,
        captures: &mut Captures,
        out: &mut Vec<u8>,
    ) -> Result<bool, MatchError> {
        matcher::replace(self, text, replacement, captures, out, true)
    }

    /// Replaces the first match; otherwise as [`Pattern::replace_all`].
    ///
    /// # Errors
    /// See [`Pattern::replace_all`].
    pub fn replace_first(
        &self,
        text: &[u8],
        replacement: &Replacement,
        captures: &mut Captures,
        out: &mut Vec<u8>,
    ) -> Result<bool, MatchError> {
        matcher::replace(self, text, replacement, captures, out, false)
    }

    /// The places of the parts between matches, into `out`, which is emptied first. `limit` as in `Pattern.split`: at
    /// most so many parts; 0: all without empty ones at the end; negative: all.
    ///
    /// # Errors
    /// See [`Pattern::is_found`].
    pub fn split(&self, text: &[u8], limit: i32, out: &mut Vec<(usize, usize)>) -> Result<(), MatchError> {
        matcher::split(self, text, limit, out)
    }

    /// The bytes of a match, group or part. Half a character at an end, where Java finds an empty match within one,
    /// is `?`, as Java writes it.
    pub fn text(text: &[u8], place: (usize, usize)) -> Cow<'_, [u8]> {
        matcher::piece(text, place)
    }
}
