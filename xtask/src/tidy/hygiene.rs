//! Tests do not sleep and are not ignored, and nothing in the tree is left for later.

use std::ops::Range;

use super::source::{Function, Source, whole_words};
use super::{Finding, Tree};

/// The one file name whose functions may pause: they look at a condition again and again, up to a time limit.
const MAY_PAUSE: &str = "wait.rs";

/// Macros and attributes that say "later".
const LATER: &[&str] = &["todo!", "unimplemented!", "#[ignore"];

/// Words that say "later". Spelt in halves, as this file is looked at too.
const LATER_WORDS: &[&str] = &[concat!("FIX", "ME"), concat!("HA", "CK"), concat!("TO", "DO"), THREE_X];

/// Also a pattern of Java's date formats, so that it counts only as the first word of a comment or before a colon.
const THREE_X: &str = concat!("XX", "X");

pub(super) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for (path, text) in tree.rust() {
        let source = Source::new(text);
        check_sleeps(path, &source, findings);
        for mark in LATER {
            for (at, _) in source.code.match_indices(mark) {
                findings.push(Finding::new(
                    path,
                    source.line_at(at),
                    format!("`{mark}` leaves something for later"),
                ));
            }
        }
    }
    for (path, text) in
        tree.ending(&[".rs", ".md", ".toml", ".sh", ".py", ".conf", ".properties", ".java", "run"])
    {
        for (number, line) in text.lines().enumerate() {
            for word in LATER_WORDS {
                if whole_words(line, word).any(|at| *word != THREE_X || is_a_mark(line, at)) {
                    findings.push(Finding::new(
                        path,
                        number + 1,
                        format!("`{word}` leaves something for later"),
                    ));
                }
            }
        }
    }
}

fn is_a_mark(line: &str, at: usize) -> bool {
    line[..at].trim().chars().all(|c| "/*#!".contains(c)) || line[at + THREE_X.len()..].starts_with(':')
}

fn check_sleeps(path: &str, source: &Source<'_>, findings: &mut Vec<Finding>) {
    if path.ends_with(&format!("/{MAY_PAUSE}")) {
        return;
    }
    let test_code: Vec<Range<usize>> = source.test_code(path);
    let functions = if test_code.is_empty() { Vec::new() } else { source.functions() };
    for at in source.words("sleep") {
        let called = source.code[at + "sleep".len()..].starts_with('(');
        if called && test_code.iter().any(|span| span.contains(&at)) && !under_a_paused_clock(&functions, at)
        {
            let what =
                format!("a test sleeps: wait for the condition, with a time limit, in a `{MAY_PAUSE}`");
            findings.push(Finding::new(path, source.line_at(at), what));
        }
    }
}

fn under_a_paused_clock(functions: &[Function<'_>], at: usize) -> bool {
    functions
        .iter()
        .filter(|function| function.span.contains(&at))
        .any(|function| function.attributes.contains("start_paused = true"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn a_sleeping_test_is_found() {
        let text = "//! X.\nasync fn timer() { tokio::time::sleep(x).await }\n\
                    #[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { std::thread::sleep(x); }\n}\n";
        let tree =
            Tree::of(&[("crates/x/src/lib.rs", text), ("crates/x/tests/wait.rs", "fn w() { sleep(x) }")]);
        let said = said(|findings| check(&tree, findings));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("crates/x/src/lib.rs:6: a test sleeps"), "{said:?}");
    }

    #[test]
    fn a_paused_clock_may_be_slept_on() {
        let text = "#[tokio::test(start_paused = true)]\nasync fn a() {\n    sleep(x).await;\n}\n";
        let tree = Tree::of(&[("crates/x/src/tests.rs", text)]);
        assert!(said(|findings| check(&tree, findings)).is_empty());
    }

    #[test]
    fn what_is_left_for_later_is_found() {
        let text = format!(
            "#[ignore]\nfn a() {{ {}!() }}\n// {} later\nlet s = \"#[ignore]\";\n",
            "todo", LATER_WORDS[0]
        );
        let tree = Tree::of(&[("a.rs", &text)]);
        let said = said(|findings| check(&tree, findings));
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(
            said[0].starts_with("a.rs:1:")
                && said[1].starts_with("a.rs:2:")
                && said[2].starts_with("a.rs:3:")
        );
    }

    #[test]
    fn a_date_pattern_is_no_mark() {
        let text = format!(
            "// {THREE_X} later\nlet a = 1; // {THREE_X}: later\n// `{THREE_X}`, or yyyy {THREE_X}\n"
        );
        let tree = Tree::of(&[("a.rs", &text)]);
        assert_eq!(said(|findings| check(&tree, findings)).len(), 2);
    }
}
