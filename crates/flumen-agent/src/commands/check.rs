//! `flumen check`: reads a configuration, says everything that is wrong with it, and starts nothing.

use super::{Program, SystemClock, Target};
use crate::{
    agent::{Agent, World},
    conf::Origins,
    plan::{self, Plan},
};
use flumen_core::config::{Problem, ProblemKind, Severity};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

/// Exit status when the configuration can run as it is.
const GOOD: u8 = 0;
/// Exit status when something is wrong in it.
const WRONG: u8 = 1;
/// Exit status when it cannot be read.
const UNREADABLE: u8 = 2;

/// Problems that are printed for people.
const MOST_PRINTED: usize = 1_000;

/// What is checked, and how it is told.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// The configuration, and the agent; without a name all agents are checked.
    pub target: Target,
    /// Whether warnings are faults too.
    pub strict: bool,
    /// Whether keys that nobody reads are errors; an agent runs with them.
    pub unknown_keys_fail: bool,
    /// One JSON object instead of lines.
    pub json: bool,
    /// What the command line brought up already.
    pub notes: Vec<String>,
}

/// How an agent of the configuration stands.
#[derive(Debug)]
struct Verdict {
    plan: Plan,
    faulty: bool,
}

/// Everything that is known of the configuration.
#[derive(Debug)]
pub(crate) struct Report {
    notes: Vec<String>,
    problems: Vec<Problem>,
    verdicts: Vec<Verdict>,
    /// Why nothing could be read.
    unreadable: Option<String>,
}

/// Checks, and prints what is wrong.
///
/// # Errors
/// The output is closed.
pub fn run(program: &Program, options: &CheckOptions, out: &mut impl Write) -> io::Result<ExitCode> {
    let report = report(program, options)?;
    let code = match &report {
        Report { unreadable: Some(_), .. } => UNREADABLE,
        Report { verdicts, .. } if verdicts.is_empty() || verdicts.iter().any(|verdict| verdict.faulty) => {
            WRONG
        }
        _ => GOOD,
    };
    if options.json {
        writeln!(out, "{:#}", to_json(&report, code))?;
    } else {
        report.print(out)?;
    }
    Ok(ExitCode::from(code))
}

/// Reads and checks.
///
/// # Errors
/// The system gives no runtime.
pub(crate) fn report(program: &Program, options: &CheckOptions) -> io::Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(examine(program, options)))
}

async fn examine(program: &Program, options: &CheckOptions) -> Report {
    let agent = &options.target.agent;
    let mut report =
        Report { notes: options.notes.clone(), problems: Vec::new(), verdicts: Vec::new(), unreadable: None };
    let mut origins = Origins::new(options.target.sources.clone(), agent);
    let (entries, problems) = match program.read_entries(&mut origins).await {
        Ok(read) => read,
        Err(error) => {
            report.unreadable = Some(error.to_string());
            return report;
        }
    };
    report.problems = problems;
    let mut names = vec![agent.clone()];
    if agent.is_empty() {
        names = plan::agents(&entries);
        if names.is_empty() {
            let what =
                "no property is of the form AGENT.sources, AGENT.channels or AGENT.sinks: there is no agent";
            let files: Vec<&str> = entries.files.iter().map(|file| &**file).collect();
            report.problems.push(Problem::new(Severity::Error, files.join(", "), None, what));
        }
    }
    let faulty = |problems: &[Problem]| {
        let limit = if options.strict { Severity::Warning } else { Severity::Error };
        problems.iter().any(|problem| problem.severity >= limit)
    };
    let all_faulty = faulty(&report.problems);
    for name in names {
        let conf_dirs = &options.target.sources.conf_dirs;
        let (mut plan, mut problems) = match program.plan_of(entries.clone(), &name, conf_dirs).await {
            Ok(read) => read,
            Err(error) => {
                report.unreadable = Some(error.to_string());
                return report;
            }
        };
        let world = World { clock: Arc::new(SystemClock), seed: 0, environment: program.environment.clone() };
        // Building opens nothing.
        problems.extend(Agent::new(program.registry.clone(), world).try_build(&mut plan));
        if options.unknown_keys_fail {
            unknown_keys_are_errors(&mut problems);
        }
        problems.extend(super::folders::problems(&plan));
        report.verdicts.push(Verdict { plan, faulty: all_faulty || faulty(&problems) });
        report.problems.extend(problems);
    }
    entries.sort(&mut report.problems);
    // What is wrong with a line that belongs to no agent is found for each of them.
    let mut seen = BTreeSet::new();
    report.problems.retain(|problem| seen.insert(problem.to_string()));
    report
}

/// An agent runs with a key that nobody reads, and warns. Whoever checks wants to know: what it was to set is not set.
fn unknown_keys_are_errors(problems: &mut [Problem]) {
    for problem in problems.iter_mut().filter(|problem| problem.kind == ProblemKind::UnknownKey) {
        problem.severity = Severity::Error;
    }
}

fn sinks(plan: &Plan) -> usize {
    plan.groups.values().map(|group| group.sinks.len()).sum()
}

impl Report {
    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        self.print_problems(out)?;
        self.verdicts.iter().try_for_each(|verdict| print_verdict(verdict, out))
    }

    /// Prints what is wrong, and each part that would run.
    pub(crate) fn print_parts(&self, out: &mut impl Write) -> io::Result<()> {
        self.print_problems(out)?;
        for verdict in &self.verdicts {
            let plan = &verdict.plan;
            for (name, source) in &plan.sources {
                writeln!(out, "source {name}: {} into {}", source.part.type_name, source.channels.join(" "))?;
            }
            for (name, channel) in &plan.channels {
                writeln!(out, "channel {name}: {}", channel.type_name)?;
            }
            for sink in plan.groups.values().flat_map(|group| &group.sinks) {
                writeln!(out, "sink {}: {} from {}", sink.name, sink.part.type_name, sink.channel)?;
            }
            print_verdict(verdict, out)?;
        }
        Ok(())
    }

    fn print_problems(&self, out: &mut impl Write) -> io::Result<()> {
        for note in &self.notes {
            writeln!(out, "warning: {note}")?;
        }
        if let Some(error) = &self.unreadable {
            return writeln!(out, "error: {error}");
        }
        for problem in self.problems.iter().take(MOST_PRINTED) {
            writeln!(out, "{}: {problem}", problem.severity)?;
        }
        match self.problems.len().checked_sub(MOST_PRINTED) {
            None | Some(0) => Ok(()),
            Some(more) => writeln!(out, "{more} more problems are not shown; --format json has all"),
        }
    }

    /// The exit status with which an agent of this configuration would end at its start, or 0.
    pub(crate) fn start_status(&self, strict: bool) -> u8 {
        match &self.unreadable {
            Some(_) => UNREADABLE,
            None if self.verdicts.iter().all(|v| v.plan.is_empty() || strict && v.faulty) => WRONG,
            None => GOOD,
        }
    }
}

fn print_verdict(verdict: &Verdict, out: &mut impl Write) -> io::Result<()> {
    let plan = &verdict.plan;
    let counts = [
        (plan.sources.len(), "source", "sources"),
        (plan.channels.len(), "channel", "channels"),
        (sinks(plan), "sink", "sinks"),
    ];
    let counts = counts.map(|(n, one, many)| format!("{n} {}", if n == 1 { one } else { many })).join(", ");
    writeln!(out, "{}: {}: {counts}", plan.agent, word(verdict))
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict { faulty: false, .. } => "good",
        Verdict { plan, .. } if plan.is_empty() => "nothing would run",
        _ => "faulty, what is left would run",
    }
}

/// The report for programs. Fields may be added; those that are there keep their meaning.
fn to_json(report: &Report, code: u8) -> Value {
    let problem = |problem: &Problem| {
        json!({
            "severity": problem.severity.to_string(),
            "file": problem.at.as_ref().map(|at| at.file.to_string()),
            "line": problem.at.as_ref().map(|at| at.line),
            "key": problem.key,
            "what": problem.what,
            "nearest": problem.nearest,
            "cure": problem.cure,
        })
    };
    let agent = |verdict: &Verdict| {
        let plan = &verdict.plan;
        json!({
            "name": plan.agent,
            "verdict": if !verdict.faulty { "good" } else if plan.is_empty() { "nothing" } else { "faulty" },
            "sources": plan.sources.keys().collect::<Vec<_>>(),
            "channels": plan.channels.keys().collect::<Vec<_>>(),
            "sinks": plan.groups.values().flat_map(|group| &group.sinks).map(|sink| &sink.name).collect::<Vec<_>>(),
        })
    };
    let verdict = match code {
        GOOD => "good",
        WRONG => "wrong",
        _ => "unreadable",
    };
    json!({
        "verdict": verdict,
        "exit_status": code,
        "error": report.unreadable,
        "agents": report.verdicts.iter().map(agent).collect::<Vec<_>>(),
        "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
        "notes": report.notes,
    })
}
