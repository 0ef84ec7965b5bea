//! Every example in `conf/` is one that `flumen check` finds nothing wrong with.

use crate::agent::{Work, root};
use serde_json::Value;
use std::fs;

#[test]
fn each_example_is_good() {
    let work = Work::new();
    let mut paths: Vec<_> =
        fs::read_dir(root().join("conf")).unwrap().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "conf"));
    assert!(paths.len() >= 4, "{paths:?}");
    for path in paths {
        let said = work.run(&["check", "-f", path.to_str().unwrap(), "--format", "json"]);
        let report: Value = serde_json::from_str(&said.out).unwrap();
        // A type of Flume's that is still to come is no fault of the example.
        let is_to_come =
            |what: &Value| what.as_str().is_some_and(|what| what.contains("known and not there yet"));
        for problem in report["problems"].as_array().unwrap() {
            assert!(is_to_come(&problem["what"]), "{}: {problem}", path.display());
        }
        assert_eq!(report["agents"].as_array().unwrap().len(), 1, "{}: {said:?}", path.display());
    }
}
