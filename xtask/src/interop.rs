//! `xtask interop`: runs `tests/interop`, which starts real peers and talks to them.

use std::process::Command;

use crate::{Outcome, setup, shell};

const MANIFEST: &str = "tests/interop/Cargo.toml";

pub(crate) fn task(arguments: &[String]) -> Outcome {
    if !is_there() {
        return Err(format!("there is no {MANIFEST}"));
    }
    if let Some(missing) = setup::missing_for_interop() {
        shell::loud(&format!("interop cannot run: {missing}"));
        return Err("a JDK and Maven are needed".to_owned());
    }
    shell::run(&mut command(arguments))
}

pub(crate) fn is_there() -> bool {
    shell::root().join(MANIFEST).is_file()
}

/// The program that drives the peers; its first argument is `ci`, `all` or names of peers.
pub(crate) fn command(arguments: &[String]) -> Command {
    let mut cargo = shell::cargo();
    cargo.args(["run", "--quiet", "--manifest-path", MANIFEST, "--"]).args(arguments);
    cargo
}
