//! The log on a disk that fails, from seeds: everything happens in one thread, in an order that the seed chooses, and beside it
//! runs a model that knows what must be there.

mod run;

use super::bugs::Bug;
use run::Run;

/// Seeds of a run in CI.
const SEEDS: u64 = 5_000;

#[test]
fn nothing_acknowledged_is_lost_and_nothing_comes_from_nowhere_whatever_the_disk_does() {
    let mut totals = run::Totals::default();
    let mut broken = Vec::new();
    for seed in 0..SEEDS {
        match Run::new(seed, None).play() {
            Ok(of) => totals += of,
            Err(what) => broken.push(format!("seed {seed}: {what}")),
        }
    }
    let n_broken = broken.len();
    broken.truncate(10);
    assert!(broken.is_empty(), "{n_broken} seeds:\n{}", broken.join("\n"));
    // What was never acknowledged and is there in part can be told as lost. That is seldom, and errs on the side of telling.
    assert!(totals.false_alarms < SEEDS / 50, "{totals:?}");
    // A simulation that does nothing finds nothing.
    assert!(totals.acknowledged_puts > SEEDS && totals.acknowledged_takes > SEEDS / 2, "{totals:?}");
    assert!(
        totals.crashes > SEEDS && totals.failures > SEEDS / 10 && totals.removed_files > SEEDS / 50,
        "{totals:?}"
    );
}

#[test]
fn every_deliberate_bug_is_found() {
    let bugs = [
        Bug::FailedWriteIsFine,
        Bug::SyncAgain,
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
fn a_watermark_that_claims_too_much_raises_alarms() {
    let alarms = |bug: Option<Bug>| -> u64 {
        (0..SEEDS / 5).filter_map(|seed| Run::new(seed, bug).play().ok()).map(|of| of.false_alarms).sum()
    };
    let (with, without) = (alarms(Some(Bug::WatermarkAhead)), alarms(None));
    assert!(with > 2 * without, "{with} alarms with the bug, {without} without");
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
