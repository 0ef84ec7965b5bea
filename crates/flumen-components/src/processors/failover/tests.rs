//! Who is served, who is set aside, and for how long.

use super::*;
use flumen_core::config::{Settings, read};

const S1: SinkIndex = SinkIndex(0);
const S2: SinkIndex = SinkIndex(1);
const S3: SinkIndex = SinkIndex(2);

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn three() -> (FailoverProcessor, Instant) {
    (FailoverProcessor::new(&[3, 2, 1], secs(10)), Instant::now())
}

#[test]
fn snk_05_a_failure_moves_on_to_the_next_priority_at_once() {
    let (mut policy, now) = three();
    assert_eq!(policy.pick(now), Ok(S1));
    policy.report(S1, Outcome::Delivered, now);
    assert_eq!(policy.pick(now), Ok(S1));
    policy.report(S1, Outcome::Failed, now);
    assert_eq!(policy.pick(now), Ok(S2));
    policy.report(S2, Outcome::Failed, now);
    assert_eq!(policy.pick(now), Ok(S3));
}

#[test]
fn snk_06_penalties_double_up_to_the_limit_and_end_with_a_delivery() {
    let (mut policy, start) = three();
    let mut now = start;
    for penalty in [2, 4, 8, 10, 10] {
        policy.report(S1, Outcome::Failed, now);
        assert_eq!(policy.pick(now + secs(penalty) - Duration::from_millis(1)), Ok(S2), "still aside");
        now += secs(penalty);
        assert_eq!(policy.pick(now), Ok(S1), "tried again after {penalty} s");
    }
    policy.report(S1, Outcome::Delivered, now);
    assert_eq!(policy.pick(now), Ok(S1));
    policy.report(S1, Outcome::Failed, now);
    assert_eq!(policy.pick(now + secs(2)), Ok(S1), "the count begins anew");
}

#[test]
fn a_lower_sink_on_trial_is_served_once_and_the_highest_goes_on() {
    let (mut policy, now) = three();
    policy.report(S2, Outcome::Failed, now);
    let later = now + secs(2);
    assert_eq!(policy.pick(later), Ok(S2));
    policy.report(S2, Outcome::Delivered, later);
    assert_eq!(policy.pick(later), Ok(S1));
}

#[test]
fn an_idle_trial_leaves_the_turn_to_the_working_sink_and_proves_nothing() {
    let (mut policy, now) = three();
    policy.report(S1, Outcome::Failed, now);
    let later = now + secs(2);
    assert_eq!(policy.pick(later), Ok(S1));
    policy.report(S1, Outcome::Idle, later);
    assert_eq!(policy.pick(later), Ok(S2));
    policy.report(S2, Outcome::Idle, later);
    assert_eq!(policy.pick(later), Ok(S1), "still on trial");
    policy.report(S1, Outcome::Failed, later);
    assert_eq!(policy.pick(later + secs(3)), Ok(S2), "the second failure in a row costs 4 s");
}

#[test]
fn when_all_have_failed_it_waits_for_the_first_penalty_to_end() {
    let (mut policy, now) = three();
    policy.report(S1, Outcome::Failed, now);
    policy.report(S2, Outcome::Failed, now + secs(1));
    policy.report(S3, Outcome::Failed, now + secs(1));
    assert_eq!(policy.pick(now + secs(1)), Err(now + secs(2)));
}

#[test]
fn a_sink_that_asks_for_a_pause_gets_it_and_is_not_set_aside() {
    let (mut policy, now) = three();
    policy.report(S1, Outcome::Paused, now);
    assert_eq!(policy.pick(now), Err(now + secs(1)));
    assert_eq!(policy.pick(now + secs(1)), Ok(S1));
}

#[test]
fn sinks_without_priority_come_last_and_odd_priorities_are_told() {
    let settings =
        [("priority.k2", "5"), ("priority.k3", "5"), ("priority.gone", "9"), ("maxpenalty", "soon")];
    let (config, problems) =
        read::<FailoverConfig>(&Settings::from_pairs("a.sinkgroups.g.processor", &settings), &[]);
    let config = config.unwrap();
    assert_eq!(config.maxpenalty.duration(), secs(30), "the default, as in Java");
    assert_eq!(problems.len(), 1);
    let sinks = ["k1", "k2", "k3", "k4"].map(str::to_owned);
    assert_eq!(config.priorities(&sinks), [-1, 5, 5, -2]);
    let advice: Vec<_> =
        config.advice(&sinks).into_iter().map(|(key, what)| format!("{key}: {what}")).collect();
    assert_eq!(
        advice,
        [
            "priority.gone: `gone` is not a sink of this group (k1 k2 k3 k4)",
            "priority.k3: `k2` has priority 5 too; the first in the list comes first",
            "type: sink `k1` has no priority, and comes last",
            "type: sink `k4` has no priority, and comes last",
        ]
    );
}
