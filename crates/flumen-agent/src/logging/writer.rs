//! Takes lines from whoever logs, and writes them on a thread of its own. The queue is bounded: a log that cannot be written
//! delays the agent a moment, then loses lines and counts them; it never stops the agent.

use super::file::RollingFile;
use flumen_core::world::WallClock;
use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// Bytes that wait for the thread.
const MAX_QUEUED_BYTES: usize = 4 << 20;
/// How long a line waits for room. After one that waited in vain others do not wait until there is room again.
const MAX_WAIT: Duration = Duration::from_millis(100);
/// How long the stop waits for what is queued.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// Where lines of an appender go.
#[derive(Debug)]
pub(super) enum Output {
    Stderr,
    Stdout,
    File(Box<RollingFile>),
    #[cfg(test)]
    Test(Arc<Mutex<Vec<u8>>>),
}

impl Output {
    fn write(&mut self, line: &[u8], now_ms: i64) -> io::Result<()> {
        match self {
            Self::Stderr => io::stderr().write_all(line),
            Self::Stdout => io::stdout().write_all(line).and_then(|()| io::stdout().flush()),
            Self::File(file) => file.write(line, now_ms),
            #[cfg(test)]
            Self::Test(lines) => {
                lines.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(line);
                Ok(())
            }
        }
    }
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<(usize, String)>,
    bytes: usize,
    lost: u64,
    stuck: bool,
    closing: bool,
    done: bool,
}

/// The side that whoever logs has.
#[derive(Debug, Default)]
pub(super) struct Writer {
    queue: Mutex<Queue>,
    filled: Condvar,
    emptied: Condvar,
}

impl Writer {
    /// Starts the thread that writes to these outputs. `lost` makes the line that says how many lines were lost.
    pub(super) fn start(
        mut outputs: Vec<Output>,
        clock: Arc<dyn WallClock>,
        lost: impl Fn(u64) -> Vec<String> + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let writer = Arc::new(Self::default());
        let own = writer.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            let mut troubles = vec![false; outputs.len()];
            while let Some((lines, n_lost)) = own.next() {
                let now_ms = clock.now_ms();
                for (to, line) in lines {
                    write(&mut outputs[to], &mut troubles[to], &line, now_ms);
                }
                if n_lost > 0 {
                    for (to, line) in lost(n_lost).into_iter().enumerate() {
                        write(&mut outputs[to], &mut troubles[to], &line, now_ms);
                    }
                }
            }
            own.lock().done = true;
            own.emptied.notify_all();
        })?;
        Ok(writer)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a line over.
    pub(super) fn push(&self, to: usize, line: String) {
        let mut queue = self.lock();
        let full = |queue: &mut Queue| queue.bytes + line.len() > MAX_QUEUED_BYTES && queue.bytes > 0;
        if full(&mut queue) && !queue.stuck && !queue.closing {
            let waited = self.emptied.wait_timeout_while(queue, MAX_WAIT, full);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if full(&mut queue) {
            queue.stuck = true;
            queue.lost += 1;
            return;
        }
        queue.bytes += line.len();
        queue.lines.push_back((to, line));
        self.filled.notify_one();
    }

    /// All that is queued, and how many lines were lost. None when it was closed and all is written.
    fn next(&self) -> Option<(VecDeque<(usize, String)>, u64)> {
        let queue = self.lock();
        let waiting = |queue: &mut Queue| queue.lines.is_empty() && queue.lost == 0 && !queue.closing;
        let mut queue = self.filled.wait_while(queue, waiting).unwrap_or_else(PoisonError::into_inner);
        if queue.lines.is_empty() && queue.lost == 0 {
            return None;
        }
        queue.bytes = 0;
        queue.stuck = false;
        let taken = (std::mem::take(&mut queue.lines), std::mem::take(&mut queue.lost));
        self.emptied.notify_all();
        Some(taken)
    }

    /// Waits until all is written, for a time.
    pub(super) fn stop(&self) {
        let mut queue = self.lock();
        queue.closing = true;
        self.filled.notify_all();
        let _ = self.emptied.wait_timeout_while(queue, STOP_LIMIT, |queue| !queue.done);
    }
}

/// Writes a line. The first of several failures is told on standard error, as is the end of the trouble.
fn write(output: &mut Output, trouble: &mut bool, line: &str, now_ms: i64) {
    match output.write(line.as_bytes(), now_ms) {
        Ok(()) => {
            if std::mem::take(trouble) {
                let _ = writeln!(io::stderr(), "flumen: the log is written again");
            }
        }
        Err(error) => {
            if !std::mem::replace(trouble, true) {
                let _ = writeln!(
                    io::stderr(),
                    "flumen: log lines are lost, as the log cannot be written: {error}; the agent goes on"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flumen_core::world::SetClock;

    #[test]
    fn a_stop_loses_no_line() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let outputs = vec![Output::Test(lines.clone())];
        let writer = Writer::start(outputs, Arc::new(SetClock::at(0)), |_| Vec::new()).unwrap();
        for i in 0..10_000 {
            writer.push(0, format!("{i}\n"));
        }
        writer.stop();
        let text = String::from_utf8(lines.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 10_000);
        assert!(text.ends_with("9999\n"));
    }

    #[test]
    fn a_log_that_stands_still_loses_lines_and_counts_them() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let outputs = vec![Output::Test(lines.clone())];
        let lost = |n| vec![format!("{n} lost\n")];
        let writer = Writer::start(outputs, Arc::new(SetClock::at(0)), lost).unwrap();
        {
            let _held = lines.lock().unwrap();
            let line = "x".repeat(MAX_QUEUED_BYTES / 4);
            // One or more may be with the thread already; then four fit.
            for _ in 0..20 {
                writer.push(0, line.clone());
            }
        }
        writer.stop();
        let text = String::from_utf8(lines.lock().unwrap().clone()).unwrap();
        assert!(text.trim_end().ends_with("lost"), "{}", &text[text.len() - 40..]);
    }
}
