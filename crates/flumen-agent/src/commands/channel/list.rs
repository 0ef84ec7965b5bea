//! `flumen channel list`: the checkpoint, the data files, and how many events wait in each.

use super::{Chosen, Failure, Form, look, totals, waiting};
use flumen_wal::{
    disk::OsDisk,
    log::Known,
    tools::{self, Listed},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, io::Write, path::Path};

pub(super) fn run(chosen: &Chosen, form: Form, out: &mut dyn Write) -> Result<bool, Failure> {
    let known = look(chosen)?;
    let dirs = &chosen.places.data_dirs;
    let listed = tools::list(&OsDisk, dirs).map_err(Failure::disk(&dirs[0]))?;
    // Without the keys the files can be named all the same.
    let recovered = waiting(chosen, known.as_ref());
    let mut events: BTreeMap<u32, u64> = BTreeMap::new();
    if let Ok(recovered) = &recovered {
        recovered
            .runs
            .iter()
            .for_each(|run| *events.entry(run.start.file).or_default() += u64::from(run.count));
    }
    let checkpoint = known.as_ref().map(checkpoint);
    let of = |one: &Listed| recovered.is_ok().then(|| events.get(&one.file.number).copied().unwrap_or(0));
    if form == Form::Json {
        let files: Vec<Value> = listed.iter().map(|one| file_json(one, of(one))).collect();
        let (events, bytes) = recovered.as_ref().ok().map(totals).unzip();
        let value = json!({
            "checkpoint_dir": chosen.checkpoint_dir(),
            "checkpoint": checkpoint,
            "data_dirs": dirs,
            "files": files,
            "events": events,
            "bytes": bytes,
        });
        writeln!(out, "{value:#}")?;
    } else {
        match (chosen.checkpoint_dir(), checkpoint) {
            (Some(dir), Some(what)) => writeln!(out, "{}: {what}", dir.display())?,
            _ => writeln!(
                out,
                "no directory of checkpoints is named: the data files are read from their beginning"
            )?,
        }
        for (at, dir) in dirs.iter().enumerate() {
            print_dir(dir, listed.iter().filter(|one| one.file.dir == at), &of, out)?;
        }
        if let Ok(recovered) = &recovered {
            let (events, bytes) = totals(recovered);
            writeln!(out, "{events} events with {bytes} bytes wait")?;
        }
    }
    Ok(recovered?.report.is_clean())
}

fn checkpoint(known: &Known) -> String {
    match (&known.java, known.ours()) {
        (Ok(java), _) if known.from_java && java.from_backup => {
            "Java Flume's second checkpoint counts, the first one is not whole".to_owned()
        }
        (Ok(_), _) if known.from_java => "Java Flume's checkpoint counts".to_owned(),
        (Err(why), _) if known.from_java => format!("Java Flume's checkpoint does not count: {why}"),
        (_, Some(ours)) => format!("Flumen's checkpoint {} counts", ours.sequence),
        _ if known.rewritten => "a tool has changed data files: no checkpoint counts".to_owned(),
        _ => "no checkpoint".to_owned(),
    }
}

fn print_dir<'a>(
    dir: &Path,
    files: impl Iterator<Item = &'a Listed>,
    events: &dyn Fn(&Listed) -> Option<u64>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out, "{}:", dir.display())?;
    for one in files {
        let form = match (&one.encryption, one.version) {
            (Some(encryption), _) => {
                let (cipher, key) =
                    (printable(&encryption.cipher_provider), printable(&encryption.key_alias));
                format!("{cipher} with key `{key}`")
            }
            (None, 0) if one.file.len == 0 => "empty".to_owned(),
            (None, 0) => "no meta".to_owned(),
            (None, version) => format!("version {version}"),
        };
        let waits = events(one).map(|n| format!("  {n} events wait")).unwrap_or_default();
        writeln!(out, "  log-{:<8} {:>12} bytes  {form}{waits}", one.file.number, one.file.len)?;
    }
    Ok(())
}

/// Text from a file: what a terminal would act on is written as escapes.
fn printable(text: &str) -> String {
    text.chars()
        .take(100)
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}

fn file_json(one: &Listed, events: Option<u64>) -> Value {
    let encryption = one.encryption.as_ref();
    json!({
        "path": one.file.path,
        "number": one.file.number,
        "bytes": one.file.len,
        "version": one.version,
        "cipher": encryption.map(|encryption| &encryption.cipher_provider),
        "key": encryption.map(|encryption| &encryption.key_alias),
        "events": events,
    })
}
