//! Which charsets a JDK knows, and by which names.

use std::collections::HashMap;
use std::sync::OnceLock;

static LIST: &str = include_str!("tables/charsets.tsv");

/// How a charset works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ascii,
    Latin1,
    Utf8,
    Cesu8,
    /// `mark`: a byte order mark is written, and on reading decides and is skipped.
    Utf16 {
        order: Order,
        mark: bool,
    },
    /// Without an order a mark of either order is heeded on reading, otherwise one of its own is skipped. `mark`: one is written.
    Utf32 {
        order: Option<Order>,
        mark: bool,
    },
    /// One byte a character, by table.
    Single,
    /// One or two bytes a character, by table.
    Double,
    /// The same with another answer to what is not in the table.
    Hkscs,
    EucJp,
    Iso2022Jp,
    Gb18030,
    /// Known by name only.
    Unsupported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Big,
    Little,
}

/// One charset.
#[derive(Debug)]
pub(super) struct Info {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Index of its table, where its kind has one.
    pub(super) table: usize,
    /// What its encoder writes for a character that it does not have.
    pub(super) replacement: Vec<u8>,
    pub(super) aliases: Vec<&'static str>,
}

/// All charsets, in the order of their names.
pub(super) fn all() -> &'static [Info] {
    static ALL: OnceLock<Vec<Info>> = OnceLock::new();
    ALL.get_or_init(|| LIST.lines().filter(|l| !l.starts_with('#')).map(info).collect())
}

/// The charset with this name or alias, in any case.
pub(super) fn find(name: &str) -> Option<&'static Info> {
    static BY_NAME: OnceLock<HashMap<String, usize>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let mut map = HashMap::new();
        for (i, info) in all().iter().enumerate() {
            map.insert(info.name.to_ascii_lowercase(), i);
        }
        for (i, info) in all().iter().enumerate() {
            for alias in &info.aliases {
                map.entry(alias.to_ascii_lowercase()).or_insert(i);
            }
        }
        map
    });
    by_name.get(&name.to_ascii_lowercase()).map(|i| &all()[*i])
}

fn info(line: &'static str) -> Info {
    let mut fields = line.split('\t');
    let mut next = || fields.next().unwrap_or_default();
    Info {
        name: next(),
        kind: kind(next()),
        table: next().parse().unwrap_or(0),
        replacement: hex(next()),
        aliases: next().split_ascii_whitespace().collect(),
    }
}

fn kind(word: &str) -> Kind {
    let utf16 = |order, mark| Kind::Utf16 { order, mark };
    let utf32 = |order, mark| Kind::Utf32 { order, mark };
    match word {
        "ascii" => Kind::Ascii,
        "latin1" => Kind::Latin1,
        "utf8" => Kind::Utf8,
        "cesu8" => Kind::Cesu8,
        "utf16" => utf16(Order::Big, true),
        "utf16be" => utf16(Order::Big, false),
        "utf16le" => utf16(Order::Little, false),
        "utf16lebom" => utf16(Order::Little, true),
        "utf32" => utf32(None, false),
        "utf32be" => utf32(Some(Order::Big), false),
        "utf32le" => utf32(Some(Order::Little), false),
        "utf32bebom" => utf32(Some(Order::Big), true),
        "utf32lebom" => utf32(Some(Order::Little), true),
        "single" => Kind::Single,
        "double" => Kind::Double,
        "hkscs" => Kind::Hkscs,
        "eucjp" => Kind::EucJp,
        "iso2022jp" => Kind::Iso2022Jp,
        "gb18030" => Kind::Gb18030,
        _ => Kind::Unsupported,
    }
}

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks_exact(2)
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_read_whole() {
        assert_eq!(all().len(), 173);
        let lines = LIST.lines().filter(|l| !l.starts_with('#'));
        for (info, line) in all().iter().zip(lines) {
            assert_eq!(line.split('\t').count(), 5);
            assert_eq!(info.kind == Kind::Unsupported, line.split('\t').nth(1) == Some("-"), "{}", info.name);
            assert!(!info.replacement.is_empty() || line.contains("\t-\t0\t-\t"), "{}", info.name);
        }
    }
}
