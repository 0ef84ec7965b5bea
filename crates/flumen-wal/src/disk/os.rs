//! The real file system.

use super::{Disk, DiskFile, DiskLock, Entry, FreeSpace, Holders, Mode, holders};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl Disk for OsDisk {
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = dir.ancestors().take_while(|path| !path.is_dir()).collect();
        fs::create_dir_all(dir)?;
        for made in missing {
            if let Some(parent) = made.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                self.sync_dir(parent)?;
            }
        }
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            match fs::metadata(entry.path()) {
                Ok(of) if of.is_dir() || of.is_file() => {
                    entries.push(Entry { name, is_dir: of.is_dir(), len: of.len() });
                }
                Ok(_) => {}
                // Removed in this moment, or a link to nowhere.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        entries.sort();
        Ok(entries)
    }

    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(!matches!(mode, Mode::Read | Mode::ReadDirect));
        // A pipe under the name of a file would be waited for.
        let direct = matches!(mode, Mode::Direct | Mode::ReadDirect);
        options.custom_flags(nix::libc::O_NONBLOCK | if direct { nix::libc::O_DIRECT } else { 0 });
        match mode {
            Mode::Read | Mode::ReadDirect | Mode::Write | Mode::Direct => {}
            Mode::Create => {
                options.create_new(true);
            }
            Mode::Replace => {
                options.create(true).truncate(true);
            }
        }
        let file = match options.open(path) {
            // A file system without it.
            Err(error) if direct && is_refused(&error) => {
                let mode = if mode == Mode::Direct { Mode::Write } else { Mode::Read };
                return self.open(path, mode);
            }
            opened => opened?,
        };
        if !file.metadata()?.is_file() {
            let what = format!("{} is no file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(Arc::new(OsFile { file, direct }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_all(&self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn free_space(&self, dir: &Path) -> io::Result<FreeSpace> {
        let of = rustix::fs::statvfs(dir)?;
        let file_system = std::fs::metadata(dir)?.dev();
        Ok(FreeSpace { file_system, bytes: of.f_bavail.saturating_mul(of.f_frsize) })
    }

    fn lock(&self, lock_file: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        loop {
            let file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(lock_file)?;
            match fcntl(&file, FcntlArg::F_OFD_SETLK(&WHOLE)) {
                Ok(_) => {}
                Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EACCES) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            let lock = OsLock { file, path: lock_file.to_owned() };
            // Java removes its lock file when it ends: what is locked may have no name any more.
            if lock.is_current() {
                return Ok(Some(Box::new(lock)));
            }
        }
    }

    fn is_locked(&self, lock_file: &Path) -> io::Result<bool> {
        let file = match OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(lock_file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut found = WHOLE;
        fcntl(&file, FcntlArg::F_OFD_GETLK(&mut found))?;
        Ok(found.l_type != nix::libc::F_UNLCK as i16)
    }

    fn holders(&self, dirs: &[&Path]) -> Holders {
        holders::of(dirs)
    }
}

/// A lock on a whole file that lets nobody else in.
pub(super) const WHOLE: nix::libc::flock = nix::libc::flock {
    l_type: nix::libc::F_WRLCK as i16,
    l_whence: nix::libc::SEEK_SET as i16,
    l_start: 0,
    l_len: 0,
    l_pid: 0,
};

#[derive(Debug)]
struct OsFile {
    file: File,
    /// Opened to go past the cache.
    direct: bool,
}

/// Whether the system has looked at the call's arguments and did nothing.
fn is_refused(error: &io::Error) -> bool {
    error.raw_os_error() == Some(nix::libc::EINVAL)
}

impl OsFile {
    /// Has this description go through the cache: this is no whole block of the file system's.
    fn through_cache(&self) -> io::Result<()> {
        fcntl(&self.file, FcntlArg::F_SETFL(OFlag::empty()))?;
        Ok(())
    }
}

/// Writes all of the parts with as few calls as the system makes of it.
fn write_parts(file: &File, mut at: u64, parts: &[&[u8]]) -> io::Result<()> {
    let mut slices: Vec<io::IoSlice<'_>> = parts.iter().map(|part| io::IoSlice::new(part)).collect();
    let mut left = &mut slices[..];
    io::IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        let n_slices = left.len().min(MOST_SLICES);
        match rustix::io::pwritev(file, &left[..n_slices], at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => {
                at += n as u64;
                io::IoSlice::advance_slices(&mut left, n);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Parts of one call.
const MOST_SLICES: usize = 256;

impl DiskFile for OsFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        match self.file.read_at(into, at) {
            Err(error) if self.direct && is_refused(&error) => {
                self.through_cache()?;
                self.file.read_at(into, at)
            }
            result => result,
        }
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(at, &[bytes])
    }

    fn write_all_at(&self, at: u64, parts: &[&[u8]]) -> io::Result<()> {
        match write_parts(&self.file, at, parts) {
            // Nothing was tried, so nothing has failed.
            Err(error) if self.direct && is_refused(&error) => {
                self.through_cache()?;
                write_parts(&self.file, at, parts)
            }
            result => result,
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// A record lock that belongs to the open file, so that closing another description of it does not lose it.
#[derive(Debug)]
struct OsLock {
    file: File,
    path: PathBuf,
}

impl DiskLock for OsLock {
    fn is_current(&self) -> bool {
        match (self.file.metadata(), fs::metadata(&self.path)) {
            (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
            _ => false,
        }
    }
}
