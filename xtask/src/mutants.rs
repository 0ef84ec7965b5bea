//! `xtask mutants --change`: breaks each changed line a little, one at a time, and sees whether a test notices.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tidy::{Source, is_test_file};
use crate::{Outcome, shell};

/// What is replaced by what. The blanks around keep arrows, generics and references out.
const OPERATORS: &[(&str, &str)] = &[
    (" == ", " != "),
    (" != ", " == "),
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" && ", " || "),
    (" || ", " && "),
    (" + ", " - "),
    (" - ", " + "),
    (" += ", " -= "),
    (" -= ", " += "),
    ("true", "false"),
    ("false", "true"),
    ("if ", "if !"),
];

/// More would take hours; what is left out is said.
const DEFAULT_LIMIT: u64 = 40;

/// A mutant that has not ended by then loops: it is noticed.
const LIMIT_MIN: u64 = 10;

/// More lines than any file may have: all of a new file is a change.
const EVERY_LINE: usize = 1000;

struct Mutant {
    path: String,
    line: usize,
    from: &'static str,
    to: &'static str,
    /// The whole file, mutated.
    text: String,
}

pub(crate) fn task(arguments: &[String]) -> Outcome {
    if !arguments.iter().any(|argument| argument == "--change") {
        return Err("only changed lines are mutated: mutants --change [--base REV] [--limit N]".to_owned());
    }
    let base = shell::option(arguments, "--base")?.unwrap_or("HEAD");
    let limit = shell::number(arguments, "--limit")?.unwrap_or(DEFAULT_LIMIT);
    let mutants = mutants(base)?;
    if mutants.is_empty() {
        println!("mutants: no changed line since {base} that could be mutated");
        return Ok(());
    }
    let packages = shell::packages()?;
    let tree = copy_tree()?;
    let mut survivors = Vec::new();
    let chosen = spread(&mutants, usize::try_from(limit).unwrap_or(usize::MAX));
    println!("mutants: {} possible, {} tried", mutants.len(), chosen.len());
    let mut healthy: BTreeMap<&str, Verdict> = BTreeMap::new();
    for (number, mutant) in chosen.iter().enumerate() {
        let owner = packages.iter().find(|package| owns(&package.manifest, &mutant.path));
        let Some(name) = owner.map(|package| package.name.as_str()) else { continue };
        if *healthy.entry(name).or_insert_with(|| verdict(&tree, name)) != Verdict::Survived {
            return Err(format!("the tests of {name} fail without any mutant"));
        }
        let file = tree.join(&mutant.path);
        let original = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        write(&file, mutant.text.as_bytes())?;
        let verdict = verdict(&tree, name);
        write(&file, &original)?;
        let survived = verdict == Verdict::Survived;
        let told =
            format!("{}:{}: `{}` for `{}`", mutant.path, mutant.line, mutant.to.trim(), mutant.from.trim());
        println!("mutants: {}/{} {}  {told}", number + 1, chosen.len(), verdict.name());
        if survived {
            survivors.push(told);
        }
    }
    match survivors.len() {
        0 => Ok(()),
        n => Err(format!("{n} mutants that no test noticed:\n  {}", survivors.join("\n  "))),
    }
}

fn mutants(base: &str) -> Result<Vec<Mutant>, String> {
    let diff =
        shell::output(shell::command("git").args(["diff", "--unified=0", "--no-color", base, "--", "*.rs"]))?;
    let mut changed = changed_lines(&diff);
    let new = shell::output(shell::command("git").args([
        "ls-files",
        "--others",
        "--exclude-standard",
        "--",
        "*.rs",
    ]))?;
    changed.extend(new.lines().map(|path| (path.to_owned(), (1..=EVERY_LINE).collect())));
    let mut mutants = Vec::new();
    for (path, lines) in changed {
        let outside = is_test_file(&path) || path.starts_with("xtask/");
        let Ok(text) = std::fs::read_to_string(shell::root().join(&path)) else { continue };
        if !outside {
            mutate(&path, &text, &lines, &mut mutants);
        }
    }
    Ok(mutants)
}

/// Every mutant of some lines of a file, one operator each. Comments, strings and test code are left alone.
fn mutate(path: &str, text: &str, lines: &[usize], mutants: &mut Vec<Mutant>) {
    let source = Source::new(text);
    let test_code = source.test_code(path);
    for &(from, to) in OPERATORS {
        let word = from.chars().all(char::is_alphanumeric);
        let places: Vec<usize> = if word {
            source.words(from).collect()
        } else {
            source.code.match_indices(from).map(|(at, _)| at).collect()
        };
        for at in places {
            let line = source.line_at(at);
            let rest = &source.code[at + from.len()..];
            let pattern = from == "if " && (rest.starts_with("let ") || rest.starts_with('!'));
            if lines.contains(&line) && !pattern && !test_code.iter().any(|span| span.contains(&at)) {
                let text = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
                mutants.push(Mutant { path: path.to_owned(), line, from, to, text });
            }
        }
    }
}

/// Files and their new line numbers, from a diff without context.
fn changed_lines(diff: &str) -> BTreeMap<String, Vec<usize>> {
    let mut files: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut path = String::new();
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("+++ b/") {
            name.clone_into(&mut path);
        } else if let Some((_, new)) = line.strip_prefix("@@ ").and_then(|rest| rest.split_once(" +")) {
            let range = new.split(' ').next().unwrap_or_default();
            let (first, count) = range.split_once(',').unwrap_or((range, "1"));
            if let (Ok(first), Ok(count)) = (first.parse::<usize>(), count.parse::<usize>()) {
                files.entry(path.clone()).or_default().extend(first..first + count);
            }
        }
    }
    files
}

/// At most `limit` of them, evenly over the change.
fn spread(mutants: &[Mutant], limit: usize) -> Vec<&Mutant> {
    let step = mutants.len().div_ceil(limit.max(1)).max(1);
    mutants.iter().step_by(step).collect()
}

fn owns(manifest: &str, path: &str) -> bool {
    manifest.strip_suffix("Cargo.toml").is_some_and(|folder| path.starts_with(folder))
}

/// A copy of the files as they are now: the tree itself is never touched.
fn copy_tree() -> Result<PathBuf, String> {
    let root = shell::root();
    let copy = root.join("target/mutants/tree");
    if copy.exists() {
        std::fs::remove_dir_all(&copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    }
    let listed = shell::output(shell::command("git").args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    for path in listed.split('\0').filter(|path| !path.is_empty()) {
        // Deleted and not yet committed: not there to copy.
        if let Ok(bytes) = std::fs::read(root.join(path)) {
            write(&copy.join(path), &bytes)?;
        }
    }
    Ok(copy)
}

fn write(path: &Path, bytes: &[u8]) -> Outcome {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Every test passed.
    Survived,
    /// A test failed, or none came to an end.
    Noticed,
    /// Says nothing about the tests.
    DoesNotBuild,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Survived => "SURVIVED",
            Self::Noticed => "noticed",
            Self::DoesNotBuild => "does not build",
        }
    }
}

/// What the tests of a package say of the copy as it is now.
fn verdict(tree: &Path, package: &str) -> Verdict {
    let succeeds = |more: &[&str]| {
        let mut command: Command = shell::limited(shell::cargo(), LIMIT_MIN);
        command.args(["test", "--quiet", "--package", package, "--lib", "--bins", "--tests"]).args(more);
        command.current_dir(tree).env("CARGO_TARGET_DIR", shell::root().join("target/mutants/build"));
        command.stdin(std::process::Stdio::null()).output().is_ok_and(|output| output.status.success())
    };
    if !succeeds(&["--no-run"]) {
        return Verdict::DoesNotBuild;
    }
    if succeeds(&[]) { Verdict::Survived } else { Verdict::Noticed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_come_from_the_new_side() {
        let diff = "--- a/x.rs\n+++ b/x.rs\n@@ -3,0 +4,2 @@ fn a\n+x\n+y\n@@ -9 +11 @@\n-a\n+b\n@@ -20,2 +21,0 @@\n-a\n-b\n";
        assert_eq!(changed_lines(diff)["x.rs"], [4, 5, 11]);
    }

    #[test]
    fn code_is_mutated_and_strings_tests_and_other_lines_are_not() {
        let text = "//! X.\nfn a() -> bool {\n    let s = \" == \"; // a == b\n    a == b && if x < y { true }\n}\n\
                    fn b() { c == d }\n#[cfg(test)]\nmod tests { fn t() { a == b } }\n";
        let mut mutants = Vec::new();
        mutate("crates/x/src/lib.rs", text, &[3, 4, 8], &mut mutants);
        let told: Vec<(&str, &str, usize)> = mutants.iter().map(|one| (one.from, one.to, one.line)).collect();
        assert_eq!(
            told,
            [
                (" == ", " != ", 4),
                (" < ", " <= ", 4),
                (" && ", " || ", 4),
                ("true", "false", 4),
                ("if ", "if !", 4)
            ]
        );
        assert!(mutants[0].text.contains("a != b && if x < y"));
    }

    #[test]
    fn a_limit_spreads_over_the_change() {
        let one = |line| Mutant { path: String::new(), line, from: "", to: "", text: String::new() };
        let mutants: Vec<Mutant> = (0..10).map(one).collect();
        assert_eq!(spread(&mutants, 5).iter().map(|one| one.line).collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
        assert_eq!(spread(&mutants, 100).len(), 10);
    }
}
