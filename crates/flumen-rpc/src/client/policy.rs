//! Which host is next: failover and load balancing, without connections and without a clock of their own.

use super::HostSelector;
use std::time::Duration;
use tokio::time::Instant;

/// The back-off of the first failure is twice this, and doubles with each further one in a row.
const BACKOFF_UNIT: Duration = Duration::from_secs(1);
/// A failure within this time after the last back-off counts as one in a row.
const IN_A_ROW: Duration = Duration::from_secs(3600);
/// The back-off doubles at most this often.
const MOST_DOUBLINGS: u32 = 16;

/// The order in which hosts are tried when the one in use fails.
#[derive(Debug)]
pub(super) struct Failover {
    n_hosts: usize,
    last: Option<usize>,
}

impl Failover {
    pub(super) fn new(n_hosts: usize) -> Self {
        Self { n_hosts, last: None }
    }

    /// Every host once, beginning behind the one that was used last.
    pub(super) fn round(&self) -> impl Iterator<Item = usize> + use<> {
        let (n_hosts, start) = (self.n_hosts, self.last.map_or(0, |last| last + 1));
        (0..n_hosts).map(move |i| (start + i) % n_hosts)
    }

    /// This host took the connection.
    pub(super) fn connected(&mut self, host: usize) {
        self.last = Some(host);
    }

    /// No host did: the next round begins at the first.
    pub(super) fn none_connected(&mut self) {
        self.last = None;
    }
}

/// The order in which hosts are tried for a call, and which are left out.
#[derive(Debug)]
pub(super) struct Balance {
    hosts: Vec<Standing>,
    order: HostSelector,
    /// The longest time for which a host is left out; `None`: none ever is.
    longest_backoff: Option<Duration>,
    /// The place, among the hosts that are not left out, at which the next call begins.
    head: usize,
    rng: fastrand::Rng,
}

#[derive(Debug, Clone, Default)]
struct Standing {
    failures: u32,
    last_failure: Option<Instant>,
    until: Option<Instant>,
}

impl Balance {
    pub(super) fn new(
        n_hosts: usize,
        order: HostSelector,
        longest_backoff: Option<Duration>,
        rng: fastrand::Rng,
    ) -> Self {
        Self { hosts: vec![Standing::default(); n_hosts], order, longest_backoff, head: 0, rng }
    }

    /// The hosts to try for the next call, in order. None: all are left out.
    pub(super) fn turn(&mut self, now: Instant) -> Vec<usize> {
        let able = |host: &Standing| host.until.is_none_or(|until| until < now);
        let mut turn: Vec<usize> = (0..self.hosts.len()).filter(|i| able(&self.hosts[*i])).collect();
        match self.order {
            HostSelector::RoundRobin if !turn.is_empty() => {
                // The number of hosts may have shrunk since the last call.
                let begin = if self.head < turn.len() { self.head } else { 0 };
                self.head = (begin + 1) % turn.len();
                turn.rotate_left(begin);
            }
            HostSelector::RoundRobin => {}
            HostSelector::Random => self.rng.shuffle(&mut turn),
        }
        turn
    }

    /// The host could not take a call.
    pub(super) fn failed(&mut self, host: usize, now: Instant) {
        let Some(longest) = self.longest_backoff else { return };
        let length =
            |failures: u32| BACKOFF_UNIT.saturating_mul(1 << failures.min(MOST_DOUBLINGS)).min(longest);
        let standing = &mut self.hosts[host];
        let recent = |last: Instant| now.duration_since(last) < length(standing.failures) + IN_A_ROW;
        let in_a_row = standing.last_failure.is_some_and(recent);
        standing.failures = if in_a_row { (standing.failures + 1).min(MOST_DOUBLINGS) } else { 1 };
        standing.last_failure = Some(now);
        standing.until = Some(now + length(standing.failures));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failover_goes_on_behind_the_last_host_and_around() {
        let mut policy = Failover::new(3);
        let round = |policy: &Failover| policy.round().collect::<Vec<_>>();
        assert_eq!(round(&policy), [0, 1, 2]);
        policy.connected(1);
        assert_eq!(round(&policy), [2, 0, 1]);
        policy.connected(2);
        assert_eq!(round(&policy), [0, 1, 2]);
        policy.connected(0);
        policy.none_connected();
        assert_eq!(round(&policy), [0, 1, 2]);
    }

    /// Three hosts behind a policy, as Java's tests count their calls.
    struct Hosts {
        policy: Balance,
        fails: [bool; 3],
        got: [u32; 3],
        now: Instant,
    }

    impl Hosts {
        fn new(order: HostSelector) -> Self {
            let rng = fastrand::Rng::with_seed(3);
            let policy = Balance::new(3, order, Some(Duration::from_secs(30)), rng);
            Self { policy, fails: [false; 3], got: [0; 3], now: Instant::now() }
        }

        fn calls(&mut self, n: u32) {
            for _ in 0..n {
                for host in self.policy.turn(self.now) {
                    if self.fails[host] {
                        self.policy.failed(host, self.now);
                    } else {
                        self.got[host] += 1;
                        break;
                    }
                }
            }
        }

        fn wait_ms(&mut self, ms: u64) {
            self.now += Duration::from_millis(ms);
        }
    }

    #[test]
    fn rpc_49_a_host_that_failed_is_left_out_although_it_has_healed() {
        let mut hosts = Hosts::new(HostSelector::RoundRobin);
        hosts.calls(3);
        hosts.fails[1] = true;
        hosts.calls(3);
        hosts.fails[1] = false;
        hosts.calls(3);
        assert_eq!(hosts.got, [4, 1, 4]);
    }

    #[test]
    fn rpc_50_fix_80_a_second_failure_leaves_it_out_for_longer() {
        let mut hosts = Hosts::new(HostSelector::RoundRobin);
        hosts.calls(3);
        hosts.fails[1] = true;
        hosts.calls(3);
        hosts.wait_ms(2_100);
        hosts.calls(3);
        hosts.fails[1] = false;
        hosts.wait_ms(2_100);
        // Still out: the second time is of 4 s, although it was quiet in the first.
        hosts.calls(3);
        hosts.wait_ms(2_500);
        hosts.calls(60);
        assert_eq!(hosts.got.iter().sum::<u32>(), 72);
        assert_eq!((hosts.got[1], hosts.got[0].abs_diff(hosts.got[2])), (21, 1), "{:?}", hosts.got);
    }

    #[test]
    fn rpc_51_a_healed_host_gets_its_share_again() {
        let mut hosts = Hosts::new(HostSelector::RoundRobin);
        hosts.fails[1] = true;
        hosts.calls(3);
        hosts.fails[1] = false;
        hosts.wait_ms(3_000);
        hosts.calls(60);
        assert_eq!((hosts.got.iter().sum::<u32>(), hosts.got[1]), (63, 20), "{:?}", hosts.got);
    }

    #[test]
    fn back_off_doubles_up_to_its_limit_and_only_an_hour_of_quiet_ends_it() {
        let mut policy =
            Balance::new(1, HostSelector::RoundRobin, Some(Duration::from_secs(30)), fastrand::Rng::new());
        let mut now = Instant::now();
        let mut lengths = Vec::new();
        for _ in 0..6 {
            policy.failed(0, now);
            let until = policy.hosts[0].until.unwrap();
            assert!(policy.turn(until).is_empty(), "it is offered after the time, not at its end");
            lengths.push((until - now).as_secs());
            now = until + Duration::from_millis(1);
            assert_eq!(policy.turn(now), [0]);
        }
        assert_eq!(lengths, [2, 4, 8, 16, 30, 30]);
        now += IN_A_ROW + Duration::from_secs(31);
        policy.failed(0, now);
        assert_eq!((policy.hosts[0].until.unwrap() - now).as_secs(), 2);
    }

    #[test]
    fn random_tries_every_host_once_and_no_host_is_no_error() {
        let mut policy = Balance::new(
            10,
            HostSelector::Random,
            Some(Duration::from_secs(30)),
            fastrand::Rng::with_seed(1),
        );
        let now = Instant::now();
        let (first, second) = (policy.turn(now), policy.turn(now));
        assert_ne!(first, second);
        let mut sorted = first;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
        (0..10).for_each(|host| policy.failed(host, now));
        assert!(policy.turn(now).is_empty());
    }
}
