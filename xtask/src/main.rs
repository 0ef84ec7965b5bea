//! `cargo xtask`: every command that a developer of Flumen needs, in one place.

mod bench;
mod docs;
mod interop;
mod mutants;
mod new_component;
mod run;
mod setup;
mod shell;
mod sim;
mod test;
mod tidy;

use std::process::ExitCode;

/// What a command gives back: nothing, or what went wrong, for people (empty where that has been said).
type Outcome = Result<(), String>;

struct Task {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const TASKS: &[Task] = &[
    Task {
        name: "run",
        usage: "[--seconds N]",
        about: "build and run a real flow, and show events arriving",
        run: run::task,
    },
    Task {
        name: "test",
        usage: "",
        about: "everything that must pass before a change lands",
        run: test::task,
    },
    Task { name: "tidy", usage: "", about: "the rules of the tree that no compiler checks", run: tidy::task },
    Task {
        name: "docs",
        usage: "[--check]",
        about: "print docs/reference/ from the registry, or fail where it is stale",
        run: docs::task,
    },
    Task {
        name: "bench",
        usage: "[NAME] [--rounds N] [--smoke]",
        about: "measure; without a name, say what there is",
        run: bench::task,
    },
    Task {
        name: "sim",
        usage: "[--seeds N] [--from S] | --bugs",
        about: "simulate whole agents; or plant bugs, each of which must be found",
        run: sim::task,
    },
    Task {
        name: "interop",
        usage: "[ci | all | NAME…]",
        about: "run against real peers (needs a JDK and Maven)",
        run: interop::task,
    },
    Task {
        name: "new-component",
        usage: "sink|source|interceptor NAME",
        about: "begin a component: its folder and its registration",
        run: new_component::task,
    },
    Task {
        name: "mutants",
        usage: "--change [--base REV] [--limit N]",
        about: "break changed lines one at a time and see whether a test fails",
        run: mutants::task,
    },
    Task {
        name: "setup",
        usage: "[--check]",
        about: "install, or name, what the build needs from the system",
        run: setup::task,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", help());
        return ExitCode::from(2);
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprintln!("xtask: there is no command `{name}`\n\n{}", help());
        return ExitCode::from(2);
    };
    if rest.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("cargo xtask {} {}\n    {}", task.name, task.usage, task.about);
        return ExitCode::SUCCESS;
    }
    match (task.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            if !problem.is_empty() {
                eprintln!("xtask {name}: {problem}");
            }
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let mut text = String::from("usage: cargo xtask COMMAND\n\n");
    for task in TASKS {
        text.push_str(&format!("  {:<46}{}\n", format!("{} {}", task.name, task.usage), task.about));
    }
    text
}
