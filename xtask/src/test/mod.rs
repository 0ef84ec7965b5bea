//! `xtask test`: everything that must pass before a change lands, with the minutes that each step took.

mod steps;
mod tally;

use std::time::Duration;

use tally::Tally;

use crate::{Outcome, shell};

/// Steps that share a budget of minutes, on two quiet cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Build,
    Unit,
    EndToEnd,
    Interop,
}

impl Phase {
    const ALL: [Self; 4] = [Self::Build, Self::Unit, Self::EndToEnd, Self::Interop];

    fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Unit => "unit and simulation",
            Self::EndToEnd => "end to end and kills",
            Self::Interop => "interop",
        }
    }

    fn budget(self) -> Duration {
        let minutes = match self {
            Self::Build => 15,
            Self::Unit => 12,
            Self::EndToEnd => 6,
            Self::Interop => 8,
        };
        Duration::from_secs(minutes * 60)
    }
}

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Passed,
    /// Not run, and why. Said loudly, but no failure.
    Skipped(String),
    Failed(String),
}

struct Step {
    name: &'static str,
    phase: Phase,
    /// Whether it uses what the build step made.
    needs_build: bool,
    run: fn(&mut Report) -> End,
}

/// What has happened so far.
#[derive(Default)]
struct Report {
    done: Vec<(&'static str, End, Duration)>,
    tally: Tally,
    /// Time of single test targets that belong to another phase than their step.
    end_to_end: Duration,
}

pub(crate) fn task(arguments: &[String]) -> Outcome {
    if let Some(extra) = arguments.first() {
        return Err(format!("test takes no arguments, not `{extra}`; for one crate use cargo test -p NAME"));
    }
    let mut report = Report::default();
    for step in steps::STEPS {
        report.take(step);
    }
    println!("\n{}", report.summary());
    match report.failures().count() {
        0 => Ok(()),
        // The summary has said which, and its last line stays the last.
        _ => Err(String::new()),
    }
}

impl Report {
    fn take(&mut self, step: &Step) {
        println!("\n==== {} ====", step.name);
        let began = shell::now();
        let build_failed = self.failures().any(|name| name == steps::BUILD);
        let end = if step.needs_build && build_failed {
            End::Skipped("the build failed".to_owned())
        } else {
            (step.run)(self)
        };
        match &end {
            End::Passed => {}
            End::Skipped(why) => shell::loud(&format!("{} was not run: {why}", step.name)),
            End::Failed(why) => shell::loud(&format!("{} FAILED: {why}", step.name)),
        }
        self.done.push((step.name, end, began.elapsed()));
    }

    fn failures(&self) -> impl Iterator<Item = &'static str> {
        self.done.iter().filter(|(_, end, _)| matches!(end, End::Failed(_))).map(|(name, _, _)| *name)
    }

    fn time_of(&self, phase: Phase) -> Duration {
        let steps = |name: &str| steps::STEPS.iter().any(|step| step.name == name && step.phase == phase);
        let total =
            self.done.iter().filter(|(name, _, _)| steps(name)).map(|(_, _, took)| *took).sum::<Duration>();
        match phase {
            Phase::Unit => total.saturating_sub(self.end_to_end),
            Phase::EndToEnd => total + self.end_to_end,
            _ => total,
        }
    }

    /// All that a reader of the last page needs. Ends with the one line `N passed, N failed`.
    fn summary(&self) -> String {
        let mut text = String::from("==== summary ====\n");
        for (name, end, took) in &self.done {
            let end = match end {
                End::Passed => "passed".to_owned(),
                End::Skipped(why) => format!("NOT RUN: {why}"),
                End::Failed(why) => format!("FAILED: {why}"),
            };
            text.push_str(&format!("{name:<12}{:>6} min  {end}\n", minutes(*took)));
        }
        text.push('\n');
        for phase in Phase::ALL {
            let (took, budget) = (self.time_of(phase), phase.budget());
            let over = if took > budget { "   >>>>>>>> OVER ITS BUDGET" } else { "" };
            text.push_str(&format!(
                "{:<22}{:>6} of {} min{over}\n",
                phase.name(),
                minutes(took),
                budget.as_secs() / 60
            ));
        }
        text.push('\n');
        text.push_str(&self.tally.results());
        let failed: Vec<&str> = self.failures().collect();
        if !failed.is_empty() {
            text.push_str(&format!("\n>>>>>>>> FAILED: {}\n", failed.join(", ")));
        }
        text.push_str(&format!("\n{} passed, {} failed", self.tally.passed, self.tally.failed));
        text
    }
}

fn minutes(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() / 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(end: End, took: Duration) -> Report {
        Report { done: vec![(steps::BUILD, end, took)], ..Report::default() }
    }

    #[test]
    fn the_summary_ends_with_the_one_line_of_numbers() {
        let mut report = report(End::Passed, Duration::from_secs(60));
        report.tally.feed(
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0s",
        );
        report
            .tally
            .feed("test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; x");
        let summary = report.summary();
        assert_eq!(summary.lines().last(), Some("7 passed, 2 failed"));
        assert_eq!(summary.lines().filter(|line| line.starts_with("test result: ")).count(), 2);
    }

    #[test]
    fn a_phase_over_its_budget_is_loud_and_no_failure() {
        let report = report(End::Passed, Duration::from_secs(16 * 60));
        assert!(report.summary().contains("16.0 of 15 min   >>>>>>>> OVER"), "{}", report.summary());
        assert_eq!(report.failures().count(), 0);
    }

    #[test]
    fn what_needs_the_build_is_not_run_after_it_failed() {
        let mut report = report(End::Failed("x".to_owned()), Duration::ZERO);
        let step = Step { name: "tests", phase: Phase::Unit, needs_build: true, run: |_| End::Passed };
        report.take(&step);
        assert_eq!(report.done[1].1, End::Skipped("the build failed".to_owned()));
    }
}
