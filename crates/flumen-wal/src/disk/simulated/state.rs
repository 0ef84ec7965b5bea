//! What is on the simulated disk: what is seen now, what would survive, and what goes wrong when.

use crate::disk::{Entry, Mode};
use std::{
    collections::{BTreeMap, BTreeSet},
    io, mem,
    path::{Path, PathBuf},
};

/// Bytes that are written whole or not at all.
const SECTOR: usize = 512;

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Input/output error. A write leaves a part of itself; a sync loses what was not yet durable of that file, for good,
    /// and tells every description that was open before.
    Error,
    /// No space left. A write leaves a part of itself.
    NoSpace,
    /// The power goes: this call and all that follow fail until the power is lost and back.
    PowerLoss,
}

/// What kind of call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// Bytes or the length of a file.
    Write,
    /// Making bytes durable.
    Sync,
    /// Anything about names.
    Names,
}

#[derive(Debug)]
pub(super) struct State {
    files: BTreeMap<u64, File>,
    names: BTreeMap<PathBuf, Node>,
    durable_names: BTreeMap<PathBuf, Node>,
    /// Changes of names that are not durable yet, in order.
    name_changes: Vec<NameChange>,
    next_file: u64,
    random: u64,
    pub(super) locks: BTreeSet<PathBuf>,
    pub(super) boot: u64,
    pub(super) calls: u64,
    pub(super) faults: BTreeMap<u64, Fault>,
    /// Calls that only look, and those that fail.
    pub(super) looks: u64,
    pub(super) look_faults: BTreeMap<u64, Fault>,
    pub(super) fail_per_thousand: u32,
    pub(super) off: bool,
    pub(super) free: Option<u64>,
    /// Whose syncs do nothing.
    pub(super) skips: Option<fn(&str) -> bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Dir,
    File(u64),
}

/// One step in a directory: names that get or lose their meaning together.
#[derive(Debug, Clone)]
struct NameChange {
    dir: PathBuf,
    set: Vec<(PathBuf, Option<Node>)>,
}

#[derive(Debug, Default)]
pub(super) struct File {
    /// As it is read now.
    pub(super) content: Vec<u8>,
    durable: Vec<u8>,
    /// Writes since the last sync: place and bytes; a place behind the end of `bytes` is none.
    pending: Vec<Pending>,
    pub(super) write_back_errors: u64,
}

#[derive(Debug)]
enum Pending {
    Bytes(usize, Vec<u8>),
    Len(usize),
}

impl State {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            files: BTreeMap::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            name_changes: Vec::new(),
            next_file: 0,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            locks: BTreeSet::new(),
            boot: 0,
            calls: 0,
            faults: BTreeMap::new(),
            looks: 0,
            look_faults: BTreeMap::new(),
            fail_per_thousand: 0,
            off: false,
            free: None,
            skips: None,
        }
    }

    /// The next number of a xorshift sequence, below `n`.
    fn random(&mut self, n: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % n.max(1)
    }

    pub(super) fn check_on(&self) -> io::Result<()> {
        if self.off { Err(io::Error::other("the power is off")) } else { Ok(()) }
    }

    /// A call that changes nothing: opening a file that is there, its length, reading, listing.
    pub(super) fn look(&mut self) -> io::Result<()> {
        self.check_on()?;
        let look = self.looks;
        self.looks += 1;
        match self.look_faults.remove(&look) {
            None => Ok(()),
            Some(Fault::PowerLoss) => {
                self.off = true;
                self.check_on()
            }
            Some(_) => Err(io::Error::from_raw_os_error(nix::libc::EIO)),
        }
    }

    /// Counts a changing call, and says how it fails.
    fn fault(&mut self) -> io::Result<Option<Fault>> {
        self.check_on()?;
        let call = self.calls;
        self.calls += 1;
        let mut fault = self.faults.remove(&call);
        if fault.is_none() && self.fail_per_thousand > 0 {
            let chance = u64::from(self.fail_per_thousand);
            if self.random(1000) < chance {
                fault = Some(if self.random(4) == 0 { Fault::NoSpace } else { Fault::Error });
            }
        }
        self.off |= fault == Some(Fault::PowerLoss);
        Ok(fault)
    }

    /// A call whose failure leaves nothing behind.
    pub(super) fn call(&mut self, call: Call) -> io::Result<()> {
        match self.fault()? {
            None => Ok(()),
            Some(Fault::NoSpace) if call != Call::Sync => Err(no_space()),
            Some(Fault::PowerLoss) => Err(io::Error::other("the power is off")),
            Some(_) => Err(io::Error::from_raw_os_error(nix::libc::EIO)),
        }
    }

    pub(super) fn file(&mut self, inode: u64) -> &mut File {
        self.files.entry(inode).or_default()
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        self.names.contains_key(path)
    }

    pub(super) fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        self.check_on()?;
        for path in dir.ancestors().filter(|path| !path.as_os_str().is_empty()) {
            match self.names.get(path) {
                Some(Node::Dir) => break,
                Some(Node::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
                None => {
                    self.names.insert(path.to_owned(), Node::Dir);
                    self.durable_names.insert(path.to_owned(), Node::Dir);
                }
            }
        }
        Ok(())
    }

    pub(super) fn list(&mut self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.look()?;
        if self.names.get(dir) != Some(&Node::Dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inside = self.names.iter().filter(|(path, _)| path.parent() == Some(dir));
        let mut entries: Vec<Entry> = inside
            .filter_map(|(path, node)| {
                let name = path.file_name()?.to_str()?.to_owned();
                Some(match node {
                    Node::Dir => Entry { name, is_dir: true, len: 0 },
                    Node::File(inode) => {
                        let len = self.files.get(inode).map_or(0, |file| file.content.len() as u64);
                        Entry { name, is_dir: false, len }
                    }
                })
            })
            .collect();
        entries.sort();
        Ok(entries)
    }

    /// The file, its write-back errors so far, and the boot.
    pub(super) fn open(&mut self, path: &Path, mode: Mode) -> io::Result<(u64, u64, u64)> {
        self.check_on()?;
        let found = self.names.get(path).copied();
        let makes = matches!(mode, Mode::Create | Mode::Replace);
        if matches!(found, Some(Node::File(_))) && !makes {
            self.look()?;
        }
        let inode = match (found, mode) {
            (Some(Node::Dir), Mode::Create) | (Some(Node::File(_)), Mode::Create) => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            (Some(Node::Dir), _) => return Err(io::ErrorKind::IsADirectory.into()),
            (None, _) if !makes => return Err(io::ErrorKind::NotFound.into()),
            (Some(Node::File(inode)), Mode::Replace) => {
                self.set_len(inode, 0)?;
                inode
            }
            (Some(Node::File(inode)), _) => inode,
            (None, _) => {
                self.check_parent(path)?;
                self.call(Call::Names)?;
                let inode = self.next_file;
                self.next_file += 1;
                self.files.insert(inode, File::default());
                self.change_names(path, vec![(path.to_owned(), Some(Node::File(inode)))]);
                inode
            }
        };
        Ok((inode, self.file(inode).write_back_errors, self.boot))
    }

    fn check_parent(&self, path: &Path) -> io::Result<()> {
        match path.parent().and_then(|dir| self.names.get(dir)) {
            Some(Node::Dir) => Ok(()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn change_names(&mut self, path: &Path, set: Vec<(PathBuf, Option<Node>)>) {
        for (path, node) in &set {
            put(&mut self.names, path, *node);
        }
        let dir = path.parent().map(Path::to_owned).unwrap_or_default();
        self.name_changes.push(NameChange { dir, set });
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.check_on()?;
        let node = *self.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        self.check_parent(to)?;
        self.call(Call::Names)?;
        self.change_names(to, vec![(to.to_owned(), Some(node)), (from.to_owned(), None)]);
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.check_on()?;
        match self.names.get(path) {
            None => Err(io::ErrorKind::NotFound.into()),
            Some(Node::Dir) => Err(io::ErrorKind::IsADirectory.into()),
            Some(Node::File(_)) => {
                self.call(Call::Names)?;
                self.change_names(path, vec![(path.to_owned(), None)]);
                Ok(())
            }
        }
    }

    pub(super) fn remove_all(&mut self, path: &Path) -> io::Result<()> {
        self.check_on()?;
        if !self.exists(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.call(Call::Names)?;
        let below: Vec<PathBuf> = self.names.keys().filter(|name| name.starts_with(path)).cloned().collect();
        for name in below.into_iter().rev() {
            self.change_names(&name, vec![(name.clone(), None)]);
        }
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.check_on()?;
        if self.names.get(dir) != Some(&Node::Dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.call(Call::Sync)?;
        if self.is_skipped(dir) {
            return Ok(());
        }
        let (of_dir, others) = mem::take(&mut self.name_changes).into_iter().partition(|one| one.dir == *dir);
        self.name_changes = others;
        let of_dir: Vec<NameChange> = of_dir;
        for (path, node) in of_dir.into_iter().flat_map(|one| one.set) {
            put(&mut self.durable_names, &path, node);
        }
        Ok(())
    }

    pub(super) fn take_lock(&mut self, path: &Path) -> io::Result<Option<u64>> {
        self.check_on()?;
        if self.locks.contains(path) {
            return Ok(None);
        }
        if !self.exists(path) {
            self.check_parent(path)?;
            let inode = self.next_file;
            self.next_file += 1;
            self.files.insert(inode, File::default());
            self.change_names(path, vec![(path.to_owned(), Some(Node::File(inode)))]);
        }
        self.locks.insert(path.to_owned());
        Ok(Some(self.boot))
    }

    pub(super) fn write(&mut self, inode: u64, at: u64, bytes: &[u8]) -> io::Result<()> {
        let at = usize::try_from(at).map_err(io::Error::other)?;
        let mut fault = self.fault()?;
        let mut n = bytes.len();
        let grows = (at + n).saturating_sub(self.file(inode).content.len()) as u64;
        if let Some(free) = self.free {
            if fault.is_none() && grows > free {
                (fault, n) = (Some(Fault::NoSpace), n - usize::try_from(grows - free).unwrap_or(n).min(n));
            }
            self.free = Some(free.saturating_sub(grows));
        }
        if fault.is_some() && n == bytes.len() {
            n = usize::try_from(self.random(bytes.len() as u64 + 1)).unwrap_or(0);
        }
        if n > 0 {
            let file = self.file(inode);
            apply(&mut file.content, at, &bytes[..n]);
            file.pending.push(Pending::Bytes(at, bytes[..n].to_vec()));
        }
        match fault {
            None => Ok(()),
            Some(Fault::NoSpace) => Err(no_space()),
            Some(Fault::PowerLoss) => Err(io::Error::other("the power is off")),
            Some(Fault::Error) => Err(io::Error::from_raw_os_error(nix::libc::EIO)),
        }
    }

    pub(super) fn set_len(&mut self, inode: u64, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(io::Error::other)?;
        self.call(Call::Write)?;
        let file = self.file(inode);
        file.content.resize(len, 0);
        file.pending.push(Pending::Len(len));
        Ok(())
    }

    fn is_skipped(&self, path: &Path) -> bool {
        self.skips.is_some_and(|skips| path.to_str().is_some_and(skips))
    }

    pub(super) fn sync(&mut self, inode: u64) -> io::Result<()> {
        let fault = self.fault()?;
        let mut names = self.names.iter().filter(|(_, node)| **node == Node::File(inode));
        if fault.is_none() && self.skips.is_some() && names.any(|(path, _)| self.is_skipped(path)) {
            return Ok(());
        }
        let file = self.file(inode);
        match fault {
            None => {
                for one in mem::take(&mut file.pending) {
                    match one {
                        Pending::Bytes(at, bytes) => apply(&mut file.durable, at, &bytes),
                        Pending::Len(len) => file.durable.resize(len, 0),
                    }
                }
                Ok(())
            }
            Some(Fault::PowerLoss) => Err(io::Error::other("the power is off")),
            Some(Fault::Error | Fault::NoSpace) => {
                // The pages are marked clean, and nobody will write them again.
                file.pending.clear();
                file.write_back_errors += 1;
                Err(io::Error::from_raw_os_error(nix::libc::EIO))
            }
        }
    }

    pub(super) fn end_process(&mut self) {
        self.boot += 1;
        self.locks.clear();
    }

    pub(super) fn lose_power(&mut self) {
        self.end_process();
        self.off = false;
        // Sometimes everything has made it, sometimes nothing, mostly any part.
        let all = self.random(8);
        let changes = mem::take(&mut self.name_changes);
        for change in changes {
            if self.survives(all) {
                for (path, node) in change.set {
                    put(&mut self.durable_names, &path, node);
                }
            }
        }
        self.names = self.durable_names.clone();
        let inodes: Vec<u64> = self.files.keys().copied().collect();
        for inode in inodes {
            let pending = mem::take(&mut self.file(inode).pending);
            for one in pending {
                self.lose_some(inode, one, all);
            }
            let file = self.file(inode);
            file.content = file.durable.clone();
            file.write_back_errors = 0;
        }
    }

    fn lose_some(&mut self, inode: u64, pending: Pending, all: u64) {
        match pending {
            Pending::Len(len) => {
                if self.survives(all) {
                    self.file(inode).durable.resize(len, 0);
                }
            }
            Pending::Bytes(mut at, bytes) => {
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let n = (SECTOR - at % SECTOR).min(rest.len());
                    if self.survives(all) {
                        apply(&mut self.file(inode).durable, at, &rest[..n]);
                    } else if self.random(3) == 0 {
                        // The length has made it, the bytes have not: zeros where nothing was.
                        let file = self.file(inode);
                        let len = file.durable.len().max(at + n);
                        file.durable.resize(len, 0);
                    }
                    (at, rest) = (at + n, &rest[n..]);
                }
            }
        }
    }

    fn survives(&mut self, all: u64) -> bool {
        match all {
            0 => true,
            1 => false,
            _ => self.random(2) == 0,
        }
    }

    pub(super) fn damage(&mut self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let Some(Node::File(inode)) = self.names.get(path).copied() else {
            panic!("no file {} to damage", path.display());
        };
        let file = self.file(inode);
        file.pending.clear();
        change(&mut file.content);
        file.durable = file.content.clone();
    }

    pub(super) fn content(&self, path: &Path) -> Option<Vec<u8>> {
        match self.names.get(path) {
            Some(Node::File(inode)) => self.files.get(inode).map(|file| file.content.clone()),
            _ => None,
        }
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        let files = self.names.iter().filter(|(_, node)| matches!(node, Node::File(_)));
        files.map(|(path, _)| path.clone()).collect()
    }
}

fn put(names: &mut BTreeMap<PathBuf, Node>, path: &Path, node: Option<Node>) {
    match node {
        Some(node) => names.insert(path.to_owned(), node),
        None => names.remove(path),
    };
}

fn apply(content: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if content.len() < at + bytes.len() {
        content.resize(at + bytes.len(), 0);
    }
    content[at..at + bytes.len()].copy_from_slice(bytes);
}

fn no_space() -> io::Error {
    io::Error::from_raw_os_error(nix::libc::ENOSPC)
}
