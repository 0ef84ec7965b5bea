//! The hand-over between those who put and take, the workers and the reader, in many orders of their steps: nobody waits for
//! ever, and every commit is answered once.

use super::{Answer, EventBytes, Hooks, Log, LogSettings, Running, Shared, Start, bugs::Bug, work};
use crate::{
    disk::{
        Disk,
        simulated::{Fault, SimulatedDisk},
    },
    sync::{Condvar, Mutex},
};
use std::{path::PathBuf, sync::Arc};

const PUTTERS: usize = 2;
const PUTS: usize = 2;
/// Orders that are tried.
const ORDERS: usize = 1_000;

/// Answers, and who waits for them.
#[derive(Default)]
struct Answers(Mutex<Vec<bool>>, Condvar);

impl Answers {
    fn one(self: &Arc<Self>) -> Answer {
        let answers = self.clone();
        Box::new(move |result| {
            answers.0.lock().unwrap().push(result.is_ok());
            answers.1.notify_all();
        })
    }

    fn wait_for(&self, n: usize) -> usize {
        let mut answers = self.0.lock().unwrap();
        while answers.len() < n {
            answers = self.1.wait(answers).unwrap();
        }
        assert_eq!(answers.len(), n, "a commit was answered twice");
        answers.iter().filter(|well| **well).count()
    }
}

fn start(disk: &SimulatedDisk, bug: Option<Bug>) -> Log {
    let settings = LogSettings {
        checkpoint_dir: "/c".into(),
        data_dirs: vec![PathBuf::from("/data")],
        // A file is full after two runs.
        max_file_bytes: 400,
        minimum_free_bytes: 0,
        memory_bytes: 1 << 20,
        writes_in_flight: 2,
        blocks: None,
        name: "c".into(),
        encryption: None,
        version_2: Vec::new(),
    };
    for dir in ["/c", "/data"] {
        disk.create_dir_all(dir.as_ref()).unwrap();
    }
    let hooks =
        Hooks { readable: Box::new(|| {}), failed: Box::new(|| {}), lost: Box::new(|_| panic!("lost")) };
    let shared = Shared::new(Arc::new(disk.clone()), settings, Start::default(), hooks, bug);
    let log = Log { shared, running: Mutex::new(Running::default()) };
    log.running().threads = work::start(&log.shared).unwrap();
    log
}

/// Puts from several threads, takes what was acknowledged, and ends. Says how many puts and takes worked.
fn play(disk: &SimulatedDisk, bug: Option<Bug>) -> (usize, usize) {
    let log = Arc::new(start(disk, bug));
    let answers = Arc::new(Answers::default());
    let putters: Vec<_> = (0..PUTTERS)
        .map(|_| {
            let (log, answers) = (log.clone(), answers.clone());
            shuttle::thread::spawn(move || {
                for _ in 0..PUTS {
                    match log.reserve(1, 1, 100) {
                        Ok(true) => log.put(&[EventBytes { headers: &[], body: b"x" }], 1, 0, answers.one()),
                        _ => answers.one()(Err(super::LogError::Closed)),
                    }
                }
            })
        })
        .collect();
    let n_stored = answers.wait_for(PUTTERS * PUTS);
    putters.into_iter().for_each(|putter| putter.join().unwrap());
    let taken = Arc::new(Answers::default());
    let mut n_removed = 0;
    if let Ok(Some(loan)) = log.take(100) {
        let n_events = loan.n_events();
        assert_eq!(n_events as usize, n_stored, "what was acknowledged can be taken");
        log.commit(loan, n_events, taken.one());
        n_removed = taken.wait_for(1) * n_events as usize;
    }
    let _ = log.close(true);
    (n_stored, n_removed)
}

#[test]
fn every_commit_is_answered_in_every_order() {
    shuttle::check_random(
        || assert_eq!(play(&SimulatedDisk::new(1), None), (PUTTERS * PUTS, PUTTERS * PUTS)),
        ORDERS,
    );
}

#[test]
fn a_failing_disk_leaves_nobody_waiting_in_any_order() {
    for call in 2..14 {
        shuttle::check_random(
            move || {
                let disk = SimulatedDisk::new(1);
                disk.fail_at(call, Fault::Error);
                play(&disk, None);
            },
            ORDERS / 10,
        );
    }
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_hand_over_that_wakes_nobody_is_found() {
    shuttle::check_random(|| drop(play(&SimulatedDisk::new(1), Some(Bug::QuietHandIn))), ORDERS);
}
