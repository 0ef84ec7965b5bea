//! `tests/parity/behaviours.tsv`: every numbered behaviour has its test, its row of differences, or its reason.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::{Finding, Tree};

const BEHAVIOURS: &str = "tests/parity/behaviours.tsv";
const NUMBERS: &str = "tests/parity/numbers.tsv";
const DIFFERENCES: &str = "docs/differences.md";
const COMPLETE: &str = "# complete:";

pub(super) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    let numbers = Numbers::read(tree.text(NUMBERS).unwrap_or_default(), findings);
    let rows = rows(tree.text(BEHAVIOURS).unwrap_or_default(), findings);
    let differences = difference_rows(tree.text(DIFFERENCES).unwrap_or_default(), findings);
    let mut last: Option<&Row<'_>> = None;
    let mut seen = BTreeSet::new();
    for row in &rows {
        let mut found = |what: String| findings.push(Finding::new(BEHAVIOURS, row.line, what));
        if !seen.insert(row.id) {
            found(format!("{} has a second row", row.id));
        } else if !numbers.areas.contains_key(row.id) {
            found(format!("{} is not in {NUMBERS}", row.id));
        } else if last.is_some_and(|last| sort_key(last.id) > sort_key(row.id)) {
            found(format!("{} stands in the wrong place: rows are sorted by id", row.id));
        }
        last = Some(row);
        if let Some(what) = wrong(row, tree, &differences) {
            found(format!("{}: {what}", row.id));
        }
    }
    for id in numbers.due().filter(|id| !seen.contains(id)) {
        findings.push(Finding::new(
            BEHAVIOURS,
            0,
            format!("{id} has no row, and {NUMBERS} calls it complete"),
        ));
    }
}

/// How far the list has come, by area.
pub(super) fn summary(tree: &Tree) -> String {
    let mut ignored = Vec::new();
    let numbers = Numbers::read(tree.text(NUMBERS).unwrap_or_default(), &mut ignored);
    let rows = rows(tree.text(BEHAVIOURS).unwrap_or_default(), &mut ignored);
    let mut by_area: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (id, area) in &numbers.areas {
        let entry = by_area.entry(area).or_default();
        entry.0 += usize::from(rows.iter().any(|row| row.id == *id));
        entry.1 += 1;
    }
    let told: Vec<String> = by_area
        .iter()
        .filter(|(_, (rows, _))| *rows > 0)
        .map(|(area, (rows, all))| format!("{area} {rows} of {all}"))
        .collect();
    format!("numbered behaviours with a row: {} of {} ({})", rows.len(), numbers.areas.len(), told.join(", "))
}

struct Row<'a> {
    line: usize,
    id: &'a str,
    verdict: &'a str,
    place: &'a str,
    note: &'a str,
}

fn rows<'a>(text: &'a str, findings: &mut Vec<Finding>) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for (line, fields) in table(text, "id") {
        match fields[..] {
            [id, verdict, place, note] => rows.push(Row { line, id, verdict, place, note }),
            _ => {
                let what = format!("{} columns instead of 4: id, verdict, where, note", fields.len());
                findings.push(Finding::new(BEHAVIOURS, line, what));
            }
        }
    }
    rows
}

/// The lines of a table of tabs, without comments and without the heading that begins with `first`.
fn table<'a>(text: &'a str, first: &'a str) -> impl Iterator<Item = (usize, Vec<&'a str>)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| (index + 1, line.split('\t').collect::<Vec<_>>()))
        .filter(move |(_, fields)| fields[0] != first)
}

fn wrong(row: &Row<'_>, tree: &Tree, differences: &BTreeSet<String>) -> Option<String> {
    match row.verdict {
        "same" if row.place.trim().is_empty() => Some("`same` needs its test: path::function".to_owned()),
        "same" => row.place.split_whitespace().find_map(|place| missing_test(place, tree)),
        "differs" if differences.contains(row.place) => None,
        "differs" => Some(format!("{DIFFERENCES} has no row `{}`", row.place)),
        "not applicable" if row.note.trim().is_empty() => {
            Some("`not applicable` needs its reason as note".to_owned())
        }
        "not applicable" if !matches!(row.place, "" | "-") => {
            Some("`not applicable` has `-` as its place".to_owned())
        }
        "not applicable" => None,
        other => Some(format!("`{other}` is none of: same, differs, not applicable")),
    }
}

fn missing_test(place: &str, tree: &Tree) -> Option<String> {
    let Some((path, function)) = place.split_once("::") else {
        return Some(format!("`{place}` is not path::function"));
    };
    let name = function.rsplit("::").next().unwrap_or(function);
    let Some(text) = tree.text(path) else { return Some(format!("there is no {path}")) };
    let source = Source::new(text);
    let test_code = source.test_code(path);
    let functions = source.functions();
    let there = functions.iter().find(|one| one.name == name);
    match there {
        None => Some(format!("{path} has no function `{name}`")),
        Some(one)
            if !one.attributes.contains("test")
                && !test_code.iter().any(|code| code.contains(&one.span.start)) =>
        {
            Some(format!("`{name}` in {path} is not a test"))
        }
        Some(_) => None,
    }
}

/// First cells of the tables of differences; a cell that stands twice is found.
fn difference_rows(text: &str, findings: &mut Vec<Finding>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        let Some(name) = line.strip_prefix('|').and_then(|rest| rest.split('|').next()).map(str::trim) else {
            continue;
        };
        let is_heading = name == "Row" || name.chars().all(|c| "-: ".contains(c));
        if !is_heading && !names.insert(name.to_owned()) {
            findings.push(Finding::new(DIFFERENCES, index + 1, format!("a second row `{name}`")));
        }
    }
    names
}

/// The numbers that there are, and those that must have a row by now.
struct Numbers<'a> {
    areas: BTreeMap<&'a str, &'a str>,
    complete: Vec<&'a str>,
}

impl<'a> Numbers<'a> {
    fn read(text: &'a str, findings: &mut Vec<Finding>) -> Self {
        let mut areas = BTreeMap::new();
        for (line, fields) in table(text, "id") {
            let [id, area] = fields[..] else {
                findings.push(Finding::new(NUMBERS, line, "not `id, area`"));
                continue;
            };
            if areas.insert(id, area).is_some() {
                findings.push(Finding::new(NUMBERS, line, format!("{id} stands twice")));
            }
        }
        let complete: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix(COMPLETE))
            .flat_map(str::split_whitespace)
            .collect();
        let numbers = Self { areas, complete };
        for name in numbers.complete.iter().filter(|name| numbers.named(name).next().is_none()) {
            let what = format!("`{name}` is called complete, and is neither an area nor an id here");
            findings.push(Finding::new(NUMBERS, 0, what));
        }
        numbers
    }

    /// The ids of an area, or the one id.
    fn named<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'a str> + 's {
        self.areas.iter().filter(move |(id, area)| **area == name || **id == name).map(|(id, _)| *id)
    }

    fn due(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.complete.iter().flat_map(|name| self.named(name))
    }
}

fn sort_key(id: &str) -> (&str, u32) {
    let (area, number) = id.split_once('-').unwrap_or((id, ""));
    (area, number.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    const TEST: &str = "// Tests.\n#[test]\nfn mem_10_byte_capacity() {}\n";

    fn said_of(numbers: &str, behaviours: &str) -> Vec<String> {
        let tree = Tree::of(&[
            (NUMBERS, numbers),
            (BEHAVIOURS, behaviours),
            (DIFFERENCES, "| Row | Java |\n| --- | --- |\n| Null values | x |\n"),
            ("crates/c/src/memory/tests.rs", TEST),
            ("crates/c/src/lib.rs", "//! C.\nfn plain() {}\n"),
        ]);
        said(|findings| check(&tree, findings))
    }

    const NUMBERED: &str = "id\tarea\nMEM-01\tMEM\nMEM-02\tMEM\nMEM-10\tMEM\nFIX-01\tFIX-memory\n";

    #[test]
    fn rows_with_their_proof_are_fine() {
        let rows = "id\tverdict\twhere\tnote\n\
                    MEM-01\tnot applicable\t-\tinside Java\n\
                    MEM-02\tdiffers\tNull values\t\n\
                    MEM-10\tsame\tcrates/c/src/memory/tests.rs::mem_10_byte_capacity\t\n";
        assert!(said_of(&format!("# complete: MEM\n{NUMBERED}"), rows).is_empty());
    }

    #[test]
    fn each_wrong_row_is_found() {
        for (row, what) in [
            ("MEM-01\tsame\tcrates/c/src/memory/tests.rs::gone\t", "has no function `gone`"),
            ("MEM-01\tsame\tcrates/c/src/lib.rs::plain\t", "is not a test"),
            ("MEM-01\tsame\tcrates/gone.rs::a\t", "there is no crates/gone.rs"),
            ("MEM-01\tsame\t\t", "needs its test"),
            ("MEM-01\tdiffers\tSomething\t", "has no row `Something`"),
            ("MEM-01\tnot applicable\t-\t ", "needs its reason"),
            ("MEM-01\tlater\t-\tx", "is none of"),
            ("MEM-77\tnot applicable\t-\tx", "is not in"),
            ("MEM-01\tnot applicable\tx", "3 columns"),
            ("MEM-01\tnot applicable\t-\tx\nMEM-01\tnot applicable\t-\tx", "a second row"),
            ("MEM-10\tnot applicable\t-\tx\nMEM-02\tnot applicable\t-\tx", "wrong place"),
        ] {
            let said = said_of(NUMBERED, row);
            assert!(said.len() == 1 && said[0].contains(what), "{row}: {said:?}");
        }
    }

    #[test]
    fn a_number_of_a_complete_area_without_a_row_is_found() {
        let said = said_of(&format!("# complete: MEM-02 FIX-memory\n{NUMBERED}"), "");
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("FIX-01 has no row") && said[1].contains("MEM-02 has no row"), "{said:?}");
        assert!(
            said_of(&format!("# complete: NEM\n{NUMBERED}"), "")[0].contains("neither an area nor an id")
        );
    }

    #[test]
    fn a_name_of_two_differences_is_found() {
        let mut findings = Vec::new();
        let names = difference_rows(
            "| Row | x |\n| a | x |\n\n| Row | x |\n| --- | --- |\n| a | y |\n",
            &mut findings,
        );
        assert_eq!((names.len(), findings.len()), (1, 1));
    }
}
