//! Tests do not sleep and are not ignored, and nothing in the tree is left for later.

use std::ops::Range;

use super::source::{Source, whole_words};
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
    let paused = is_paused(&source.code);
    for at in source.words("sleep") {
        let called = source.code[at + "sleep".len()..].starts_with('(');
        let real = !paused || source.code[..at].ends_with("thread::");
        if called && real && test_code.iter().any(|span| span.contains(&at)) {
            let what = format!(
                "a test sleeps: wait for the condition, with a time limit, in a `{MAY_PAUSE}`, or pause the clock"
            );
            findings.push(Finding::new(path, source.line_at(at), what));
        }
    }
}

/// Whether the clock stands still in all of a file's asynchronous tests: a sleep there takes no time, and always the same.
fn is_paused(code: &str) -> bool {
    let count = |mark| code.matches(mark).count();
    let runtimes = count("#[tokio::test") + count("Builder::new_");
    runtimes > 0 && runtimes == count("start_paused = true") + count("start_paused(true)")
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
        let paused = "#[tokio::test(start_paused = true)]\nasync fn a() { help().await }\n\
                      async fn help() { sleep(x).await }\n";
        let mixed = format!("{paused}#[tokio::test]\nasync fn b() {{}}\n");
        let thread = format!("{paused}fn c() {{ thread::sleep(x) }}\n");
        let sleeps = |text: &str| {
            let tree = Tree::of(&[("crates/x/src/tests.rs", text)]);
            said(|findings| check(&tree, findings)).len()
        };
        assert_eq!([sleeps(paused), sleeps(&mixed), sleeps(&thread)], [0, 1, 1]);
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
