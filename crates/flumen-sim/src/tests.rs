//! Some hundred seeds in every run of the tests, and that a seed gives the same run each time.

use super::*;

#[test]
fn nothing_that_must_never_be_happens_to_whole_agents() {
    let mut figures = Figures::default();
    for seed in 0..300 {
        match run_seed(seed) {
            Ok(of) => figures += of,
            Err(failure) => panic!("seed {seed}: {}", failure.what),
        }
    }
    assert_eq!(figures.runs, 300);
    let Figures { acknowledged, reloads, restarts, crashes, .. } = figures;
    assert!(acknowledged > 30_000, "{figures:?}");
    assert!(reloads > 500 && restarts > 100 && crashes > 100, "{figures:?}");
}

#[test]
fn a_seed_gives_the_same_run_each_time() {
    for seed in 0..20 {
        assert_eq!(run_seed(seed).ok(), run_seed(seed).ok(), "seed {seed}");
    }
}
