//! Every component's folder is registered, and every source and sink says what it promises.

use std::collections::BTreeSet;

use super::source::Source;
use super::{Finding, Tree};

/// The kinds that have a folder each in a crate of components.
const KINDS: &[&str] =
    &["sources", "sinks", "interceptors", "selectors", "processors", "serializers", "deserializers"];

pub(super) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for folder in folders(tree) {
        let list = format!("{}/src/{}/mod.rs", folder.member, folder.kind);
        let wanted = format!("::<{}::", folder.name);
        let registered = tree.text(&list).is_some_and(|text| Source::new(text).code.contains(&wanted));
        if !registered {
            let what = format!("not registered: `register` in {list} has no `{wanted}…`");
            findings.push(Finding::new(&folder.path(), 0, what));
        }
        if matches!(folder.kind, "sources" | "sinks") {
            check_delivery(tree, &folder, findings);
        }
    }
}

fn check_delivery(tree: &Tree, folder: &Folder<'_>, findings: &mut Vec<Finding>) {
    let path = format!("{}/mod.rs", folder.path());
    let Some(text) = tree.text(&path) else {
        findings.push(Finding::new(&folder.path(), 0, "has no mod.rs"));
        return;
    };
    let said = text
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .any(|line| line.strip_prefix("//! Delivery:").is_some_and(|promise| !promise.trim().is_empty()));
    if !said {
        findings.push(Finding::new(&path, 1, "has no delivery paragraph: `//! Delivery: …`"));
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Folder<'a> {
    /// `crates/flumen-components`
    member: &'a str,
    kind: &'a str,
    name: &'a str,
}

impl Folder<'_> {
    fn path(&self) -> String {
        format!("{}/src/{}/{}", self.member, self.kind, self.name)
    }
}

fn folders(tree: &Tree) -> BTreeSet<Folder<'_>> {
    tree.rust()
        .filter_map(|(path, _)| {
            let (member, inside) = path.split_once("/src/")?;
            let mut parts = inside.split('/');
            let (kind, name) = (parts.next()?, parts.next()?);
            parts.next()?; // a folder, not a file
            (member.starts_with("crates/") && KINDS.contains(&kind)).then_some(Folder { member, kind, name })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    const GOOD: &str = "//! Counts.\n//!\n//! Delivery: at least once.\npub struct Seq;\n";

    fn tree(list: &str, seq: &str) -> Tree {
        Tree::of(&[
            ("crates/c/src/sources/mod.rs", list),
            ("crates/c/src/sources/seq/mod.rs", seq),
            ("crates/c/src/sources/seq/tests.rs", "// Tests.\n"),
        ])
    }

    const REGISTERED: &str = "//! R.\nfn register() { registry.poll_source::<seq::Seq>() }\n";

    #[test]
    fn a_registered_source_with_a_promise_is_fine() {
        assert!(said(|findings| check(&tree(REGISTERED, GOOD), findings)).is_empty());
    }

    #[test]
    fn a_folder_that_is_not_registered_is_found() {
        let tree = tree("//! R.\npub mod seq;\n// .source::<seq::Seq>()\nfn register() {}\n", GOOD);
        let said = said(|findings| check(&tree, findings));
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("crates/c/src/sources/seq: not registered"), "{said:?}");
    }

    #[test]
    fn a_missing_delivery_paragraph_is_found() {
        for bad in ["//! Counts.\n", "//! Delivery:\n", "//! Counts.\nstruct A;\n//! Delivery: late.\n"] {
            let said = said(|findings| check(&tree(REGISTERED, bad), findings));
            assert_eq!(said.len(), 1, "{bad}");
            assert!(said[0].contains("no delivery paragraph"), "{said:?}");
        }
    }
}
