//! Java's directories opened as a channel opens them: they deliver what is right, also after a stop at any call on the way,
//! and again when they are read as Java would read them afterwards.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fixture;

use fixture::{Event, Fixture, names, opened};
use flumen_wal::{
    disk::simulated::Fault,
    log::{LogSettings, OpenError},
    replay::Start,
};

/// Those that cannot be opened as they are, or of which nothing says what is right.
fn is_special(name: &str) -> bool {
    let special = ["data-file-lost", "encrypted-opened-plain", "same-id-twice"];
    special.contains(&name) || name.starts_with("two-agents")
}

fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    events.sort();
    events
}

fn right(name: &str, fixture: &Fixture) -> Vec<Event> {
    let stands_for = if name == "tool-torn-zero" { Fixture::load("torn-commit-zero3").right } else { None };
    sorted(stands_for.or_else(|| fixture.right.clone()).unwrap_or_else(|| fixture.expected.clone()))
}

/// Opens the directories, and gives back what waits.
fn waiting(fixture: &Fixture, settings: &LogSettings) -> Result<Vec<Event>, OpenError> {
    let opened = opened::opened(&fixture.disk, settings, fixture.backup.as_deref())?;
    let events = opened::waiting(&opened.log);
    opened.log.close(true).unwrap();
    Ok(sorted(events))
}

#[test]
fn fch_34_fch_35_fch_80_every_directory_is_opened_used_and_read_again_as_java_reads_it() {
    let names = names();
    let mut wrong = Vec::new();
    for name in names.iter().filter(|name| !is_special(name)) {
        let fixture = Fixture::load(name);
        let settings = opened::settings(&fixture);
        let right = right(name, &fixture);
        let ids = fixture.adopt().unwrap();
        let first = opened::opened(&fixture.disk, &settings, fixture.backup.as_deref()).unwrap();
        if sorted(opened::waiting(&first.log)) != right {
            wrong.push(format!("{name}: {}", first.report));
            continue;
        }
        drop(first);
        // A part is taken, something new comes in.
        let second = opened::opened(&fixture.disk, &settings, None).unwrap();
        let n_taken = second.log.depth().queued.min(2) as u32;
        let taken = opened::waiting_first(&second.log, n_taken);
        assert!(opened::put(&second.log, &[b"from us"]));
        second.log.close(true).unwrap();
        // As Java reads it: its own checkpoint is out of the way, the data files say it all.
        let key_of = fixture.replay(Start::Nothing).unwrap();
        let mut expected = right.clone();
        for event in &taken {
            let at = expected.iter().position(|other| other == event).unwrap();
            expected.remove(at);
        }
        expected.push(Default::default());
        expected.last_mut().unwrap().1 = b"from us".to_vec();
        if sorted(fixture.delivered(&key_of)) != sorted(expected) || fixture.java_checkpoint().is_ok() {
            wrong.push(format!("{name} afterwards: {}", key_of.report));
        }
        assert!(key_of.order > ids.order && key_of.transaction > ids.transaction, "{name}");
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_stop_at_any_call_of_taking_over_changes_nothing_of_what_is_delivered() {
    let names = [
        "killed-open-both-checkpointed",
        "dual",
        "two-dirs-killed",
        "three-dirs",
        "torn-commit-zero3",
        "rot-body-queued-fsync-true",
        "encrypted-killed",
        "meta-tmp",
        "v2-two-dirs-open",
        "checkpoint-deleted",
    ];
    let mut n_stops = 0;
    for name in names {
        let whole = Fixture::load(name);
        let settings = opened::settings(&whole);
        let right = waiting(&whole, &settings).unwrap();
        let (changes, looks) = (whole.disk.calls(), whole.disk.looks());
        let from = Fixture::load(name);
        let (from_change, from_look) = (from.disk.calls(), from.disk.looks());
        let changing = (from_change..changes)
            .flat_map(|n| [Fault::Error, Fault::NoSpace, Fault::PowerLoss].map(|fault| (n, fault, true)));
        let looking =
            (from_look..looks).flat_map(|n| [Fault::Error, Fault::PowerLoss].map(|fault| (n, fault, false)));
        for (n, fault, changes) in changing.chain(looking) {
            let fixture = from.changed("channel.properties", |_| {});
            if changes {
                fixture.disk.fail_at(n, fault);
            } else {
                fixture.disk.fail_look_at(n, fault);
            }
            n_stops += 1;
            // It may work all the same, or fail at any step.
            if let Ok(opened) = opened::opened(&fixture.disk, &settings, fixture.backup.as_deref()) {
                drop(opened);
            }
            fixture.disk.forget_faults();
            fixture.disk.lose_power();
            let what = format!("{name}, call {n} (changing: {changes}), {fault:?}");
            let again = waiting(&fixture, &settings).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(again == right, "{what}: {} events, not {}", again.len(), right.len());
        }
    }
    assert!(n_stops > 1_000, "{n_stops}");
}
