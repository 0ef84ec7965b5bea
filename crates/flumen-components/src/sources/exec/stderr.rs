//! Logs what a command writes to standard error: a flood is thinned out, and the command never waits.

use std::{sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::Instant,
};

/// Lines that are logged of each second.
const LINES: u64 = 100;
const SECOND: Duration = Duration::from_secs(1);
/// What is logged of a line.
const LONGEST: usize = 4_096;

/// Reads to the end.
pub(super) async fn log(mut from: impl AsyncRead + Unpin, source: Arc<str>) {
    let mut log = Log { source, line: Vec::new(), n_lines: 0, begun: Instant::now(), said: 0, unsaid: 0 };
    let mut chunk = vec![0; 8_192];
    // An error is as good as the end.
    while let Ok(n_bytes @ 1..) = from.read(&mut chunk).await {
        for part in chunk[..n_bytes].split_inclusive(|byte| matches!(byte, b'\n')) {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            log.line.extend_from_slice(&text[..text.len().min(LONGEST - log.line.len())]);
            if text.len() < part.len() {
                log.end_line();
            }
        }
    }
    if !log.line.is_empty() {
        log.end_line();
    }
    log.tell_unsaid();
}

struct Log {
    source: Arc<str>,
    line: Vec<u8>,
    n_lines: u64,
    /// Of the second at hand.
    begun: Instant,
    said: u64,
    unsaid: u64,
}

impl Log {
    fn end_line(&mut self) {
        self.n_lines += 1;
        if self.begun.elapsed() >= SECOND {
            self.tell_unsaid();
            (self.begun, self.said) = (Instant::now(), 0);
        }
        if self.said < LINES {
            self.said += 1;
            let (source, number) = (&*self.source, self.n_lines);
            let line = String::from_utf8_lossy(&self.line);
            let line = line.strip_suffix('\r').unwrap_or(&line);
            // What a program writes may hold anything: escapes keep it in its line.
            tracing::info!(source, number, ?line, "standard error of the command");
        } else {
            self.unsaid += 1;
        }
        self.line.clear();
    }

    fn tell_unsaid(&mut self) {
        let unsaid = std::mem::take(&mut self.unsaid);
        if unsaid > 0 {
            tracing::warn!(
                source = &*self.source,
                lines = unsaid,
                "lines of standard error were not logged: too many"
            );
        }
    }
}
