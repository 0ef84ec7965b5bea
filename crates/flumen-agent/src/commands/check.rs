//! `flumen check`: reads a configuration, says everything that is wrong with it, and starts nothing.

use super::{Program, Target, worst};
use crate::conf::Origins;
use flumen_core::config::Severity;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Exit status when the configuration can run as it is.
const GOOD: u8 = 0;
/// Exit status when something is wrong in it.
const WRONG: u8 = 1;
/// Exit status when it cannot be read.
const UNREADABLE: u8 = 2;

/// Checks the agent of the target. With `strict`, warnings are faults too.
///
/// # Errors
/// Standard output is closed.
pub fn run(program: &Program, target: &Target, strict: bool) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut origins = Origins::new(target.sources.clone(), &target.agent);
    let (plan, problems) = match runtime.block_on(program.read_plan(&mut origins, &target.agent)) {
        Ok(read) => read,
        Err(error) => {
            writeln!(out, "error: {error}")?;
            return Ok(ExitCode::from(UNREADABLE));
        }
    };
    for problem in &problems {
        writeln!(out, "{}: {problem}", problem.severity)?;
    }
    let sinks: usize = plan.groups.values().map(|group| group.sinks.len()).sum();
    let (sources, channels) = (plan.sources.len(), plan.channels.len());
    let faulty = worst(&problems)
        .is_some_and(|worst| worst == Severity::Error || (strict && worst == Severity::Warning));
    let verdict = if faulty { "would run in part, or not at all" } else { "good" };
    writeln!(out, "{}: {verdict}: {sources} sources, {channels} channels, {sinks} sinks", target.agent)?;
    Ok(ExitCode::from(if faulty { WRONG } else { GOOD }))
}
