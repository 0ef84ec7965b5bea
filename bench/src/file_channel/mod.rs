//! The file channel beside floors on the same disk: put and take, one-event commits, restart, memory.
//!
//! Everything that is compared alternates within a round. Rates are of wall time, costs of CPU time of this process.

mod channel;
mod child;
mod floors;

pub(crate) use channel::{block_on, file, wait_for};
pub(crate) use child::run as run_child;

use crate::{
    Effort,
    clock::{Spent, alternate},
    report::Table,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Bytes of a body.
const BODY_BYTES: usize = 500;
/// Writes with their syncs that a file channel has in flight.
const IN_FLIGHT: usize = 4;
/// Sources with one-event commits.
const SOURCES: usize = 64;

/// Parts by name.
pub(crate) const PARTS: [&str; 3] = ["put-take", "one-event", "restart"];

/// Measures the parts that are named, or all, in a folder of this disk.
pub(crate) fn measure(effort: Effort, smoke: bool, parts: &[&str], folder: &Path) -> Result<(), String> {
    let folder = folder.join(format!("flumen-bench-file-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    if wanted("put-take") {
        put_take(effort, &folder);
    }
    if wanted("one-event") {
        one_event(effort, &folder);
    }
    let result = if wanted("restart") { restart(effort, smoke, &folder) } else { Ok(()) };
    let _ = fs::remove_dir_all(&folder);
    result
}

fn fresh(folder: &Path) -> PathBuf {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("the disk is there");
    folder.to_owned()
}

/// One source and one sink; the floors write the same bytes.
fn put_take(effort: Effort, folder: &Path) {
    for batch_size in [1_000, 100] {
        let events = (effort.events / 5).next_multiple_of(batch_size);
        let (channel, floor) = (folder.join("channel"), folder.join("floor"));
        let chunk = channel::bytes_of_a_batch(&fresh(&channel), batch_size);
        let total = chunk * (events / batch_size);
        let both = |at_once| floors::Append { file: fresh(&floor).join("f"), chunk, total, at_once };
        let gathered = floors::Append { chunk: 1 << 20, ..both(IN_FLIGHT) };
        let spent = alternate(
            effort.rounds,
            &mut [
                &mut || channel::put_take(&fresh(&channel), events, batch_size),
                &mut || both(IN_FLIGHT).synced(false),
                &mut || gathered.synced(false),
                &mut || both(IN_FLIGHT).synced(true),
                &mut || both(1).synced(false),
                &mut || both(1).plain(),
            ],
        );
        let title = "file channel, put and take";
        let mut table = Table::new(title, &["MB/s", "ns an event", "CPU-ns an event", "of its speed"]);
        let names = [
            format!("{batch_size} × {BODY_BYTES} bytes, one source and one sink"),
            format!("the same bytes appended, {IN_FLIGHT} synced writes in flight"),
            format!("the same in pieces of 1 MiB, {IN_FLIGHT} in flight"),
            format!("the same bytes with O_DIRECT, {IN_FLIGHT} in flight"),
            "the same bytes appended, each write synced before the next".to_owned(),
            "the same bytes written and not synced".to_owned(),
        ];
        for (name, one) in names.into_iter().zip(&spent) {
            table.row(name, figures(one, events, total, spent[0].wall.as_secs_f64()));
        }
        table.print();
    }
}

/// Speed and costs; `channel` is the time of what the row is compared with.
#[expect(clippy::cast_precision_loss, reason = "figures of three digits")]
fn figures(spent: &Spent, events: usize, bytes: usize, channel: f64) -> Vec<String> {
    let wall = spent.wall.as_secs_f64();
    vec![
        format!("{:.0}", bytes as f64 / wall / 1e6),
        format!("{:.0}", wall * 1e9 / events as f64),
        format!("{:.0}", spent.cpu.as_secs_f64() * 1e9 / events as f64),
        format!("{:.0} %", 100.0 * wall / channel),
    ]
}

/// Many sources that wait for every event, beside one that writes and syncs.
fn one_event(effort: Effort, folder: &Path) {
    let events = (effort.events / 50).next_multiple_of(SOURCES);
    let alone = (events / 50).max(10);
    let (channel, floor) = (folder.join("channel"), folder.join("floor"));
    let chunk = channel::bytes_of_a_batch(&fresh(&channel), 1);
    let one_by_one =
        || floors::Append { file: fresh(&floor).join("f"), chunk, total: chunk * alone, at_once: 1 };
    let spent = alternate(
        effort.rounds,
        &mut [&mut || channel::one_event_commits(&fresh(&channel), SOURCES, events), &mut || {
            one_by_one().synced(false)
        }],
    );
    #[expect(clippy::cast_precision_loss, reason = "figures of three digits")]
    let rates = [events as f64 / spent[0].wall.as_secs_f64(), alone as f64 / spent[1].wall.as_secs_f64()];
    let mut table = Table::new("file channel, one event a commit", &["commits a second", "× one by one"]);
    for (name, rate) in
        [format!("{SOURCES} sources"), "one synced write after another".to_owned()].iter().zip(rates)
    {
        table.row(name, vec![format!("{rate:.0}"), format!("{:.1}", rate / rates[1])]);
    }
    table.print();
}

/// A backlog that was put one by one: what it takes in memory, and how long opening it takes.
fn restart(effort: Effort, smoke: bool, folder: &Path) -> Result<(), String> {
    let events = if smoke { 20_000 } else { effort.events * 2 };
    let dir = fresh(&folder.join("backlog"));
    let filled = child::start("fill", &dir, events)?;
    let with = child::start("open", &dir, events)?;
    for name in ["flumen-checkpoint-0", "flumen-checkpoint-1"] {
        let _ = fs::remove_file(dir.join("checkpoint").join(name));
    }
    let without = child::start("open", &dir, events)?;
    let drained = child::start("drain", &dir, events)?;
    println!("file channel with {events} events of {BODY_BYTES} bytes, put one by one (a process each)");
    for (name, said) in [
        ("put", filled),
        ("opened with a checkpoint", with),
        ("opened without a checkpoint", without),
        ("opened and drained, 1,000 a batch", drained),
    ] {
        println!("  {name:34}  {said}");
    }
    println!();
    Ok(())
}
