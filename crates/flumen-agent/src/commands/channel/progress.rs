//! How far long work is, in one line of the terminal: a bar, and how long it will still take.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// How often the line is drawn.
const INTERVAL: Duration = Duration::from_millis(200);
/// Characters of the bar.
const WIDTH: u64 = 30;

/// A line of progress on standard error; nothing where that is no terminal, or where the work is short.
#[derive(Debug)]
pub(crate) struct Progress {
    what: &'static str,
    unit: &'static str,
    started: Instant,
    drawn: Option<Instant>,
    on: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str, unit: &'static str) -> Self {
        Self { what, unit, started: now(), drawn: None, on: io::stderr().is_terminal() }
    }

    /// Draws it, if that is due.
    pub(crate) fn show(&mut self, done: u64, total: u64) {
        if !self.on {
            return;
        }
        let now = now();
        if now - self.drawn.unwrap_or(self.started) >= INTERVAL {
            self.drawn = Some(now);
            let line = line(self.what, self.unit, done, total, now - self.started);
            let _ = write!(io::stderr(), "\r{line}\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a person waits is measured on the machine's clock")]
fn now() -> Instant {
    Instant::now()
}

fn line(what: &str, unit: &str, done: u64, total: u64, took: Duration) -> String {
    let (done, total) = (done.min(total), total.max(1));
    let full = done.saturating_mul(WIDTH) / total;
    let bar: String = (0..WIDTH).map(|at| if at < full { '#' } else { '.' }).collect();
    let percent = done.saturating_mul(100) / total;
    let left = took.mul_f64((total - done) as f64 / done.max(1) as f64).as_secs();
    format!("{what} [{bar}] {percent} % of {total} {unit}, {left} s left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_the_part_and_the_time_that_is_left() {
        let told = line("reading", "bytes", 25, 100, Duration::from_secs(10));
        assert_eq!(told, "reading [#######.......................] 25 % of 100 bytes, 30 s left");
        assert!(line("reading", "bytes", 0, 0, Duration::ZERO).contains("0 % of 1"));
    }
}
