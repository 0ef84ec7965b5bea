//! Every file of Rust says on its first line what it is for, and is reached from its crate's root.

use super::source::{Source, is_test_file};
use super::{Finding, Tree};

pub(super) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for (path, text) in tree.rust() {
        let first = text.lines().next().unwrap_or_default();
        let plain_will_do = is_test_file(path) || path.ends_with("build.rs") || path.contains("/benches/");
        if !(says_something(first, "//!") || plain_will_do && says_something(first, "//")) {
            findings.push(Finding::new(path, 1, "the first line must say what the file is for: `//! …`"));
        }
        if let Some((parents, name)) = parents(path)
            && !parents.iter().any(|parent| declares(tree.text(parent), name))
        {
            findings.push(Finding::new(path, 0, format!("no `mod {name};` leads here: dead file")));
        }
    }
}

fn says_something(line: &str, mark: &str) -> bool {
    line.strip_prefix(mark).is_some_and(|rest| rest.starts_with(' ') && !rest.trim().is_empty())
}

/// The files that could declare this one as their module, and its name. None for the root of a target.
fn parents(path: &str) -> Option<(Vec<String>, &str)> {
    let (_, inside) = path.split_once("/src/")?;
    if matches!(inside, "lib.rs" | "main.rs") || inside.starts_with("bin/") {
        return None;
    }
    let module = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs"))?;
    let (folder, name) = module.rsplit_once('/')?;
    let of_folder = if folder.ends_with("/src") { ["lib.rs", "main.rs"] } else { ["mod.rs", ""] };
    let mut parents: Vec<String> =
        of_folder.iter().filter(|file| !file.is_empty()).map(|file| format!("{folder}/{file}")).collect();
    parents.push(format!("{folder}.rs"));
    Some((parents, name))
}

fn declares(parent: Option<&str>, name: &str) -> bool {
    parent.is_some_and(|text| {
        let source = Source::new(text);
        let declaration = format!("mod {name}");
        source.words(&declaration).next().is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn a_file_without_a_first_line_is_found() {
        let tree = Tree::of(&[
            ("crates/x/src/lib.rs", "use a;\n"),
            ("crates/x/tests/it.rs", "// Drives the binary.\n"),
            ("crates/x/build.rs", "//!\n"),
        ]);
        let said = said(|findings| check(&tree, findings));
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("crates/x/build.rs:1: the first line"), "{said:?}");
        assert!(said[1].starts_with("crates/x/src/lib.rs:1: the first line"), "{said:?}");
    }

    #[test]
    fn a_file_that_no_module_reaches_is_found() {
        let tree = Tree::of(&[
            ("crates/x/src/lib.rs", "//! Root.\nmod a;\nmod b;\n// mod dead;\n"),
            ("crates/x/src/a.rs", "//! One.\n"),
            ("crates/x/src/b/mod.rs", "//! Two.\nmod c;\n"),
            ("crates/x/src/b/c.rs", "//! Three.\n"),
            ("crates/x/src/dead.rs", "//! Four.\n"),
            ("crates/x/src/bin/tool.rs", "//! Five.\n"),
        ]);
        let said = said(|findings| check(&tree, findings));
        assert_eq!(said, ["crates/x/src/dead.rs: no `mod dead;` leads here: dead file"]);
    }
}
