//! The log on a disk that fails, from seeds: everything happens in one thread, in an order that the seed chooses, and beside it
//! runs a model that knows what must be there.

mod durable;
mod run;

use super::bugs::Bug;
use crate::disk::simulated::Fault;
use run::{Run, Totals};
use std::ops::Range;

/// Seeds of a run in CI. `FLUMEN_SEEDS=1000000` does more.
const SEEDS: u64 = 8_000;
/// Seeds whose every call fails once.
const CALL_SEEDS: Range<u64> = 0..12;

#[expect(
    clippy::disallowed_methods,
    reason = "how long a test that is run by hand goes on is told by whoever runs it"
)]
fn seeds() -> u64 {
    std::env::var("FLUMEN_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS)
}

#[test]
fn invariant_07_nothing_acknowledged_is_lost_and_nothing_comes_from_nowhere_whatever_the_disk_does() {
    let n_seeds = seeds();
    let mut totals = Totals::default();
    let mut broken = Vec::new();
    for seed in 0..n_seeds {
        match Run::new(seed, None).play() {
            Ok(of) => totals += of,
            Err(what) => broken.push(format!("seed {seed}: {what}")),
        }
    }
    println!("{n_seeds} seeds: {totals:?}");
    let n_broken = broken.len();
    broken.truncate(10);
    assert!(broken.is_empty(), "{n_broken} seeds:\n{}", broken.join("\n"));
    assert_eq!(totals.false_alarms, 0, "{totals:?}");
    // A simulation that does nothing finds nothing.
    assert!(totals.acknowledged_puts > n_seeds && totals.acknowledged_takes > n_seeds / 2, "{totals:?}");
    assert!(
        totals.crashes > n_seeds && totals.failures > n_seeds / 10 && totals.removed_files > n_seeds / 50,
        "{totals:?}"
    );
}

/// Every call that changes the disk, and every one that looks at it, fails once, in every way.
#[test]
fn invariant_08_whichever_call_fails_nothing_acknowledged_is_lost_and_nothing_is_acknowledged_falsely() {
    let mut broken = Vec::new();
    let mut n_runs = 0;
    for seed in CALL_SEEDS {
        let whole = Run::quiet(seed);
        let disk = whole.disk.clone();
        whole.play().unwrap();
        let changes = [Fault::Error, Fault::NoSpace, Fault::PowerLoss]
            .into_iter()
            .flat_map(|fault| (0..disk.calls()).map(move |n| (n, fault, true)));
        let looks = [Fault::Error, Fault::PowerLoss]
            .into_iter()
            .flat_map(|fault| (0..disk.looks()).map(move |n| (n, fault, false)));
        for (n, fault, changing) in changes.chain(looks) {
            let run = Run::quiet(seed);
            if changing {
                run.disk.fail_at(n, fault);
            } else {
                run.disk.fail_look_at(n, fault);
            }
            n_runs += 1;
            if let Err(what) = run.play() {
                broken.push(format!("seed {seed}, call {n} (changing: {changing}), {fault:?}: {what}"));
            }
        }
    }
    println!("{n_runs} calls that failed");
    let n_broken = broken.len();
    broken.truncate(10);
    assert!(broken.is_empty(), "{n_broken} of {n_runs}:\n{}", broken.join("\n"));
}

#[test]
fn every_deliberate_bug_is_found() {
    let bugs = [
        Bug::FailedWriteIsFine,
        Bug::SyncAgain,
        Bug::WriteElsewhere,
        Bug::SharedDescription,
        Bug::TakesGoOn,
        Bug::PutsGoOn,
        Bug::VisibleBeforeDurable,
        Bug::WatermarkAhead,
        Bug::RemoveLive,
        Bug::RemoveEarly,
        Bug::CheckpointAhead,
        Bug::CheckpointWithoutLoans,
        Bug::NotSettled,
        Bug::NotFirm,
        Bug::OldNumbers,
    ];
    let found = bugs.map(|bug| (bug, first_found(Some(bug), None)));
    println!("{found:?}");
    let missed: Vec<Bug> = found.iter().filter(|(_, seed)| seed.is_none()).map(|(bug, _)| *bug).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn a_disk_that_leaves_out_syncs_is_found() {
    let is_data = |path: &str| path.contains("/log-") && !path.contains("meta");
    let is_meta = |path: &str| path.contains("meta");
    let is_dir = |path: &str| path.ends_with("/data0") || path.ends_with("/data1");
    for (what, skips) in
        [("data files", is_data as fn(&str) -> bool), ("metas", is_meta), ("directories", is_dir)]
    {
        assert!(first_found(None, Some(skips)).is_some(), "no sync of {what}");
    }
}

/// The first seed that finds it.
fn first_found(bug: Option<Bug>, skips: Option<fn(&str) -> bool>) -> Option<u64> {
    (0..SEEDS).find(|seed| {
        let run = Run::new(*seed, bug);
        if let Some(skips) = skips {
            run.disk.skip_syncs(skips);
        }
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.play().is_err()));
        found.unwrap_or(true)
    })
}
