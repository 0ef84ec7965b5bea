//! Reads the files of a directory one after the other, and finishes them in that order. It blocks.

use super::{
    disk::Disk,
    file::{Ack, End, Key, SpoolFile},
    finish::{Finish, Finished},
    listing::{Candidate, Places},
    tracker::{Tracked, Tracker, identity},
};
use crate::shared::disk::Stat;
use flumen_core::{
    event::{Batch, Headers, Text},
    metrics::SourceMetrics,
    registry::BuildError,
    serialize::{EventDeserializer, Most, Place, TextInput},
};
use std::{
    collections::{HashMap, VecDeque},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// Files that are open at a time: one that is read, and those before it that wait for the channels.
const MOST_OPEN: usize = 16;
/// Files that something was wrong with and that are tried again, at most.
const MOST_PARKED: usize = 10_000;
/// Looking at a directory takes no more than one part in so many of the time.
const LIST_PARTS: u32 = 20;
/// The name under which it is tried whether a directory can be written.
const CANARY: &str = ".flumen-spooldir-perm-check.canary";

/// Makes a deserializer for each file.
pub(super) type MakeDeserializer = Box<dyn Fn() -> Result<Box<dyn EventDeserializer>, BuildError> + Send>;

/// What a source is told to do.
pub(super) struct Setup {
    pub(super) name: Arc<str>,
    pub(super) places: Places,
    pub(super) finish: Finish,
    /// Names are tried in the directory itself.
    pub(super) renames: bool,
    pub(super) file_header: Option<Text>,
    pub(super) basename_header: Option<Text>,
    pub(super) most: Most,
    pub(super) text: TextInput,
    pub(super) poll_delay: Duration,
    pub(super) make: MakeDeserializer,
    pub(super) metrics: Arc<SourceMetrics>,
}

/// See the module.
pub(super) struct Spool {
    setup: Setup,
    disk: Box<dyn Disk>,
    tracker: Option<Tracker>,
    /// What the tracker said at the start, until its file is found.
    resume: Option<Tracked>,
    /// The file that the tracker is about, then those that were opened after it.
    files: VecDeque<SpoolFile>,
    next_key: Key,
    queue: VecDeque<Candidate>,
    listed: Option<(Instant, Duration)>,
    /// Something was read or finished since then.
    progress: bool,
    parked: HashMap<PathBuf, Parked>,
    list_failed: bool,
    track_failed: bool,
}

/// A file that is tried again at the next look.
struct Parked {
    identity: String,
    place: Place,
    end: Option<End>,
}

impl Spool {
    pub(super) fn new(setup: Setup, disk: Box<dyn Disk>) -> Self {
        Self {
            setup,
            disk,
            tracker: None,
            resume: None,
            files: VecDeque::new(),
            next_key: 0,
            queue: VecDeque::new(),
            listed: None,
            progress: false,
            parked: HashMap::new(),
            list_failed: false,
            track_failed: false,
        }
    }

    /// Looks whether the directories are there and can be used, and takes over what the last run has left.
    pub(super) fn open(&mut self) -> Result<(), (String, io::Error)> {
        let places = &self.setup.places;
        let directory = &places.spool_dir;
        let named = |path: &Path, what: &str| format!("{what} {}", path.display());
        self.disk
            .list(directory, &mut |_, _| {})
            .map_err(|error| (named(directory, "cannot list the directory (spoolDir)"), error))?;
        if self.setup.renames {
            let canary = directory.join(CANARY);
            let tried = self
                .disk
                .remove(&canary)
                .and_then(|()| self.disk.create_new(&canary, b""))
                .and_then(|()| self.disk.remove(&canary));
            match tried {
                Err(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::AlreadyExists) => {}
                tried => tried.map_err(|error| {
                    let what = "files cannot be renamed; make it writable, or set trackingPolicy = tracker_dir: the directory";
                    (named(directory, what), error)
                })?,
            }
        }
        let trackers = &places.tracker_dir;
        self.disk
            .make_directory(trackers)
            .map_err(|error| (named(trackers, "cannot make the directory (trackerDir)"), error))?;
        let (tracker, tracked) = Tracker::open(&*self.disk, trackers)
            .map_err(|error| (named(trackers, "cannot use the tracker file in"), error))?;
        (self.tracker, self.resume) = (Some(tracker), tracked);
        Ok(())
    }

    /// The next events. `look`: list the directory where no file is known.
    pub(super) fn next(&mut self, now: Instant, look: bool) -> Option<(Batch, Ack)> {
        let mut look = look;
        loop {
            if let Some(file) = self.files.back_mut().filter(|file| file.end.is_none()) {
                if let Some(piece) = file.read(self.setup.most) {
                    self.progress = true;
                    return Some(piece);
                }
                self.settle();
                continue;
            }
            self.settle();
            if self.files.len() >= MOST_OPEN || !self.open_next(now, &mut look) {
                return None;
            }
        }
    }

    /// Reads so many events at a time from now on.
    #[cfg(test)]
    pub(super) fn set_most(&mut self, events: usize) {
        self.setup.most.events = events;
    }

    /// Takes note of what the channels have, in order.
    pub(super) fn committed(&mut self, acks: Vec<Ack>) {
        for ack in acks {
            if let Some(file) = self.files.iter_mut().find(|file| file.key == ack.key) {
                file.n_open -= 1;
                file.committed = ack.place;
            }
        }
        self.settle();
    }

    /// Finishes files from the front on, and writes how far the one behind them was read.
    fn settle(&mut self) {
        while self.files.front().is_some_and(SpoolFile::is_settled) {
            if let Some(file) = self.files.pop_front() {
                self.finish(file);
            }
        }
        let (Some(file), Some(tracker)) = (self.files.front_mut(), &mut self.tracker) else { return };
        if file.committed == file.tracked {
            return;
        }
        file.tracked = file.committed;
        let recorded = tracker.record(&*self.disk, &file.path, &file.stat, file.committed);
        self.note_tracking(recorded);
    }

    fn finish(&mut self, file: SpoolFile) {
        if let Some(End::Unreadable(reason)) = &file.end {
            self.setup.metrics.read_fail.add(1);
            let what = format!("it cannot be read and is tried again: {reason}");
            self.park(file, &what);
            return;
        }
        let finished = self.setup.finish.finish(&*self.disk, &self.setup.places, &file);
        let keep = self.setup.finish.keeps_tracker(&self.setup.places);
        match finished {
            Ok(Finished::Done) => self.progress = true,
            Ok(Finished::Aside(why)) => {
                self.progress = true;
                self.setup.metrics.generic_fail.add(1);
                let (source, path) = (&self.setup.name, file.path.display());
                tracing::error!(%source, file = %path, "{why}");
            }
            Err(error) => {
                self.setup.metrics.generic_fail.add(1);
                let what = format!("it was read, and cannot be marked as done; it is tried again: {error}");
                self.park(file, &what);
                return;
            }
        }
        self.end_tracking(keep);
    }

    /// The tracker is about no file any more.
    fn end_tracking(&mut self, keep: bool) {
        if let Some(tracker) = &mut self.tracker {
            let ended = tracker.end(&*self.disk, keep);
            self.note_tracking(ended);
        }
    }

    /// Positions that cannot be written hold nothing up: after a kill more comes again.
    fn note_tracking(&mut self, done: io::Result<()>) {
        if let Err(error) = &done {
            self.setup.metrics.generic_fail.add(1);
            if !self.track_failed {
                let (source, directory) = (&self.setup.name, self.setup.places.tracker_dir.display());
                tracing::warn!(%source, %directory, %error, "positions cannot be written: after a kill events come again");
            }
        }
        self.track_failed = done.is_err();
    }

    /// Keeps in mind how far a file was read, for the next look.
    fn park(&mut self, file: SpoolFile, what: &str) {
        let (source, path) = (&self.setup.name, file.path.display());
        if file.told {
            tracing::debug!(%source, file = %path, "{what}");
        } else {
            tracing::warn!(%source, file = %path, "{what}");
        }
        if self.parked.len() < MOST_PARKED {
            let end = file.end.filter(|end| !matches!(end, End::Unreadable(_)));
            let parked = Parked { identity: identity(&file.stat), place: file.committed, end };
            self.parked.insert(file.path, parked);
        }
        self.end_tracking(false);
    }

    /// Opens the next file. False where there is none for now.
    fn open_next(&mut self, now: Instant, look: &mut bool) -> bool {
        loop {
            self.list_again(now, look);
            let Some(candidate) = self.queue.pop_front() else { return false };
            let path = self.setup.places.path(&candidate.relative);
            let told = self.parked.contains_key(&path);
            match self.open_file(candidate, path.clone()) {
                Ok(Some(file)) => {
                    self.files.push_back(file);
                    return true;
                }
                Ok(None) => {}
                Err(error) => {
                    self.setup.metrics.read_fail.add(1);
                    let (source, file) = (&self.setup.name, path.display());
                    if !told {
                        tracing::warn!(%source, %file, %error, "cannot be opened; it is tried again");
                        let parked = Parked { identity: String::new(), place: Place::default(), end: None };
                        self.parked.insert(path, parked);
                    }
                }
            }
        }
    }

    /// Lists the directory where no file is known, or where what is known is old.
    fn list_again(&mut self, now: Instant, look: &mut bool) {
        let due = match self.listed {
            None => true,
            Some((at, took)) => {
                let age = now.duration_since(at);
                let is_old = age >= self.setup.poll_delay.max(took * LIST_PARTS);
                if self.queue.is_empty() {
                    is_old || self.progress || std::mem::take(look)
                } else {
                    is_old && self.setup.places.order != super::ConsumeOrder::Random
                }
            }
        };
        if !due {
            return;
        }
        *look = false;
        self.progress = false;
        let started = Instant::now();
        match self.setup.places.list(&*self.disk) {
            Ok(found) => {
                self.list_failed = false;
                self.take_list(found);
            }
            Err(error) => {
                self.setup.metrics.read_fail.add(1);
                if !std::mem::replace(&mut self.list_failed, true) {
                    let (source, directory) = (&self.setup.name, self.setup.places.spool_dir.display());
                    tracing::warn!(%source, %directory, %error, "cannot be listed; it is tried again");
                }
                self.queue.clear();
            }
        }
        self.listed = Some((now, started.elapsed()));
    }

    fn take_list(&mut self, mut found: Vec<Candidate>) {
        let places = &self.setup.places;
        found.retain(|one| !self.files.iter().any(|file| file.relative == one.relative));
        if !self.parked.is_empty() {
            let there: std::collections::HashSet<PathBuf> =
                found.iter().map(|one| places.path(&one.relative)).collect();
            self.parked.retain(|path, _| there.contains(path));
        }
        self.queue = found.into();
        if let Some(tracked) = &self.resume {
            // Whatever the order is: the others would be read, and this one from its start again.
            let is_it = |one: &Candidate| places.path(&one.relative).to_string_lossy() == tracked.file;
            match self.queue.iter().position(is_it) {
                Some(place) => {
                    let it = self.queue.remove(place);
                    self.queue.extend(it);
                    self.queue.rotate_right(1);
                }
                None => {
                    self.resume = None;
                    self.end_tracking(false);
                }
            }
        }
    }

    fn open_file(&mut self, candidate: Candidate, path: PathBuf) -> io::Result<Option<SpoolFile>> {
        let opened = match self.disk.stat(&path) {
            // Opening a pipe would wait for its writer.
            Ok(stat) if !stat.regular => return Ok(None),
            Ok(_) => self.disk.open(&path),
            Err(error) => Err(error),
        };
        let handle = match opened {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let stat = handle.stat()?;
        let (place, mut end) = self.left_at(&path, &stat);
        let mut deserializer = (self.setup.make)().map_err(|error| io::Error::other(error.to_string()))?;
        let is_empty = stat.len == 0 && end.is_none();
        if end.is_none() && !is_empty {
            end = deserializer.start(&handle, &self.setup.text, place).err().as_ref().map(End::of);
        }
        self.next_key += 1;
        Ok(Some(SpoolFile {
            key: self.next_key,
            headers: self.headers(&path),
            relative: candidate.relative,
            told: self.parked.remove(&path).is_some(),
            path,
            stat,
            handle,
            deserializer,
            is_empty,
            committed: place,
            tracked: place,
            n_open: 0,
            end,
        }))
    }

    /// Where a file was left, by this run or the last one.
    fn left_at(&mut self, path: &Path, stat: &Stat) -> (Place, Option<End>) {
        if let Some(parked) = self.parked.get(path).filter(|parked| parked.identity == identity(stat)) {
            return (parked.place, parked.end.clone());
        }
        let Some(tracked) = self.resume.take_if(|tracked| path.to_string_lossy() == tracked.file) else {
            return (Place::default(), None);
        };
        let is_other = tracked.identity.is_some_and(|known| known != identity(stat));
        if is_other || tracked.place.offset > stat.len {
            let (source, file) = (&self.setup.name, path.display());
            let why = if is_other {
                "another file has its name now"
            } else {
                "it is shorter than what was read of it"
            };
            tracing::warn!(%source, %file, "{why}: it is read from its start");
            return (Place::default(), None);
        }
        (tracked.place, None)
    }

    fn headers(&self, path: &Path) -> Headers {
        let mut headers = Headers::new();
        if let Some(name) = &self.setup.basename_header {
            let basename = path.file_name().unwrap_or_default();
            headers.set(name.clone(), Text::from(basename.to_string_lossy().into_owned()));
        }
        if let Some(name) = &self.setup.file_header {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            headers.set(name.clone(), Text::from(absolute.to_string_lossy().into_owned()));
        }
        headers
    }
}
