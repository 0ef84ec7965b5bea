//! Directories that Java Flume 1.11 left are taken over, and deliver what Java would deliver, or what is right where Java
//! refuses or loses.

mod fixture;

use fixture::{Event, Fixture, names};
use flumen_wal::replay::{ReplayError, Start};
use std::collections::BTreeSet;

/// Those in which two agents ruined each other's files, or that cannot be opened as they are.
const SPECIAL: [&str; 7] = [
    "data-file-lost",
    "encrypted-opened-plain",
    "same-id-twice",
    "two-agents-at-once-1",
    "two-agents-at-once-1-meta-renamed",
    "two-agents-at-once-2",
    "two-agents-at-once-2-meta-renamed",
];

fn sorted(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    events.sort();
    events
}

/// Equal, but for the order of the first `n_front`.
fn same(one: &[Event], other: &[Event], n_front: usize) -> bool {
    let n = n_front.min(one.len()).min(other.len());
    one.len() == other.len() && sorted(&one[..n]) == sorted(&other[..n]) && one[n..] == other[n..]
}

fn shown(events: &[Event]) -> Vec<String> {
    events.iter().map(|(headers, body)| format!("{headers:?} {} bytes", body.len())).collect()
}

#[test]
fn every_directory_delivers_what_is_right_and_again_after_settling() {
    let mut wrong = Vec::new();
    let names = names();
    assert_eq!(names.len(), 127);
    for name in names.iter().filter(|name| !SPECIAL.contains(&name.as_str())) {
        let fixture = Fixture::load(name);
        // Java refuses what its own tool made of this directory.
        let stands_for =
            if name == "tool-torn-zero" { Fixture::load("torn-commit-zero3").right } else { None };
        let right = stands_for.as_ref().or(fixture.right.as_ref()).unwrap_or(&fixture.expected);
        // Takes that were open in the checkpoint come back in an order that nothing tells.
        let checkpoint = fixture.java_checkpoint().unwrap_or_default();
        let n_front: usize = checkpoint.takes.iter().map(|(_, takes)| takes.len()).sum();
        // Nor does anything tell the order of puts that were open, and a take that Java rolled back changed its order.
        let ordered = n_front == 0 && checkpoint.puts.is_empty() && !name.starts_with("storm-");
        let recovered = match fixture.adopt() {
            Ok(recovered) => recovered,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        let delivered = fixture.delivered(&recovered);
        if !same(&delivered, right, n_front) {
            let report = &recovered.report;
            wrong.push(format!(
                "{name}: {report}\n  got {:#?}\n  not {:#?}",
                shown(&delivered),
                shown(right)
            ));
            continue;
        }
        fixture.settle(&recovered);
        // Without Java's checkpoint now, as Java would read it.
        let again = fixture.replay(Start::Nothing).unwrap();
        let later = fixture.delivered(&again);
        if sorted(&later) != sorted(&delivered)
            || (ordered && recovered.facts.is_empty() && later != delivered)
        {
            wrong.push(format!("{name} again: {:#?}\n  not {:#?}", shown(&later), shown(&delivered)));
        }
        let version_2 = recovered.files.values().any(|found| found.version == 2);
        if (again.report.n_damaged > 0 || !again.edits.is_empty()) && !version_2 {
            wrong.push(format!("{name} again: {} {:?}", again.report, again.edits));
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn fch_84_encrypted_files_without_a_key_are_not_opened_and_not_touched() {
    let fixture = Fixture::load("encrypted-opened-plain");
    let before = fixture.disk.calls();
    assert!(matches!(fixture.adopt(), Err(ReplayError::MissingKey { alias, .. }) if alias == "key-0"));
    assert_eq!(fixture.disk.calls(), before);
}

#[test]
fn a_wrong_key_opens_nothing_and_changes_nothing() {
    for name in ["encrypted", "encrypted-killed", "encrypted-rotated", "encrypted-no-checkpoint"] {
        let mut fixture = Fixture::load(name);
        fixture.keys.values_mut().for_each(|key| key[0] ^= 1);
        let before = fixture.disk.calls();
        assert!(matches!(fixture.replay(Start::Nothing), Err(ReplayError::WrongKey { .. })), "{name}");
        assert_eq!(fixture.disk.calls(), before);
    }
}

#[test]
fn a_lost_data_file_costs_its_events_and_no_others() {
    let fixture = Fixture::load("data-file-lost");
    let recovered = fixture.adopt().unwrap();
    let whole = Fixture::load("many-files-killed");
    let all = whole.adopt().unwrap();
    let in_lost =
        all.runs.iter().filter(|run| run.start.file == 1).map(|run| u64::from(run.count)).sum::<u64>();
    assert!(in_lost > 0);
    assert_eq!(recovered.report.missing_files, [1]);
    assert_eq!(recovered.report.lost_events, in_lost);
    let expected = whole.delivered(&all);
    assert_eq!(fixture.delivered(&recovered), expected[in_lost as usize..]);
    assert!(fixture.replay(Start::Nothing).is_ok());
}

#[test]
fn of_two_files_with_one_number_the_one_in_its_own_directory_stays() {
    let fixture = Fixture::load("same-id-twice");
    let right = Fixture::load("two-dirs-killed");
    let recovered = fixture.adopt().unwrap();
    assert_eq!(recovered.report.duplicate_files, [fixture.dirs[1].join("log-1")]);
    assert_eq!(fixture.delivered(&recovered), right.expected);
    fixture.settle(&recovered);
    let again = fixture.replay(Start::Nothing).unwrap();
    assert!(again.report.duplicate_files.is_empty());
    assert_eq!(sorted(&fixture.delivered(&again)), sorted(&right.expected));
}

#[test]
fn what_two_agents_ruined_opens_and_delivers_what_can_be_read() {
    for name in SPECIAL.iter().filter(|name| name.starts_with("two-agents")) {
        let fixture = Fixture::load(name);
        let recovered = fixture.adopt().unwrap();
        let delivered = fixture.delivered(&recovered);
        let ids: BTreeSet<&str> =
            delivered.iter().filter_map(|(headers, _)| headers.get("id")).map(|id| id.as_str()).collect();
        let acked = String::from_utf8(fixture.files["acked.log"].clone()).unwrap();
        let of =
            |sign: char| acked.lines().filter_map(|line| line.strip_prefix(sign)).collect::<BTreeSet<&str>>();
        let (put, taken) = (of('+'), of('-'));
        let due: BTreeSet<&str> = put.difference(&taken).copied().collect();
        assert!(due.is_subset(&ids), "{name}: {:?}", due.difference(&ids).collect::<Vec<_>>());
        fixture.settle(&recovered);
        let again = fixture.replay(Start::Nothing).unwrap();
        assert_eq!(again.report.n_damaged, 0);
    }
}
