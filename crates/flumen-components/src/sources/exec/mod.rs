//! Runs a command; each line that it writes is an event.
//!
//! Delivery: at most once: what the command has written and no channel holds yet is lost when the agent ends, and what it
//! writes while it is restarted is lost if nobody keeps it. To follow files use `taildir`, which loses nothing.
//! Transient failure (a full channel): tried again until it works; meanwhile nothing is read, and the command waits when its
//! pipe is full.
//! Permanent failure (a line that no channel can ever hold): told and counted; the others go on. A command that cannot be
//! started: an error, and a new try after a pause.
//! Duplicates: none from here; whatever a command that is run again writes again.

mod child;
mod config;
mod lines;
mod stderr;
#[cfg(test)]
mod tests;

pub use config::ExecConfig;

use crate::shared::puts::Puts;
use child::{Child, Ended};
use flumen_core::{
    event::Batch,
    metrics::{Counter, Gauge},
    processor::ChannelProcessor,
    registry::{BuildError, Facts, SourceContext, SourceType},
    source::{Shutdown, Source, SourceError},
};
use flumen_java::charset::Charset;
use lines::Lines;
use std::{sync::Arc, time::Duration};
use tokio::{
    pin,
    process::ChildStdout,
    time::{Instant, sleep, sleep_until},
};

/// How long a command that was told to stop may go on writing.
const STOP_GRACE: Duration = Duration::from_millis(400);
/// How long after that lines may still be offered to a channel that has no room.
const PUT_GRACE: Duration = Duration::from_secs(1);
/// How long a command may live on after it has closed its output.
const END_GRACE: Duration = Duration::from_secs(1);

flumen_core::metrics! {
    /// What the exec source counts beside what every source does.
    pub struct ExecMetrics {
        /// Times that the command was started.
        starts: Counter = "ProcessStartCount",
        /// Times that it ended by itself with a status other than 0, or could not be started.
        failures: Counter = "ProcessFailCount",
        /// The status that it ended with last; 128 and the number of the signal where one ended it.
        last_status: Gauge = "LastExitStatus",
    }
}

/// See the module.
#[derive(Debug)]
pub struct ExecSource {
    name: Arc<str>,
    /// The program and its arguments.
    words: Vec<String>,
    /// The pause before it runs again; without one it runs once.
    restart_after: Option<Duration>,
    log_stderr: bool,
    batch_size: u32,
    batch_timeout: Duration,
    /// A fresh one for each run.
    lines: Lines,
    metrics: Arc<ExecMetrics>,
}

impl SourceType for ExecSource {
    const NAMES: &'static [&'static str] = &["exec", "org.apache.flume.source.ExecSource"];
    const SUMMARY: &'static str = "Runs a command and takes the lines that it writes.";
    type Config = ExecConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        let common = &context.common;
        let split = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let words = match &config.shell {
            None => split(&config.command),
            Some(shell) => {
                let mut words = split(shell);
                if words.is_empty() {
                    let (agent, name) = (&common.agent, &common.name);
                    let what = format!("{agent}.sources.{name}.shell is empty: name one, or remove it");
                    return Err(BuildError::new(what));
                }
                words.push(config.command);
                words
            }
        };
        if words.is_empty() {
            return Err(BuildError::new(format!(
                "{}.sources.{}.command is empty",
                common.agent, common.name
            )));
        }
        let metrics = Arc::new(ExecMetrics::default());
        common.extra.add(metrics.clone());
        Ok(Self {
            name: common.name.clone(),
            words,
            restart_after: config.restart.then(|| config.restart_throttle.duration()),
            log_stderr: config.log_std_err,
            batch_size: config.batch_size,
            batch_timeout: config.batch_timeout.duration(),
            lines: Lines::new(config.charset.0, config.max_line_length.0 as usize), // at most 256 MiB
            metrics,
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        let mut facts =
            Facts { batch_size: Some(config.batch_size), batch_size_key: "batchSize", ..Facts::default() };
        let mut words = config.command.split_whitespace();
        let tails = words.any(|word| word.rsplit('/').next() == Some("tail"));
        if tails
            && words.any(|word| matches!(word, "-F" | "-f" | "--follow") || word.starts_with("--follow="))
        {
            let what = "lines are lost whenever this source or the agent is restarted: taildir follows files and loses none";
            facts.advice.push(("command".to_owned(), what.to_owned()));
        }
        facts
    }
}

impl Source for ExecSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let mut puts = Puts::new(self.name.clone(), out, shutdown.clone(), Arc::default());
        while !shutdown.is_requested() {
            match Child::start(&self.words, self.log_stderr, &self.name) {
                Ok((child, stdout)) => {
                    self.metrics.starts.add(1);
                    let mut run = Run {
                        lines: self.lines.clone(),
                        most: self.batch_size.min(puts.out().max_batch_events()).max(1) as usize,
                        batch_timeout: self.batch_timeout,
                        batch: Batch::new(),
                        flush_at: None,
                        child,
                        told_to_stop: None,
                        n_lost: 0,
                    };
                    run.read_all(stdout, &mut puts, &mut shutdown).await;
                    let patience = if shutdown.is_requested() { Duration::ZERO } else { END_GRACE };
                    let ended = run.child.end(patience).await;
                    puts.finish().await;
                    self.note_end(&ended, shutdown.is_requested());
                }
                Err(error) => {
                    self.metrics.failures.add(1);
                    let what = format!("cannot run {:?}, the first word of the command", self.words[0]);
                    if self.restart_after.is_none() {
                        return Err(SourceError::with(what, error));
                    }
                    tracing::error!(source = &*self.name, %error, "{what}");
                }
            }
            match self.restart_after {
                Some(pause) => tokio::select! {
                    biased;
                    () = shutdown.requested() => {}
                    () = sleep(pause) => {}
                },
                None => shutdown.requested().await,
            }
        }
        Ok(())
    }
}

impl ExecSource {
    fn note_end(&self, ended: &Ended, stopped: bool) {
        self.metrics.last_status.set(ended.status);
        if stopped {
            return;
        }
        let (source, status) = (&*self.name, ended.status);
        let next = match self.restart_after {
            Some(pause) => format!("it runs again in {} ms", pause.as_millis()),
            None => "nothing more comes, as restart is off".to_owned(),
        };
        if status == 0 {
            tracing::info!(source, status, "the command has ended; {next}");
        } else {
            self.metrics.failures.add(1);
            tracing::warn!(source, status, "the command has failed; {next}");
        }
    }
}

/// The lines of bytes that come in pieces of `piece_bytes`, as the source cuts them: for tests with hostile input.
pub fn cut_into_lines(charset: Charset, max_bytes: usize, input: &[u8], piece_bytes: usize) -> Batch {
    let (mut lines, mut batch) = (Lines::new(charset, max_bytes.max(16)), Batch::new());
    for piece in input.chunks(piece_bytes.max(1)) {
        lines.feed(piece, false);
        lines.cut(&mut batch, usize::MAX, false);
    }
    lines.feed(b"", true);
    lines.cut(&mut batch, usize::MAX, true);
    batch
}

/// One run of the command.
struct Run {
    lines: Lines,
    /// Lines of a batch.
    most: usize,
    batch_timeout: Duration,
    batch: Batch,
    /// When lines have waited long enough.
    flush_at: Option<Instant>,
    child: Child,
    /// When it was told to stop.
    told_to_stop: Option<Instant>,
    /// Lines that came when it was too late to put them.
    n_lost: usize,
}

impl Run {
    /// Reads until the command ends its output, or has been told to stop and is late.
    async fn read_all(&mut self, mut stdout: ChildStdout, puts: &mut Puts, shutdown: &mut Shutdown) {
        loop {
            let flush_at = self.flush_at;
            let late_at = self.told_to_stop.map(|told| told + STOP_GRACE);
            let n_bytes = tokio::select! {
                biased;
                () = shutdown.requested(), if late_at.is_none() => {
                    self.tell_to_stop();
                    continue;
                }
                () = at(late_at) => break,
                () = puts.oldest_ended(), if puts.are_open() => {
                    puts.settle_ended().await;
                    continue;
                }
                () = at(flush_at) => {
                    self.flush(puts, shutdown).await;
                    continue;
                }
                read = self.lines.fill(&mut stdout) => read.unwrap_or_else(|error| {
                    puts.out().metrics().read_fail.add(1);
                    tracing::warn!(%error, "the output of the command was not read on");
                    0
                }),
            };
            self.cut(n_bytes == 0, puts, shutdown).await;
            if n_bytes == 0 {
                break;
            }
        }
        self.cut(true, puts, shutdown).await;
        self.flush(puts, shutdown).await;
        if self.n_lost > 0 {
            puts.out().metrics().generic_fail.add(1);
            tracing::error!(
                lines = self.n_lost,
                "lines of the command lost: no channel had room when the source stopped"
            );
        }
    }

    /// Puts the full batches of what has been read.
    async fn cut(&mut self, ended: bool, puts: &mut Puts, shutdown: &mut Shutdown) {
        loop {
            self.lines.cut(&mut self.batch, self.most, ended);
            if self.batch.len() < self.most {
                break;
            }
            self.flush(puts, shutdown).await;
        }
        if !self.batch.is_empty() && self.flush_at.is_none() {
            self.flush_at = Some(Instant::now() + self.batch_timeout);
        }
    }

    async fn flush(&mut self, puts: &mut Puts, shutdown: &mut Shutdown) {
        self.flush_at = None;
        if self.told_to_stop.is_some_and(|told| told.elapsed() >= PUT_GRACE) {
            self.n_lost += std::mem::take(&mut self.batch).len();
            return;
        }
        let adding = puts.add(std::mem::take(&mut self.batch));
        pin!(adding);
        tokio::select! {
            biased;
            () = &mut adding => return,
            () = shutdown.requested(), if self.told_to_stop.is_none() => {}
        }
        // A channel that keeps us waiting does not keep the command alive.
        self.tell_to_stop();
        adding.await;
    }

    fn tell_to_stop(&mut self) {
        self.child.terminate();
        self.told_to_stop = Some(Instant::now());
    }
}

/// Ends at this time; without one, never.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
