//! Where configuration text comes from, and how a change is noticed.

use super::{ConfigText, Sources};
use flumen_java::properties::Encoding;
use std::{fs, io, path::PathBuf, time::SystemTime};

/// The longest configuration that is read, in bytes: far beyond any real one.
const MAX_BYTES: u64 = 128 << 20;

/// All texts of a configuration, in the order in which a later one wins.
#[derive(Debug)]
pub struct Origins {
    list: Vec<Origin>,
}

/// One file of a configuration, and what it looked like when it was read.
#[derive(Debug)]
struct Origin {
    path: PathBuf,
    seen: Option<Stamp>,
}

/// What tells one version of a file from another: Java only looks for a later time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    len: u64,
}

/// Why a configuration cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    /// The system says no.
    #[error("cannot read configuration file {path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// It is far too long.
    #[error(
        "configuration file {path} has {bytes} bytes, more than the {MAX_BYTES} that are read: is it the right file?"
    )]
    TooLong {
        /// The file.
        path: String,
        /// How long it is.
        bytes: u64,
    },
}

impl Origins {
    /// The sources of one agent's configuration.
    pub fn new(sources: Sources, _agent: &str) -> Self {
        Self { list: sources.files.into_iter().map(|path| Origin { path, seen: None }).collect() }
    }

    /// Reads all texts anew and remembers what they looked like.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub async fn read(&mut self) -> Result<Vec<ConfigText>, OriginError> {
        self.list.iter_mut().map(Origin::read).collect()
    }

    /// Whether one of the files looks different from when it was read. A file that is gone has not changed.
    pub fn have_changed(&self) -> bool {
        self.list.iter().any(|origin| stamp(&origin.path).is_ok_and(|now| origin.seen != Some(now)))
    }
}

impl Origin {
    fn read(&mut self) -> Result<ConfigText, OriginError> {
        let path = self.path.display().to_string();
        let unreadable = |source| OriginError::Unreadable { path: path.clone(), source };
        let now = stamp(&self.path).map_err(unreadable)?;
        if now.len > MAX_BYTES {
            return Err(OriginError::TooLong { path, bytes: now.len });
        }
        let bytes = fs::read(&self.path).map_err(unreadable)?;
        self.seen = Some(now);
        Ok(ConfigText { name: path.into(), bytes, encoding: Encoding::Latin1 })
    }
}

fn stamp(path: &PathBuf) -> io::Result<Stamp> {
    let meta = fs::metadata(path)?;
    Ok(Stamp { modified: meta.modified()?, len: meta.len() })
}
