//! Counts what test runners print, while it goes by.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::shell;

/// What all `test result:` lines say together.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// The lines themselves, with the target that they are of.
    lines: Vec<(String, String)>,
    failed_tests: Vec<String>,
    /// The target whose lines go by. Cargo announces its own; who runs another program names it here.
    pub(super) target: String,
}

impl Tally {
    pub(super) fn feed(&mut self, line: &str) {
        if let Some(target) = running(line) {
            target.clone_into(&mut self.target);
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count(counts, "passed");
            self.failed += count(counts, "failed");
            self.lines.push((line.to_owned(), self.target.clone()));
        } else if let Some((passed, failed)) = plain(line) {
            self.passed += passed;
            self.failed += failed;
            self.lines.push((line.to_owned(), self.target.clone()));
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failed_tests.push(format!("{} in {}", name, self.target));
        }
    }

    /// The lines of targets that had tests, and the names of those that failed.
    pub(super) fn results(&self) -> String {
        let mut text = String::new();
        for (line, target) in self.lines.iter().filter(|(line, _)| !line.contains(" 0 passed; 0 failed;")) {
            text.push_str(&format!("{line}  [{target}]\n"));
        }
        for name in &self.failed_tests {
            text.push_str(&format!(">>>>>>>> failed: {name}\n"));
        }
        text
    }

    /// Runs a program, shows its output, counts what it says, and gives the time spent in `targets`.
    pub(super) fn run(
        &mut self,
        command: &mut Command,
        targets: &BTreeSet<String>,
    ) -> Result<Duration, String> {
        self.run_to(&mut std::io::stdout(), command, targets)
    }

    fn run_to(
        &mut self,
        out: &mut impl Write,
        command: &mut Command,
        targets: &BTreeSet<String>,
    ) -> Result<Duration, String> {
        let shown = shell::shown(command);
        let cannot = |error: std::io::Error| format!("cannot start `{shown}`: {error}");
        let (reader, writer) = std::io::pipe().map_err(cannot)?;
        command.stdin(Stdio::null()).stderr(writer.try_clone().map_err(cannot)?).stdout(writer);
        // Our own output may be closed: the tests go on all the same.
        let _ = writeln!(out, "$ {shown}");
        let mut child = command.spawn().map_err(cannot)?;
        // The command holds our ends of the pipe; with them open the reader would never see the end.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut spent = Spent::default();
        for line in BufReader::new(reader).split(b'\n') {
            let line = line.map_err(|error| format!("cannot read what a test prints: {error}"))?;
            let line = String::from_utf8_lossy(&line);
            let _ = writeln!(out, "{line}");
            self.feed(&line);
            spent.at(targets.contains(&self.target));
        }
        spent.at(false);
        let status = child.wait().map_err(|error| format!("lost a child process: {error}"))?;
        match status.code() {
            Some(0) => Ok(spent.total),
            Some(shell::TIMED_OUT) => Err(format!("took too long and was ended, in {}", self.target)),
            _ => Err(format!("ended with {status}")),
        }
    }
}

/// Time between the first and the last line of some targets.
#[derive(Default)]
struct Spent {
    since: Option<Instant>,
    total: Duration,
}

impl Spent {
    fn at(&mut self, inside: bool) {
        match (inside, self.since) {
            (true, None) => self.since = Some(shell::now()),
            (false, Some(since)) => {
                self.total += since.elapsed();
                self.since = None;
            }
            _ => {}
        }
    }
}

/// The target that a line of cargo's announces: `Running unittests src/lib.rs (target/debug/deps/NAME-HASH)`.
fn running(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(name);
    }
    let path = line.strip_prefix("Running ")?.rsplit_once('(')?.1.strip_suffix(')')?;
    let file = path.rsplit(['/', '\\']).next()?;
    Some(file.rsplit_once('-').map_or(file, |(name, _)| name))
}

/// `N passed, N failed`: how our own programs end.
fn plain(line: &str) -> Option<(u64, u64)> {
    let (passed, failed) = line.split_once(" passed, ")?;
    Some((passed.parse().ok()?, failed.strip_suffix(" failed")?.parse().ok()?))
}

fn count(line: &str, what: &str) -> u64 {
    let words: Vec<&str> = line.split([' ', ';']).collect();
    let at = words.iter().position(|word| *word == what);
    at.and_then(|at| at.checked_sub(1)).and_then(|at| words[at].parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_summed_and_named_by_target() {
        let mut tally = Tally::default();
        for line in [
            "     Running unittests src/lib.rs (target/debug/deps/flumen_core-0a1b)",
            "test batch::tests::one ... FAILED",
            "test result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s",
            "   Doc-tests flumen_core",
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s",
        ] {
            tally.feed(line);
        }
        assert_eq!((tally.passed, tally.failed), (11, 1));
        tally.feed("9 passed, 2 failed");
        tally.feed("9 passed, 2 failed, or so");
        assert_eq!((tally.passed, tally.failed), (20, 3));
        let results = tally.results();
        assert!(results.contains("[flumen_core]\n"), "{results}");
        assert!(results.contains("failed: batch::tests::one in flumen_core"), "{results}");
        assert_eq!(results.matches("test result:").count(), 1, "targets without tests are left out");
    }

    #[test]
    fn a_program_is_shown_counted_and_its_failure_seen() {
        let mut tally = Tally::default();
        let mut command = shell::command("sh");
        command.args(["-c", "echo 'test result: ok. 2 passed; 0 failed;'; exit 3"]);
        let mut out = Vec::new();
        let error = tally.run_to(&mut out, &mut command, &BTreeSet::new()).unwrap_err();
        assert_eq!(tally.passed, 2);
        assert!(String::from_utf8(out).unwrap().contains("2 passed"));
        assert!(error.contains('3'), "{error}");
    }
}
