//! `xtask sim`: whole agents in a simulated world, many seeds; or with bugs on purpose, each of which must be found.

use std::process::Command;

use crate::{Outcome, shell};

pub(crate) fn task(arguments: &[String]) -> Outcome {
    let bugs = arguments.iter().any(|argument| argument == "--bugs");
    shell::run(command(bugs).args(arguments))
}

/// The simulator. Bugs are planted in a build of their own, of which outside crates are no part.
pub(crate) fn command(bugs: bool) -> Command {
    let mut cargo = shell::cargo();
    cargo.args(["run", "--quiet", "--package", "flumen-sim"]);
    if bugs {
        cargo.args(["--features", "planted"]);
    }
    cargo.arg("--");
    cargo
}
