//! Directories of channels that cannot be made or written: told before the start, as far as it is seen without trying.

use super::problem;
use crate::plan::Plan;
use flumen_core::config::{Problem, Severity};
use rustix::fs::{Access, access};
use std::path::Path;

/// The properties of channels that name directories.
const KEYS: [&str; 3] = ["checkpointDir", "backupCheckpointDir", "dataDirs"];

/// A warning each: what is wrong with a directory may be mended before the channel is opened.
pub(super) fn check(plan: &Plan, problems: &mut Vec<Problem>) {
    for part in plan.channels.values() {
        for path in &part.facts.own_directories {
            let Some(what) = impossible(path) else { continue };
            let shown = path.to_string_lossy();
            let names = |key: &&&str| {
                part.settings.get(key).is_some_and(|setting| {
                    setting.value.split(',').any(|named| named.trim().trim_end_matches('/') == shown)
                })
            };
            let key = KEYS.iter().find(names).unwrap_or(&"type");
            let told = problem(Severity::Warning, &part.settings, key, format!("{shown}: {what}"));
            problems.push(told.with_cure("choose a directory that this user may write to"));
        }
    }
}

/// Why a directory cannot be had, from the part of its path that is there.
fn impossible(path: &Path) -> Option<String> {
    let there = path.ancestors().find(|part| part.symlink_metadata().is_ok())?;
    let shown = there.display();
    if !there.is_dir() {
        return Some(format!("{shown} is not a directory"));
    }
    let refused = access(there, Access::WRITE_OK | Access::EXEC_OK).err()?;
    Some(format!("{shown} cannot be written ({})", std::io::Error::from(refused)))
}

#[cfg(test)]
mod tests {
    use super::impossible;
    use std::path::Path;

    #[test]
    fn files_in_the_way_and_what_may_not_be_written_are_seen() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        std::fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below/it")] {
            assert!(
                impossible(&path).is_some_and(|what| what.ends_with("/file is not a directory")),
                "{path:?}"
            );
        }
        assert_eq!(impossible(home.path()), None);
        assert_eq!(impossible(&home.path().join("new/one")), None);
        assert_eq!(impossible(Path::new("")), None);
    }
}
