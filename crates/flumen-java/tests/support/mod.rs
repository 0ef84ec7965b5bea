//! Reads golden tables and compares answers with them, with a list of exceptions that must stay needed.
#![allow(dead_code, reason = "each test file uses a part")]

/// A row: the cells by position, with their escapes resolved.
pub(crate) type Row = Vec<String>;

/// The rows of a table below its header line.
pub(crate) fn rows(path: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.split('\n')
        .skip(1)
        .filter(|line| !line.is_empty())
        .map(|line| line.split('\t').map(cell).collect())
        .collect()
}

fn cell(cell: &str) -> String {
    let mut out = String::new();
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => out.push(match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            }),
            (c, _) => out.push(c),
        }
    }
    out
}

/// Compares all rows: `answer` gives what a row should be and what it is. `exceptions` are row ids with the reason; a row
/// of them that agrees fails the test as well.
pub(crate) fn compare(
    rows: &[Row],
    exceptions: &[(&str, &str)],
    minimum: usize,
    answer: impl Fn(&Row) -> (String, String),
) {
    assert!(rows.len() >= minimum, "only {} rows", rows.len());
    assert!(
        exceptions.len() * 100 <= rows.len(),
        "too many exceptions: {} of {}",
        exceptions.len(),
        rows.len()
    );
    let mut wrong = Vec::new();
    for row in rows {
        let (expected, actual) = answer(row);
        let exception = exceptions.iter().any(|(id, reason)| *id == row[0] && !reason.is_empty());
        if exception && expected == actual {
            wrong.push(format!("{}: listed as an exception, but agrees", row.join(" | ")));
        } else if !exception && expected != actual {
            wrong.push(format!("{}\n    expected {expected}\n    actual   {actual}", row.join(" | ")));
        }
    }
    for (id, _) in exceptions {
        assert!(rows.iter().any(|row| row[0] == *id), "exception {id} is not in the table");
    }
    let count = wrong.len();
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{count} rows of {} differ:\n{}", rows.len(), wrong.join("\n"));
}
