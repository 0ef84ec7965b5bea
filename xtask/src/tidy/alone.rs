//! The repository stands alone: no path of somebody's machine, nothing outside the tree, no registry but crates.io.

use std::path::Path;

use super::documents::resolve;
use super::{Finding, Tree};

/// Folders that say nothing about a machine, even where the checkout lies in one of them.
const EVERYWHERE: &[&str] = &["/", "/tmp", "/var/tmp", "/srv", "/opt", "/home", "/usr/src"];

/// Homes of people.
const HOMES: &[&str] = &[concat!("/ro", "ot/"), concat!("/Us", "ers/")];

const LOCKED_SOURCE: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

pub(super) fn check(tree: &Tree, root: &Path, findings: &mut Vec<Finding>) {
    let of_machine = machine_paths(root);
    for (path, text) in &tree.files {
        for (index, line) in text.lines().enumerate() {
            if let Some(found) = of_machine.iter().find(|found| line.contains(found.as_str())) {
                findings.push(Finding::new(path, index + 1, format!("`{found}` is a path of one machine")));
            }
        }
        if path.ends_with("Cargo.lock") {
            check_lock(path, text, findings);
        }
        if path.ends_with(".cargo/config.toml") {
            check_config(path, text, findings);
        }
    }
    for (path, text) in tree.ending(&[".rs", ".toml", ".md", ".sh", ".py", "run"]) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (index, line) in text.lines().enumerate() {
            for target in upward(line).filter(|target| resolve(folder, target).is_none()) {
                findings.push(Finding::new(path, index + 1, format!("`{target}` points outside the tree")));
            }
        }
    }
}

/// What no file may mention: where this checkout lies, the folder around it, and homes.
fn machine_paths(root: &Path) -> Vec<String> {
    let around = [Some(root), root.parent()];
    let here =
        around.into_iter().flatten().filter(|folder| !EVERYWHERE.iter().any(|one| *folder == Path::new(one)));
    here.map(|folder| format!("{}/", folder.display()))
        .chain(HOMES.iter().map(|&home| home.to_owned()))
        .collect()
}

fn check_lock(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("source = ") && line != LOCKED_SOURCE {
            findings.push(Finding::new(path, index + 1, "a library that is not from crates.io"));
        }
    }
}

fn check_config(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (index, line) in text.lines().enumerate() {
        if ["[source", "[registries", "[registry", "replace-with"]
            .iter()
            .any(|key| line.trim().starts_with(key))
        {
            findings.push(Finding::new(
                path,
                index + 1,
                "names a registry: that is for each machine's own settings",
            ));
        }
    }
}

/// Words of a line that begin with `../` and go on with a name.
fn upward(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || "\"'`()[]<>,;".contains(c))
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(|word| word.starts_with("../") && word.contains(|c: char| c.is_alphabetic()))
        .filter(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    fn said_of(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[(path, text)]);
        said(|findings| check(&tree, Path::new("/build/of/me"), findings))
    }

    #[test]
    fn a_machine_path_is_found() {
        assert_eq!(said_of("a.md", "see /build/of/x\n"), ["a.md:1: `/build/of/` is a path of one machine"]);
        assert_eq!(said_of("a.rs", &format!("{}x", HOMES[0])).len(), 1);
        assert!(said_of("a.md", "/tmp/x /var/lib/flume /build/other\n").is_empty());
    }

    #[test]
    fn a_path_out_of_the_tree_is_found() {
        let up = format!("include_str!(\"{}x.rs\")\n", "../".repeat(3));
        assert_eq!(
            said_of("crates/a/b.rs", &up),
            ["crates/a/b.rs:1: `../../../x.rs` points outside the tree"]
        );
        assert!(said_of("crates/a/src/b.rs", &up).is_empty());
    }

    #[test]
    fn another_registry_is_found() {
        let lock = format!("{LOCKED_SOURCE}\nsource = \"registry+https://mirror.example/index\"\n");
        assert_eq!(said_of("Cargo.lock", &lock), ["Cargo.lock:2: a library that is not from crates.io"]);
        assert_eq!(said_of(".cargo/config.toml", "[source.crates-io]\nreplace-with = \"m\"\n").len(), 2);
    }
}
