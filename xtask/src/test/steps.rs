//! The steps of `xtask test`, in their order.

use std::collections::BTreeSet;

use super::{End, Phase, Report, Step};
use crate::{Outcome, bench, docs, interop, setup, shell, sim, tidy};

pub(super) const BUILD: &str = "build";

/// No step may hang a machine that nobody looks at: minutes after which one is ended.
const LIMIT_MIN: u64 = 30;

/// What is cheap and fails often comes first.
pub(super) const STEPS: &[Step] = &[
    Step {
        name: "setup",
        phase: Phase::Build,
        needs_build: false,
        run: |_| setup::ensure(true, true).into(),
    },
    Step { name: "format", phase: Phase::Build, needs_build: false, run: |_| format().into() },
    Step { name: "tidy", phase: Phase::Build, needs_build: false, run: |_| tidy::task(&[]).into() },
    Step { name: "clippy", phase: Phase::Build, needs_build: false, run: |_| clippy().into() },
    Step { name: BUILD, phase: Phase::Build, needs_build: false, run: |_| build().into() },
    Step { name: "docs", phase: Phase::Unit, needs_build: true, run: |_| docs::check_built().into() },
    Step { name: "deny", phase: Phase::Unit, needs_build: false, run: |_| deny() },
    Step { name: "tests", phase: Phase::Unit, needs_build: true, run: |report| tests(report).into() },
    Step { name: "orders", phase: Phase::Unit, needs_build: false, run: orders },
    Step { name: "bugs", phase: Phase::Unit, needs_build: true, run: bugs },
    Step { name: "fuzz", phase: Phase::Unit, needs_build: true, run: fuzz },
    Step { name: "bench", phase: Phase::Unit, needs_build: true, run: bench },
    Step { name: "interop", phase: Phase::Interop, needs_build: true, run: interop },
];

fn format() -> Outcome {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))
}

fn clippy() -> Outcome {
    shell::run(shell::cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--keep-going",
        "--",
        "--deny",
        "warnings",
    ]))
}

/// Everything that the later steps run, once: the same artefacts that `cargo test` uses.
fn build() -> Outcome {
    shell::run(shell::cargo().args(["build", "--workspace", "--all-targets", "--keep-going"]))
}

fn deny() -> End {
    if !shell::has_cargo_command("deny") {
        return End::Skipped("cargo-deny is not installed (cargo install --locked cargo-deny)".to_owned());
    }
    shell::run(shell::cargo().args(["deny", "--all-features", "check", "bans", "licenses", "sources"])).into()
}

fn tests(report: &mut Report) -> Outcome {
    let end_to_end = targets_under("tests/end_to_end/")?;
    let mut command = shell::limited(shell::cargo(), LIMIT_MIN);
    command.args(["test", "--workspace", "--no-fail-fast"]);
    report.end_to_end += report.tally.run(&mut command, &end_to_end)?;
    Ok(())
}

/// The orders of the threads of a log: built apart, as its locks are then those of a checker.
fn orders(report: &mut Report) -> End {
    "orders".clone_into(&mut report.tally.target);
    let mut command = shell::limited(shell::cargo(), LIMIT_MIN);
    command.env("RUSTFLAGS", "--cfg shuttle").args(["test", "--package", "flumen-wal", "--lib"]);
    command.args(["--target-dir", "target/orders", "log::orders"]);
    report.tally.run(&mut command, &BTreeSet::new()).map(drop).into()
}

/// Bugs on purpose, each of which the simulation of whole agents must find.
fn bugs(_: &mut Report) -> End {
    shell::run(shell::limited(sim::command(true), LIMIT_MIN).arg("--bugs")).into()
}

fn fuzz(report: &mut Report) -> End {
    if !shell::root().join("fuzz/Cargo.toml").is_file() {
        return End::Skipped("there is no fuzz/ yet".to_owned());
    }
    built(report, "smoke", &[])
}

/// Runs a program that the build step made: the same libraries are not built again with other features.
fn built(report: &mut Report, program: &str, arguments: &[&str]) -> End {
    program.clone_into(&mut report.tally.target);
    let command = shell::binary(program).map(|path| {
        let mut command = shell::command(&path.to_string_lossy());
        command.args(arguments);
        shell::limited(command, LIMIT_MIN)
    });
    command.and_then(|mut command| report.tally.run(&mut command, &BTreeSet::new())).map(drop).into()
}

fn bench(report: &mut Report) -> End {
    if !bench::is_there() {
        return End::Skipped("there is no bench/ yet".to_owned());
    }
    built(report, "flumen-bench", &["--smoke"])
}

fn interop(report: &mut Report) -> End {
    if !interop::is_there() {
        return End::Skipped("there is no tests/interop yet".to_owned());
    }
    if let Some(missing) = setup::missing_for_interop() {
        return End::Skipped(missing);
    }
    "interop".clone_into(&mut report.tally.target);
    let mut command = shell::limited(interop::command(&["ci".to_owned()]), LIMIT_MIN);
    report.tally.run(&mut command, &BTreeSet::new()).map(drop).into()
}

/// The names of test programs whose package lies in a folder.
fn targets_under(folder: &str) -> Result<BTreeSet<String>, String> {
    let packages = shell::packages()?;
    let there = packages.iter().filter(|package| package.manifest.starts_with(folder));
    Ok(there.flat_map(|package| package.targets.iter()).map(|name| name.replace('-', "_")).collect())
}

impl From<Outcome> for End {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Ok(()) => Self::Passed,
            Err(problem) => Self::Failed(problem),
        }
    }
}
