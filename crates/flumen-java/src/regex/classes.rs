//! The named classes of Java's dialect: `\p{…}`, POSIX and `java…` names, and `\d \w \s \h \v`.

use super::set::CharSet;
use super::unicode::{all, categories, set};

/// A class and whether Java keeps it as a class of the basic plane (its search then also looks between two surrogates).
pub(super) struct Named {
    pub set: CharSet,
    pub basic: bool,
}

fn named(set: CharSet) -> Option<Named> {
    Some(Named { set, basic: false })
}

fn span(from: u32, to: u32) -> CharSet {
    CharSet::new(vec![(from, to)])
}

fn chars(text: &str) -> CharSet {
    CharSet::new(text.chars().map(|c| (c as u32, c as u32)).collect())
}

const LETTERS: [&str; 5] = ["Lu", "Ll", "Lt", "Lm", "Lo"];
const BLANKS: [&str; 3] = ["Zs", "Zl", "Zp"];
const PUNCTUATION: [&str; 7] = ["Pc", "Pd", "Ps", "Pe", "Po", "Pi", "Pf"];

fn prop(name: &str) -> CharSet {
    set("prop", name).unwrap_or_else(|| CharSet::new(vec![]))
}

fn any_case() -> CharSet {
    prop("LOWERCASE").union(&prop("UPPERCASE")).union(&categories(&["Lt"]))
}

fn white_space() -> CharSet {
    categories(&BLANKS).union(&span(9, 13)).union(&CharSet::one(0x85))
}

fn ignorable() -> CharSet {
    categories(&["Cf"]).union(&CharSet::new(vec![(0, 8), (0xE, 0x1B), (0x7F, 0x9F)]))
}

/// The binary properties behind `\p{Is…}`, named in upper case (UTS 18 and the API page of `java.util.regex.Pattern`).
pub(super) fn unicode_property(name: &str) -> Option<CharSet> {
    let graph = || white_space().union(&categories(&["Cc", "Cs", "Cn"])).negate();
    let blank = || categories(&["Zs"]).union(&CharSet::one(9));
    Some(match name {
        "ALPHABETIC" | "ALPHA" => prop("ALPHABETIC"),
        "LETTER" => categories(&LETTERS),
        "IDEOGRAPHIC" => prop("IDEOGRAPHIC"),
        "LOWERCASE" | "LOWER" => prop("LOWERCASE"),
        "UPPERCASE" | "UPPER" => prop("UPPERCASE"),
        "TITLECASE" => categories(&["Lt"]),
        "WHITE_SPACE" | "WHITESPACE" | "SPACE" => white_space(),
        "CONTROL" | "CNTRL" => categories(&["Cc"]),
        "PUNCTUATION" | "PUNCT" => categories(&PUNCTUATION),
        "HEX_DIGIT" | "HEXDIGIT" | "XDIGIT" => categories(&["Nd"]).union(&CharSet::new(vec![
            (0x41, 0x46),
            (0x61, 0x66),
            (0xFF21, 0xFF26),
            (0xFF41, 0xFF46),
        ])),
        "ASSIGNED" => categories(&["Cn"]).negate(),
        "NONCHARACTER_CODE_POINT" | "NONCHARACTERCODEPOINT" => {
            let ends = (0..=0x10u32).map(|plane| (plane << 16 | 0xFFFE, plane << 16 | 0xFFFF));
            CharSet::new(ends.chain([(0xFDD0, 0xFDEF)]).collect())
        }
        "DIGIT" => categories(&["Nd"]),
        "ALNUM" => prop("ALPHABETIC").union(&categories(&["Nd"])),
        "BLANK" => blank(),
        "GRAPH" => graph(),
        "PRINT" => graph().union(&blank()).minus(&categories(&["Cc"])),
        "WORD" => prop("ALPHABETIC")
            .union(&categories(&["Mn", "Mc", "Me", "Nd", "Pc"]))
            .union(&span(0x200C, 0x200D)),
        "JOIN_CONTROL" | "JOINCONTROL" => span(0x200C, 0x200D),
        _ => return None,
    })
}

/// `\p{Is<name>}` as a binary property; names in any case.
pub(super) fn is_property(name: &str, ignore_case: bool) -> Option<Named> {
    let name = name.to_uppercase();
    if ignore_case && matches!(name.as_str(), "LOWERCASE" | "UPPERCASE" | "TITLECASE" | "LOWER" | "UPPER") {
        return named(any_case());
    }
    named(unicode_property(&name)?)
}

/// A POSIX name with UNICODE_CHARACTER_CLASS; names in any case.
pub(super) fn unicode_posix(name: &str, ignore_case: bool) -> Option<Named> {
    let upper = name.to_uppercase();
    let known = [
        "ALPHA", "LOWER", "UPPER", "SPACE", "PUNCT", "XDIGIT", "ALNUM", "CNTRL", "DIGIT", "BLANK", "GRAPH",
        "PRINT",
    ];
    if known.contains(&upper.as_str()) { is_property(&upper, ignore_case) } else { None }
}

/// `\p{In<name>}` and `\p{blk=<name>}`; names in any case.
pub(super) fn block(name: &str) -> Option<Named> {
    named(set("blk", &name.to_uppercase())?)
}

/// `\p{Is<name>}` and `\p{sc=<name>}`; names in any case.
pub(super) fn script(name: &str) -> Option<Named> {
    named(set("sc", &name.to_uppercase())?)
}

/// A general category, a POSIX name or a `java…` name; exact case.
pub(super) fn property(name: &str, ignore_case: bool) -> Option<Named> {
    if let Some(posix) = ascii_posix(name, ignore_case) {
        return Some(Named { set: posix, basic: true });
    }
    if let Some(java) = name.strip_prefix("java") {
        return named(java_method(java, ignore_case)?);
    }
    if ignore_case && matches!(name, "Lu" | "Ll" | "Lt") {
        return named(categories(&["Lu", "Ll", "Lt"]));
    }
    named(match name {
        "L" => categories(&LETTERS),
        "M" => categories(&["Mn", "Mc", "Me"]),
        "N" => categories(&["Nd", "Nl", "No"]),
        "Z" => categories(&BLANKS),
        "C" => categories(&["Cc", "Cf", "Co", "Cs", "Cn"]),
        "P" => categories(&PUNCTUATION),
        "S" => categories(&["Sm", "Sc", "Sk", "So"]),
        "LC" => categories(&["Lu", "Ll", "Lt"]),
        "LD" => categories(&LETTERS).union(&categories(&["Nd"])),
        "L1" => span(0, 0xFF),
        "all" => all(),
        _ => set("gc", name)?,
    })
}

fn ascii_posix(name: &str, ignore_case: bool) -> Option<CharSet> {
    let letters = || CharSet::new(vec![(0x41, 0x5A), (0x61, 0x7A)]);
    Some(match name {
        "Lower" | "Upper" if ignore_case => letters(),
        "ASCII" => span(0, 0x7F),
        "Alnum" => letters().union(&span(0x30, 0x39)),
        "Alpha" => letters(),
        "Blank" => chars(" \t"),
        "Cntrl" => CharSet::new(vec![(0, 0x1F), (0x7F, 0x7F)]),
        "Digit" => span(0x30, 0x39),
        "Graph" => span(0x21, 0x7E),
        "Lower" => span(0x61, 0x7A),
        "Print" => span(0x20, 0x7E),
        "Punct" => CharSet::new(vec![(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)]),
        "Space" => CharSet::new(vec![(9, 13), (0x20, 0x20)]),
        "Upper" => span(0x41, 0x5A),
        "XDigit" => CharSet::new(vec![(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)]),
        _ => return None,
    })
}

/// The `Character.is…` methods.
fn java_method(name: &str, ignore_case: bool) -> Option<CharSet> {
    if ignore_case && matches!(name, "LowerCase" | "UpperCase" | "TitleCase") {
        return Some(any_case());
    }
    let starts = || categories(&LETTERS).union(&categories(&["Nl"]));
    let parts = || categories(&["Pc", "Nd", "Mc", "Mn"]).union(&ignorable());
    let unicode_start = || starts().union(&chars("\u{2118}\u{212E}\u{309B}\u{309C}\u{1885}\u{1886}"));
    Some(match name {
        "LowerCase" => prop("LOWERCASE"),
        "UpperCase" => prop("UPPERCASE"),
        "Alphabetic" => prop("ALPHABETIC"),
        "Ideographic" => prop("IDEOGRAPHIC"),
        "TitleCase" => categories(&["Lt"]),
        "Digit" => categories(&["Nd"]),
        "Defined" => categories(&["Cn"]).negate(),
        "Letter" => categories(&LETTERS),
        "LetterOrDigit" => categories(&LETTERS).union(&categories(&["Nd"])),
        "JavaIdentifierStart" => starts().union(&categories(&["Sc", "Pc"])),
        "JavaIdentifierPart" => starts().union(&categories(&["Sc"])).union(&parts()),
        "UnicodeIdentifierStart" => unicode_start(),
        "UnicodeIdentifierPart" => unicode_start()
            .union(&parts())
            .union(&chars("\u{B7}\u{387}\u{19DA}"))
            .union(&span(0x1369, 0x1371)),
        "IdentifierIgnorable" => ignorable(),
        "SpaceChar" => categories(&BLANKS),
        "Whitespace" => categories(&BLANKS)
            .minus(&chars("\u{A0}\u{2007}\u{202F}"))
            .union(&CharSet::new(vec![(9, 13), (0x1C, 0x1F)])),
        "ISOControl" => categories(&["Cc"]),
        "Mirrored" => prop("MIRRORED"),
        _ => return None,
    })
}

/// `\d \w \s \h \v`; `unicode` is UNICODE_CHARACTER_CLASS, which only the first three ask for.
pub(super) fn predefined(letter: u32, unicode: bool) -> Option<Named> {
    let basic = |set| Some(Named { set, basic: true });
    let letter = char::from_u32(letter)?;
    match letter {
        'd' if unicode => named(unicode_property("DIGIT")?),
        'w' if unicode => named(unicode_property("WORD")?),
        's' if unicode => named(white_space()),
        'd' => basic(span(0x30, 0x39)),
        'w' => basic(CharSet::new(vec![(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])),
        's' => basic(CharSet::new(vec![(9, 13), (0x20, 0x20)])),
        'h' => basic(chars("\t \u{A0}\u{1680}\u{180E}\u{202F}\u{205F}\u{3000}").union(&span(0x2000, 0x200A))),
        'v' => basic(CharSet::new(vec![(0xA, 0xD), (0x85, 0x85), (0x2028, 0x2029)])),
        _ => None,
    }
}
