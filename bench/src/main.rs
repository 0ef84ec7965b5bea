//! Measures Flumen beside floors, in one run and as ratios, since machines are noisy.
//!
//! `bench core [--rounds N]` measures the nine steps of a batch and the first flow. `--smoke` runs everything briefly, to show
//! that it still runs and loses nothing. `bench taildir` measures tailing beside `cat`, `bench rpc` sending
//! from agent to agent beside a copy. `bench flow BATCH_SIZE` only runs the flow, for a profiler.

mod clock;
mod event_by_event;
mod floors;
mod flow;
mod idle;
mod interceptors;
mod report;
mod rpc;
mod steps;
mod tail;

use report::Table;
use std::process::ExitCode;

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
            rpc(effort);
            if core(effort, true) != ExitCode::SUCCESS {
                return ExitCode::FAILURE;
            }
            tail(effort, true)
        }
        Some("interceptors") => interceptors(effort),
        Some("rpc") => rpc(effort),
        Some("taildir") => tail(effort, smoke),
        Some("flow") => match arguments.get(1).and_then(|n| n.parse().ok()).filter(|n| *n > 0) {
            Some(batch_size) => profile(effort, batch_size),
            None => usage("flow wants a batch size"),
        },
        _ => usage("which bench?"),
    }
}

fn usage(what: &str) -> ExitCode {
    eprintln!(
        "{what}\n\nusage: bench core [--rounds N] [--smoke]\n       bench interceptors [--rounds N] [--smoke]\n       bench rpc [--rounds N] [--smoke]\n       bench taildir [--rounds N] [--smoke]\n       bench flow BATCH_SIZE (for a profiler)"
    );
    ExitCode::from(2)
}

/// The first flow alone, for a profiler to watch.
fn profile(effort: Effort, batch_size: usize) -> ExitCode {
    let events = effort.events.next_multiple_of(batch_size);
    (0..effort.rounds).for_each(|_| flow::run(events, batch_size, false));
    ExitCode::SUCCESS
}

fn rpc(effort: Effort) -> ExitCode {
    let title = "avro sink → avro source";
    let mut table = Table::new(title, &["ns an event", "million events a CPU-second", "of the copy's speed"]);
    rpc::measure(effort, &mut table);
    table.print();
    ExitCode::SUCCESS
}

fn tail(effort: Effort, smoke: bool) -> ExitCode {
    let lines = effort.events.min(1_000_000);
    match tail::measure(effort.rounds.min(3), lines, smoke) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("taildir: {error}");
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
