//! A disk that is full, away or broken: nothing lost, nothing by half, and on it goes.

use super::{
    super::disk::{Disk, RealDisk},
    *,
};
use crate::testing::batch_of;
use flumen_core::{
    event::Event,
    serialize::{EventSerializer, SerializeError},
    sink::{BlockingSink, Retry},
};

fn sink(pairs: &[(&str, &str)]) -> (RollingFile, FaultyDisk) {
    let disk = FaultyDisk::default();
    let mut all = vec![("sink.rollInterval", "0")];
    all.extend_from_slice(pairs);
    (with_disk(Path::new("/d"), &all, &Arc::new(SetClock::at(1)), Box::new(disk.clone())), disk)
}

fn deliver(sink: &mut RollingFile, bodies: &[&str]) -> Result<Delivery, DeliverError> {
    sink.deliver_at(&batch_of(bodies), Instant::now())
}

#[test]
fn a_full_disk_leaves_no_half_batch_and_the_sink_goes_on_when_there_is_room() {
    let (mut sink, disk) = sink(&[]);
    deliver(&mut sink, &["one"]).unwrap();
    disk.set(|state| state.room = Some(6));
    for _ in 0..3 {
        let error = deliver(&mut sink, &["two", "three"]).unwrap_err();
        assert_eq!(error.retry, Retry::Backoff);
        assert!(error.to_string().contains("/d/1-1"), "{error}");
        assert_eq!(disk.texts(), ["one\n"], "what had room is cut off again");
    }
    disk.set(|state| state.room = None);
    deliver(&mut sink, &["two", "three"]).unwrap();
    assert_eq!(disk.texts(), ["one\ntwo\nthree\n"]);
}

#[test]
fn half_a_batch_that_cannot_be_cut_off_at_once_is_cut_off_before_the_next() {
    let (mut sink, disk) = sink(&[]);
    deliver(&mut sink, &["one"]).unwrap();
    disk.set(|state| (state.room, state.fail_truncate) = (Some(2), true));
    deliver(&mut sink, &["two"]).unwrap_err();
    assert_eq!(disk.texts(), ["one\ntw"]);
    disk.set(|state| state.room = None);
    deliver(&mut sink, &["two"]).unwrap_err();
    assert_eq!(disk.texts(), ["one\ntw"], "nothing goes behind half an event");
    disk.set(|state| state.fail_truncate = false);
    deliver(&mut sink, &["two"]).unwrap();
    assert_eq!(disk.texts(), ["one\ntwo\n"]);
}

#[test]
fn a_full_disk_takes_back_what_was_not_synced_too() {
    let (mut sink, disk) = sink(&[("sink.fsync", "batch")]);
    deliver(&mut sink, &["one"]).unwrap();
    sink.on_deadline_at(Instant::now()).unwrap();
    assert_eq!(sink.settled().unwrap(), 1);
    assert!(deliver(&mut sink, &["two"]).unwrap().held);
    disk.set(|state| state.room = Some(1));
    deliver(&mut sink, &["three"]).unwrap_err();
    // The runner rolls back both, and both come again.
    assert_eq!(sink.settled().unwrap(), 0);
    assert_eq!(disk.texts(), ["one\n"]);
}

#[test]
fn up_to_eight_batches_are_settled_by_one_sync_which_comes_soon() {
    let (mut sink, disk) = sink(&[("sink.fsync", "batch")]);
    let start = Instant::now();
    for n in 1..=8 {
        assert_eq!(sink.settled().unwrap(), 0);
        assert!(sink.deliver_at(&batch_of(&["x"]), start).unwrap().held);
        assert_eq!(disk.set(|state| state.syncs), if n < 8 { (0, 0) } else { (1, 1) });
    }
    assert_eq!(sink.settled().unwrap(), 8);
    assert_eq!(sink.next_deadline(), None);
    sink.deliver_at(&batch_of(&["x"]), start).unwrap();
    let due = sink.next_deadline().unwrap();
    assert!(due > start && due - start < Duration::from_millis(100), "it does not wait for seven more");
    sink.on_deadline_at(due).unwrap();
    assert_eq!((sink.settled().unwrap(), disk.set(|state| state.syncs)), (1, (2, 1)));
}

#[test]
fn after_a_failed_sync_what_was_written_is_taken_back_and_a_new_file_is_begun() {
    let (mut sink, disk) = sink(&[("sink.fsync", "batch")]);
    deliver(&mut sink, &["one"]).unwrap();
    disk.set(|state| state.fail_sync = true);
    sink.on_deadline_at(Instant::now()).unwrap_err();
    assert_eq!((sink.settled().unwrap(), disk.texts()), (0, vec![String::new()]));
    disk.set(|state| state.fail_sync = false);
    deliver(&mut sink, &["one"]).unwrap();
    sink.close().unwrap();
    assert_eq!((sink.settled().unwrap(), disk.texts()), (1, vec![String::new(), "one\n".to_owned()]));
}

#[test]
fn a_removed_file_is_left_for_a_new_one() {
    let (mut sink, disk) = sink(&[]);
    deliver(&mut sink, &["one"]).unwrap();
    disk.set(|state| state.removed.insert("/d/1-1".into()));
    deliver(&mut sink, &["two"]).unwrap();
    deliver(&mut sink, &["three"]).unwrap();
    assert_eq!(disk.texts(), ["one\n", "two\nthree\n"]);
}

#[test]
fn what_was_not_yet_safe_in_a_removed_file_comes_again() {
    let (mut sink, disk) = sink(&[("sink.fsync", "batch")]);
    deliver(&mut sink, &["one"]).unwrap();
    disk.set(|state| state.removed.insert("/d/1-1".into()));
    let error = sink.on_deadline_at(Instant::now()).unwrap_err();
    assert!(error.to_string().contains("/d/1-1 was removed"), "{error}");
    deliver(&mut sink, &["one"]).unwrap();
    disk.set(|state| state.removed.insert("/d/1-2".into()));
    deliver(&mut sink, &["two"]).unwrap_err();
    assert_eq!((sink.settled().unwrap(), sink.next_deadline()), (0, None));
    deliver(&mut sink, &["one", "two"]).unwrap();
    sink.close().unwrap();
    assert_eq!((sink.settled().unwrap(), &*disk.texts()[2]), (1, "one\ntwo\n"));
}

#[test]
fn large_batches_that_are_synced_are_in_the_file_as_they_came() {
    let dir = tempfile::tempdir().unwrap();
    let pairs = [("sink.fsync", "batch"), ("sink.rollInterval", "0")];
    let mut sink = rolling(dir.path(), &pairs, &Arc::default());
    let mut all = String::new();
    for (n, len) in [(3, 10), (1_000, 300), (1, 1), (2_000, 500), (700, 2_000), (5, 70_000)] {
        let lines: Vec<String> = (0..n).map(|i| format!("{i} {}", "x".repeat(len + i % 7))).collect();
        let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
        deliver(&mut sink, &texts).unwrap();
        all.extend(lines.iter().map(|line| format!("{line}\n")));
    }
    sink.close().unwrap();
    let files = files(dir.path());
    assert!(files.len() == 1 && files[0].1 == all, "{} files", files.len());
}

#[test]
fn a_file_that_somebody_has_lengthened_gets_whole_batches_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let mut out = RealDisk.create_new(&path, true).unwrap();
    let mut buffer = buffer::Buffer::default();
    buffer.lay(1 << 20, 0).extend_from_slice(&[b'x'; 1 << 20]);
    std::fs::write(&path, "odd").unwrap();
    out.append(buffer.bytes()).unwrap();
    out.append(b"end").unwrap();
    let expected = ["odd".as_bytes(), &[b'x'; 1 << 20], b"end"].concat();
    let written = std::fs::read(&path).unwrap();
    let differs = written.iter().zip(&expected).position(|(one, other)| one != other);
    assert_eq!((written.len(), differs), (expected.len(), None));
}

#[test]
fn the_real_disk_sees_that_a_file_was_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let out = RealDisk.create_new(&path, true).unwrap();
    assert!(!out.is_removed());
    std::fs::remove_file(&path).unwrap();
    assert!(out.is_removed());
}

#[test]
fn fsync_roll_syncs_when_a_file_is_finished() {
    let (mut sink, disk) = sink(&[("sink.fsync", "roll"), ("sink.rollInterval", "10")]);
    let start = Instant::now();
    assert!(!sink.deliver_at(&batch_of(&["x"]), start).unwrap().held);
    assert_eq!(disk.set(|state| state.syncs), (0, 0));
    sink.on_deadline_at(start + Duration::from_secs(10)).unwrap();
    assert_eq!(disk.set(|state| state.syncs), (1, 1));
    sink.close().unwrap();
    assert_eq!(disk.set(|state| state.syncs), (2, 2));
}

#[test]
fn without_fsync_the_disk_is_never_told() {
    let (mut sink, disk) = sink(&[("sink.fsync", "none")]);
    deliver(&mut sink, &["x"]).unwrap();
    sink.close().unwrap();
    assert_eq!(disk.set(|state| state.syncs), (0, 0));
}

#[test]
fn a_directory_that_cannot_be_written_is_named_and_tried_again() {
    let (mut sink, disk) = sink(&[("sink.rollInterval", "10")]);
    disk.set(|state| state.fail_create = true);
    let start = Instant::now();
    let error = sink.on_deadline_at(start).unwrap_err();
    assert!(error.to_string().contains("/d/1-1") && error.to_string().contains("sink.directory"), "{error}");
    assert_eq!(
        sink.next_deadline(),
        Some(start + Duration::from_secs(10)),
        "without events it is not tried all the time"
    );
    sink.deliver_at(&batch_of(&["x"]), start).unwrap_err();
    disk.set(|state| state.fail_create = false);
    sink.deliver_at(&batch_of(&["x"]), start).unwrap();
    assert_eq!(disk.texts(), ["x\n"]);
}

#[test]
fn a_missing_directory_is_no_loss() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let mut sink = rolling(&missing, &[], &Arc::new(SetClock::at(1)));
    deliver(&mut sink, &["x"]).unwrap_err();
    fs::create_dir(&missing).unwrap();
    deliver(&mut sink, &["x"]).unwrap();
    assert_eq!(files(&missing).iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["x\n"]);
}

/// Refuses some events, and has something to write at the beginning, with each batch and at the end.
struct Picky;

impl EventSerializer for Picky {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        out.extend_from_slice(b"<");
        Ok(())
    }
    fn write(&mut self, event: Event<'_>, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        if event.body == b"bad" {
            return Err(SerializeError { serializer: "picky", reason: "no".to_owned() });
        }
        out.extend_from_slice(event.body);
        Ok(())
    }
    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        out.extend_from_slice(b";");
        Ok(())
    }
    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        out.extend_from_slice(b">");
        Ok(())
    }
}

fn picky() -> (RollingFile, FaultyDisk) {
    let disk = FaultyDisk::default();
    let config = config(Path::new("/d"), &[]);
    let sink = RollingFile::new(Parts {
        make_serializer: Box::new(|| Ok(Box::new(Picky))),
        names: Names::new(&config, &Zone::utc(), Arc::new(SetClock::at(1))).unwrap(),
        directory: config.directory,
        disk: Box::new(disk.clone()),
        interval: Some(Duration::from_secs(10)),
        most_bytes: 0,
        sync: Sync::Never,
        metrics: Arc::default(),
    });
    (sink, disk)
}

#[test]
fn an_event_that_cannot_be_written_is_discarded_and_the_rest_written() {
    let (mut sink, disk) = picky();
    let delivery = deliver(&mut sink, &["a", "bad", "c"]).unwrap();
    assert_eq!((delivery.done, delivery.discarded), (3, vec![(1, "the serializer cannot write it")]));
    sink.close().unwrap();
    assert_eq!(disk.texts(), ["<ac;>"]);
}

#[test]
fn beginning_and_end_of_a_file_survive_a_full_disk() {
    let (mut sink, disk) = picky();
    let start = Instant::now();
    disk.set(|state| state.room = Some(0));
    sink.deliver_at(&batch_of(&["a"]), start).unwrap_err();
    disk.set(|state| state.room = Some(3));
    sink.deliver_at(&batch_of(&["a"]), start).unwrap();
    sink.on_deadline_at(start + Duration::from_secs(10)).unwrap_err();
    assert_eq!(disk.texts(), ["<a;"], "the file stays open until its end can be written");
    disk.set(|state| state.room = None);
    sink.deliver_at(&batch_of(&["b"]), start + Duration::from_secs(11)).unwrap();
    assert_eq!(disk.texts(), ["<a;>", "<b;"]);
}
