//! Extended grapheme clusters (Unicode 13, UAX 29) for `\X` and `\b{g}`, as Java cuts them.

use std::sync::LazyLock;

use super::set::CharSet;
use super::text::char_at;
use super::unicode::{categories, set};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Cr,
    Lf,
    Control,
    Extend,
    Joiner,
    Prepend,
    Regional,
    L,
    V,
    T,
    Lv,
    Lvt,
    Pictograph,
}

/// The sets of the break property. Java lets spacing marks extend a cluster wherever extending marks do.
struct Sets {
    extend: CharSet,
    prepend: CharSet,
    pictograph: CharSet,
    control: CharSet,
    l: CharSet,
    v: CharSet,
    t: CharSet,
}

static SETS: LazyLock<Sets> = LazyLock::new(|| {
    let get = |name| set("gcb", name).unwrap_or_else(|| CharSet::new(vec![]));
    Sets {
        extend: get("Extend"),
        prepend: get("Prepend"),
        pictograph: get("ExtPict"),
        control: categories(&["Cc", "Zl", "Zp", "Cs", "Cf", "Cn"]).minus(&CharSet::one(0x378)),
        l: get("L"),
        v: get("V"),
        t: get("T"),
    }
});

fn class(c: u32) -> Class {
    let sets = &*SETS;
    match c {
        10 => Class::Lf,
        13 => Class::Cr,
        0x20..0x7F => Class::Other,
        0x200D => Class::Joiner,
        0x1_F1E6..=0x1_F1FF => Class::Regional,
        0xAC00..=0xD7A3 if (c - 0xAC00).is_multiple_of(28) => Class::Lv,
        0xAC00..=0xD7A3 => Class::Lvt,
        _ if sets.extend.has(c) => Class::Extend,
        _ if sets.prepend.has(c) => Class::Prepend,
        _ if sets.pictograph.has(c) => Class::Pictograph,
        _ if sets.control.has(c) => Class::Control,
        _ if sets.l.has(c) => Class::L,
        _ if sets.v.has(c) => Class::V,
        _ if sets.t.has(c) => Class::T,
        _ => Class::Other,
    }
}

/// True if a cluster may go on from `a` to `b`, pictographs and flags aside.
fn joined(a: Class, b: Class) -> bool {
    use Class::*;
    match (a, b) {
        (Cr, Lf) => true,
        (Cr | Lf | Control, _) | (_, Cr | Lf | Control) => false,
        (_, Extend | Joiner) | (Prepend, _) => true,
        (L, L | V | Lv | Lvt) | (Lv | V, V | T) | (Lvt | T, T) => true,
        _ => false,
    }
}

/// Where the cluster that begins at `pos` ends.
pub(super) fn end_of_cluster(text: &[u8], pos: usize) -> usize {
    let Some((c, mut end)) = char_at(text, pos) else { return pos };
    let mut before = class(c);
    let pictograph = before == Class::Pictograph;
    let mut regional = u32::from(before == Class::Regional);
    while let Some((c, next)) = char_at(text, end) {
        let now = class(c);
        let emoji = pictograph && before == Class::Joiner && now == Class::Pictograph;
        let flag = before == Class::Regional && now == Class::Regional && regional % 2 == 1;
        if !emoji && !flag && !joined(before, now) {
            break;
        }
        regional += u32::from(now == Class::Regional);
        before = now;
        end = next;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_by_the_rules_of_uax_29() {
        for (text, first) in [
            ("\r\nx", 2),
            ("\n\u{301}", 1),
            ("e\u{301}\u{327}x", 5),
            ("\u{1100}\u{1161}\u{11A8}\u{11A8}x", 12),
            ("\u{AC00}\u{1161}\u{11A8}x", 9),
            ("\u{AC01}\u{1161}", 3),
            ("\u{600}ax", 3),
            ("🇩🇪🇫🇷", 8),
            ("👩\u{200D}👩\u{1F3FD}x", 15),
            ("a\u{200D}👩", 4),
            ("\u{915}\u{93F}x", 6),
        ] {
            assert_eq!(end_of_cluster(text.as_bytes(), 0), first, "{text:?}");
        }
    }
}
