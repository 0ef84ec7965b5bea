//! CPU time of the process, and medians.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU time that the process has used so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let (secs, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(secs.unwrap_or_default(), nanos.unwrap_or_default())
}

/// Runs `work` once for warming and then `rounds` times; the median of its CPU time.
pub(crate) fn median_cpu(rounds: usize, work: impl Fn()) -> Duration {
    work();
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let before = cpu_time();
            work();
            cpu_time() - before
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// Nanoseconds an event.
#[expect(clippy::cast_precision_loss, reason = "a figure of three digits")]
pub(crate) fn ns_each(time: Duration, events: usize) -> f64 {
    time.as_nanos() as f64 / events as f64
}
