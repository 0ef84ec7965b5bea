//! No file over 800 lines, no function over 100, and what the median is.

use super::source::Source;
use super::{Finding, Tree};

const FILE_LINES: usize = 800;
const FUNCTION_LINES: usize = 100;

pub(super) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for (path, text) in tree.ending(&[".rs", ".sh", ".py", ".java"]) {
        let lines = text.lines().count();
        if lines > FILE_LINES {
            findings.push(Finding::new(path, 0, format!("{lines} lines: split it (limit {FILE_LINES})")));
        }
    }
    for (path, text) in tree.rust() {
        for function in Source::new(text).functions() {
            if function.lines > FUNCTION_LINES {
                let what =
                    format!("`{}` has {} lines (limit {FUNCTION_LINES})", function.name, function.lines);
                findings.push(Finding::new(path, function.line, what));
            }
        }
    }
}

/// One line: how many files, the median and the longest.
pub(super) fn summary(tree: &Tree) -> String {
    let mut lengths: Vec<(usize, &str)> =
        tree.rust().map(|(path, text)| (text.lines().count(), path)).collect();
    lengths.sort_unstable();
    let (Some(median), Some((longest, path))) = (lengths.get(lengths.len() / 2), lengths.last()) else {
        return "no Rust files".to_owned();
    };
    let total: usize = lengths.iter().map(|(lines, _)| lines).sum();
    let (files, median) = (lengths.len(), median.0);
    format!("{files} Rust files, {total} lines; median {median}, longest {longest} ({path})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn a_long_file_is_found() {
        let tree = Tree::of(&[("a.rs", &"//! x\n".repeat(801)), ("b.rs", &"//! x\n".repeat(800))]);
        assert_eq!(said(|findings| check(&tree, findings)), ["a.rs: 801 lines: split it (limit 800)"]);
    }

    #[test]
    fn a_long_function_is_found() {
        let body = |lines: usize| format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2));
        let tree = Tree::of(&[("a.rs", &body(101)), ("b.rs", &body(100))]);
        assert_eq!(said(|findings| check(&tree, findings)), ["a.rs:1: `long` has 101 lines (limit 100)"]);
    }

    #[test]
    fn the_summary_names_median_and_longest() {
        let tree = Tree::of(&[("a.rs", "1\n"), ("b.rs", "1\n2\n"), ("c.rs", "1\n2\n3\n")]);
        assert_eq!(summary(&tree), "3 Rust files, 6 lines; median 2, longest 3 (c.rs)");
    }
}
