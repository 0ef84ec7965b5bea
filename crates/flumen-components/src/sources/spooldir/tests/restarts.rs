//! Restarts, killed or not: positions are taken over, also from Java, and of the right file only.

use super::*;
use std::fs;

#[test]
fn dir_18_fix_61_c_14_trackers_of_a_full_disk_do_not_stop_it() {
    for content in ["", "half a tracker"] {
        let mut spooling = Spooling::new();
        spooling.write("spool/.flumespool/.flumespool-main.meta", content);
        spooling.write("spool/a", "x\n");
        spooling.start();
        assert_eq!(spooling.drain(), ["x"]);
        assert!(!spooling.has_tracker());
    }
}

#[test]
fn a_file_that_was_begun_is_read_on_whichever_is_first_in_the_order() {
    let mut spooling = Spooling::with(&[("batchSize", "2"), ("consumeOrder", "youngest")]);
    spooling.write_at("spool/a", lines("a", 0..5), 5);
    spooling.start();
    assert_eq!(spooling.batch(), ["a line 0", "a line 1"]);
    spooling.write_at("spool/young", "young\n", 9);
    spooling.restart();
    assert_eq!(spooling.batch(), ["a line 2", "a line 3"]);
    assert_eq!(spooling.drain(), ["a line 4", "young"]);
}

#[test]
fn a_new_file_with_the_name_of_one_that_was_begun_is_read_from_its_start() {
    let mut spooling = Spooling::with(&[("batchSize", "2")]);
    spooling.write("spool/a", lines("a", 0..5));
    spooling.start();
    spooling.batch();
    spooling.kill();
    // Its inode must not be free for the next one.
    fs::rename(spooling.path("spool/a"), spooling.path("old-a")).unwrap();
    spooling.write("spool/a", lines("new", 0..3));
    spooling.start();
    assert_eq!(spooling.drain(), ["new line 0", "new line 1", "new line 2"]);
    // The same file, but shorter.
    spooling.write("spool/b", lines("b", 0..5));
    spooling.batch();
    spooling.kill();
    fs::write(spooling.path("spool/b"), "cut\n").unwrap();
    spooling.start();
    assert_eq!(spooling.drain(), ["cut"]);
}

#[test]
fn the_tracker_of_a_file_that_is_gone_is_forgotten() {
    let mut spooling = Spooling::with(&[("batchSize", "2")]);
    spooling.write_at("spool/a", lines("a", 0..5), 0);
    spooling.start();
    spooling.batch();
    spooling.kill();
    fs::remove_file(spooling.path("spool/a")).unwrap();
    spooling.write_at("spool/b", "b\n", 1);
    spooling.start();
    assert_eq!(spooling.batch(), ["b"]);
    spooling.drain();
    assert!(!spooling.has_tracker());
}

#[test]
fn files_that_are_done_need_no_tracker_and_those_behind_them_wait_for_their_turn() {
    let mut spooling = Spooling::with(&[("batchSize", "2")]);
    for n in 0..3 {
        spooling.write_at(&format!("spool/{n}"), lines(&n.to_string(), 0..3), n);
    }
    spooling.start();
    let mut all = Vec::new();
    for _ in 0..6 {
        all.extend(spooling.batch_left_open());
    }
    assert_eq!(all.len(), 9, "three files are open");
    assert_eq!(spooling.batch_left_open(), Vec::<String>::new());
    let acks = std::mem::take(&mut spooling.open);
    spooling.commit(acks[0]);
    assert!(spooling.has_tracker());
    spooling.commit(acks[1]);
    assert_eq!(spooling.names("spool"), ["0.COMPLETED", "1", "2"]);
    spooling.commit(acks[2]);
    spooling.commit(acks[3]);
    assert_eq!(spooling.names("spool"), ["0.COMPLETED", "1.COMPLETED", "2"]);
    spooling.commit(acks[4]);
    spooling.restart();
    assert_eq!(spooling.drain(), ["2 line 2"]);
}

#[test]
fn no_more_files_are_open_than_allowed() {
    let mut spooling = Spooling::new();
    for n in 0..40 {
        spooling.write_at(&format!("spool/{n}"), format!("{n}\n"), n);
    }
    spooling.start();
    let mut n_open = 0;
    while !spooling.batch_left_open().is_empty() {
        n_open += 1;
    }
    assert_eq!(n_open, 16);
    for ack in std::mem::take(&mut spooling.open) {
        spooling.commit(ack);
    }
    assert_eq!(spooling.drain().len(), 24);
}

#[test]
fn a_tracker_with_many_positions_is_written_anew() {
    let mut spooling = Spooling::with(&[("batchSize", "1")]);
    spooling.write("spool/a", lines("a", 0..5_000));
    spooling.start();
    for _ in 0..4_000 {
        assert_eq!(spooling.batch().len(), 1);
    }
    let tracker = spooling.path("spool/.flumespool/.flumespool-main.meta");
    assert!(fs::metadata(&tracker).unwrap().len() < 66_000);
    spooling.restart();
    assert_eq!(spooling.batch(), ["a line 4000"]);
}

#[test]
fn avro_files_go_on_within_a_block_also_after_a_restart() {
    use crate::serializers::avro_event::{AvroEventConfig, AvroEventSerializer};
    use flumen_core::{
        event::{Batch, Headers},
        serialize::EventSerializer,
    };
    let config = read_config::<AvroEventConfig>();
    let mut serializer = AvroEventSerializer::new(config, [5; 16]);
    let mut file = Vec::new();
    serializer.begin(&mut file).unwrap();
    for block in 0..2 {
        let mut batch = Batch::new();
        (0..10).for_each(|n| batch.push(Headers::new(), format!("{block}-{n}").into_bytes()));
        batch.iter().for_each(|event| serializer.write(event, &mut file).unwrap());
        serializer.flush(&mut file).unwrap();
    }
    let mut spooling = Spooling::with(&[("deserializer", "AVRO"), ("batchSize", "3")]);
    spooling.write("spool/a", &file);
    let mut all = Vec::new();
    loop {
        spooling.restart();
        let events = spooling.events();
        if events.is_empty() {
            break;
        }
        // The body is a map without entries, a length, and the text.
        all.extend(events.into_iter().map(|(_, body)| String::from_utf8(body[2..].to_vec()).unwrap()));
    }
    let expected: Vec<String> =
        (0..2).flat_map(|block| (0..10).map(move |n| format!("{block}-{n}"))).collect();
    assert_eq!(all, expected, "each datum once");
}

fn read_config<C: flumen_core::config::Configuration>() -> C {
    flumen_core::config::read::<C>(&Settings::new("t"), &[]).0.unwrap()
}
