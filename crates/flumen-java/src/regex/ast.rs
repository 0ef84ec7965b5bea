//! The syntax tree of a pattern.

use super::set::CharSet;

/// Alternatives, each a sequence.
pub(super) type Alternatives = Vec<Vec<Node>>;

/// "No upper limit" of a repetition, as Java counts it.
pub(super) const NO_LIMIT: u32 = i32::MAX as u32;

/// How a repetition takes its turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Greedy,
    Lazy,
    Possessive,
}

/// How characters are compared by a back-reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Exact,
    Ascii,
    Unicode,
}

/// Tests of a place that take no characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assert {
    /// `^` without MULTILINE and `\A`.
    Begin,
    /// `\z`.
    End,
    /// `^` with MULTILINE.
    LineBegin { unix: bool },
    /// `$` and `\Z`.
    Dollar { unix: bool, multiline: bool },
    /// `\G`.
    LastMatch,
    /// `\b` and `\B`.
    Word { negated: bool, unicode: bool },
    /// `\b{g}`.
    Grapheme,
}

/// How far a look-behind goes back, in UTF-16 units or, with `supplementary`, in characters. Java's numbers, which wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Behind {
    pub min: i32,
    pub max: i32,
    pub supplementary: bool,
}

/// One part of a sequence.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// One character of a set.
    Set(CharSet),
    /// Characters one after the other; none for an empty literal such as that before `{2}` at the start.
    Slice(Vec<CharSet>),
    Assert(Assert),
    /// `\R`.
    LineEnding,
    /// `\X`.
    Cluster,
    BackReference {
        group: u32,
        fold: Fold,
    },
    /// A group with its number, or `(?:…)`.
    Group {
        index: Option<u32>,
        body: Alternatives,
    },
    Look {
        behind: Option<Behind>,
        negative: bool,
        body: Alternatives,
    },
    /// `(?>…)`.
    Atomic(Alternatives),
    /// `?` or `{0,1}`, which for groups is no loop in Java.
    Optional {
        body: Box<Node>,
        kind: Kind,
    },
    /// `*`, `+` and `{m,}`, or with `counted` a written maximum: Java loops over these in different ways.
    Repeat {
        body: Box<Node>,
        min: u32,
        max: u32,
        kind: Kind,
        counted: bool,
    },
}

/// A whole pattern.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub body: Alternatives,
    /// Groups, not counting the whole match.
    pub groups: u32,
    /// Names with their group, in order of appearance.
    pub names: Vec<(String, u32)>,
    /// The pattern holds something outside the basic plane: the search does not begin between two surrogates.
    pub supplementary: bool,
    /// There is a back-reference or `\b{g}`: what was matched before counts, so failed places are not remembered.
    pub history: bool,
}

impl Node {
    /// True for what Java makes one "character property": repeated in a simple loop.
    pub(super) fn is_set(&self) -> bool {
        matches!(self, Node::Set(_))
    }
}
