//! `flume.opts`: values of options that the command line does not give. A properties file with long or short names as keys.

use super::args::takes_value;
use clap::{ArgMatches, Command, parser::ValueSource};
use flumen_java::properties::{self, Encoding};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Java looks here first.
const SYSTEM: &str = "/etc/flume/flume.opts";
/// More is no such file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A file's options, as words to be added to the command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// Words to add.
    pub(super) words: Vec<String>,
    /// Lines that say nothing that is known.
    pub(super) notes: Vec<String>,
}

/// The file to read: the system's, else that of the configuration folder.
pub(super) fn find(conf: Option<&Path>) -> Option<PathBuf> {
    find_from(Path::new(SYSTEM), conf)
}

fn find_from(system: &Path, conf: Option<&Path>) -> Option<PathBuf> {
    let own = conf.map(|conf| conf.join("flume.opts"));
    [Some(system.to_owned()), own].into_iter().flatten().find(|path| path.is_file())
}

/// Reads the file for a command that was already parsed.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(path: &Path, command: &Command, given: &ArgMatches) -> io::Result<Added> {
    if fs::metadata(path)?.len() > MAX_BYTES {
        return Err(io::Error::other(format!("more than {MAX_BYTES} bytes")));
    }
    let loaded = properties::load(&fs::read(path)?, Encoding::Latin1);
    let mut added = Added::default();
    let mut pairs: Vec<(&clap::Arg, String)> = Vec::new();
    for pair in loaded.pairs {
        let key = pair.key.trim().trim_start_matches('-');
        let known = command.get_arguments().find(|arg| {
            arg.get_long() == Some(key)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&key))
                || arg.get_short().is_some_and(|short| key.len() == 1 && key.starts_with(short))
        });
        match known {
            None => added.notes.push(format!("{}:{}: unknown option `{key}`", path.display(), pair.line)),
            Some(arg) if given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine) => {}
            // One key holds one value: the last.
            Some(arg) => {
                pairs.retain(|(other, _)| other.get_id() != arg.get_id());
                pairs.push((arg, pair.value.trim().to_owned()));
            }
        }
    }
    if let Some(error) = loaded.error {
        added.notes.push(format!("{}: {error}", path.display()));
    }
    for (arg, value) in pairs {
        let Some(long) = arg.get_long() else { continue };
        if takes_value(arg) {
            added.words.push(format!("--{long}={value}"));
        } else if !value.eq_ignore_ascii_case("false") {
            added.words.push(format!("--{long}"));
        }
    }
    Ok(added)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_file_comes_before_that_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (system, own) = (folder.path().join("system.opts"), folder.path().join("flume.opts"));
        assert_eq!(find_from(&system, Some(folder.path())), None);
        fs::write(&own, "").unwrap();
        assert_eq!(find_from(&system, Some(folder.path())), Some(own));
        assert_eq!(find_from(&system, None), None);
        fs::write(&system, "").unwrap();
        assert_eq!(find_from(&system, Some(folder.path())), Some(system.clone()));
    }
}
