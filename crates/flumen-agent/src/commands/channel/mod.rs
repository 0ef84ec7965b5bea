//! `flumen channel`: looks into the directories of a file channel that no agent uses, and repairs them.

mod events;
mod list;
mod places;
mod progress;
mod repair;
mod verify;

pub use places::{Chosen, from_configuration, from_directories};
pub(crate) use progress::Progress;

use flumen_wal::{
    disk::OsDisk,
    log::{self, Known, OpenError},
    replay::{Recovered, ReplayError},
    tools,
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Exit status when something is damaged, missing or lost.
const DAMAGED: u8 = 1;
/// Exit status when nothing could be done.
const NOT_DONE: u8 = 2;

/// What is done with a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Names its files and what waits in each.
    List,
    /// Reads every record.
    Verify,
    /// Shows the events that are next to be delivered.
    Peek {
        /// How many.
        events: u64,
        /// Bytes of each body, in text.
        bytes: usize,
    },
    /// Writes down what opening would decide.
    Repair,
    /// Writes all events that wait.
    Export {
        /// The file; standard output without one.
        output: Option<PathBuf>,
    },
}

/// How it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For people; in an export a body a line.
    Text,
    /// For programs: one object, or one a line.
    Json,
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("{}: {source}", path.display())]
    Disk { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Words(String),
    #[error(transparent)]
    Out(#[from] io::Error),
}

impl Failure {
    fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Disk { path: path.to_owned(), source }
    }
}

/// Does it, and says what came of it: 0 where all is well, 1 where something is damaged, missing or lost, 2 where nothing was
/// done.
///
/// # Errors
/// The output is closed.
pub fn run(chosen: &Chosen, action: &Action, form: Form, out: &mut dyn Write) -> io::Result<ExitCode> {
    let done = match action {
        Action::List => list::run(chosen, form, out),
        Action::Verify => verify::run(chosen, form, out),
        Action::Peek { events, bytes } => events::peek(chosen, form, *events, *bytes, out),
        Action::Repair => repair::run(chosen, form, out),
        Action::Export { output } => events::export(chosen, form, output.as_deref(), out),
    };
    match done {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => Ok(ExitCode::from(DAMAGED)),
        Err(Failure::Out(error)) => Err(error),
        Err(failure) => {
            writeln!(io::stderr(), "flumen: {failure}")?;
            Ok(ExitCode::from(NOT_DONE))
        }
    }
}

/// Makes sure that nobody uses the directories, and reads the checkpoints.
fn look(chosen: &Chosen) -> Result<Option<Known>, Failure> {
    let places = &chosen.places;
    if log::check_unused(&OsDisk, &places.all())? {
        warn_blind();
    }
    let dir = places.checkpoint_dir.as_deref().unwrap_or(Path::new("."));
    tools::known(&OsDisk, places).map_err(Failure::disk(dir))
}

/// What waits, as opening would find it.
fn waiting(chosen: &Chosen, known: Option<&Known>) -> Result<Recovered, Failure> {
    let mut progress = Progress::new("reading", "bytes");
    let mut tell = |done, total| progress.show(done, total);
    Ok(tools::waiting(&OsDisk, &chosen.places, known, &mut tell)?)
}

pub(crate) fn warn_blind() {
    let what = "not every process can be looked into: make sure that no Java Flume uses the directories";
    let _ = writeln!(io::stderr(), "warning: {what}");
}

/// How many events wait, and the bytes of their bodies.
fn totals(recovered: &Recovered) -> (u64, u64) {
    let runs = recovered.runs.iter();
    runs.fold((0, 0), |(n, bytes), run| (n + u64::from(run.count), bytes + run.bytes))
}
