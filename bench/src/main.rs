//! Measures Flumen beside floors, in one run and as ratios, since machines are noisy.
//!
//! `bench core [--rounds N]` measures the nine steps of a batch and the first flow. `--smoke` runs everything briefly, to show
//! that it still runs and loses nothing. `bench taildir` measures tailing beside `cat`, `bench rpc` sending
//! from agent to agent beside a copy, `bench filechannel [PART …] [--dir DIR]` the file channel
//! beside the disk, `bench http` JSON by HTTP, `bench reload` the change of one component of a running agent, `bench syslog` syslog into files.
//! `bench flow BATCH_SIZE` only runs the flow, for a profiler.

mod clock;
mod event_by_event;
mod file_channel;
mod floors;
mod flow;
mod http;
mod idle;
mod interceptors;
mod reload;
mod report;
mod rpc;
mod steps;
mod syslog;
mod tail;

use report::Table;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How much is done: for figures, or to show that it runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Rounds; the median counts.
    pub(crate) rounds: usize,
    /// Events of a round.
    pub(crate) events: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let smoke = arguments.iter().any(|argument| argument == "--smoke");
    let rounds = match arguments.iter().position(|argument| argument == "--rounds") {
        None => 5,
        Some(at) => match arguments.get(at + 1).and_then(|n| n.parse().ok()).filter(|n| *n > 0) {
            Some(rounds) => rounds,
            None => return usage("--rounds wants a number above 0"),
        },
    };
    let effort =
        if smoke { Effort { rounds: 1, events: 20_000 } } else { Effort { rounds, events: 5_000_000 } };
    match arguments.first().map(String::as_str) {
        Some("core") => core(effort, smoke),
        Some("--smoke") => {
            interceptors(effort);
            rpc(effort, &std::env::temp_dir());
            http(effort);
            if core(effort, true) != ExitCode::SUCCESS
                || tail(effort, true, &std::env::temp_dir()) != ExitCode::SUCCESS
            {
                return ExitCode::FAILURE;
            }
            file_channel(effort, true, &[])
        }
        Some("interceptors") => interceptors(effort),
        Some("http") => http(effort),
        Some("rpc") => rpc(effort, &folder(&arguments)),
        Some("reload") => said("reload", reload::measure(effort.rounds)),
        Some("syslog") => said("syslog", syslog::measure(effort.rounds.min(3), effort.events.min(1_000_000))),
        Some("taildir") => tail(effort, smoke, &folder(&arguments)),
        Some("filechannel") => file_channel(effort, smoke, &arguments[1..]),
        Some("filechannel-stage") => file_channel::run_child(&arguments[1..]),
        Some("flow") => match arguments.get(1).and_then(|n| n.parse().ok()).filter(|n| *n > 0) {
            Some(batch_size) => profile(effort, batch_size),
            None => usage("flow wants a batch size"),
        },
        _ => usage("which bench?"),
    }
}

fn usage(what: &str) -> ExitCode {
    eprintln!(
        "{what}\n\nusage: bench core [--rounds N] [--smoke]\n       bench interceptors [--rounds N] [--smoke]\n       bench http [--rounds N] [--smoke]\n       bench rpc [--dir DIR] [--rounds N] [--smoke]\n       bench reload [--rounds N]\n       bench syslog [--rounds N]\n       bench taildir [--dir DIR] [--rounds N] [--smoke]\n       bench filechannel [put-take|one-event|restart …] [--dir DIR] [--rounds N] [--smoke]\n       bench flow BATCH_SIZE (for a profiler)"
    );
    ExitCode::from(2)
}

/// The first flow alone, for a profiler to watch.
fn profile(effort: Effort, batch_size: usize) -> ExitCode {
    let events = effort.events.next_multiple_of(batch_size);
    (0..effort.rounds).for_each(|_| flow::run(events, batch_size, false));
    ExitCode::SUCCESS
}

/// Where files are written: on the disk that is to be measured.
fn folder(arguments: &[String]) -> PathBuf {
    let dir = arguments.iter().position(|one| one == "--dir").and_then(|at| arguments.get(at + 1));
    dir.map_or_else(std::env::temp_dir, PathBuf::from)
}

fn rpc(effort: Effort, folder: &Path) -> ExitCode {
    let title = "avro sink → avro source";
    let mut table = Table::new(title, &["ns an event", "million events a CPU-second", "of the copy's speed"]);
    rpc::measure(effort, &mut table);
    rpc::durable(effort, &folder.join(format!("flumen-bench-rpc-{}", std::process::id())), &mut table);
    table.print();
    ExitCode::SUCCESS
}

fn http(effort: Effort) -> ExitCode {
    let title = "http source → memory → null, JSON";
    let mut table = Table::new(title, &["ns an event", "million events a CPU-second"]);
    http::measure(effort, &mut table);
    table.print();
    ExitCode::SUCCESS
}

fn tail(effort: Effort, smoke: bool, folder: &Path) -> ExitCode {
    said("taildir", tail::measure(effort.rounds.min(3), effort.events.min(1_000_000), smoke, folder))
}

fn said(bench: &str, result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{bench}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn file_channel(effort: Effort, smoke: bool, arguments: &[String]) -> ExitCode {
    let parts: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|one| file_channel::PARTS.contains(one)).collect();
    match file_channel::measure(effort, smoke, &parts, &folder(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("filechannel: {error}");
            ExitCode::FAILURE
        }
    }
}

fn interceptors(effort: Effort) -> ExitCode {
    let title = "interceptors, 100 events a batch";
    let mut table = Table::new(title, &["ns an event", "goal        "]);
    interceptors::measure(effort, &mut table);
    table.print();
    ExitCode::SUCCESS
}

fn core(effort: Effort, smoke: bool) -> ExitCode {
    println!("One worker, CPU time of the process (user and system), median of {} rounds.\n", effort.rounds);
    let mut table = Table::new("nine steps, 100 events a batch", &["ns an event", "of all steps"]);
    steps::measure(effort, &mut table);
    table.print();

    let mut table = Table::new(
        "seq → memory → null",
        &["ns an event", "million events a CPU-second", "× event by event", "× bare queue"],
    );
    for batch_size in [1, 10, 100, 1_000] {
        flow::measure(effort, batch_size, false, &mut table);
    }
    flow::measure(effort, 100, true, &mut table);
    table.print();
    if !smoke {
        idle::measure();
    }
    ExitCode::SUCCESS
}
