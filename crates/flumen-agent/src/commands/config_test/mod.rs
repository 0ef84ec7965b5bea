//! `flumen test FILE`: sends events through the interceptors and the selector of a source and compares what comes out.
//!
//! The file is TOML, so that people can write remarks and long bodies; its form is in `file.rs`. Nothing is started: no
//! source, no sink, no port. Channels are memory channels without the limits of the configuration.

mod file;
mod run;
#[cfg(test)]
mod tests;

use super::Program;
use crate::conf::{Origins, Sources};
use file::TestFile;
use flumen_core::config::{Problem, Severity};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Exit status when all cases pass.
const PASSED: u8 = 0;
/// Exit status when one fails.
const FAILED: u8 = 1;
/// Exit status when the file or the configuration cannot be used.
const UNUSABLE: u8 = 2;

/// Runs the cases of a file. `conf_dirs` are the configuration folders, for `lookups.properties` and password files.
///
/// # Errors
/// Standard output is closed.
pub fn run(program: &Program, path: &Path, conf_dirs: &[PathBuf]) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match outcomes(program, path, conf_dirs) {
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

/// Reads the configuration as the agent does, with its lookups and config filters, and runs the cases.
fn outcomes(program: &Program, path: &Path, conf_dirs: &[PathBuf]) -> Result<Vec<Outcome>, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let file = TestFile::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let sources = Sources {
        files: file.config.iter().map(|name| folder.join(name)).collect(),
        conf_dirs: conf_dirs.to_vec(),
        environment: program.environment.clone(),
        ..Sources::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    let mut origins = Origins::new(sources, &file.agent);
    let read = runtime.block_on(program.read_plan(&mut origins, &file.agent));
    let (plan, problems) = read.map_err(|error| error.to_string())?;
    run::all(program, &runtime, &plan, &problems, &file)
}

/// The errors among some problems, for a message.
fn errors(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
