//! `flumen tool FCINTEGRITYTOOL`: Java Flume's tool for damaged data files, by its flags and with its summary.

use super::channel::{Progress, warn_blind};
use flumen_wal::{
    disk::OsDisk,
    tools::integrity::{self, Integrity, Left},
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Damaged stretches that are named.
const MOST_NAMED: usize = 20;

/// Repairs the data files of these directories, and prints Java's summary. The exit status is 0 where nothing had to be left as
/// it is, and 1 otherwise, as Java's is.
///
/// # Errors
/// The output is closed.
pub fn run(dirs: &[PathBuf], out: &mut dyn Write) -> io::Result<ExitCode> {
    let mut progress = Progress::new("checking", "bytes");
    let done = integrity::run(&OsDisk, dirs, &mut |done, total| progress.show(done, total));
    drop(progress);
    let done = match done {
        Ok(done) => done,
        Err(error) => {
            writeln!(io::stderr(), "flumen: {error}")?;
            return Ok(ExitCode::FAILURE);
        }
    };
    if done.blind {
        warn_blind();
    }
    tell(&done)?;
    for line in summary(&done) {
        writeln!(out, "{line}")?;
    }
    Ok(if done.left.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tell(done: &Integrity) -> io::Result<()> {
    let mut err = io::stderr().lock();
    for damaged in done.damaged.iter().take(MOST_NAMED) {
        writeln!(err, "{damaged}")?;
    }
    for copy in &done.copies {
        writeln!(err, "{}: the file before it was changed", copy.display())?;
    }
    for (path, left) in &done.left {
        writeln!(err, "flumen: {} is left as it is: {left}{}", path.display(), instead(path, left))?;
    }
    Ok(())
}

fn instead(_path: &Path, left: &Left) -> &'static str {
    match left {
        Left::Encrypted(_) => {
            ". `flumen channel repair` reads the keys: name the channel with -f, -n and --channel"
        }
        Left::Version2 | Left::Foreign | Left::Stretches(_) => {
            ". Flumen opens the channel as it is, and keeps what can be read"
        }
    }
}

/// Java's summary. Every event that can be read is valid: there are no validators.
fn summary(done: &Integrity) -> Vec<String> {
    vec![
        "---------- Summary --------------------".to_owned(),
        format!("Number of Events in the Channel = {}", done.records),
        format!("Number of Put Events Processed = {}", done.puts),
        format!("Number of Valid Put Events = {}", done.puts),
        "Number of Invalid Put Events = 0".to_owned(),
        "Number of Put Events that threw Exception during validation = 0".to_owned(),
        format!("Number of Corrupt Events = {}", done.corrupt),
        "---------------------------------------".to_owned(),
    ]
}
