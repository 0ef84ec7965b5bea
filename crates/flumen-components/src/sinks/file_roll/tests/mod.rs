//! The file_roll sink: Java's files, rolling, and disks that fail.

mod avro;
mod faults;
mod faulty_disk;
mod files;
mod suite;

use super::*;
use crate::testing::sink_context;
use faulty_disk::FaultyDisk;
use flumen_core::{
    config::{Problem, Settings, read},
    world::SetClock,
};
use std::{fs, path::Path, sync::Arc, time::Duration};

/// The settings, with the directory in front.
fn settings(directory: &Path, pairs: &[(&str, &str)]) -> (Option<FileRollConfig>, Vec<Problem>) {
    let mut all = vec![("sink.directory", directory.to_str().unwrap())];
    all.extend_from_slice(pairs);
    read(&Settings::from_pairs("a.sinks.k", &all), &[])
}

fn config(directory: &Path, pairs: &[(&str, &str)]) -> FileRollConfig {
    settings(directory, pairs).0.unwrap()
}

/// A sink of these settings whose clock can be set.
fn rolling(directory: &Path, pairs: &[(&str, &str)], clock: &Arc<SetClock>) -> RollingFile {
    with_disk(directory, pairs, clock, Box::new(RealDisk))
}

fn with_disk(
    directory: &Path,
    pairs: &[(&str, &str)],
    clock: &Arc<SetClock>,
    disk: Box<dyn disk::Disk>,
) -> RollingFile {
    let config = config(directory, pairs);
    let context = sink_context(0, false);
    let sync = match config.fsync {
        Fsync::Batch => Sync::Batch,
        Fsync::Roll => Sync::Roll,
        _ => Sync::Never,
    };
    RollingFile::new(Parts {
        make_serializer: serializer(&config, &context.common).unwrap(),
        names: Names::new(&config, &Zone::utc(), clock.clone()).unwrap(),
        directory: config.directory.clone(),
        disk,
        interval: config.roll_interval.0,
        most_bytes: config.roll_size.0,
        sync,
        metrics: context.metrics,
    })
}

/// Names and contents of all files, by name; each byte is a character.
fn files(directory: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<(String, String)> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap().into_iter().map(char::from).collect())
        })
        .collect();
    files.sort();
    files
}

const MS: Duration = Duration::from_millis(1);
