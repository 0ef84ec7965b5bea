//! `xtask tidy`: the rules of the tree that no compiler checks, each with a sample that breaks it.

mod alone;
mod components;
mod direction;
mod documents;
mod hygiene;
mod lengths;
mod modules;
mod parity;
mod source;

pub(crate) use source::{Source, is_test_file};

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::{Outcome, shell};

/// The files that git knows or would add, by their path from the top, with `/` between folders. Files that are not
/// UTF-8 are there with no text.
#[derive(Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// From 1; 0 where the whole file is meant.
    line: usize,
    what: String,
}

pub(crate) fn task(arguments: &[String]) -> Outcome {
    if let Some(extra) = arguments.first() {
        return Err(format!("tidy takes no arguments, not `{extra}`"));
    }
    let root = shell::root();
    let tree = Tree::read(&root)?;
    let mut findings = Vec::new();
    lengths::check(&tree, &mut findings);
    modules::check(&tree, &mut findings);
    components::check(&tree, &mut findings);
    direction::check(&shell::packages()?, &mut findings);
    hygiene::check(&tree, &mut findings);
    documents::check(&tree, &mut findings);
    alone::check(&tree, &root, &mut findings);
    parity::check(&tree, &mut findings);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {}", lengths::summary(&tree));
    println!("tidy: {}", parity::summary(&tree));
    match findings.len() {
        0 => Ok(()),
        n => Err(format!("{n} places break a rule")),
    }
}

impl Tree {
    fn read(root: &Path) -> Result<Self, String> {
        let listed = shell::output(shell::command("git").args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        let mut files = BTreeMap::new();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            // A file that is listed and not there was deleted and not yet committed.
            if let Ok(bytes) = std::fs::read(root.join(path)) {
                files.insert(path.to_owned(), String::from_utf8(bytes).unwrap_or_default());
            }
        }
        Ok(Self { files })
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Path and text of each file with one of these endings, fixtures left out: their bytes are not ours to judge.
    fn ending<'a>(&'a self, endings: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        self.files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .filter(|(path, _)| !is_fixture(path) && endings.iter().any(|ending| path.ends_with(ending)))
    }

    fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ending(&[".rs"])
    }

    /// Whether a file or a folder of that path is there.
    fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.contains_key(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(next, _)| next.starts_with(&folder))
    }

    #[cfg(test)]
    fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
    }
}

fn is_fixture(path: &str) -> bool {
    ["/fixtures/", "/golden/", "/corpus/"].iter().any(|folder| path.contains(folder))
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// What a rule says of a sample: `path:line: what`, for the rules' own tests.
#[cfg(test)]
fn said(check: impl FnOnce(&mut Vec<Finding>)) -> Vec<String> {
    let mut findings = Vec::new();
    check(&mut findings);
    findings.sort();
    findings.iter().map(ToString::to_string).collect()
}
