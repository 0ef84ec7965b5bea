//! Looks whether the directories that components need are there: what a running agent would tell again and again.

use crate::plan::Plan;
use flumen_core::config::{Problem, Settings, Severity};
use std::{fs, path::Path};

/// What is wrong with the directories of a plan. Asks the file system.
pub(super) fn problems(plan: &Plan) -> Vec<Problem> {
    let sinks = plan.groups.values().flat_map(|group| &group.sinks).map(|sink| &sink.part);
    let parts = plan.sources.values().map(|source| &source.part).chain(plan.channels.values()).chain(sinks);
    let needed = parts.flat_map(|part| {
        part.facts.needed_directories.iter().map(|(key, path)| (&part.settings, *key, path.as_path()))
    });
    needed.filter_map(|(settings, key, path)| look(settings, key, path)).collect()
}

fn look(settings: &Settings, key: &str, path: &Path) -> Option<Problem> {
    let shown = path.display();
    let (severity, what, cure) = match fs::metadata(path) {
        Ok(meta) if !meta.is_dir() => {
            (Severity::Error, format!("{shown} is no directory"), "name a directory".to_owned())
        }
        Ok(meta) if meta.permissions().readonly() => {
            let cure = "let the user that runs the agent write to it".to_owned();
            (Severity::Warning, format!("nobody may write to directory {shown}"), cure)
        }
        Ok(_) => return None,
        Err(error) => {
            let cure = format!("make it before the agent starts: mkdir -p {shown}");
            (Severity::Warning, format!("directory {shown} cannot be used: {error}"), cure)
        }
    };
    let at = settings.get(key).and_then(|setting| setting.at.clone()).or_else(|| settings.place().cloned());
    Some(Problem::new(severity, settings.full_key(key), at, what).with_cure(cure))
}
