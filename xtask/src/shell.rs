//! Running other programs from the top of the tree, and the arguments of a command.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::Outcome;

/// The top of the tree: this package's parent folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// A variable of the environment, where it is set and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "xtask is a program of its own: this is its one reader of the environment"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The time, to say how long something took.
#[expect(clippy::disallowed_methods, reason = "xtask measures what people wait for")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits between two looks at something that another process does.
#[expect(clippy::disallowed_methods, reason = "other processes cannot notify; every caller has a time limit")]
pub(crate) fn pause_ms(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}

/// A program, to be started at the top of the tree.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The cargo that started this program, in the environment that a person's shell would give it: some build scripts
/// run again when they see the variables that cargo sets for us.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(&variable("CARGO").unwrap_or_else(|| "cargo".to_owned()));
    #[expect(clippy::disallowed_methods, reason = "a developer's command hands its environment on")]
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Runs to the end with our output and no input; an exit code other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let shown = shown(command);
    println!("$ {shown}");
    let status =
        command.stdin(Stdio::null()).status().map_err(|error| format!("cannot start `{shown}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({status})")) }
}

/// Runs to the end and gives what it printed; what it says about errors goes to ours.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let shown = shown(command);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start `{shown}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown}` failed ({})", output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{shown}` printed something that is not UTF-8"))
}

/// Whether a program of that name is in the path.
pub(crate) fn is_installed(program: &str) -> bool {
    variable("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// Whether a cargo sub-command is installed.
pub(crate) fn has_cargo_command(name: &str) -> bool {
    cargo()
        .args([name, "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The exit code of a [`limited`] command that took too long.
pub(crate) const TIMED_OUT: i32 = 124;

/// The same command, ended with all that it started after some minutes, where `timeout` is there to do so.
pub(crate) fn limited(inner: Command, minutes: u64) -> Command {
    if !is_installed("timeout") {
        return inner;
    }
    let mut outer = command("timeout");
    outer.arg("--kill-after=10").arg(format!("{minutes}m")).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// A package of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// Path of its manifest from the top of the tree.
    pub(crate) manifest: String,
    /// Names of what it depends on, in tests and build scripts too.
    pub(crate) dependencies: Vec<String>,
    /// Names of its libraries, programs and tests.
    pub(crate) targets: Vec<String>,
}

/// Where cargo puts a program that was built with the profile of the tests.
pub(crate) fn binary(name: &str) -> Result<PathBuf, String> {
    let folder = metadata()?["target_directory"].as_str().map(PathBuf::from);
    Ok(folder.ok_or("cargo metadata names no target directory")?.join("debug").join(name))
}

fn metadata() -> Result<Value, String> {
    let text = output(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata is not JSON: {error}"))
}

/// The packages of the workspace, by cargo.
pub(crate) fn packages() -> Result<Vec<Package>, String> {
    let metadata = metadata()?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let root = format!("{}/", root().display());
    let packages = list(&metadata["packages"]);
    Ok(packages
        .iter()
        .map(|package| Package {
            name: string(&package["name"]),
            manifest: string(&package["manifest_path"]).trim_start_matches(&root).to_owned(),
            dependencies: list(&package["dependencies"]).iter().map(|one| string(&one["name"])).collect(),
            targets: list(&package["targets"]).iter().map(|one| string(&one["name"])).collect(),
        })
        .collect())
}

/// A line that nobody overlooks.
pub(crate) fn loud(text: &str) {
    println!("\n>>>>>>>> {text}\n");
}

/// The value after `--name`, where it is there.
pub(crate) fn option<'a>(arguments: &'a [String], name: &str) -> Result<Option<&'a str>, String> {
    match arguments.iter().position(|argument| argument == name) {
        None => Ok(None),
        Some(at) => {
            arguments.get(at + 1).map(|value| Some(value.as_str())).ok_or(format!("{name} needs a value"))
        }
    }
}

/// The number after `--name`, where it is there.
pub(crate) fn number(arguments: &[String], name: &str) -> Result<Option<u64>, String> {
    option(arguments, name)?
        .map(|text| text.parse().map_err(|_| format!("{name} needs a whole number, not `{text}`")))
        .transpose()
}

/// A command as people would type it.
pub(crate) fn shown(command: &Command) -> String {
    let name =
        Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    command.get_args().fold(name, |line, argument| format!("{line} {}", argument.to_string_lossy()))
}
