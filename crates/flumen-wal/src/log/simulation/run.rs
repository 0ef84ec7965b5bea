//! One run: puts, takes, commits, jobs in any order, failing calls, power losses, and what the model says of it.

use super::super::{
    Answer, Hooks, Keys, Loan, LogError, LogSettings, Shared,
    bugs::{Bug, Bugs},
    encode::EventBytes,
    open,
    work::Begun,
};
use super::durable::Durable;
use crate::{
    committer::{Blocks, Done, Job},
    disk::simulated::{Fault, SimulatedDisk},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::AddAssign,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
};

const STEPS: u32 = 120;

/// What a run did, so that one that does nothing is noticed.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Totals {
    pub(super) acknowledged_puts: u64,
    pub(super) acknowledged_takes: u64,
    pub(super) crashes: u64,
    pub(super) failures: u64,
    pub(super) removed_files: u64,
    /// Losses that recovery told of although nothing acknowledged was lost.
    pub(super) false_alarms: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.acknowledged_puts += other.acknowledged_puts;
        self.acknowledged_takes += other.acknowledged_takes;
        self.crashes += other.crashes;
        self.failures += other.failures;
        self.removed_files += other.removed_files;
        self.false_alarms += other.false_alarms;
    }
}

/// What is known of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// Its put was not answered, or was refused: it may be there.
    Maybe,
    /// Its put was acknowledged: it is there.
    There,
    /// Its take was begun to be committed, and not answered: it may be gone.
    MaybeGone,
    /// Its take was acknowledged: it never comes again.
    Gone,
}

type Answers = Arc<Mutex<Vec<(Vec<u64>, bool, bool)>>>;

/// How far a job is.
#[derive(Debug)]
enum Stage {
    Job(Job),
    Begun(Begun),
    Ended(io::Result<Done>),
}

pub(super) struct Run {
    pub(super) disk: SimulatedDisk,
    random: u64,
    bug: Option<Bug>,
    settings: LogSettings,
    shared: Arc<Shared>,
    jobs: Vec<Stage>,
    durable: Durable,
    /// Whether faults are planned by the run itself.
    quiet: bool,
    loans: Vec<Loan>,
    /// Events, whether they were put or taken, and whether that worked.
    answers: Answers,
    known: BTreeMap<u64, Known>,
    next: u64,
    totals: Totals,
    lost: Arc<Mutex<u64>>,
    locks: Vec<Box<dyn crate::disk::DiskLock>>,
}

/// Keys for one seed out of four: sealed records.
fn sealed(seed: u64) -> Option<Keys> {
    let n = AtomicU64::new(seed);
    let random = move |bytes: &mut [u8]| {
        // Another one each time, as salts are.
        let n = n.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        bytes.iter_mut().zip(n.iter().cycle()).for_each(|(byte, n)| *byte = *n);
        Ok(())
    };
    (seed / 18 % 4 == 3).then(|| Keys {
        cipher_provider: "AESGCM".to_owned(),
        active_key: "k".to_owned(),
        key: Arc::new(|_| Some(vec![7; 16])),
        random: Arc::new(random),
    })
}

impl Run {
    pub(super) fn new(seed: u64, bug: Option<Bug>) -> Self {
        let disk = SimulatedDisk::new(seed);
        let n_dirs = 1 + seed % 2;
        let settings = LogSettings {
            checkpoint_dir: "/c".into(),
            data_dirs: (0..n_dirs).map(|n| PathBuf::from(format!("/data{n}"))).collect(),
            max_file_bytes: [300, 1_000, 5_000][(seed / 2 % 3) as usize],
            minimum_free_bytes: 0,
            memory_bytes: [1, 2_000, 1 << 20][(seed / 6 % 3) as usize],
            writes_in_flight: 3,
            // Of two logs out of three, runs of several events have blocks for themselves.
            blocks: (!seed.is_multiple_of(3)).then_some(Blocks { size: 512, from: 150 }),
            name: "c".into(),
            encryption: (seed % 7 == 3).then(keys).or_else(|| sealed(seed).filter(|_| bug.is_none())),
            version_2: Vec::new(),
        };
        let shared = Shared::new(
            Arc::new(disk.clone()),
            settings.clone(),
            Default::default(),
            hooks(&Arc::default()),
            bug,
        );
        Self {
            disk,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5555 | 1,
            bug,
            settings,
            shared,
            jobs: Vec::new(),
            durable: Durable::default(),
            quiet: false,
            loans: Vec::new(),
            answers: Answers::default(),
            known: BTreeMap::new(),
            next: 0,
            totals: Totals::default(),
            lost: Arc::default(),
            locks: Vec::new(),
        }
    }

    /// One in which nothing fails but what is planned from outside.
    pub(super) fn quiet(seed: u64) -> Self {
        Self { quiet: true, ..Self::new(seed, None) }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % n.max(1)
    }

    /// Plays the run. An error says which promise was broken.
    pub(super) fn play(mut self) -> Result<Totals, String> {
        self.open()?;
        for _ in 0..STEPS {
            self.step()?;
            self.take_answers()?;
        }
        self.crash()?;
        self.drain()?;
        Ok(self.totals)
    }

    fn step(&mut self) -> Result<(), String> {
        if self.disk.is_off() || (self.shared.state().line.failed().is_some() && self.below(3) == 0) {
            return self.crash();
        }
        if self.shared.state().line.failed().is_some() {
            self.is_refused()?;
        }
        match self.below(40) {
            0..8 => self.put(),
            8..14 => self.take(),
            14..18 => self.commit(),
            18 if !self.loans.is_empty() => {
                let at = self.below(self.loans.len() as u64) as usize;
                let loan = self.loans.swap_remove(at);
                self.shared.state().queue.give_back(loan.pieces);
            }
            19..33 => return self.work(),
            33..35 => self.shared.read_ahead(),
            35 if self.below(2) == 0 => {
                let mut state = self.shared.state();
                let oldest = state.queue.oldest_file();
                state.line.leave(oldest);
            }
            35 => self.shared.mark(),
            36 => {
                let before = self.shared.state().files.len();
                // A checkpoint that cannot be written harms nobody.
                let _ = self.shared.checkpoint();
                self.totals.removed_files += before.saturating_sub(self.shared.state().files.len()) as u64;
            }
            37 if !self.quiet => {
                let faults = [Fault::Error, Fault::Error, Fault::NoSpace, Fault::PowerLoss];
                let fault = faults[self.below(4) as usize];
                let at = self.disk.calls() + self.below(12);
                self.disk.fail_at(at, fault);
            }
            38 if self.below(3) == 0 => return self.crash(),
            _ => {}
        }
        Ok(())
    }

    fn put(&mut self) {
        let n = 1 + self.below(4);
        let events: Vec<u64> = (self.next..self.next + n).collect();
        self.next += n;
        if self.shared.state().line.failed().is_some() || !self.shared.state().queue.reserve(n, 1_000) {
            return;
        }
        let bodies: Vec<Vec<u8>> = events
            .iter()
            .map(|event| format!("{event} {}", "x".repeat((event % 7 * 20) as usize)).into_bytes())
            .collect();
        for event in &events {
            self.known.insert(*event, Known::Maybe);
        }
        let bytes: Vec<EventBytes<'_>> =
            bodies.iter().map(|body| EventBytes { headers: &[], body }).collect();
        let answer = self.answer(events, true);
        self.shared.put(&bytes, n as u32, 0, answer);
    }

    /// A log that has failed refuses takes, or a sink would get the same events for ever, and puts.
    fn is_refused(&mut self) -> Result<(), String> {
        if self.shared.take(1).is_ok() {
            return Err("a log that has failed lends events".into());
        }
        let refused = Arc::new(Mutex::new(None));
        let answered = refused.clone();
        let answer: Answer = Box::new(move |result| *answered.lock().unwrap() = Some(result.is_err()));
        self.shared.put(&[EventBytes { headers: &[], body: b"0" }], 0, 0, answer);
        match *refused.lock().unwrap() {
            Some(true) => Ok(()),
            _ => Err("a log that has failed accepts events".into()),
        }
    }

    fn answer(&self, events: Vec<u64>, put: bool) -> Answer {
        let answers = self.answers.clone();
        Box::new(move |result: Result<(), LogError>| {
            answers.lock().unwrap().push((events, put, result.is_ok()));
        })
    }

    fn take(&mut self) {
        let most = 1 + self.below(5) as u32;
        if let Ok(Some(loan)) = self.shared.take(most) {
            self.loans.push(loan);
        }
    }

    fn commit(&mut self) {
        if self.loans.is_empty() {
            return;
        }
        let at = self.below(self.loans.len() as u64) as usize;
        let loan = self.loans.swap_remove(at);
        let n = 1 + self.below(u64::from(loan.n_events())) as u32;
        let events: Vec<u64> = numbers(&loan).into_iter().take(n as usize).collect();
        for event in &events {
            if let Some(known) = self.known.get_mut(event).filter(|known| **known != Known::Gone) {
                *known = Known::MaybeGone;
            }
        }
        let answer = self.answer(events, false);
        self.shared.commit(loan, n, answer);
    }

    /// Takes a job, or does a part of one: of any directory, in any order. Between writing and syncing, and between syncing
    /// and its answer, anything can come.
    fn work(&mut self) -> Result<(), String> {
        let dir = self.below(self.settings.data_dirs.len() as u64) as usize;
        if self.jobs.len() < 3 && self.below(3) == 0 {
            let job = self.shared.state().line.next_job(dir);
            self.jobs.extend(job.map(Stage::Job));
        } else if !self.jobs.is_empty() {
            let at = self.below(self.jobs.len() as u64) as usize;
            match self.jobs.swap_remove(at) {
                Stage::Job(job) => {
                    if self.settings.encryption.is_none() {
                        self.durable.begins(&job)?;
                    }
                    let begun = self.shared.begin(job);
                    self.jobs.push(begun.map_or_else(|error| Stage::Ended(Err(error)), Stage::Begun));
                }
                Stage::Begun(begun) => {
                    let written = if let Begun::Written(of) = &begun { of.parts.clone() } else { Vec::new() };
                    let result = self.shared.complete(begun);
                    if result.is_ok() {
                        self.durable.ended(&written);
                    }
                    self.jobs.push(Stage::Ended(result));
                }
                Stage::Ended(result) => {
                    self.totals.failures += u64::from(result.is_err());
                    self.shared.finish(result);
                }
            }
        }
        Ok(())
    }

    fn take_answers(&mut self) -> Result<(), String> {
        let answers = std::mem::take(&mut *self.answers.lock().unwrap());
        for (events, put, worked) in answers {
            for event in events {
                let known = self.known.entry(event).or_insert(Known::Maybe);
                match (put, worked) {
                    (true, true) => {
                        self.totals.acknowledged_puts += 1;
                        if *known == Known::Maybe {
                            *known = Known::There;
                        }
                    }
                    (false, true) => {
                        self.totals.acknowledged_takes += 1;
                        *known = Known::Gone;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The process ends or the power goes; then the log is opened again, and what waits is compared.
    fn crash(&mut self) -> Result<(), String> {
        self.take_answers()?;
        self.totals.crashes += 1;
        if self.disk.is_off() || self.below(2) == 0 {
            self.disk.lose_power();
        } else if self.below(2) == 0 {
            self.disk.end_process();
        }
        self.open()
    }

    fn open(&mut self) -> Result<(), String> {
        self.jobs.clear();
        self.loans.clear();
        self.locks.clear();
        loop {
            match self
                .try_open()
                .map_err(|error| format!("not opened: {error}"))
                .and_then(|()| self.compare())
            {
                Ok(()) => return Ok(()),
                // A fault that was planned has hit the opening, or the reading; the supervisor tries again.
                Err(_) if self.disk.is_off() => self.disk.lose_power(),
                Err(error) if error.starts_with("not ") && error.contains("os error") => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn try_open(&mut self) -> Result<(), String> {
        self.locks.clear();
        let mut options = open::OpenOptions {
            backup_dir: None,
            adopt: false,
            since: 0,
            clock_ms: 0,
            progress: &mut |_, _| {},
        };
        let disk = Arc::new(self.disk.clone());
        let prepared = open::prepare(&*disk, &self.settings, &mut options, &Bugs::new(self.bug))
            .map_err(|error| error.to_string())?;
        if !prepared.report.missing_files.is_empty() {
            return Err(format!("a file is missing: {:?}", prepared.report));
        }
        self.totals.false_alarms += u64::from(prepared.report.lost_events > 0);
        self.locks = prepared.locks;
        self.durable = Durable::from(prepared.start.order);
        self.answers = Answers::default();
        self.shared = Shared::new(disk, self.settings.clone(), prepared.start, hooks(&self.lost), self.bug);
        Ok(())
    }

    /// What waits after an opening against what must, may and must not.
    fn compare(&mut self) -> Result<(), String> {
        let waiting = self.waiting()?;
        let mut seen = BTreeSet::new();
        for event in &waiting {
            if !seen.insert(*event) {
                return Err(format!("event {event} is there twice"));
            }
            match self.known.get(event) {
                None => return Err(format!("event {event} comes from nowhere")),
                Some(Known::Gone) => {
                    return Err(format!("event {event} was taken for good and is there again"));
                }
                Some(_) => {}
            }
        }
        for (event, known) in &self.known {
            if *known == Known::There && !seen.contains(event) {
                return Err(format!("event {event} was acknowledged and is gone"));
            }
        }
        if !waiting.is_sorted() {
            return Err(format!("out of order: {waiting:?}"));
        }
        // What is there now stays; what is not there never comes again.
        for (event, known) in &mut self.known {
            *known = if seen.contains(event) { Known::There } else { Known::Gone };
        }
        Ok(())
    }

    /// Reads all that waits, through the log, and gives it back.
    fn waiting(&mut self) -> Result<Vec<u64>, String> {
        let mut all = Vec::new();
        let mut loans = Vec::new();
        let limit = std::mem::replace(&mut self.shared.state().queue.memory_limit, u64::MAX);
        loop {
            match self.shared.take(100) {
                Ok(Some(loan)) => {
                    all.extend(numbers(&loan));
                    loans.push(loan);
                }
                Ok(None) if self.shared.state().queue.to_read().is_some() => self.shared.read_ahead(),
                Ok(None) => break,
                Err(error) => return Err(format!("not readable: {error}")),
            }
        }
        for loan in loans {
            self.shared.state().queue.give_back(loan.pieces);
        }
        self.shared.state().queue.memory_limit = limit;
        match *self.lost.lock().unwrap() {
            0 => Ok(all),
            n => Err(format!("{n} events could not be read")),
        }
    }

    /// At the end everything that waits is taken for good, and then nothing waits.
    fn drain(&mut self) -> Result<(), String> {
        self.disk.forget_faults();
        self.open()?;
        while let Some(loan) = self.next_loan()? {
            let (n, events) = (loan.n_events(), numbers(&loan));
            let answer = self.answer(events, false);
            self.shared.commit(loan, n, answer);
            while !self.shared.state().line.is_idle() {
                self.work()?;
                if self.shared.state().line.failed().is_some() {
                    return Err("a sound disk failed".into());
                }
            }
        }
        self.take_answers()?;
        self.disk.lose_power();
        self.open()?;
        if self.shared.state().queue.depth().queued == 0 { Ok(()) } else { Err("something is left".into()) }
    }

    fn next_loan(&mut self) -> Result<Option<Loan>, String> {
        loop {
            match self.shared.take(10).map_err(|error| error.to_string())? {
                None if self.shared.state().queue.to_read().is_some() => self.shared.read_ahead(),
                loan => return Ok(loan),
            }
        }
    }
}

fn keys() -> Keys {
    let counter = AtomicU8::new(1);
    Keys {
        cipher_provider: "AESCTRNOPADDING".into(),
        active_key: "k".into(),
        key: Arc::new(|_| Some(vec![7; 16])),
        random: Arc::new(move |bytes| {
            bytes.fill(counter.fetch_add(1, Ordering::Relaxed));
            Ok(())
        }),
    }
}

fn hooks(lost: &Arc<Mutex<u64>>) -> Hooks {
    let lost = lost.clone();
    Hooks {
        readable: Box::new(|| {}),
        failed: Box::new(|| {}),
        lost: Box::new(move |n| *lost.lock().unwrap() += u64::from(n)),
    }
}

fn numbers(loan: &Loan) -> Vec<u64> {
    let copies = loan.pieces().iter().filter_map(|piece| piece.copy.as_ref());
    let bodies = copies.flat_map(|copy| copy.events().iter().map(|event| copy.body_of(event).to_vec()));
    bodies
        .map(|body| {
            let text = String::from_utf8(body).expect("a body is text");
            text.split(' ')
                .next()
                .and_then(|digits| digits.parse().ok())
                .expect("a body begins with its number")
        })
        .collect()
}
