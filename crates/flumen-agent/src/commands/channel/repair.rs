//! `flumen channel repair`: opens the log and closes it again. What opening decides is then written down, for us and for Java.

use super::{Chosen, Failure, Form, Progress, warn_blind};
use crate::commands::SystemClock;
use flumen_core::world::WallClock;
use flumen_wal::{
    data_file,
    disk::OsDisk,
    log::{self, Hooks, LogSettings, OpenOptions},
};
use serde_json::json;
use std::{collections::BTreeSet, io::Write, sync::Arc};

/// The largest data file of Java's. Nothing is put, so that none is made.
const MAX_FILE_BYTES: u64 = 1_623_195_647;

pub(super) fn run(chosen: &Chosen, form: Form, out: &mut dyn Write) -> Result<bool, Failure> {
    let Some(checkpoint_dir) = chosen.checkpoint_dir() else {
        let what = "repair needs the directory of the checkpoint, which would be wrong afterwards: name it with --checkpoint-dir";
        return Err(Failure::Words(what.to_owned()));
    };
    let places = &chosen.places;
    one_channel(chosen)?;
    let settings = LogSettings {
        checkpoint_dir: checkpoint_dir.to_owned(),
        data_dirs: places.data_dirs.clone(),
        max_file_bytes: MAX_FILE_BYTES,
        minimum_free_bytes: 0,
        // Nothing is taken: nothing need be read ahead.
        memory_bytes: 1,
        writes_in_flight: 1,
        blocks: None,
        name: "repair".to_owned(),
        encryption: places.keys.clone(),
        version_2: Vec::new(),
    };
    let mut progress = Progress::new("reading", "bytes");
    let mut tell = |done, total| progress.show(done, total);
    let mut options = OpenOptions {
        backup_dir: places.backup_dir.as_deref(),
        adopt: chosen.adopt,
        since: 0,
        clock_ms: u64::try_from(SystemClock.now_ms()).unwrap_or(0),
        progress: &mut tell,
    };
    let hooks = Hooks { readable: Box::new(|| {}), failed: Box::new(|| {}), lost: Box::new(|_| {}) };
    let opened = log::open(Arc::new(OsDisk), settings, &mut options, hooks)?;
    drop(progress);
    if opened.blind {
        warn_blind();
    }
    let depth = opened.log.depth();
    opened.log.close(true).map_err(Failure::disk(checkpoint_dir))?;
    let (report, from_java) = (&opened.report, opened.from_java);
    let good = report.is_clean();
    if form == Form::Json {
        let value = json!({
            "good": good,
            "events": depth.queued,
            "bytes": depth.bytes,
            "lost_events": report.lost_events,
            "maybe_doubled_events": report.maybe_doubled_events,
            "damaged_stretches": report.n_damaged,
            "damaged_bytes": report.damaged_bytes,
            "from_java": from_java,
        });
        writeln!(out, "{value:#}")?;
        return Ok(good);
    }
    for damaged in &report.damaged {
        writeln!(out, "{damaged}: kept in a `quarantine-N` beside it")?;
    }
    writeln!(out, "{report}")?;
    if from_java {
        writeln!(out, "Java Flume's checkpoint was moved aside: it reads the data files at its next start")?;
    }
    writeln!(
        out,
        "{} events with {} bytes wait; Flumen and Java Flume can open it",
        depth.queued, depth.bytes
    )?;
    Ok(good)
}

/// Directories that were found, and not named, may belong to several channels: their numbers are those of one.
fn one_channel(chosen: &Chosen) -> Result<(), Failure> {
    let dirs = &chosen.places.data_dirs;
    if !chosen.searched {
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    for file in data_file::list(&OsDisk, dirs).map_err(Failure::disk(&dirs[0]))? {
        if !seen.insert(file.number) {
            let what = format!(
                "log-{} is in two directories, which may be those of two channels: name the data directories one by one",
                file.number
            );
            return Err(Failure::Words(what));
        }
    }
    Ok(())
}
