//! A log that is open: puts and takes go into one line, become durable together, and are answered in order.
//!
//! What waits is known by its place; events near the front have a copy in memory. After the first failed write or sync the log
//! refuses everything until it has been opened anew: nothing is written twice.

mod adopt;
mod bugs;
mod encode;
mod facts;
mod files;
mod firm;
mod keep;
mod known;
mod mounted;
mod open;
mod read;
mod settings;
mod work;

pub use crate::committer::Blocks;
pub use encode::EventBytes;
pub use known::Known;
pub(crate) use known::mark_rewritten;
pub(crate) use open::{LOCK_FILE, hold};
pub use open::{OpenError, OpenOptions, Opened, check_unused, open};
pub use settings::{Hooks, Keys, LogSettings, Start};

use crate::{
    committer::{Done, Line, Place, Ticket},
    data_file::{Cipher, Encryption},
    disk::{Disk, DiskLock},
    queue::{Piece, Queue, QueueDepth},
    record::{self, COMMIT_LEN, TAKE_LEN},
    sync::{Condvar, JoinHandle, Mutex, MutexGuard},
};
use bugs::{Bug, Bugs};
use bytes::Bytes;
use keep::Keep;
use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, PoisonError},
};

/// Runs of this many transactions go to one data directory before the next one has its turn.
const TURN: u64 = 64;

/// A log that is open. Dropping it without [`Log::close`] stops it as a crash would, but waits for what is being written.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    running: Mutex<Running>,
}

/// What ends with the log.
#[derive(Debug, Default)]
struct Running {
    threads: Vec<JoinHandle<()>>,
    /// Held until everything has stopped.
    locks: Vec<Box<dyn DiskLock>>,
}

/// What becomes of a commit: called once, from a thread of the log or from the caller's.
pub type Answer = Box<dyn FnOnce(Result<(), LogError>) + Send>;

/// Why a log refuses.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// A write or a sync has failed; the log must be opened anew.
    #[error("{0}")]
    Failed(Arc<io::Error>),
    /// It was closed.
    #[error("the log is closed")]
    Closed,
    /// A single record is longer than a data file may be.
    #[error("an event takes {bytes} bytes in the log, and a data file may have {limit}: raise maxFileSize")]
    TooLong {
        /// Bytes of the record.
        bytes: u64,
        /// Bytes of a data file.
        limit: u64,
    },
    /// Less space is free than must stay free.
    #[error("{free} bytes are free below the data directories, and {required} are needed: make room")]
    NoSpace {
        /// Bytes that are free.
        free: u64,
        /// Bytes that must be free: those that must stay so, and those of this put or take.
        required: u64,
    },
}

/// Events on loan.
#[derive(Debug)]
#[must_use = "events on loan are committed or given back"]
pub struct Loan {
    pieces: Vec<Piece>,
}

impl Loan {
    /// The events, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// How many there are.
    pub fn n_events(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.count).sum()
    }
}

#[derive(Debug)]
struct Shared {
    disk: Arc<dyn Disk>,
    settings: LogSettings,
    hooks: Hooks,
    state: Mutex<State>,
    /// Something is to be written, by directory.
    work: Vec<Condvar>,
    /// Something is to be read.
    reading: Condvar,
    /// The line has become empty, or has failed.
    idle: Condvar,
    /// The encryption of the files that are being written or made.
    ciphers: Mutex<Vec<(u32, Encryption, Arc<Cipher>)>>,
    bugs: Bugs,
}

#[derive(Debug)]
struct State {
    line: Line<Entry>,
    queue: Queue,
    /// The directory of each data file.
    files: BTreeMap<u32, usize>,
    keep: Keep,
    n_puts: u64,
    closed: bool,
    stopping: bool,
}

/// What becomes of a run once it is durable.
enum Entry {
    /// Its events can be taken.
    Put(Vec<Piece>, Answer),
    /// Its events are gone. The last one of several carries the answer.
    Take(Vec<Piece>, Option<Answer>),
    /// Nothing: it only carries a watermark.
    Mark,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Put(..) => "Put",
            Self::Take(..) => "Take",
            Self::Mark => "Mark",
        })
    }
}

impl Log {
    /// Starts a log where recovery has ended: everything is settled and durable, the next record goes to a new file.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(
        disk: Arc<dyn Disk>,
        settings: LogSettings,
        start: Start,
        locks: Vec<Box<dyn DiskLock>>,
        hooks: Hooks,
    ) -> io::Result<Self> {
        let shared = Shared::new(disk, settings, start, hooks, None);
        let log = Self { shared, running: Mutex::new(Running { threads: Vec::new(), locks }) };
        log.running().threads = work::start(&log.shared)?;
        Ok(log)
    }

    /// Holds room for so many events with so many bytes of bodies. False: there is none now.
    ///
    /// # Errors
    /// The log has failed or is closed, or the disk is nearly full.
    pub fn reserve(&self, events: u32, bytes: u64, capacity: u64) -> Result<bool, LogError> {
        let mut state = self.shared.open_state()?;
        state.keep.check_space(&self.shared.settings, bytes)?;
        Ok(state.queue.reserve(u64::from(events), capacity))
    }

    /// Whether a put of so many bytes may be the first that does not stay in memory until it is taken, while events are being
    /// taken.
    pub fn would_outrun_memory(&self, bytes: u64) -> bool {
        self.shared.state().queue.would_outrun_memory(bytes)
    }

    /// Gives room back.
    pub fn release(&self, events: u32) {
        self.shared.state().queue.release(u64::from(events));
    }

    /// Stores events, in one run, in the room of `room` events that is held; what is left of the room is free at once. Their
    /// place in the order is fixed when this returns. `since` is when that was, in the caller's time.
    pub fn put(&self, events: &[EventBytes<'_>], room: u32, since: u64, answer: Answer) {
        self.shared.put(events, room, since, answer);
    }

    /// Lends up to `most` events from the front, as far as they are in memory; none where none are.
    ///
    /// # Errors
    /// The log has failed or is closed, or the disk is so full that the take could not be written.
    pub fn take(&self, most: u32) -> Result<Option<Loan>, LogError> {
        self.shared.take(most)
    }

    /// Puts events on loan back where they were.
    pub fn give_back(&self, loan: Loan) {
        self.shared.state().queue.give_back(loan.pieces);
    }

    /// Forgets the first `n_events` of a loan for good; the rest goes back to its place at once.
    pub fn commit(&self, loan: Loan, n_events: u32, answer: Answer) {
        self.shared.commit(loan, n_events, answer);
    }

    /// How much is in it.
    pub fn depth(&self) -> QueueDepth {
        self.shared.state().queue.depth()
    }

    /// Why it has failed, once it has.
    pub fn failure(&self) -> Option<LogError> {
        self.shared.state().line.failed().map(|error| LogError::Failed(error.clone()))
    }

    /// Refuses puts and takes from now on. What is under way goes on.
    pub fn refuse(&self) {
        self.shared.state().closed = true;
    }

    /// What is to be done now and then: looks at the free space, writes a watermark after `quiet` (nothing was put or taken
    /// for a second). Says whether space has come free for puts that were refused.
    pub fn tend(&self, quiet: bool) -> bool {
        let came_free = self.shared.look_at_space();
        if quiet {
            self.shared.mark();
        }
        came_free
    }

    /// Where space is short: has files that hold nothing that waits be left. Says whether [`Log::checkpoint`] would remove files
    /// now, and should be called at once.
    pub fn make_room(&self) -> bool {
        self.shared.make_room()
    }

    /// Writes a checkpoint if anything has changed since the last one or files can go, and removes data files that nobody needs any more.
    ///
    /// # Errors
    /// The checkpoint could not be written. The log goes on.
    pub fn checkpoint(&self) -> io::Result<()> {
        self.shared.checkpoint()
    }

    /// Ends it: waits for what is under way, says on disk that all is durable, writes a checkpoint if that is wanted, and
    /// gives the directories free. What is on loan or has room then is refused.
    ///
    /// # Errors
    /// The checkpoint could not be written: the next opening takes longer, and nothing is lost.
    pub fn close(&self, checkpoint: bool) -> io::Result<()> {
        self.refuse();
        self.shared.wait_until_idle();
        self.shared.mark();
        self.shared.wait_until_idle();
        let written = if checkpoint { self.shared.checkpoint() } else { Ok(()) };
        let well = self.shared.state().line.failed().is_none();
        self.shared.stop();
        self.join();
        if well {
            self.shared.remove_lock_files();
        }
        self.running().locks.clear();
        written
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(&self) {
        let threads = std::mem::take(&mut self.running().threads);
        for thread in threads {
            // A thread that has panicked has failed the log already.
            let _ = thread.join();
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.shared.stop();
        self.join();
    }
}

impl Shared {
    fn new(
        disk: Arc<dyn Disk>,
        settings: LogSettings,
        start: Start,
        hooks: Hooks,
        bug: Option<Bug>,
    ) -> Arc<Self> {
        let n_dirs = settings.data_dirs.len();
        let blocks = settings.blocks.filter(|_| settings.encryption.is_none());
        let runs = start.runs.iter().map(|run| (run.start, run.count, run.bytes));
        let state = State {
            line: Line::new(start.counters(), n_dirs, settings.max_file_bytes, blocks),
            queue: Queue::new(runs, start.since, settings.memory_bytes),
            files: start.files.iter().copied().collect(),
            keep: Keep::new(&start, n_dirs),
            n_puts: 0,
            closed: false,
            stopping: false,
        };
        Arc::new(Self {
            disk,
            settings,
            hooks,
            state: Mutex::new(state),
            work: (0..n_dirs).map(|_| Condvar::new()).collect(),
            reading: Condvar::new(),
            idle: Condvar::new(),
            ciphers: Mutex::default(),
            bugs: Bugs::new(bug),
        })
    }

    /// The state, also after a panic of another thread: what is under the lock is whole between its changes, and a thread of
    /// the log that panics fails the line.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_state(&self) -> Result<MutexGuard<'_, State>, LogError> {
        let state = self.state();
        match state.line.failed() {
            Some(error) => Err(LogError::Failed(error.clone())),
            None if state.closed => Err(LogError::Closed),
            None => Ok(state),
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bugs.has(bug)
    }

    fn put(&self, events: &[EventBytes<'_>], room: u32, since: u64, answer: Answer) {
        let overhead = self.settings.overhead();
        let mut lens: Vec<u32> =
            events.iter().map(|event| event.record_len().saturating_add(overhead)).collect();
        let longest = u64::from(lens.iter().copied().max().unwrap_or(0));
        lens.push(COMMIT_LEN as u32 + overhead);
        let limit = self.settings.max_file_bytes;
        let placed = {
            let mut state = self.state();
            let failed = state.line.failed().cloned().map(LogError::Failed);
            let too_long = (longest > limit).then_some(LogError::TooLong { bytes: longest, limit });
            let all: u64 = lens.iter().map(|len| u64::from(*len)).sum();
            // Looked at again: others may have had the same room in mind.
            let no_space = || state.keep.check_space(&self.settings, all).err();
            let refused = failed.or(too_long).or_else(no_space);
            // Room for what is not stored is free at once; the rest becomes what is stored.
            let n_stored = if refused.is_some() { 0 } else { events.len() as u64 };
            state.queue.release(u64::from(room) - n_stored);
            match refused {
                Some(error) => Err(error),
                None => {
                    let dir = (state.n_puts / TURN) as usize % self.settings.data_dirs.len();
                    state.n_puts += 1;
                    let ticket = state.place(dir, &lens);
                    Ok((dir, self.watermark(&state, ticket)))
                }
            }
        };
        let (dir, ticket) = match placed {
            Ok(placed) => placed,
            Err(_) if self.has(Bug::PutsGoOn) => return answer(Ok(())),
            Err(error) => return answer(Err(error)),
        };
        let fails = encode::FailsUnlessDone::new(self);
        let (bytes, pieces) = encode::put_run(events, &lens, overhead, &ticket, since);
        fails.done();
        self.hand_in(dir, &ticket, bytes, Entry::Put(pieces, answer));
    }

    fn take(&self, most: u32) -> Result<Option<Loan>, LogError> {
        let mut state = if self.has(Bug::TakesGoOn) { self.state() } else { self.open_state()? };
        state.keep.check_space_of_takes(most)?;
        let pieces = state.queue.lend(most);
        if state.queue.to_read().is_some() {
            self.reading.notify_one();
        }
        Ok(if pieces.is_empty() { None } else { Some(Loan { pieces }) })
    }

    fn commit(&self, loan: Loan, n_events: u32, answer: Answer) {
        let placed = {
            let mut state = self.state();
            if let Some(error) = state.line.failed().cloned() {
                state.queue.give_back(loan.pieces);
                Err(LogError::Failed(error))
            } else {
                let pieces = state.queue.split_loan(loan.pieces, n_events);
                let mut runs = Vec::new();
                for pieces in state.by_directory(pieces) {
                    let n: u32 = pieces.iter().map(|piece| piece.count).sum();
                    let overhead = self.settings.overhead();
                    let mut lens = vec![TAKE_LEN as u32 + overhead; n as usize];
                    lens.push(COMMIT_LEN as u32 + overhead);
                    let dir = state.directory_of(&pieces);
                    let ticket = state.place(dir, &lens);
                    runs.push((dir, self.watermark(&state, ticket), pieces));
                }
                Ok(runs)
            }
        };
        let runs = match placed {
            Ok(runs) => runs,
            Err(error) => return answer(Err(error)),
        };
        let last = runs.len().saturating_sub(1);
        let mut answer = Some(answer);
        for (at, (dir, ticket, pieces)) in runs.into_iter().enumerate() {
            let fails = encode::FailsUnlessDone::new(self);
            let bytes = encode::take_run(&pieces, &ticket);
            fails.done();
            let answer = if at == last { answer.take() } else { None };
            self.hand_in(dir, &ticket, bytes, Entry::Take(pieces, answer));
        }
    }

    /// Hands the bytes of a run in, for the workers of its directory.
    pub(super) fn hand_in(&self, dir: usize, ticket: &Ticket, bytes: Vec<Bytes>, entry: Entry) {
        let bytes = match self.encrypted(ticket, bytes) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.fail(error);
                Vec::new()
            }
        };
        let refused = {
            let mut state = self.state();
            let early = self.has(Bug::VisibleBeforeDurable);
            if let (Entry::Put(pieces, _), true) = (&entry, early) {
                state.queue.store(pieces.clone());
            }
            let filled = state.line.fill(ticket.slot, bytes, entry);
            filled.err().map(|entry| (entry, state.line.failed().cloned()))
        };
        match refused {
            None if self.has(Bug::QuietHandIn) => {}
            None => self.work[dir].notify_one(),
            Some((entry, Some(error))) => self.refuse_all(vec![entry], &error),
            Some((entry, None)) => self.refuse_all(vec![entry], &Arc::new(io::Error::other("out of line"))),
        }
    }

    /// What goes to disk: the same where nothing is encrypted. Copies in memory are in clear.
    fn encrypted(&self, ticket: &Ticket, bytes: Vec<Bytes>) -> io::Result<Vec<Bytes>> {
        if self.settings.encryption.is_none() {
            return Ok(bytes);
        }
        let encrypt = |(plain, place): (Bytes, &Place)| {
            let cipher = self.cipher_of_new(place.file)?;
            Ok(cipher.map_or(plain.clone(), |cipher| cipher.encrypt_records(place.at, &plain).into()))
        };
        bytes.into_iter().zip(&ticket.parts).map(encrypt).collect()
    }

    fn watermark(&self, state: &State, ticket: Ticket) -> Ticket {
        if self.has(Bug::WatermarkAhead) {
            return Ticket { watermark: state.line.counters().order, ..ticket };
        }
        ticket
    }

    /// Takes what a job has come to: makes durable runs count, in order, and answers.
    fn finish(&self, result: Result<Done, io::Error>) {
        let done = match result {
            Ok(done) => done,
            Err(error) => return self.fail(error),
        };
        let created = matches!(done, Done::Created(_));
        let mut answers = Vec::new();
        {
            let mut state = self.state();
            for entry in state.line.finish(done) {
                match entry {
                    Entry::Put(pieces, answer) => {
                        if !self.has(Bug::VisibleBeforeDurable) {
                            state.queue.store(pieces);
                        }
                        answers.push(answer);
                    }
                    Entry::Take(pieces, answer) => {
                        state.queue.remove(&pieces);
                        answers.extend(answer);
                    }
                    Entry::Mark => {}
                }
                state.keep.changed();
            }
            if state.line.is_idle() {
                self.idle.notify_all();
            }
        }
        if created {
            self.work.iter().for_each(Condvar::notify_all);
        }
        answers.into_iter().for_each(|answer| answer(Ok(())));
    }

    /// The first failure ends the log: what waits is refused, and nothing more is accepted.
    fn fail(&self, error: io::Error) {
        let error = Arc::new(error);
        let (entries, first) = {
            let mut state = self.state();
            let first = state.line.failed().is_none();
            (state.line.fail(error.clone()), first)
        };
        self.work.iter().for_each(Condvar::notify_all);
        self.idle.notify_all();
        self.refuse_all(entries, &error);
        if first {
            (self.hooks.failed)();
        }
    }

    fn refuse_all(&self, entries: Vec<Entry>, error: &Arc<io::Error>) {
        for entry in entries {
            match entry {
                Entry::Put(pieces, answer) => {
                    let n: u64 = pieces.iter().map(|piece| u64::from(piece.count)).sum();
                    self.state().queue.release(n);
                    answer(Err(LogError::Failed(error.clone())));
                }
                Entry::Take(pieces, answer) => {
                    self.state().queue.give_back(pieces);
                    if let Some(answer) = answer {
                        answer(Err(LogError::Failed(error.clone())));
                    }
                }
                Entry::Mark => {}
            }
        }
    }

    fn wait_until_idle(&self) {
        let mut state = self.state();
        while !state.line.is_idle() && state.line.failed().is_none() {
            state = self.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn stop(&self) {
        let refused = {
            let mut state = self.state();
            state.stopping = true;
            state.line.fail(Arc::new(io::Error::other("the log is closed")))
        };
        self.refuse_all(refused, &Arc::new(io::Error::other("the log is closed")));
        self.work.iter().for_each(Condvar::notify_all);
        self.reading.notify_all();
    }
}

impl State {
    fn place(&mut self, dir: usize, lens: &[u32]) -> Ticket {
        let ticket = self.line.place(dir, lens);
        let mut n_bytes = lens.iter().map(|len| u64::from(*len)).sum();
        for place in &ticket.parts {
            self.files.insert(place.file, dir);
            n_bytes += place.pad;
        }
        self.keep.wrote(dir, n_bytes);
        ticket
    }

    /// A take is written in the directory of its put.
    fn directory_of(&self, pieces: &[Piece]) -> usize {
        pieces.first().and_then(|piece| self.files.get(&piece.place.file).copied()).unwrap_or(0)
    }

    /// Neighbours whose files lie in the same directory.
    fn by_directory(&self, pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
        let mut groups: Vec<Vec<Piece>> = Vec::new();
        for piece in pieces {
            let dir = self.directory_of(std::slice::from_ref(&piece));
            match groups.last_mut().filter(|group| self.directory_of(group) == dir) {
                Some(group) => group.push(piece),
                None => groups.push(vec![piece]),
            }
        }
        groups
    }
}

/// The watermark record's length, as a list.
fn mark_lens(settings: &LogSettings) -> [u32; 1] {
    [record::ROLLBACK_LEN as u32 + settings.overhead()]
}

#[cfg(all(test, shuttle))]
mod orders;
#[cfg(test)]
mod simulation;
