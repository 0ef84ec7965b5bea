//! One sink, and a pause that grows with failures in a row.

use super::*;
use std::time::Duration;

const SINK: SinkIndex = SinkIndex(0);

#[test]
fn a_healthy_sink_is_always_picked() {
    let now = Instant::now();
    let mut policy = DefaultProcessor::new();
    for outcome in [Outcome::Delivered, Outcome::Idle, Outcome::Delivered] {
        assert_eq!(policy.pick(now), Ok(SINK));
        policy.report(SINK, outcome, now);
    }
    assert_eq!(policy.pick(now), Ok(SINK));
}

#[test]
fn failures_and_requests_for_a_pause_make_it_wait_longer_each_time() {
    let mut now = Instant::now();
    let mut policy = DefaultProcessor::new();
    for (n, outcome) in (1..).zip([Outcome::Failed, Outcome::Paused, Outcome::Failed]) {
        assert_eq!(policy.pick(now), Ok(SINK));
        policy.report(SINK, outcome, now);
        let end = now + Duration::from_secs(n);
        assert_eq!(policy.pick(now), Err(end));
        assert_eq!(policy.pick(end - Duration::from_millis(1)), Err(end));
        now = end;
    }
    policy.report(SINK, Outcome::Idle, now);
    policy.report(SINK, Outcome::Failed, now);
    assert_eq!(policy.pick(now), Err(now + Duration::from_secs(4)), "an empty channel is no recovery");
}

#[test]
fn a_delivery_forgets_the_failures() {
    let now = Instant::now();
    let mut policy = DefaultProcessor::new();
    policy.report(SINK, Outcome::Failed, now);
    policy.report(SINK, Outcome::Failed, now);
    policy.report(SINK, Outcome::Delivered, now);
    assert_eq!(policy.pick(now), Ok(SINK));
    policy.report(SINK, Outcome::Failed, now);
    assert_eq!(policy.pick(now), Err(now + Duration::from_secs(1)));
}
