//! `flumen channel verify`: reads every record of every data file, and says what is damaged and what opening would come to.

use super::{Chosen, Failure, Form, Progress, look, totals, waiting};
use flumen_wal::{
    disk::OsDisk,
    replay::{Edit, Recovered, Report},
    tools,
};
use serde_json::{Value, json};
use std::io::Write;

pub(super) fn run(chosen: &Chosen, form: Form, out: &mut dyn Write) -> Result<bool, Failure> {
    let known = look(chosen)?;
    let all = {
        let mut progress = Progress::new("reading every record", "bytes");
        let mut tell = |done, total| progress.show(done, total);
        tools::verify(&OsDisk, &chosen.places, &mut tell)?
    };
    let recovered = waiting(chosen, known.as_ref())?;
    let good = all.n_damaged == 0 && all.unreadable_files.is_empty() && recovered.report.is_clean();
    if form == Form::Json {
        writeln!(out, "{:#}", to_json(&all, &recovered, good))?;
    } else {
        print(&all, &recovered, out)?;
    }
    Ok(good)
}

fn print(all: &Report, recovered: &Recovered, out: &mut dyn Write) -> Result<(), Failure> {
    let report = &recovered.report;
    let Report { puts, takes, commits, rollbacks, .. } = all;
    writeln!(out, "read {puts} puts, {takes} takes, {commits} commits and {rollbacks} roll-backs")?;
    for damaged in &all.damaged {
        writeln!(out, "{damaged}")?;
    }
    let unnamed = all.n_damaged - all.damaged.len() as u64;
    if unnamed > 0 {
        writeln!(out, "and {unnamed} further damaged stretches")?;
    }
    for file in &report.missing_files {
        writeln!(out, "log-{file} is missing, and events lie in it")?;
    }
    for path in &all.unreadable_files {
        writeln!(out, "{}: nothing in it can be read", path.display())?;
    }
    for path in &report.duplicate_files {
        writeln!(out, "{}: another directory has a file of this number", path.display())?;
    }
    for (n, what) in [
        (report.unfinished_runs, "transactions were never finished, and are left out"),
        (report.orphan_commits, "commits are without their records"),
        (report.lost_events, "acknowledged events are lost"),
        (report.maybe_doubled_events, "events may come twice"),
    ] {
        if n > 0 {
            writeln!(out, "{n} {what}")?;
        }
    }
    let (events, bytes) = totals(recovered);
    writeln!(out, "{events} events with {bytes} bytes wait")?;
    let n_changes = recovered.edits.len() + recovered.facts.len();
    if n_changes > 0 {
        writeln!(
            out,
            "opening it, or `flumen channel repair`, would make {n_changes} changes before Java Flume can read it"
        )?;
    }
    Ok(())
}

fn to_json(all: &Report, recovered: &Recovered, good: bool) -> Value {
    let report = &recovered.report;
    let damaged: Vec<Value> = all
        .damaged
        .iter()
        .map(|one| json!({ "file": one.file, "at": one.gap.at, "bytes": one.gap.end - one.gap.at, "what": one.to_string() }))
        .collect();
    let quarantined = recovered
        .edits
        .iter()
        .filter(|edit| matches!(edit, Edit::Noop { keep: true, .. } | Edit::Fill { keep: true, .. }));
    let (events, bytes) = totals(recovered);
    json!({
        "good": good,
        "puts": all.puts,
        "takes": all.takes,
        "commits": all.commits,
        "rollbacks": all.rollbacks,
        "damaged": damaged,
        "damaged_stretches": all.n_damaged,
        "damaged_bytes": all.damaged_bytes,
        "missing_files": report.missing_files,
        "unreadable_files": all.unreadable_files,
        "duplicate_files": report.duplicate_files,
        "unfinished_transactions": report.unfinished_runs,
        "orphan_commits": report.orphan_commits,
        "lost_events": report.lost_events,
        "maybe_doubled_events": report.maybe_doubled_events,
        "events": events,
        "bytes": bytes,
        "changes": recovered.edits.len() + recovered.facts.len(),
        "to_quarantine": quarantined.count(),
    })
}
