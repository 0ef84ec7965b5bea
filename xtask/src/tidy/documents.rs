//! Links and paths in the documentation lead somewhere, and every page of the book is in its table of contents.

use super::{Finding, Tree};

/// Where a path in backticks must begin to be taken for one of the tree's.
const TOP: &[&str] =
    &[".cargo/", ".ci/", "bench/", "conf/", "crates/", "docs/", "fuzz/", "packaging/", "tests/", "xtask/"];

const CONTENTS: &str = "docs/SUMMARY.md";

pub(super) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for (path, text) in tree.ending(&[".md"]) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in prose(text) {
            for target in links(line) {
                match resolve(folder, target) {
                    Some(found) if tree.has(&found) => {}
                    _ => {
                        findings.push(Finding::new(path, number, format!("link to `{target}` leads nowhere")))
                    }
                }
            }
            // What a change log names may be gone by now.
            for named in code_paths(line).filter(|_| !path.ends_with("CHANGELOG.md")) {
                if !tree.has(named) {
                    findings.push(Finding::new(path, number, format!("`{named}` is not in the tree")));
                }
            }
        }
    }
    check_contents(tree, findings);
}

fn check_contents(tree: &Tree, findings: &mut Vec<Finding>) {
    let Some(contents) = tree.text(CONTENTS) else { return };
    let listed: Vec<String> =
        contents.lines().flat_map(links).filter_map(|target| resolve("docs", target)).collect();
    for (path, _) in tree.ending(&[".md"]) {
        if path.starts_with("docs/") && path != CONTENTS && !listed.iter().any(|page| page == path) {
            findings.push(Finding::new(path, 0, format!("not in {CONTENTS}: no reader finds it")));
        }
    }
}

/// The lines outside of fenced blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// Targets of `[text](target)` that are files of ours, without `#fragment`.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', ' ']).next()?;
        let file = target.split('#').next()?;
        (!file.is_empty() && !target.contains("://") && !target.starts_with("mailto:")).then_some(file)
    })
}

/// Paths in backticks that begin with a folder of ours and are spelt out: no placeholder, no pattern.
fn code_paths(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter_map(|span| {
        let path = span.split("::").next()?;
        let spelt_out = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        let is_ours = TOP.iter().any(|top| path.starts_with(top));
        // Capitals without an ending are placeholders: `conf/NAME`.
        let last = path.trim_end_matches('/').rsplit('/').next()?;
        let placeholder = !last.contains('.') && last.chars().any(|c| c.is_ascii_uppercase());
        (spelt_out && is_ours && !placeholder).then_some(path)
    })
}

/// A path relative to a folder, from the top of the tree; none where it leaves the tree.
pub(super) fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn a_stale_link_and_a_stale_path_are_found() {
        let text = "# A\n[ok](docs/b.md#x) [web](https://a.example/x) [gone](docs/c.md) [out](../x)\n\
                    `crates/x/src/gone.rs`, `crates/x`, `docs/*.md`, `crates/x/NAME`, `docs/b.md`\n\
                    ```\n[not](looked/at) `crates/nor/this`\n```\n";
        let tree = Tree::of(&[("A.md", text), ("docs/b.md", ""), ("crates/x/Cargo.toml", "")]);
        assert_eq!(
            said(|findings| check(&tree, findings)),
            [
                "A.md:2: link to `../x` leads nowhere",
                "A.md:2: link to `docs/c.md` leads nowhere",
                "A.md:3: `crates/x/src/gone.rs` is not in the tree",
            ]
        );
    }

    #[test]
    fn a_page_outside_of_the_contents_is_found() {
        let tree = Tree::of(&[
            (CONTENTS, "- [A](a.md)\n- [B](dev/b.md)\n"),
            ("docs/a.md", ""),
            ("docs/dev/b.md", "[a](../a.md)"),
            ("docs/c.md", ""),
        ]);
        let said = said(|findings| check(&tree, findings));
        assert_eq!(said, ["docs/c.md: not in docs/SUMMARY.md: no reader finds it"]);
    }
}
