//! Every example in `conf/` is one that `flumen check` finds nothing wrong with.

use crate::agent::{Work, root};
use std::fs;

#[test]
fn each_example_is_good() {
    let work = Work::new();
    let mut paths: Vec<_> =
        fs::read_dir(root().join("conf")).unwrap().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "conf"));
    assert!(paths.len() >= 4, "{paths:?}");
    for path in paths {
        let said = work.run(&["check", "-f", path.to_str().unwrap()]);
        assert_eq!(said.code, 0, "{}: {said:?}", path.display());
        // The folders of the examples are made by whoever runs them.
        let told = said.out.lines().filter(|line| !line.contains("make it before the agent starts"));
        assert_eq!(told.count(), 1, "{}: {said:?}", path.display());
    }
}
