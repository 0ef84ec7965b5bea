//! `flumen-sim --seeds N [--from S]`: runs seeds, and prints the shortest trace of the first that fails. `--bugs`, in a build
//! with the feature `planted`: for each bug on purpose, after how many seeds it is found, and by what.

use flumen_sim::{Figures, run_seed, shortest};
use std::process::ExitCode;

const USAGE: &str = "flumen-sim [--seeds N] [--from S] | --bugs";

/// A bug that so many seeds do not find is missed.
#[cfg(feature = "planted")]
const SEEDS_A_BUG: u64 = 2_000;

/// Lines of a trace that are printed, from its end; the configuration stands before them.
const LINES_SHOWN: usize = 120;

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|flag| flag == "--bugs") {
        return bugs();
    }
    match seeds(std::env::args().skip(1)) {
        Ok((from, n_seeds)) => run(from, n_seeds),
        Err(what) => {
            eprintln!("{what}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn seeds(arguments: impl Iterator<Item = String>) -> Result<(u64, u64), String> {
    let (mut from, mut n_seeds) = (0, 1_000);
    let mut arguments = arguments;
    while let Some(flag) = arguments.next() {
        let number = arguments.next().and_then(|number| number.parse().ok());
        let number = number.ok_or_else(|| format!("{flag} wants a number"))?;
        match flag.as_str() {
            "--seeds" => n_seeds = number,
            "--from" => from = number,
            _ => return Err(format!("there is no option {flag}")),
        }
    }
    Ok((from, n_seeds))
}

fn run(from: u64, n_seeds: u64) -> ExitCode {
    // Components that panic on purpose are built anew; their messages are no news.
    std::panic::set_hook(Box::new(|_| {}));
    let mut figures = Figures::default();
    for seed in from..from.saturating_add(n_seeds) {
        match run_seed(seed) {
            Ok(of) => figures += of,
            Err(failure) => {
                println!("seed {seed} fails: {}\nlooking for the shortest way there", failure.what);
                let (ops, failure) = shortest(seed).unwrap_or_else(|| ("as it is".to_owned(), failure));
                let (text, events) =
                    failure.trace.split_first().map_or(("", &[][..]), |(text, of)| (&**text, of));
                println!("{text}\n{ops}");
                let hidden = events.len().saturating_sub(LINES_SHOWN);
                events[hidden..].iter().for_each(|line| println!("{line}"));
                println!("seed {seed}: {}", failure.what);
                return ExitCode::FAILURE;
            }
        }
    }
    let Figures { runs, acknowledged, reloads, restarts, crashes } = figures;
    println!(
        "{runs} runs, {acknowledged} events acknowledged, {reloads} reloads, {restarts} restarts, {crashes} crashes: 0 lost, \
         0 from nowhere, none out of order, every figure in balance"
    );
    ExitCode::SUCCESS
}

/// Plants each bug in turn.
#[cfg(feature = "planted")]
fn bugs() -> ExitCode {
    use flumen_core::planted::{self, Bug};
    std::panic::set_hook(Box::new(|_| {}));
    let mut n_missed = 0;
    for &bug in Bug::ALL {
        planted::plant(Some(bug));
        match (0..SEEDS_A_BUG).find_map(|seed| Some((seed, run_seed(seed).err()?))) {
            Some((seed, failure)) => println!("{:<32} {:>5}  {}", format!("{bug:?}"), seed + 1, failure.what),
            None => {
                n_missed += 1;
                println!("{:<32}  MISSED, {SEEDS_A_BUG} seeds", format!("{bug:?}"));
            }
        }
    }
    println!("{} bugs on purpose, {n_missed} missed", Bug::ALL.len());
    if n_missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// There are none in this build.
#[cfg(not(feature = "planted"))]
fn bugs() -> ExitCode {
    eprintln!("bugs are planted in a build of their own: `cargo xtask sim --bugs`");
    ExitCode::from(2)
}
