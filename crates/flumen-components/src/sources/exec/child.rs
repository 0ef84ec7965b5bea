//! A command and all that it starts: one process group, which ends as a whole.

use super::stderr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::{
    process::{ChildStdin, ChildStdout, Command},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

/// How often it is looked whether the command has ended.
const LOOK: Duration = Duration::from_millis(5);
/// How long the command may take to end when it is told to.
const TERM_GRACE: Duration = Duration::from_millis(200);
/// How long the last lines of standard error may take.
const STDERR_GRACE: Duration = Duration::from_millis(250);

/// See the module. Dropping it kills them all.
#[derive(Debug)]
pub(super) struct Child {
    process: tokio::process::Child,
    /// The number of the group. It is ours until its first process has been waited for.
    group: Option<Pid>,
    /// Kept open: a command that reads would end otherwise.
    _stdin: Option<ChildStdin>,
    stderr: JoinSet<()>,
}

/// How a command has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    /// Its status; 128 and the number of the signal where one ended it.
    pub(super) status: i64,
}

impl Child {
    /// Starts a program (the first word) in a group of its own.
    ///
    /// # Errors
    /// There is no such program, or the system has no room for a process.
    pub(super) fn start(
        words: &[String],
        log_stderr: bool,
        source: &Arc<str>,
    ) -> io::Result<(Self, ChildStdout)> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if log_stderr { Stdio::piped() } else { Stdio::null() })
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut lines = JoinSet::new();
        if let Some(stderr) = process.stderr.take() {
            lines.spawn(stderr::log(stderr, source.clone()));
        }
        Ok((Self { process, group, _stdin: stdin, stderr: lines }, stdout))
    }

    /// Asks all of the group to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Waits for the end, asks for it after `patience`, and enforces it.
    pub(super) async fn end(&mut self, patience: Duration) -> Ended {
        if !self.ends_within(patience).await {
            self.terminate();
            self.ends_within(TERM_GRACE).await;
        }
        // While nobody has waited for the first process, no other group can have its number.
        self.signal(Signal::KILL);
        let status = self.process.wait().await;
        self.group = None;
        let reading = async { while self.stderr.join_next().await.is_some() {} };
        // Somebody who left the group may have it open still.
        let _ = timeout(STDERR_GRACE, reading).await;
        Ended { status: status.map_or(-1, number) }
    }

    /// Whether the first process ends in time. It stays to be waited for.
    async fn ends_within(&self, time: Duration) -> bool {
        let Some(group) = self.group else { return true };
        let end = Instant::now() + time;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        loop {
            // An error means that it is gone.
            if !matches!(waitid(WaitId::Pid(group), options), Ok(None)) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            sleep(LOOK).await;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // An error means that nobody is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn number(status: ExitStatus) -> i64 {
    let signal = || 128 + i64::from(status.signal().unwrap_or_default());
    status.code().map_or_else(signal, i64::from)
}
