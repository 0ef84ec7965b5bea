//! Unicode 13.0 as a JDK 17 sees it: sets by name and the simple case maps, read from `unicode13.tsv` when first asked for.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::set::{CharSet, MAX};

static TABLE: &str = include_str!("unicode13.tsv");

/// The rows of the table by kind and name.
static INDEX: LazyLock<HashMap<(&'static str, &'static str), &'static str>> = LazyLock::new(|| {
    let mut index = HashMap::new();
    for line in TABLE.lines() {
        let mut fields = line.split('\t');
        if let (Some(kind), Some(names), Some(ranges)) = (fields.next(), fields.next(), fields.next()) {
            for name in names.split('|') {
                index.insert((kind, name), ranges);
            }
        }
    }
    index
});

/// The set of `kind` (`gc`, `sc`, `blk`, `prop`, `gcb`) with exactly this name.
pub(super) fn set(kind: &str, name: &str) -> Option<CharSet> {
    let ranges = INDEX.get(&(kind, name))?;
    let hex = |s: &str| u32::from_str_radix(s, 16).unwrap_or(0);
    Some(CharSet::new(
        ranges
            .split_whitespace()
            .map(|r| r.split_once('-').map_or_else(|| (hex(r), hex(r)), |(a, b)| (hex(a), hex(b))))
            .collect(),
    ))
}

/// The union of general categories, such as `["Lu", "Ll"]`.
pub(super) fn categories(names: &[&str]) -> CharSet {
    let parts = names.iter().filter_map(|n| set("gc", n)).flat_map(|s| s.ranges().to_vec());
    CharSet::new(parts.collect())
}

/// One run of a case map: every `step`-th code point of `first..=last` moves by `delta`.
struct Run {
    first: u32,
    last: u32,
    step: u32,
    delta: i32,
}

fn runs(kind: &'static str) -> Vec<Run> {
    let text = INDEX.get(&(kind, "")).copied().unwrap_or_default();
    text.split_whitespace()
        .filter_map(|run| {
            let sign = run.rfind(['+', '-'])?;
            let delta = run[sign..].parse().ok()?;
            let (span, step) = run[..sign].split_once('/').map_or((&run[..sign], 1), |(s, _)| (s, 2));
            let (first, last) = span.split_once('-').unwrap_or((span, span));
            Some(Run {
                first: u32::from_str_radix(first, 16).ok()?,
                last: u32::from_str_radix(last, 16).ok()?,
                step,
                delta,
            })
        })
        .collect()
}

static UPPER: LazyLock<Vec<Run>> = LazyLock::new(|| runs("upper"));
static LOWER: LazyLock<Vec<Run>> = LazyLock::new(|| runs("lower"));

fn mapped(runs: &[Run], cp: u32) -> u32 {
    let after = runs.partition_point(|r| r.first <= cp);
    match runs[..after].last() {
        Some(r) if cp <= r.last && (cp - r.first).is_multiple_of(r.step) => cp.wrapping_add_signed(r.delta),
        _ => cp,
    }
}

/// `Character.toUpperCase(int)`.
pub(super) fn upper(cp: u32) -> u32 {
    if cp < 128 { u32::from((cp as u8).to_ascii_uppercase()) } else { mapped(&UPPER, cp) }
}

/// `Character.toLowerCase(int)`.
pub(super) fn lower(cp: u32) -> u32 {
    if cp < 128 { u32::from((cp as u8).to_ascii_lowercase()) } else { mapped(&LOWER, cp) }
}

/// What Java compares with CASE_INSENSITIVE and UNICODE_CASE: the lower case of the upper case.
pub(super) fn fold(cp: u32) -> u32 {
    lower(upper(cp))
}

/// Every code point that a case map changes or that `fold` changes.
static CASED: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut all: Vec<u32> = [&*UPPER, &*LOWER]
        .iter()
        .flat_map(|runs| runs.iter().flat_map(|r| (r.first..=r.last).step_by(r.step as usize)))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
});

/// All code points whose fold is `folded`, and `folded` itself.
pub(super) fn folding_to(folded: u32) -> CharSet {
    let mut out = vec![(folded, folded)];
    out.extend(CASED.iter().filter(|&&c| fold(c) == folded).map(|&c| (c, c)));
    CharSet::new(out)
}

/// A class range with CASE_INSENSITIVE and UNICODE_CASE: members, and what maps into the range.
pub(super) fn range_ignoring_case(from: u32, to: u32) -> CharSet {
    let inside = |c: u32| (from..=to).contains(&c);
    let mut out = vec![(from, to)];
    out.extend(CASED.iter().filter(|&&c| inside(upper(c)) || inside(fold(c))).map(|&c| (c, c)));
    CharSet::new(out)
}

/// All code points, surrogates included.
pub(super) fn all() -> CharSet {
    CharSet::new(vec![(0, MAX)])
}

/// The sets that `\b` asks for.
pub(super) struct WordSets {
    /// `Character.isLetterOrDigit`.
    pub letter_or_digit: CharSet,
    /// Letters, digits, marks, connectors: `\w` with UNICODE_CHARACTER_CLASS.
    pub word: CharSet,
    /// Non-spacing marks.
    pub mark: CharSet,
}

/// See [`WordSets`].
pub(super) static WORDS: LazyLock<WordSets> = LazyLock::new(|| WordSets {
    letter_or_digit: categories(&["Lu", "Ll", "Lt", "Lm", "Lo", "Nd"]),
    word: super::classes::unicode_property("WORD").unwrap_or_else(all),
    mark: categories(&["Mn"]),
});
