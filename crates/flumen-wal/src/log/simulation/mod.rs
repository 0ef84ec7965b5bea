//! The log on a disk that fails, from seeds: everything happens in one thread, in an order that the seed chooses, and beside it
//! runs a model that knows what must be there.

mod run;

use super::bugs::Bug;
use run::Run;

/// Seeds of a run in CI. More by hand, with `FLUMEN_SEEDS`-like loops over `run_seed`.
const SEEDS: u64 = 5_000;

#[test]
fn nothing_acknowledged_is_lost_and_nothing_comes_from_nowhere_whatever_the_disk_does() {
    let mut totals = run::Totals::default();
    for seed in 0..SEEDS {
        match Run::new(seed, None).play() {
            Ok(of) => totals += of,
            Err(broken) => panic!("seed {seed}: {broken}"),
        }
    }
    // A simulation that does nothing finds nothing.
    assert!(totals.acknowledged_puts > SEEDS && totals.acknowledged_takes > SEEDS / 2, "{totals:?}");
    assert!(
        totals.crashes > SEEDS && totals.failures > SEEDS / 10 && totals.removed_files > SEEDS / 10,
        "{totals:?}"
    );
}

#[test]
fn every_deliberate_bug_is_found() {
    let bugs = [
        Bug::FailedWriteIsFine,
        Bug::SyncAgain,
        Bug::WatermarkAhead,
        Bug::VisibleBeforeDurable,
        Bug::RemoveLive,
        Bug::RemoveEarly,
        Bug::CheckpointAhead,
        Bug::CheckpointWithoutLoans,
    ];
    let missed: Vec<Bug> = bugs.into_iter().filter(|bug| !is_found(Some(*bug), None)).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn a_disk_that_leaves_out_syncs_is_found() {
    let is_data = |path: &str| path.contains("/log-") && !path.contains("meta");
    let is_dir = |path: &str| path.ends_with("/data0") || path.ends_with("/data1");
    for (what, skips) in [("data files", is_data as fn(&str) -> bool), ("directories", is_dir)] {
        assert!(is_found(None, Some(skips)), "no sync of {what}");
    }
}

fn is_found(bug: Option<Bug>, skips: Option<fn(&str) -> bool>) -> bool {
    (0..SEEDS).any(|seed| {
        let run = Run::new(seed, bug);
        if let Some(skips) = skips {
            run.disk.skip_syncs(skips);
        }
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.play().is_err()));
        found.unwrap_or(true)
    })
}
