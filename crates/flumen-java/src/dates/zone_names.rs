//! Names of time zones as a JDK 17 prints and reads them (its CLDR data), in seven languages.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::text::matches_at;

/// A line a set of ids with the same names: ids, then the names in the languages of [`COLUMNS`]; `=` or an empty cell is
/// the English name. The ids after `-` have names but are not looked for when text is read.
const DATA: &str = include_str!("data/zone_names.tsv");
const COLUMNS: [&str; 7] = ["en", "root", "de", "fr", "ja", "zh", "ar"];

/// Long and short standard name, long and short summer name: the order in which Java compares them.
type Names = [&'static str; 4];

struct Group {
    /// The first of the ids: the zone that a name of the group stands for.
    first_id: &'static str,
    searched: bool,
    names: [Names; COLUMNS.len()],
}

struct Book {
    groups: Vec<Group>,
    by_id: HashMap<&'static str, usize>,
}

static BOOK: LazyLock<Book> = LazyLock::new(|| {
    let mut book = Book { groups: Vec::new(), by_id: HashMap::new() };
    for line in DATA.lines() {
        let mut cells = line.split('\t');
        let ids = cells.next().unwrap_or_default();
        let english = split(cells.next().unwrap_or_default(), [""; 4]);
        let mut names = [english; COLUMNS.len()];
        for (column, cell) in names.iter_mut().skip(1).zip(cells) {
            *column = split(cell, english);
        }
        let searched = ids.starts_with('+');
        let ids = ids.get(1..).unwrap_or_default();
        for id in ids.split(' ') {
            book.by_id.insert(id, book.groups.len());
        }
        let first_id = ids.split(' ').next().unwrap_or_default();
        book.groups.push(Group { first_id, searched, names });
    }
    book
});

fn split(cell: &'static str, english: Names) -> Names {
    let mut names = english;
    for (name, text) in names.iter_mut().zip(cell.split('|')) {
        if text != "=" && !text.is_empty() {
            *name = text;
        }
    }
    names
}

/// A name that was found in a text.
pub(crate) struct Found {
    /// The zone that the name stands for.
    pub(crate) zone_id: &'static str,
    pub(crate) summer: bool,
    /// Whether standard and summer time have the same name.
    pub(crate) same_name: bool,
    /// Bytes of the text that the name takes.
    pub(crate) len: usize,
}

/// The column of a language; English for those without names of their own.
pub(crate) fn column(language: &str) -> usize {
    COLUMNS.iter().position(|known| *known == language).unwrap_or(0)
}

/// The printed name of a zone, if it has one.
pub(crate) fn display(id: &str, column: usize, long: bool, summer: bool) -> Option<&'static str> {
    let group = *BOOK.by_id.get(id)?;
    Some(BOOK.groups[group].names[column][usize::from(!long) + 2 * usize::from(summer)])
}

/// Looks for a name at byte `at` of `text`: first names of the zone `own_id`, then of UTC, then of all zones in Java's
/// order. Case does not matter.
pub(crate) fn find(text: &str, at: usize, own_id: &str, column: usize) -> Option<Found> {
    let own = BOOK.by_id.get(own_id).map(|group| (own_id, &BOOK.groups[*group]));
    let utc = BOOK.by_id.get("UTC").map(|group| ("UTC", &BOOK.groups[*group]));
    let preferred = own.into_iter().chain(utc).filter(|(_, group)| group.searched);
    if let Some((id, found)) =
        preferred.filter_map(|(id, group)| Some((id, group.find(text, at, column)?))).next()
    {
        // The id is one of the book's, which live as long as the program.
        let zone_id = BOOK.by_id.get_key_value(id).map_or("UTC", |(id, _)| *id);
        return Some(Found { zone_id, ..found });
    }
    BOOK.groups.iter().filter(|group| group.searched).find_map(|group| group.find(text, at, column))
}

impl Group {
    fn find(&self, text: &str, at: usize, column: usize) -> Option<Found> {
        let names = &self.names[column];
        let (index, len) = names
            .iter()
            .enumerate()
            .filter(|(_, name)| !name.is_empty())
            .find_map(|(index, name)| Some((index, matches_at(text, at, name)?)))?;
        // As in Java the two are compared only if a standard name was found.
        let same_name =
            index < 2 && matches_at(names[index + 2], 0, names[index]) == Some(names[index + 2].len());
        Some(Found { zone_id: self.first_id, summer: index >= 2, same_name, len })
    }
}
