//! A folder of files and the part of the source that reads them, without threads and with a time of its own.

use super::super::{
    disk::{Disk, RealDisk},
    file::Ack,
    *,
};
use crate::{
    shared::disk::{InFile, Stat},
    testing::source_context,
};
use flumen_core::{config::read, event::Batch};
use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};
use tempfile::TempDir;

/// Headers and body.
pub(super) type Event = (Vec<(String, String)>, Vec<u8>);

pub(super) struct Spooling {
    folder: TempDir,
    settings: Vec<(String, String)>,
    pub(super) disk: Faulty,
    pub(super) now: Instant,
    pub(super) context: SourceContext,
    pub(super) spool: Option<Spool>,
    /// Batches that were read and not acknowledged, oldest first.
    pub(super) open: Vec<Ack>,
    pub(super) most: usize,
}

impl Spooling {
    /// Reads `spool` of a fresh folder.
    pub(super) fn new() -> Self {
        Self::with(&[])
    }

    /// With these settings; `@DIR@` is the folder. It is not opened.
    pub(super) fn with(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("spool")).unwrap();
        let mut spooling = Self {
            folder,
            settings: Vec::new(),
            disk: Faulty::default(),
            now: Instant::now(),
            context: source_context(),
            spool: None,
            open: Vec::new(),
            most: 100,
        };
        spooling.set("spoolDir", "@DIR@/spool");
        for (key, value) in settings {
            spooling.set(key, value);
        }
        spooling
    }

    pub(super) fn set(&mut self, key: &str, value: &str) {
        let value = value.replace("@DIR@", &self.folder.path().display().to_string());
        self.settings.retain(|(known, _)| known != key);
        self.settings.push((key.to_owned(), value));
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(content.as_ref()).unwrap();
    }

    /// Writes a file whose time is so many seconds after the first ones'.
    pub(super) fn write_at(&self, name: &str, content: impl AsRef<[u8]>, second: u64) {
        self.write(name, content);
        self.set_time(name, 1_600_000_000_000 + second * 1000);
    }

    pub(super) fn set_time(&self, name: &str, ms: u64) {
        let file = OpenOptions::new().append(true).open(self.path(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(ms)).unwrap();
    }

    pub(super) fn source(&self) -> SpooldirSource {
        self.try_source().unwrap()
    }

    pub(super) fn try_source(&self) -> Result<SpooldirSource, BuildError> {
        let pairs: Vec<(&str, &str)> =
            self.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let (config, problems) = read::<SpooldirConfig>(&Settings::from_pairs("a.sources.r", &pairs), &[]);
        let config = config.ok_or_else(|| BuildError::new(format!("{problems:?}")))?;
        SpooldirSource::build(config, &self.context)
    }

    pub(super) fn try_start(&mut self) -> Result<(), String> {
        let mut spool = self.source().spool(Box::new(self.disk.clone()), self.most);
        spool.open().map_err(|(what, error)| format!("{what}: {error}"))?;
        self.spool = Some(spool);
        Ok(())
    }

    pub(super) fn start(&mut self) {
        self.try_start().unwrap();
    }

    fn spool(&mut self) -> &mut Spool {
        self.spool.as_mut().expect("it was started")
    }

    /// The next batch, at a new look at the directory.
    pub(super) fn next(&mut self) -> Option<(Batch, Ack)> {
        self.now += Duration::from_secs(1);
        let now = self.now;
        self.spool().next(now, true)
    }

    pub(super) fn commit(&mut self, ack: Ack) {
        self.spool().committed(vec![ack]);
    }

    /// The next batch, acknowledged.
    pub(super) fn events(&mut self) -> Vec<Event> {
        let Some((batch, ack)) = self.next() else { return Vec::new() };
        self.commit(ack);
        events_of(&batch)
    }

    /// The bodies of the next batch, acknowledged.
    pub(super) fn batch(&mut self) -> Vec<String> {
        bodies(self.events())
    }

    /// The bodies of the next batch, which stays open.
    pub(super) fn batch_left_open(&mut self) -> Vec<String> {
        let Some((batch, ack)) = self.next() else { return Vec::new() };
        self.open.push(ack);
        bodies(events_of(&batch))
    }

    /// Batches until there are no more: the bodies.
    pub(super) fn drain(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let batch = self.batch();
            if batch.is_empty() {
                return all;
            }
            all.extend(batch);
        }
    }

    /// Ends without a word, as a killed process.
    pub(super) fn kill(&mut self) {
        self.spool = None;
        self.open.clear();
    }

    pub(super) fn restart(&mut self) {
        self.kill();
        self.start();
    }

    /// What a second source of the same directory would be.
    pub(super) fn spool_of_another_source(&self) -> Spool {
        self.source().spool(Box::new(self.disk.clone()), self.most)
    }

    /// Files below a folder and their contents, sorted; tracker files by name only.
    pub(super) fn files(&self, folder: &str) -> Vec<(String, String)> {
        let mut files = Vec::new();
        collect(&self.path(folder), &self.path(folder), &mut files);
        files.sort();
        files
    }

    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        self.files(folder).into_iter().map(|(name, _)| name).collect()
    }

    pub(super) fn has_tracker(&self) -> bool {
        self.path("spool/.flumespool/.flumespool-main.meta").exists()
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
            continue;
        }
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if !name.ends_with(".meta") {
            files.push((name, fs::read_to_string(&path).unwrap_or_default()));
        }
    }
}

fn events_of(batch: &Batch) -> Vec<Event> {
    let headers = |event: flumen_core::event::Event<'_>| {
        event.headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    batch.iter().map(|event| (headers(event), event.body.to_vec())).collect()
}

fn bodies(events: Vec<Event>) -> Vec<String> {
    events.into_iter().map(|(_, body)| String::from_utf8_lossy(&body).into_owned()).collect()
}

/// So many numbered lines.
pub(super) fn lines(name: &str, numbers: std::ops::Range<usize>) -> String {
    numbers.map(|n| format!("{name} line {n}\n")).collect()
}

/// What is about to be done with a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doing {
    List(PathBuf),
    Stat(PathBuf),
    Open(PathBuf),
    MakeDirectory,
    CreateNew(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    Load,
    Replace,
    Append,
    Read(u64),
}

type Before = Box<dyn FnMut(&Doing) -> io::Result<()> + Send>;

/// The real disk, with something that happens before each thing that is done.
#[derive(Clone, Default)]
pub(super) struct Faulty {
    before: Arc<Mutex<Option<Before>>>,
}

impl Faulty {
    pub(super) fn before(&self, what: impl FnMut(&Doing) -> io::Result<()> + Send + 'static) {
        *self.before.lock().unwrap() = Some(Box::new(what));
    }

    pub(super) fn healthy(&self) {
        *self.before.lock().unwrap() = None;
    }

    fn go(&self, doing: Doing) -> io::Result<()> {
        // Taken out meanwhile, so that it may use the disk.
        let Some(mut before) = self.before.lock().unwrap().take() else { return Ok(()) };
        let result = before(&doing);
        self.before.lock().unwrap().get_or_insert(before);
        result
    }
}

impl Disk for Faulty {
    fn list(&self, directory: &Path, each: &mut dyn FnMut(OsString, bool)) -> io::Result<()> {
        self.go(Doing::List(directory.to_owned()))?;
        RealDisk.list(directory, each)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.go(Doing::Stat(path.to_owned()))?;
        RealDisk.stat(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn InFile>> {
        self.go(Doing::Open(path.to_owned()))?;
        Ok(Box::new(FaultyFile { file: RealDisk.open(path)?, disk: self.clone() }))
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.go(Doing::MakeDirectory)?;
        RealDisk.make_directory(path)
    }

    fn create_new(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.go(Doing::CreateNew(path.to_owned()))?;
        RealDisk.create_new(path, content)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.go(Doing::Rename(from.to_owned(), to.to_owned()))?;
        RealDisk.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.go(Doing::Remove(path.to_owned()))?;
        RealDisk.remove(path)
    }

    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self.go(Doing::Load)?;
        RealDisk.load(path)
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.go(Doing::Replace)?;
        RealDisk.replace(path, content)
    }

    fn append(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.go(Doing::Append)?;
        RealDisk.append(path, content)
    }
}

struct FaultyFile {
    file: Box<dyn InFile>,
    disk: Faulty,
}

impl InFile for FaultyFile {
    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }

    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
        self.disk.go(Doing::Read(offset))?;
        self.file.read_at(buffer, offset)
    }
}
