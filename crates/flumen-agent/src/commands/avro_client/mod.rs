//! `flumen avro-client`: sends the lines of files, or of standard input, to an agent.

mod lines;
mod spool;
#[cfg(test)]
mod tests;
mod tracker;

use flumen_core::{
    config::Settings,
    event::{Batch, Headers, Text},
    registry::Environment,
};
use flumen_java::properties::{self, Encoding};
use flumen_rpc::{
    RpcError,
    client::{ClientError, RpcClient},
};
use lines::Lines;
use spool::Spool;
use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};
use tokio::time::Instant;

/// Events a call where host and port are given, as in Java.
const BATCH_SIZE: usize = 5;
/// How often progress is shown on a terminal.
const PROGRESS: Duration = Duration::from_millis(500);

/// What is sent where.
#[derive(Debug, Clone)]
pub struct AvroClientOptions {
    /// The peer.
    pub peer: Peer,
    /// The events.
    pub input: Input,
    /// A file of headers for every event, one `name=value` a line.
    pub header_file: Option<PathBuf>,
    /// Whether failures end with 0 too, as Java's client does.
    pub java_exit_status: bool,
}

/// Who gets the events.
#[derive(Debug, Clone)]
pub enum Peer {
    /// An Avro source.
    Address(String, u16),
    /// Whoever a properties file says, by the keys of [`flumen_rpc::client::ClientConfig`].
    Properties(PathBuf),
}

/// Where the events are.
#[derive(Debug, Clone)]
pub enum Input {
    /// Lines of standard input.
    Standard,
    /// Lines of a file.
    File(PathBuf),
    /// Lines of all files of a folder, oldest first; each that is sent gets the ending `.COMPLETED`.
    Folder(PathBuf),
}

/// Why not all was sent.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("cannot read {path}: {source}", path = .0.display(), source = .1)]
    Read(PathBuf, io::Error),
    #[error("cannot read standard input: {0}")]
    Input(io::Error),
    #[error("{path}, line {line}: expected name=value", path = .0.display(), line = .1)]
    Header(PathBuf, usize),
    #[error("no client: {0}")]
    Client(#[from] ClientError),
    #[error("{0}")]
    Deliver(#[from] RpcError),
    #[error("cannot rename {path}: {source}; it was sent", path = .0.display(), source = .1)]
    Rename(PathBuf, io::Error),
}

/// Sends all there is, and says how much that was.
pub async fn run(options: &AvroClientOptions, environment: &Environment) -> ExitCode {
    let mut sent = Sent::new(io::stderr().is_terminal());
    let done = send(options, environment, &mut sent).await;
    sent.end();
    match done {
        Ok(()) => {
            tracing::info!(events = sent.events, bytes = sent.bytes, "sent");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            tracing::error!(events = sent.events, "{failure}; what was sent before is stored");
            if options.java_exit_status { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}

async fn send(
    options: &AvroClientOptions,
    environment: &Environment,
    sent: &mut Sent,
) -> Result<(), Failure> {
    let headers = match &options.header_file {
        Some(path) => read_headers(path)?,
        None => Headers::new(),
    };
    let client = RpcClient::from_settings(&settings(&options.peer)?, environment).await?;
    let done = match &options.input {
        Input::Standard => {
            let lines = Lines::of_text(BufReader::new(io::stdin()));
            send_lines(&client, lines, &headers, sent, &Failure::Input).await
        }
        Input::File(path) => match File::open(path) {
            Ok(file) => {
                let failed = |error| Failure::Read(path.clone(), error);
                send_lines(&client, Lines::of_text(BufReader::new(file)), &headers, sent, &failed).await
            }
            Err(error) => Err(Failure::Read(path.clone(), error)),
        },
        Input::Folder(path) => send_folder(&client, path, &headers, sent).await,
    };
    client.close().await;
    done
}

/// The settings of the client.
fn settings(peer: &Peer) -> Result<Settings, Failure> {
    let mut settings = Settings::new("");
    match peer {
        Peer::Address(host, port) => {
            settings.set("hosts", "h1", None);
            settings.set("hosts.h1", format!("[{host}]:{port}"), None);
            settings.set("batch-size", BATCH_SIZE.to_string(), None);
        }
        Peer::Properties(path) => {
            let bytes = std::fs::read(path).map_err(|error| Failure::Read(path.clone(), error))?;
            let loaded = properties::load(&bytes, Encoding::Latin1);
            if let Some(error) = loaded.error {
                return Err(Failure::Read(path.clone(), io::Error::other(error.to_string())));
            }
            loaded.pairs.into_iter().for_each(|pair| _ = settings.set(pair.key, pair.value, None));
        }
    }
    Ok(settings)
}

/// One `name=value` a line; of two with one name the later counts.
fn read_headers(path: &Path) -> Result<Headers, Failure> {
    let text = std::fs::read(path).map_err(|error| Failure::Read(path.to_owned(), error))?;
    let text = String::from_utf8_lossy(&text);
    let mut pairs = Vec::new();
    for (n, line) in (1..).zip(text.lines()) {
        let (name, value) = line.split_once('=').ok_or_else(|| Failure::Header(path.to_owned(), n))?;
        pairs.push((Text::from(name), Text::from(value)));
    }
    Ok(Headers::from_pairs(pairs))
}

async fn send_lines<R: BufRead>(
    client: &RpcClient,
    mut lines: Lines<R>,
    headers: &Headers,
    sent: &mut Sent,
    failed: &(dyn Fn(io::Error) -> Failure + Sync),
) -> Result<(), Failure> {
    while let Some(batch) = lines.next_batch(client.batch_size(), headers).map_err(failed)? {
        client.append_batch(&batch).await?;
        sent.add(&batch);
    }
    Ok(())
}

/// Sends file by file until none is left. What was sent of a file is noted after each call, so that a client that is stopped in
/// its middle goes on there.
async fn send_folder(
    client: &RpcClient,
    folder: &Path,
    headers: &Headers,
    sent: &mut Sent,
) -> Result<(), Failure> {
    let of_folder = |error| Failure::Read(folder.to_owned(), error);
    let mut spool = Spool::open(folder).map_err(of_folder)?;
    while let Some(file) = spool.next().map_err(of_folder)? {
        let failed = |error| Failure::Read(file.path.clone(), error);
        let mut lines = Lines::of_spooled(BufReader::new(&file.file));
        if file.is_empty() {
            let mut batch = Batch::with_capacity(1);
            batch.push(headers.clone(), "");
            client.append_batch(&batch).await?;
            sent.add(&batch);
        }
        while let Some(batch) = lines.next_batch(client.batch_size(), headers).map_err(failed)? {
            client.append_batch(&batch).await?;
            sent.add(&batch);
            spool.sent(file.offset + lines.n_read()).map_err(of_folder)?;
        }
        spool.complete(&file).map_err(|error| Failure::Rename(file.path.clone(), error))?;
    }
    Ok(())
}

/// What was sent, shown on a terminal as it goes.
struct Sent {
    events: u64,
    bytes: u64,
    /// When progress was last shown; `None`: there is no terminal.
    shown: Option<Instant>,
    is_shown: bool,
}

impl Sent {
    fn new(on_terminal: bool) -> Self {
        Self { events: 0, bytes: 0, shown: on_terminal.then(Instant::now), is_shown: false }
    }

    fn add(&mut self, batch: &Batch) {
        self.events += batch.len() as u64;
        self.bytes += batch.size().bytes;
        let Some(shown) = &mut self.shown else { return };
        if shown.elapsed() >= PROGRESS {
            *shown = Instant::now();
            self.is_shown = true;
            let _ = write!(io::stderr(), "\r{} events, {} bytes sent", self.events, self.bytes);
        }
    }

    /// Ends the line of progress.
    fn end(&self) {
        if self.is_shown {
            let _ = writeln!(io::stderr(), "\r{} events, {} bytes sent", self.events, self.bytes);
        }
    }
}
