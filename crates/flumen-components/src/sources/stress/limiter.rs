//! So many events a second: a token bucket that holds what one idle second saves, and lets a large request go at once while the
//! next one pays for it, as the limiter of the library that Java's stress source uses.

use std::time::Duration;
use tokio::time::Instant;

/// Waits are cut to this, so that adding one to a point in time cannot overflow.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// See the module. It has no clock: each call gets the time.
#[derive(Debug, Clone)]
pub(super) struct Limiter {
    per_s: f64,
    /// Permits that are free, at most as many as a second brings.
    saved: f64,
    /// When the last request is paid for. What is beyond it until now becomes `saved`.
    paid_at: Instant,
}

impl Limiter {
    /// A limiter that has saved nothing yet: the first request goes at once.
    pub(super) fn new(per_s: u32, now: Instant) -> Self {
        let mut limiter = Self { per_s: 0.0, saved: 0.0, paid_at: now };
        limiter.set_rate(per_s, now);
        limiter
    }

    /// Takes another rate, at least one a second. What is owed is still paid at the old one, what is saved is as many seconds'
    /// worth as before.
    pub(super) fn set_rate(&mut self, per_s: u32, now: Instant) {
        self.save(now);
        let per_s = f64::from(per_s.max(1));
        if self.per_s > 0.0 {
            self.saved *= per_s / self.per_s;
        }
        self.per_s = per_s;
    }

    /// Takes `n` permits: how long to wait before they may be used.
    pub(super) fn reserve(&mut self, n: u32, now: Instant) -> Duration {
        self.try_reserve(n, LONGEST, now).unwrap_or(LONGEST)
    }

    /// Takes `n` permits, unless that means a wait beyond `longest`: then it takes none.
    pub(super) fn try_reserve(&mut self, n: u32, longest: Duration, now: Instant) -> Option<Duration> {
        let wait = self.paid_at.saturating_duration_since(now);
        if wait > longest {
            return None;
        }
        self.save(now);
        let free = self.saved.min(f64::from(n));
        self.saved -= free;
        // At most 2^32 seconds.
        self.paid_at += Duration::from_secs_f64((f64::from(n) - free) / self.per_s).min(LONGEST);
        Some(wait)
    }

    fn save(&mut self, now: Instant) {
        let idle = now.saturating_duration_since(self.paid_at);
        if !idle.is_zero() {
            self.saved = (self.saved + idle.as_secs_f64() * self.per_s).min(self.per_s);
            self.paid_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, sleep};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// A limiter on the paused clock of a test.
    fn limiter(per_s: u32) -> Limiter {
        Limiter::new(per_s, Instant::now())
    }

    /// Takes permits and waits for them, as the source does: how many milliseconds that took.
    async fn acquire(limiter: &mut Limiter, n: u32) -> u128 {
        let begun = Instant::now();
        sleep(limiter.reserve(n, begun)).await;
        begun.elapsed().as_millis()
    }

    async fn acquire_all(limiter: &mut Limiter, requests: &[u32]) -> Vec<u128> {
        let mut waits = Vec::new();
        for n in requests {
            waits.push(acquire(limiter, *n).await);
        }
        waits
    }

    #[tokio::test(start_paused = true)]
    async fn mon_15_the_first_is_free_the_next_wait_and_idle_time_is_credited() {
        let mut limiter = limiter(5);
        assert_eq!(acquire_all(&mut limiter, &[1; 3]).await, [0, 200, 200]);
        sleep(MS(200)).await;
        assert_eq!(acquire_all(&mut limiter, &[1; 3]).await, [0, 200, 200]);
        sleep(MS(400)).await;
        assert_eq!(acquire_all(&mut limiter, &[1; 4]).await, [0, 0, 200, 200]);
    }

    #[tokio::test(start_paused = true)]
    async fn mon_16_at_most_a_second_is_saved_at_any_rate() {
        let mut slow = limiter(5);
        sleep(MS(2_000)).await;
        assert_eq!(acquire_all(&mut slow, &[1; 8]).await, [0, 0, 0, 0, 0, 0, 200, 200]);
        for rate in [1_000, 1, 10, 1_000_000, 10, 1] {
            slow.set_rate(rate, Instant::now());
            sleep(MS(10_000)).await;
            // What is saved goes at once, what comes after it is paid by the next.
            assert_eq!(acquire(&mut slow, rate).await, 0, "{rate}");
            assert_eq!(acquire(&mut slow, rate).await, 0, "{rate}");
            assert_eq!(acquire(&mut slow, rate).await, 1_000, "{rate}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn mon_18_a_large_request_is_paid_by_the_next_one_and_a_debt_at_its_own_rate() {
        let mut one = limiter(1);
        assert_eq!(acquire_all(&mut one, &[1, 1, 2, 4, 8, 1]).await, [0, 1_000, 1_000, 2_000, 4_000, 8_000]);
        let mut changed = limiter(1);
        assert_eq!(acquire(&mut changed, 1).await, 0);
        changed.set_rate(2, Instant::now());
        assert_eq!(acquire_all(&mut changed, &[1, 2, 4, 1]).await, [1_000, 500, 1_000, 2_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn mon_19_a_wait_beyond_the_limit_is_refused_and_takes_nothing() {
        let mut limiter = limiter(5);
        let mut get = |longest| limiter.try_reserve(1, longest, Instant::now()).map(|wait| wait.as_millis());
        assert_eq!(get(Duration::ZERO), Some(0));
        assert_eq!(get(Duration::ZERO), None);
        assert_eq!(get(MS(100)), None);
        assert_eq!(get(MS(200)), Some(200));
        assert_eq!(get(MS(100)), None, "now 400 ms are owed");
        advance(MS(300)).await;
        assert_eq!(get(MS(100)), Some(100));
        assert_eq!(get(Duration::MAX), Some(300));
    }

    #[tokio::test(start_paused = true)]
    async fn huge_debts_do_not_overflow() {
        let mut limiter = limiter(1);
        for _ in 0..3 {
            limiter.reserve(u32::MAX, Instant::now());
        }
        assert_eq!(limiter.reserve(1, Instant::now()), LONGEST);
    }
}
