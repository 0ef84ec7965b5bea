//! Looks whether the directories that components need are there: what a running agent would tell again and again.

use crate::plan::{Part, Plan};
use flumen_core::config::{Problem, Settings, Severity};
use std::{fs, path::Path};

/// What is wrong with the directories of a plan. Asks the file system.
pub(super) fn problems(plan: &Plan) -> Vec<Problem> {
    let mut problems = taken_for_files(plan);
    let needed = parts(plan).flat_map(|part| {
        part.facts.needed_directories.iter().map(|(key, path)| (&part.settings, *key, path.as_path()))
    });
    problems.extend(needed.filter_map(|(settings, key, path)| look(settings, key, path)));
    problems
}

fn parts(plan: &Plan) -> impl Iterator<Item = &Part> {
    let sinks = plan.groups.values().flat_map(|group| &group.sinks).map(|sink| &sink.part);
    plan.sources.values().map(|source| &source.part).chain(plan.channels.values()).chain(sinks)
}

/// Directories where files are looked for, of which a running agent would say nothing: it only finds none. Asks the file system.
pub(super) fn taken_for_files(plan: &Plan) -> Vec<Problem> {
    let mut problems = Vec::new();
    for part in parts(plan) {
        let files = part.facts.needed_files.iter().filter(|(_, path)| path.is_dir());
        problems.extend(files.map(|(key, path)| {
            let shown = path.display();
            let what = format!("{shown} is a directory, and files are looked for: it matches none");
            told(
                &part.settings,
                key,
                Severity::Warning,
                what,
                format!("for all files in it write {shown}/.*"),
            )
        }));
    }
    problems
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
    Some(told(settings, key, severity, what, cure))
}

fn told(settings: &Settings, key: &str, severity: Severity, what: String, cure: String) -> Problem {
    let at = settings.get(key).and_then(|setting| setting.at.clone()).or_else(|| settings.place().cloned());
    Problem::new(severity, settings.full_key(key), at, what).with_cure(cure)
}
