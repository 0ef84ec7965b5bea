//! The quick way: patterns that the `regex` crate matches with the same answers as Java, on texts for which that holds.
//!
//! Taken are characters, classes, `.`, groups, alternatives, greedy and lazy repetitions, `^`, `$`, `\A`, `\z`, `\Z` and
//! `\b`, where the first alternative that matches wins in both. What depends on the text is asked of each text
//! ([`Needs`]); the others go to the matcher.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::ast::{Alternatives, Assert, Kind, NO_LIMIT, Node, Tree};
use super::set::CharSet;
use super::vm::Anchor;

/// Longest translation in bytes; big classes make long ones.
const MAX_LENGTH: usize = 256 * 1024;
/// Largest count of a repetition.
const MAX_COUNT: u32 = 1000;

/// What must be true of a text.
#[derive(Debug, Clone, Copy, Default)]
struct Needs {
    /// No invalid UTF-8: something matches U+FFFD, as which Java would read it.
    valid: bool,
    /// No character outside the basic plane: an empty match could lie between its two units.
    basic: bool,
    /// ASCII only: `\b` asks for letters.
    ascii: bool,
    /// No line end at the end: `$` is the end only then.
    open: bool,
}

/// The translation of one pattern.
#[derive(Debug)]
pub(super) struct Fast {
    needs: Needs,
    find: Regex,
    source: String,
    start: OnceLock<Option<Regex>>,
    both: OnceLock<Option<Regex>>,
}

impl Fast {
    /// The translation, if there is one.
    pub(super) fn new(tree: &Tree) -> Option<Fast> {
        if tree.history {
            return None;
        }
        let mut writer = Writer { out: String::new(), needs: Needs::default() };
        writer.alternatives(&tree.body)?;
        writer.needs.basic = nullable(&tree.body);
        let Writer { out: source, needs } = writer;
        let find = build(&source)?;
        Some(Fast { needs, find, source, start: OnceLock::new(), both: OnceLock::new() })
    }

    /// The expression to use for `text`, if it gives Java's answer there.
    #[inline]
    pub(super) fn for_text(&self, text: &[u8], anchor: Anchor) -> Option<&Regex> {
        let needs = self.needs;
        if needs.ascii && !text.is_ascii()
            || needs.open && ends_with_line_end(text)
            || needs.basic && !needs.ascii && text.iter().any(|&b| b >= 0xF0)
            || needs.valid && !needs.ascii && std::str::from_utf8(text).is_err()
        {
            return None;
        }
        match anchor {
            Anchor::None => Some(&self.find),
            Anchor::Start => self.start.get_or_init(|| build(&format!(r"\A(?:{})", self.source))).as_ref(),
            Anchor::Both => self.both.get_or_init(|| build(&format!(r"\A(?:{})\z", self.source))).as_ref(),
        }
    }

    /// An expression with the groups of this one, for a buffer.
    pub(super) fn expression(&self) -> &Regex {
        &self.find
    }
}

fn ends_with_line_end(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'\n' | b'\r'))
        || text.ends_with(b"\xC2\x85")
        || text.ends_with(b"\xE2\x80\xA8")
        || text.ends_with(b"\xE2\x80\xA9")
}

fn build(source: &str) -> Option<Regex> {
    RegexBuilder::new(source).build().ok()
}

fn nullable(body: &Alternatives) -> bool {
    body.iter().any(|sequence| sequence.iter().all(node_nullable))
}

fn node_nullable(node: &Node) -> bool {
    match node {
        Node::Slice(sets) => sets.is_empty(),
        Node::Group { body, .. } => nullable(body),
        Node::Repeat { body, min, .. } => *min == 0 || node_nullable(body),
        Node::Set(_) => false,
        _ => true,
    }
}

fn has_groups(node: &Node) -> bool {
    match node {
        Node::Group { index: Some(_), .. } => true,
        Node::Group { body, .. } => body.iter().flatten().any(has_groups),
        Node::Optional { body, .. } | Node::Repeat { body, .. } => has_groups(body),
        _ => false,
    }
}

struct Writer {
    out: String,
    needs: Needs,
}

impl Writer {
    fn alternatives(&mut self, body: &Alternatives) -> Option<()> {
        for (i, sequence) in body.iter().enumerate() {
            if i > 0 {
                self.out.push('|');
            }
            for node in sequence {
                self.node(node)?;
            }
        }
        (self.out.len() <= MAX_LENGTH).then_some(())
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Set(set) => self.set(set),
            Node::Slice(sets) => sets.iter().try_for_each(|set| self.set(set)),
            Node::Assert(assert) => self.assert(*assert),
            Node::Group { index, body } => {
                self.out.push_str(if index.is_some() { "(" } else { "(?:" });
                self.alternatives(body)?;
                self.out.push(')');
                Some(())
            }
            Node::Optional { body, kind } => self.repeat(body, 0, 1, *kind),
            Node::Repeat { body, min, max, kind, .. } => self.repeat(body, *min, *max, *kind),
            _ => None,
        }
    }

    fn assert(&mut self, assert: Assert) -> Option<()> {
        self.out.push_str(match assert {
            Assert::Begin => r"\A",
            Assert::End => r"\z",
            Assert::Dollar { multiline: false, .. } => {
                self.needs.open = true;
                r"\z"
            }
            Assert::Word { negated, .. } => {
                self.needs.ascii = true;
                if negated { r"(?-u:\B)" } else { r"(?-u:\b)" }
            }
            _ => return None,
        });
        Some(())
    }

    fn set(&mut self, set: &CharSet) -> Option<()> {
        let ranges: Vec<_> = set
            .ranges()
            .iter()
            .flat_map(|&(from, to)| [(from, to.min(0xD7FF)), (from.max(0xE000), to)])
            .filter(|(from, to)| from <= to)
            .collect();
        // Nothing but surrogates: matches no whole character, but perhaps half of one.
        let (&(first, last), _) = ranges.split_first()?;
        self.needs.valid |= set.has(0xFFFD);
        let begin = self.out.len();
        if ranges.len() == 1 && first == last {
            self.out.push_str(&format!(r"\x{{{first:x}}}"));
        } else {
            self.out.push('[');
            for (from, to) in ranges {
                self.out.push_str(&format!(r"\x{{{from:x}}}-\x{{{to:x}}}"));
            }
            self.out.push(']');
        }
        (self.out.len() - begin <= MAX_LENGTH).then_some(())
    }

    fn repeat(&mut self, body: &Node, min: u32, max: u32, kind: Kind) -> Option<()> {
        let counted = min > MAX_COUNT || (max != NO_LIMIT && max > MAX_COUNT) || max == 0;
        // An empty turn, and groups in a group that is taken several times, are kept in another way by Java.
        let inner = match body {
            Node::Group { body, .. } => body.iter().flatten().any(has_groups),
            _ => false,
        };
        if counted || kind == Kind::Possessive || node_nullable(body) || (max > 1 && inner) {
            return None;
        }
        self.out.push_str("(?:");
        self.node(body)?;
        self.out.push(')');
        match (min, max) {
            (0, 1) => self.out.push('?'),
            (0, NO_LIMIT) => self.out.push('*'),
            (1, NO_LIMIT) => self.out.push('+'),
            (_, NO_LIMIT) => self.out.push_str(&format!("{{{min},}}")),
            _ => self.out.push_str(&format!("{{{min},{max}}}")),
        }
        if kind == Kind::Lazy {
            self.out.push('?');
        }
        Some(())
    }
}
