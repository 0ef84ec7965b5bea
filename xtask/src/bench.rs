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

/// Every bench once and briefly, as the build of the tests made it: shows that it runs, not how fast.
pub(crate) fn smoke_command() -> Result<Command, String> {
    let mut smoke = shell::command(&shell::binary("flumen-bench")?.to_string_lossy());
    smoke.arg("--smoke");
    Ok(smoke)
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
