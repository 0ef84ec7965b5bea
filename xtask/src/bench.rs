//! `xtask bench`: runs the programs of `bench/`, built for speed.

use std::process::Command;

use crate::{Outcome, shell};

const MANIFEST: &str = "bench/Cargo.toml";

pub(crate) fn task(arguments: &[String]) -> Outcome {
    if !is_there() {
        return Err(format!("there is no {MANIFEST}"));
    }
    shell::number(arguments, "--rounds")?;
    let release = !arguments.iter().any(|argument| argument == "--smoke");
    shell::run(command(release).args(arguments))
}

pub(crate) fn is_there() -> bool {
    shell::root().join(MANIFEST).is_file()
}

fn command(release: bool) -> Command {
    let mut cargo = shell::cargo();
    cargo.args(["run", "--quiet", "--manifest-path", MANIFEST]);
    if release {
        cargo.arg("--release");
    }
    cargo.arg("--");
    cargo
}
