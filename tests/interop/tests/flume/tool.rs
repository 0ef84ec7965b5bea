//! A tool of the peer that takes commands and answers each with a line.

use crate::wait::LIMIT;
use std::{
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};
use tokio::{task::spawn_blocking, time::timeout};

/// A running tool. It is killed when it is dropped.
pub(crate) struct Tool {
    child: Child,
    input: ChildStdin,
    output: Option<BufReader<ChildStdout>>,
}

/// The script that runs everything of the peer.
pub(crate) fn script() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "flume", "run"].iter().collect()
}

impl Tool {
    pub(crate) fn start(words: &[&str]) -> Self {
        let mut command = Command::new("bash");
        command.arg(script()).args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: Some(BufReader::new(output)) }
    }

    /// Carries out one command; its answer.
    pub(crate) async fn ask<W: AsRef<str>>(&mut self, words: &[W]) -> String {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        writeln!(self.input, "{}", words.join("\t")).unwrap();
        let mut output = self.output.take().expect("the last command was answered");
        let read = spawn_blocking(move || {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            (line.trim_end().to_owned(), output)
        });
        let (line, output) = timeout(LIMIT, read).await.expect("the tool answers").unwrap();
        self.output = Some(output);
        line
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
