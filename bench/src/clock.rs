//! CPU time of the process, wall time, memory, and medians.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use tokio::time::Instant;

/// Wall time and CPU time of something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

/// Both clocks.
#[derive(Debug)]
pub(crate) struct Watch {
    wall: Instant,
    cpu: Duration,
}

impl Watch {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_time() }
    }

    pub(crate) fn stop(&self) -> Spent {
        Spent { wall: self.wall.elapsed(), cpu: cpu_time() - self.cpu }
    }
}

/// CPU time that the process has used so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let (secs, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(secs.unwrap_or_default(), nanos.unwrap_or_default())
}

/// Runs `work` once for warming and then `rounds` times; the median of its CPU time.
pub(crate) fn median_cpu(rounds: usize, work: impl Fn()) -> Duration {
    alternate(rounds, &mut [&mut || work()])[0].cpu
}

/// Runs all of `works` in turn, once for warming and then `rounds` times; the medians of each.
pub(crate) fn alternate(rounds: usize, works: &mut [&mut dyn FnMut()]) -> Vec<Spent> {
    let mut all: Vec<Vec<Spent>> = vec![Vec::new(); works.len()];
    for round in 0..=rounds {
        for (work, spent) in works.iter_mut().zip(&mut all) {
            let watch = Watch::start();
            work();
            if round > 0 {
                spent.push(watch.stop());
            }
        }
    }
    let median = |spent: &[Spent], of: fn(&Spent) -> Duration| {
        let mut times: Vec<Duration> = spent.iter().map(of).collect();
        times.sort();
        times[times.len() / 2]
    };
    all.iter()
        .map(|spent| Spent { wall: median(spent, |one| one.wall), cpu: median(spent, |one| one.cpu) })
        .collect()
}

/// Resident memory of this process in KiB: now, and the most that it was.
pub(crate) fn memory_kib() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    (field("VmRSS:").unwrap_or_default(), field("VmHWM:").unwrap_or_default())
}

/// Nanoseconds an event.
#[expect(clippy::cast_precision_loss, reason = "a figure of three digits")]
pub(crate) fn ns_each(time: Duration, events: usize) -> f64 {
    time.as_nanos() as f64 / events as f64
}
