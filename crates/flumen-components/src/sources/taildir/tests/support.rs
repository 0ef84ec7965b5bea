//! A folder of files and the part of the source that tails them, without threads and with a time of its own.

use super::super::{
    disk::{Disk, InFile, RealDisk, Stat},
    file::Ack,
    *,
};
use crate::testing::source_context;
use flumen_core::config::{Settings, read};
use std::{
    ffi::OsStr,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex},
};
use tempfile::TempDir;

/// Headers and body.
pub(super) type Line = (Vec<(String, String)>, Vec<u8>);

pub(super) struct Tail {
    folder: Arc<TempDir>,
    settings: Vec<(String, String)>,
    pub(super) disk: Faulty,
    pub(super) now: Instant,
    pub(super) context: SourceContext,
    pub(super) tailer: Option<Tailer>,
    /// Batches that were read, oldest first, and not acknowledged.
    pub(super) open: Vec<Ack>,
    pub(super) acknowledge: bool,
    pub(super) batches: Vec<usize>,
}

impl Tail {
    /// Tails `web/.*log` of a fresh folder.
    pub(super) fn new() -> Self {
        Self::with(&[("filegroups", "g"), ("filegroups.g", "@DIR@/web/.*log.*")])
    }

    /// With these settings; `@DIR@` is the folder. It is not started.
    pub(super) fn with(settings: &[(&str, &str)]) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        fs::create_dir_all(folder.path().join("web")).unwrap();
        let mut tail = Self {
            folder,
            settings: Vec::new(),
            disk: Faulty::default(),
            now: Instant::now(),
            context: source_context(),
            tailer: None,
            open: Vec::new(),
            acknowledge: true,
            batches: Vec::new(),
        };
        for (key, value) in settings {
            tail.set(key, value);
        }
        tail
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
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        let mut file = OpenOptions::new().append(true).create(true).open(self.path(name)).unwrap();
        file.write_all(content.as_ref()).unwrap();
    }

    pub(super) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub(super) fn copy(&self, from: &str, to: &str) {
        fs::copy(self.path(from), self.path(to)).unwrap();
    }

    pub(super) fn truncate(&self, name: &str) {
        OpenOptions::new().write(true).open(self.path(name)).unwrap().set_len(0).unwrap();
    }

    pub(super) fn delete(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    pub(super) fn source(&self) -> TaildirSource {
        let mut pairs: Vec<(&str, &str)> =
            self.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let file = self.position_file();
        let file = file.display().to_string();
        pairs.push(("positionFile", &file));
        let (config, problems) = read::<TaildirConfig>(&Settings::from_pairs("a.sources.r", &pairs), &[]);
        TaildirSource::build(config.unwrap_or_else(|| panic!("{problems:?}")), &self.context).unwrap()
    }

    pub(super) fn position_file(&self) -> PathBuf {
        self.path("pos/taildir_position.json")
    }

    pub(super) fn positions(&self) -> String {
        fs::read_to_string(self.position_file()).unwrap_or_default()
    }

    /// The inode of a file.
    pub(super) fn ino(&self, name: &str) -> u64 {
        RealDisk.stat(&self.path(name)).unwrap().ino
    }

    pub(super) fn try_start(&mut self) -> Result<(), String> {
        let mut tailer = self.source().tailer(Box::new(self.disk.clone()), 1_000_000);
        tailer.open().map_err(|(what, error)| format!("{what}: {error}"))?;
        self.tailer = Some(tailer);
        Ok(())
    }

    pub(super) fn start(&mut self) {
        self.try_start().unwrap();
    }

    pub(super) fn tailer(&mut self) -> &mut Tailer {
        self.tailer.as_mut().expect("it was started")
    }

    /// One round, as one call of Java's source: a look at the files, and each gets its turn. Whether some have more.
    pub(super) fn round(&mut self) -> (Vec<Line>, bool) {
        self.now += Duration::from_millis(100);
        let now = self.now;
        let mut lines = Vec::new();
        self.batches.clear();
        self.tailer().scan(now);
        while let Some(piece) = self.tailer().next(now) {
            for (batch, ack) in piece.parts {
                self.batches.push(batch.len());
                for event in batch.iter() {
                    let headers =
                        event.headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
                    lines.push((headers.collect(), event.body.to_vec()));
                }
                if self.acknowledge {
                    self.tailer().committed(ack);
                } else {
                    self.open.push(ack);
                }
            }
        }
        let more = self.tailer().has_more();
        (lines, more)
    }

    /// Rounds until there is nothing more: the bodies.
    pub(super) fn read(&mut self) -> Vec<String> {
        let mut bodies = Vec::new();
        loop {
            let (lines, more) = self.round();
            bodies.extend(lines.into_iter().map(|(_, body)| String::from_utf8_lossy(&body).into_owned()));
            if !more {
                return bodies;
            }
        }
    }

    pub(super) fn wait(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }

    /// Stops in good order.
    pub(super) fn stop(&mut self) {
        let now = self.now;
        self.tailer().write_positions(now, true);
        self.tailer = None;
    }

    /// Ends without a word, as a killed process.
    pub(super) fn kill(&mut self) {
        self.tailer = None;
        self.open.clear();
    }

    pub(super) fn restart(&mut self) {
        self.stop();
        self.start();
    }
}

/// So many numbered lines.
pub(super) fn lines(name: &str, numbers: std::ops::Range<usize>) -> String {
    numbers.map(|n| format!("{name} line {n}\n")).collect()
}

/// What is about to be done with a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doing {
    List,
    Stat(PathBuf),
    Open(PathBuf),
    Load,
    Replace,
    StatOpen,
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
    fn list(&self, directory: &Path, each: &mut dyn FnMut(&OsStr, u64)) -> io::Result<()> {
        self.go(Doing::List)?;
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

    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self.go(Doing::Load)?;
        RealDisk.load(path)
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.go(Doing::Replace)?;
        RealDisk.replace(path, content)
    }
}

struct FaultyFile {
    file: Box<dyn InFile>,
    disk: Faulty,
}

impl InFile for FaultyFile {
    fn stat(&self) -> io::Result<Stat> {
        self.disk.go(Doing::StatOpen)?;
        self.file.stat()
    }

    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
        self.disk.go(Doing::Read(offset))?;
        self.file.read_at(buffer, offset)
    }
}
