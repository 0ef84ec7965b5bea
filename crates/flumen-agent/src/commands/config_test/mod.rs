//! `flumen test FILE`: sends events through the interceptors and the selector of a source and compares what comes out.
//!
//! The file is TOML, so that people can write remarks and long bodies; its form is in `file.rs`. Nothing is started: no
//! source, no sink, no port. Channels are memory channels without the limits of the configuration.

mod file;
mod run;
#[cfg(test)]
mod tests;

use super::Program;
use crate::conf::{ConfigText, load};
use file::TestFile;
use flumen_core::config::{Problem, Severity};
use flumen_java::properties::Encoding;
use std::{
    fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

/// Exit status when all cases pass.
const PASSED: u8 = 0;
/// Exit status when one fails.
const FAILED: u8 = 1;
/// Exit status when the file or the configuration cannot be used.
const UNUSABLE: u8 = 2;

/// Runs the cases of a file.
///
/// # Errors
/// Standard output is closed.
pub fn run(program: &Program, path: &Path) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match outcomes(program, path) {
        Ok(outcomes) => {
            for outcome in &outcomes {
                match &outcome.differences[..] {
                    [] => writeln!(out, "ok      {}", outcome.name)?,
                    differences => {
                        writeln!(out, "FAILED  {}", outcome.name)?;
                        for difference in differences {
                            writeln!(out, "        {difference}")?;
                        }
                    }
                }
            }
            let failed = outcomes.iter().filter(|outcome| !outcome.differences.is_empty()).count();
            writeln!(out, "{} passed, {failed} failed", outcomes.len() - failed)?;
            Ok(ExitCode::from(if failed == 0 { PASSED } else { FAILED }))
        }
        Err(reason) => {
            writeln!(out, "error: {reason}")?;
            Ok(ExitCode::from(UNUSABLE))
        }
    }
}

/// What became of a case: in which ways what came out is not what was expected.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    name: String,
    differences: Vec<String>,
}

fn outcomes(program: &Program, path: &Path) -> Result<Vec<Outcome>, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let file = TestFile::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut texts = Vec::new();
    for name in &file.config {
        let path = folder.join(name);
        let bytes = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        texts.push(ConfigText { name: path.display().to_string().into(), bytes, encoding: Encoding::Latin1 });
    }
    let (entries, problems) = load(&texts);
    if let Some(problem) = problems.iter().find(|problem| problem.severity == Severity::Error) {
        return Err(problem.to_string());
    }
    run::all(program, &entries, &file)
}

/// The errors among some problems, for a message.
fn errors(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
