//! The filter `external`: the first line that a program writes when it is run with the key.

use super::Filter;
use flumen_core::{
    config::{Configuration, Problem, PropertyValue, Seconds, Settings, Severity},
    registry::EntryInfo,
};
use flumen_java::charset::{Charset, OnError};
use std::{process::Stdio, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::Command,
    time::timeout,
};

/// The longest line that is a value, in bytes.
const MAX_LINE: usize = 64 << 10;
/// What of the program's complaints is repeated, in bytes.
const MAX_COMPLAINT: usize = 200;
/// How long output is waited for after the program has ended: what it started may hold the pipe open.
const AFTER_END: Duration = Duration::from_millis(500);

/// Fills placeholders with what a program writes.
#[derive(Debug, Configuration)]
pub(super) struct ExternalConfig {
    /// The program and its arguments, separated by blanks. The key is added as the last one.
    pub command: String,
    /// The charset of what it writes.
    #[property(default = "UTF-8")]
    pub charset: CharsetName,
    /// How long it may take for one key.
    #[property(default = "30")]
    pub timeout: Seconds,
}

/// A charset by Java's names.
#[derive(Debug, Clone, Copy)]
pub(super) struct CharsetName(Charset);

impl PropertyValue for CharsetName {
    const KIND: &'static str = "a charset";

    fn parse(text: &str) -> Result<Self, String> {
        Charset::for_name(text.trim()).map(Self).map_err(|error| error.to_string())
    }
}

/// The filter.
#[derive(Debug)]
pub(super) struct ExternalFilter {
    program: String,
    arguments: Vec<String>,
    charset: Charset,
    limit: Duration,
}

pub(super) fn info() -> EntryInfo {
    super::info::<ExternalConfig>(
        &["external", "org.apache.flume.configfilter.ExternalProcessConfigFilter"],
        "Fills placeholders with the first line that a program writes when it is run with the key.",
        std::any::type_name::<ExternalFilter>(),
    )
}

pub(super) fn read(settings: &Settings) -> (Option<Filter>, Vec<Problem>) {
    let (config, mut problems) = super::config_of::<ExternalConfig>(settings);
    let Some(config) = config else { return (None, problems) };
    let mut words = config.command.split_whitespace().map(str::to_owned);
    let Some(program) = words.next() else {
        let at = settings.place().cloned();
        problems.push(Problem::new(Severity::Error, settings.full_key("command"), at, "names no program"));
        return (None, problems);
    };
    let limit = Duration::from_secs(config.timeout.0.max(1));
    let filter = ExternalFilter { program, arguments: words.collect(), charset: config.charset.0, limit };
    (Some(Filter::External(filter)), problems)
}

impl ExternalFilter {
    pub(super) async fn value(&self, key: &str) -> Result<String, String> {
        let program = &self.program;
        match timeout(self.limit, self.run(key)).await {
            Ok(answer) => answer,
            // The future is dropped, and with it the program is killed.
            Err(_) => Err(format!(
                "`{program}` took longer than {} s for `{key}` and was ended",
                self.limit.as_secs()
            )),
        }
    }

    async fn run(&self, key: &str) -> Result<String, String> {
        let program = &self.program;
        let mut child = Command::new(program)
            .args(&self.arguments)
            .arg(key)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("cannot run `{program}`: {error}"))?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (mut line, mut complaint) = (Head::new(MAX_LINE), Head::new(MAX_COMPLAINT));
        let status = {
            let reading = async { tokio::join!(line.fill(out), complaint.fill(err)) };
            tokio::pin!(reading);
            tokio::select! {
                status = child.wait() => {
                    let _ = timeout(AFTER_END, &mut reading).await;
                    status
                }
                _ = &mut reading => child.wait().await,
            }
        };
        let status = status.map_err(|error| format!("cannot wait for `{program}`: {error}"))?;
        if !status.success() {
            let said = String::from_utf8_lossy(complaint.first_line().unwrap_or_default()).trim().to_owned();
            let colon = if said.is_empty() { "" } else { ": " };
            return Err(format!("`{program}` failed for `{key}` ({status}){colon}{said}"));
        }
        let first = line
            .first_line()
            .ok_or_else(|| format!("the line of `{program}` for `{key}` is longer than {MAX_LINE} bytes"))?;
        if first.is_empty() && line.bytes.is_empty() {
            return Err(format!("`{program}` wrote nothing for `{key}`"));
        }
        let text = self.charset.decode(first, OnError::Replace);
        text.map(|text| text.into_owned()).map_err(|error| format!("`{program}` for `{key}`: {error}"))
    }
}

/// The beginning of an output. The rest is read, so that the program can end, and dropped.
struct Head {
    bytes: Vec<u8>,
    max: usize,
}

impl Head {
    fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max }
    }

    async fn fill(&mut self, from: Option<impl AsyncRead + Unpin>) {
        let Some(mut from) = from else { return };
        let mut chunk = vec![0; 8 << 10];
        while let Ok(n @ 1..) = from.read(&mut chunk).await {
            let room = (self.max + 1).saturating_sub(self.bytes.len()).min(n);
            self.bytes.extend_from_slice(&chunk[..room]);
        }
    }

    /// The first line without its end; `None` where it is too long.
    fn first_line(&self) -> Option<&[u8]> {
        match self.bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            Some(end) => Some(&self.bytes[..end]),
            None => (self.bytes.len() <= self.max).then_some(&self.bytes),
        }
    }
}
