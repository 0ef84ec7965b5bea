//! Runs the tests against real peers: `ci`, `all`, or names of peers. `cargo xtask interop` calls it.

use std::{
    env,
    process::{Command, ExitCode},
};

/// The peers: each is a test of its name, mostly with a folder and a script that starts it. `ci` runs those that are quick.
const PEERS: [(&str, bool); 5] =
    [("file_channel", true), ("flume", true), ("kafka", true), ("syslog", true), ("zookeeper", true)];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let wanted = |name: &str, quick: bool| {
        arguments.is_empty()
            || arguments.iter().any(|one| one == "all" || one == name || (quick && one == "ci"))
    };
    let known = |one: &String| one == "all" || one == "ci" || PEERS.iter().any(|(name, _)| name == one);
    if let Some(unknown) = arguments.iter().find(|one| !known(one)) {
        let names: Vec<&str> = PEERS.iter().map(|(name, _)| *name).collect();
        eprintln!("interop: no peer `{unknown}`; there are {}, `ci` and `all`", names.join(", "));
        return ExitCode::from(2);
    }
    let mut good = true;
    for (name, _) in PEERS.iter().filter(|(name, quick)| wanted(name, *quick)) {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let status =
            Command::new("cargo").args(["test", "--manifest-path", manifest, "--test", name]).status();
        match status {
            Ok(status) => good &= status.success(),
            Err(error) => {
                eprintln!("interop: cargo cannot be run: {error}");
                good = false;
            }
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
