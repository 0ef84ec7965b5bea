//! The line alone: places, order, rolling and failure.

use super::*;
use bytes::Bytes;
use std::{io, sync::Arc};

fn line(n_dirs: usize, max_file: u64) -> Line<&'static str> {
    Line::new(Counters { transaction: 100, order: 200, file: 7 }, n_dirs, max_file, None)
}

/// Places a run and hands in its bytes.
fn stand(line: &mut Line<&'static str>, dir: usize, lens: &[u32], name: &'static str) -> Ticket {
    let ticket = line.place(dir, lens);
    let bytes = |place: &Place| -> Bytes {
        let records = lens[place.records.clone()].iter().sum::<u32>() as usize;
        vec![0; records + place.pad as usize].into()
    };
    let bytes = ticket.parts.iter().map(bytes).collect();
    line.fill(ticket.slot, bytes, name).unwrap();
    ticket
}

fn places_of(ticket: &Ticket) -> Vec<(u32, u64, std::ops::Range<usize>)> {
    ticket.parts.iter().map(|place| (place.file, place.at, place.records.clone())).collect()
}

fn create(line: &mut Line<&'static str>, dir: usize) -> u32 {
    let Some(Job::Create(new)) = line.next_job(dir) else { panic!("a file is to be made") };
    assert!(line.next_job(dir).is_none(), "nothing is written before the file is there");
    assert!(line.finish(Done::Created(new)).is_empty());
    new.file
}

fn write(line: &mut Line<&'static str>, dir: usize) -> (u32, u64, Vec<(u64, usize)>) {
    match line.next_job(dir) {
        Some(Job::Write { file, at, parts, .. }) => (file, at, parts),
        other => panic!("a write is to be done: {other:?}"),
    }
}

#[test]
fn what_waits_is_gathered_into_one_write_and_answered_in_order() {
    let mut line = line(1, 1000);
    let first = stand(&mut line, 0, &[10, 5], "a");
    let second = stand(&mut line, 0, &[20], "b");
    assert_eq!((first.transaction, first.first_order, first.watermark), (101, 201, 200));
    assert_eq!((second.transaction, second.first_order), (102, 203));
    assert_eq!(create(&mut line, 0), 8);
    let (file, at, parts) = write(&mut line, 0);
    assert_eq!((file, at, parts.len()), (8, 0, 2));
    assert!(line.next_job(0).is_none());
    assert_eq!(line.finish(Done::Written { parts }), ["a", "b"]);
    assert_eq!((line.durable(), line.durable_places()), (203, vec![Some((8, 35))]));
}

#[test]
fn a_later_write_that_is_durable_first_waits_for_the_earlier_one() {
    let mut line = line(2, 1000);
    stand(&mut line, 0, &[10], "a");
    create(&mut line, 0);
    let (.., first) = write(&mut line, 0);
    stand(&mut line, 0, &[10], "b");
    stand(&mut line, 1, &[10], "c");
    create(&mut line, 1);
    let ((.., second), (.., other)) = (write(&mut line, 0), write(&mut line, 1));
    assert!(line.finish(Done::Written { parts: other }).is_empty());
    assert!(line.finish(Done::Written { parts: second }).is_empty());
    assert_eq!(line.durable(), 200);
    assert_eq!(line.finish(Done::Written { parts: first }), ["a", "b", "c"]);
    assert!(line.is_idle());
}

#[test]
fn a_run_whose_bytes_are_still_being_made_holds_up_those_behind_it() {
    let mut line = line(1, 1000);
    let slow = line.place(0, &[10]);
    stand(&mut line, 0, &[10], "quick");
    create(&mut line, 0);
    assert!(line.next_job(0).is_none());
    line.fill(slow.slot, vec![vec![0; 10].into()], "slow").unwrap();
    assert_eq!(write(&mut line, 0).2.len(), 2);
}

#[test]
fn a_large_run_has_blocks_for_itself_and_no_op_fills_what_is_left_of_them() {
    let blocks = Blocks { size: 512, from: 300 };
    let mut line = Line::new(Counters::default(), 1, 2_000, Some(blocks));
    let place = |file, at, records, pad, block| Place { file, at, records, pad, block };
    stand(&mut line, 0, &[100], "small");
    // 100 to 512 is filled, and so is 1020 to 1536: four bytes are too few for a no-op.
    let large = stand(&mut line, 0, &[300, 208], "large");
    let tight = stand(&mut line, 0, &[495], "tight");
    assert_eq!(large.parts, [place(1, 100, 0..0, 412, 0), place(1, 512, 0..2, 516, 512)]);
    assert_eq!(tight.parts, [place(2, 0, 0..1, 17, 512)]);
    let whole = stand(&mut line, 0, &[1_024], "whole");
    assert_eq!(whole.parts, [place(2, 512, 0..1, 0, 512)]);
    // Sixteen bytes are too few, too.
    let short = Blocks { size: 512, from: 1 };
    assert_eq!([short.next(495), short.next(496), short.next(512)], [512, 1_024, 512]);
    let none_left = stand(&mut line, 0, &[1_900], "no room for blocks");
    assert_eq!(none_left.parts, [place(3, 0, 0..1, 0, 0)]);
    create(&mut line, 0);
    let Some(Job::Write { at: 0, direct: false, buffers, parts: first, .. }) = line.next_job(0) else {
        panic!("what fills the block goes with what is before it");
    };
    assert_eq!(buffers.iter().map(Bytes::len).collect::<Vec<_>>(), [100, 412]);
    let Some(Job::Write { at: 512, direct: true, parts: second, .. }) = line.next_job(0) else {
        panic!("blocks are written by themselves");
    };
    assert!(line.finish(Done::Written { parts: second }).is_empty(), "the filling is not durable yet");
    assert_eq!(line.finish(Done::Written { parts: first }), ["small", "large"]);
    assert_eq!(line.durable_places(), [Some((1, 1_536))]);
}

#[test]
fn a_run_that_does_not_fit_begins_a_new_file_and_a_longer_one_is_split() {
    let mut line = line(1, 100);
    stand(&mut line, 0, &[60], "a");
    let second = stand(&mut line, 0, &[50, 10], "b");
    assert_eq!(places_of(&second), [(9, 0, 0..2)]);
    let third = stand(&mut line, 0, &[30, 90, 20, 20, 150, 1], "c");
    let places = [(9, 60, 0..1), (10, 0, 1..2), (11, 0, 2..4), (12, 0, 4..5), (13, 0, 5..6)];
    assert_eq!(places_of(&third), places);
    let mut durable = Vec::new();
    for file in 8..=13 {
        assert_eq!(create(&mut line, 0), file);
        let (written, _, parts) = write(&mut line, 0);
        assert_eq!(written, file);
        durable.extend(line.finish(Done::Written { parts }));
    }
    assert_eq!(durable, ["a", "b", "c"]);
    assert_eq!(line.tails().collect::<Vec<_>>(), [13]);
}

#[test]
fn after_a_failure_everything_is_refused_and_nothing_more_is_done() {
    let mut line = line(1, 1000);
    stand(&mut line, 0, &[10], "a");
    create(&mut line, 0);
    let (.., first) = write(&mut line, 0);
    stand(&mut line, 0, &[10], "b");
    let (.., second) = write(&mut line, 0);
    line.finish(Done::Written { parts: second });
    let slow = line.place(0, &[10]);
    assert_eq!(line.fail(Arc::new(io::Error::other("gone"))), ["a", "b"]);
    assert!(line.next_job(0).is_none() && line.failed().is_some());
    assert!(line.finish(Done::Written { parts: first }).is_empty());
    assert_eq!(line.durable(), 200);
    assert_eq!(line.fill(slow.slot, vec![vec![0; 10].into()], "slow"), Err("slow"));
}
