//! How many events each sink gets, as Java's own tests count them.

use super::*;
use flumen_core::config::{Settings, read};

/// A group of scripted sinks that takes one event a call from an endless channel.
struct Group {
    policy: LoadBalanceProcessor,
    fails: Vec<bool>,
    got: Vec<u32>,
    now: Instant,
}

impl Group {
    fn new(n_sinks: usize, settings: &[(&str, &str)]) -> Self {
        let (config, problems) = read(&Settings::from_pairs("a.sinkgroups.g.processor", settings), &[]);
        assert!(problems.is_empty(), "{problems:?}");
        let policy = LoadBalanceProcessor::new(n_sinks, &config.unwrap(), fastrand::Rng::with_seed(3));
        Self { policy, fails: vec![false; n_sinks], got: vec![0; n_sinks], now: Instant::now() }
    }

    /// One event: sinks are tried until one takes it. Pauses are waited out where `waits`.
    fn call(&mut self) {
        for _ in 0..100 {
            match self.policy.pick(self.now) {
                Err(until) => self.now = until,
                Ok(sink) if self.fails[sink.0] => self.policy.report(sink, Outcome::Failed, self.now),
                Ok(sink) => {
                    self.got[sink.0] += 1;
                    return self.policy.report(sink, Outcome::Delivered, self.now);
                }
            }
        }
        panic!("nobody took the event: {:?}", self.policy);
    }

    fn calls(&mut self, n: u32) {
        (0..n).for_each(|_| self.call());
    }

    fn wait_ms(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }
}

#[test]
fn snk_07_snk_18_healthy_sinks_share_evenly_by_default() {
    let mut group = Group::new(3, &[]);
    group.calls(300);
    assert_eq!(group.got, [100, 100, 100]);
}

#[test]
fn snk_08_snk_13_the_only_healthy_sink_gets_all() {
    for order in ["random", "round_robin"] {
        let mut group = Group::new(3, &[("selector", order)]);
        group.fails = vec![true, false, true];
        group.calls(10);
        assert_eq!(group.got, [0, 10, 0]);
    }
}

#[test]
fn snk_11_random_leaves_a_failing_sink_without_events() {
    let mut group = Group::new(3, &[("selector", "RANDOM")]);
    group.fails[1] = true;
    group.calls(300);
    assert_eq!((group.got[1], group.got[0] + group.got[2]), (0, 300));
}

#[test]
fn snk_12_random_does_not_count() {
    let mut group = Group::new(10, &[("selector", "random")]);
    group.calls(10_000);
    assert_eq!(group.got.iter().sum::<u32>(), 10_000);
    assert!(group.got.iter().any(|got| *got != group.got[0]), "{:?}", group.got);
}

#[test]
fn snk_14_the_turn_of_a_failing_sink_goes_to_the_next_one() {
    let mut group = Group::new(3, &[("selector", "round_robin")]);
    group.fails[1] = true;
    group.calls(300);
    assert_eq!(group.got, [100, 0, 200]);
}

#[test]
fn snk_15_a_sink_in_back_off_stays_out_although_it_has_recovered() {
    let mut group = Group::new(3, &[("selector", "round_robin"), ("backoff", "true")]);
    group.calls(3);
    group.fails[1] = true;
    group.calls(3);
    group.fails[1] = false;
    group.calls(294);
    assert_eq!(group.got, [150, 1, 149]);
}

#[test]
fn snk_16_a_second_failure_in_a_row_backs_off_longer() {
    let mut group = Group::new(3, &[("selector", "round_robin"), ("backoff", "true")]);
    group.calls(3);
    group.fails[1] = true;
    group.calls(3);
    group.wait_ms(2_100);
    group.calls(3);
    group.fails[1] = false;
    group.wait_ms(2_100);
    group.calls(3);
    group.wait_ms(2_100);
    group.calls(288);
    assert_eq!(group.got, [102, 97, 101]);
}

#[test]
fn snk_17_a_recovered_sink_gets_its_share_again() {
    let mut group = Group::new(3, &[("selector", "round_robin"), ("backoff", "true")]);
    group.fails[1] = true;
    group.calls(3);
    group.fails[1] = false;
    group.wait_ms(2_001);
    group.calls(297);
    assert_eq!(group.got, [101, 99, 100]);
}

#[test]
fn snk_20_a_failure_is_no_pause_while_another_sink_works_and_one_when_none_does() {
    let mut group = Group::new(2, &[]);
    group.fails = vec![true, false];
    let before = group.now;
    group.calls(4);
    assert_eq!(group.now, before);
    let mut policy = Group::new(2, &[]).policy;
    let now = Instant::now();
    for _ in 0..2 {
        let sink = policy.pick(now).unwrap();
        policy.report(sink, Outcome::Failed, now);
    }
    assert_eq!(policy.pick(now), Err(now + Duration::from_secs(1)));
}

#[test]
fn back_off_doubles_to_its_limit_and_0_means_30_s() {
    for (setting, longest) in [("5000", 5), ("0", 30)] {
        let mut group = Group::new(1, &[("backoff", "true"), ("selector.maxTimeOut", setting)]);
        let mut lengths = Vec::new();
        for _ in 0..6 {
            let sink = group.policy.pick(group.now).unwrap();
            group.policy.report(sink, Outcome::Failed, group.now);
            let until = group.policy.pick(group.now).unwrap_err();
            lengths.push((until - group.now).as_secs());
            group.now = until;
        }
        let want: Vec<u64> = [2, 4, 8, 16, 32, 64].into_iter().map(|s: u64| s.min(longest)).collect();
        assert_eq!(lengths, want);
    }
}

#[test]
fn an_empty_sink_ends_its_turn() {
    let mut policy = Group::new(3, &[]).policy;
    let now = Instant::now();
    let order: Vec<_> = (0..4)
        .map(|_| {
            let sink = policy.pick(now).unwrap();
            policy.report(sink, Outcome::Idle, now);
            sink.0
        })
        .collect();
    assert_eq!(order, [0, 1, 2, 0]);
}
