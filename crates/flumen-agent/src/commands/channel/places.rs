//! Which directories: those of a channel in a configuration, or those that the command line names, told apart by what is in them.

use super::Failure;
use crate::{
    commands::{Program, Target},
    conf::Origins,
};
use flumen_channels::file::{FileChannel, FileConfig};
use flumen_core::{config, registry::ChannelType};
use flumen_wal::{
    checkpoint,
    data_file::file_number,
    disk::{Disk, Entry, OsDisk},
    tools::Places,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// The directories of one channel.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The directories and keys.
    pub places: Places,
    /// Whether directories of Java's may be taken although it cannot be seen who uses them.
    pub adopt: bool,
    /// Whether some were found below a named directory, and not named themselves.
    pub(super) searched: bool,
}

/// The directories of a channel of a configuration, with its keys.
///
/// # Errors
/// The configuration cannot be read, or has no such file channel. In words.
pub async fn from_configuration(program: &Program, target: &Target, channel: &str) -> Result<Chosen, String> {
    let agent = &target.agent;
    let mut origins = Origins::new(target.sources.clone(), agent);
    let settings = program.read_settings(&mut origins, agent, "channels", channel).await;
    let settings = settings.map_err(|error| error.to_string())?;
    let type_name = settings.text("type").unwrap_or_default();
    let is_file = FileChannel::NAMES.iter().any(|name| name.eq_ignore_ascii_case(type_name));
    if !is_file {
        return Err(format!("agent `{agent}` has no file channel `{channel}` in this configuration"));
    }
    let (read, problems) = config::read::<FileConfig>(&settings, &[]);
    let Some(config) = read else {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(problems.join("\n"));
    };
    let settings = config
        .log_settings(channel, &program.environment)
        .map_err(|error| format!("channel `{channel}`: {error}"))?;
    let places = Places {
        checkpoint_dir: Some(settings.checkpoint_dir),
        backup_dir: config.backup_dir(),
        data_dirs: settings.data_dirs,
        keys: settings.encryption,
    };
    Ok(Chosen { places, adopt: config.adopt(), searched: false })
}

/// Directories as the command line names them: each has data files or a checkpoint in it, or has directories in it that have.
///
/// # Errors
/// One cannot be read, none has anything of a file channel, or several have a checkpoint.
pub fn from_directories(dirs: &[PathBuf], checkpoint: Option<PathBuf>) -> Result<Chosen, String> {
    sort(dirs, checkpoint).map_err(|failure| failure.to_string())
}

/// What a directory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Data,
    Checkpoint,
    Backup,
    None,
}

fn sort(dirs: &[PathBuf], checkpoint: Option<PathBuf>) -> Result<Chosen, Failure> {
    let mut chosen = Chosen { places: Places::default(), adopt: false, searched: false };
    let mut checkpoints: Vec<PathBuf> = checkpoint.into_iter().collect();
    let mut seen = BTreeSet::new();
    for dir in dirs {
        let entries = OsDisk.list(dir).map_err(Failure::disk(dir))?;
        let own = use_of(&entries);
        let mut found = vec![(dir.clone(), own)];
        if own == Use::None {
            for entry in entries.iter().filter(|entry| entry.is_dir) {
                let path = dir.join(&entry.name);
                let is = use_of(&OsDisk.list(&path).map_err(Failure::disk(&path))?);
                found.push((path, is));
            }
            chosen.searched = true;
        }
        let before = seen.len();
        for (path, is) in found.into_iter().filter(|(_, is)| *is != Use::None) {
            if !seen.insert(std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
                continue;
            }
            match is {
                Use::Data => chosen.places.data_dirs.push(path),
                Use::Backup => chosen.places.backup_dir = Some(path),
                Use::Checkpoint | Use::None if checkpoints.contains(&path) => {}
                Use::Checkpoint | Use::None => checkpoints.push(path),
            }
        }
        if seen.len() == before && chosen.searched {
            let what = format!(
                "{}: nothing of a file channel is in it, nor one directory below: no `log-1`, no checkpoint",
                dir.display()
            );
            return Err(Failure::Words(what));
        }
    }
    if let [one, other, ..] = checkpoints.as_slice() {
        let what = format!(
            "{} and {} are the checkpoints of two channels: name the directories of one",
            one.display(),
            other.display()
        );
        return Err(Failure::Words(what));
    }
    if chosen.places.data_dirs.is_empty() {
        let what =
            "none of the directories has data files (`log-1` and so on): name the data directories, too";
        return Err(Failure::Words(what.to_owned()));
    }
    chosen.places.checkpoint_dir = checkpoints.pop();
    Ok(chosen)
}

fn use_of(entries: &[Entry]) -> Use {
    let has = |names: &[&str]| entries.iter().any(|entry| names.contains(&entry.name.as_str()));
    let is_data = |entry: &Entry| {
        let name = entry.name.strip_suffix(".meta").unwrap_or(&entry.name);
        !entry.is_dir && file_number(name).is_some()
    };
    if entries.iter().any(is_data) {
        Use::Data
    } else if has(&["backupComplete"]) {
        Use::Backup
    } else if has(&checkpoint::NAMES)
        || has(&["checkpoint", "checkpoint.meta", "inflightputs", "inflighttakes"])
    {
        Use::Checkpoint
    } else {
        Use::None
    }
}

impl Chosen {
    /// Where files are, for messages.
    pub(super) fn checkpoint_dir(&self) -> Option<&Path> {
        self.places.checkpoint_dir.as_deref()
    }
}
