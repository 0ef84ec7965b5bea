//! What the source needs of a disk: the seam at which tests let it fail.

use rustix::{buffer::spare_capacity, io::pread};
use std::{
    ffi::OsStr,
    fs::{self, File, Metadata},
    io::{self, Write},
    os::unix::fs::{DirEntryExt, MetadataExt},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// Directories, files to read, and small files to keep.
pub(super) trait Disk: Send {
    /// Calls with the name and inode of everything in a directory that is none itself.
    fn list(&self, directory: &Path, each: &mut dyn FnMut(&OsStr, u64)) -> io::Result<()>;

    /// What a path leads to.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Opens a file for reading.
    fn open(&self, path: &Path) -> io::Result<Box<dyn InFile>>;

    /// A whole small file; `None` where there is none.
    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Replaces a small file as a whole: whoever reads it finds the old or the new content, after a crash too.
    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()>;
}

/// An open file.
pub(super) trait InFile: Send {
    /// What it is now.
    fn stat(&self) -> io::Result<Stat>;

    /// Reads once into the spare room of `buffer`, from `offset` on. 0: nothing is there.
    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize>;

    /// The bytes from `offset` on: `len`, or as many as there are.
    fn part(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            let at = offset + bytes.len() as u64;
            if self.read_at(&mut bytes, at)? == 0 {
                break;
            }
        }
        bytes.truncate(len);
        Ok(bytes)
    }
}

/// What is known of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) dev: u64,
    pub(super) ino: u64,
    /// Nanoseconds since 1970; `None` where the file system does not know.
    pub(super) birth_ns: Option<i64>,
    pub(super) len: u64,
    pub(super) mtime_ns: i64,
    pub(super) links: u64,
    pub(super) regular: bool,
}

impl Stat {
    fn of(metadata: &Metadata) -> Self {
        let birth = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            dev: metadata.dev(),
            ino: metadata.ino(),
            birth_ns: birth.and_then(|time| i64::try_from(time.as_nanos()).ok()),
            len: metadata.len(),
            mtime_ns: metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec()),
            links: metadata.nlink(),
            regular: metadata.is_file(),
        }
    }
}

/// The disk of the machine.
#[derive(Debug)]
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn list(&self, directory: &Path, each: &mut dyn FnMut(&OsStr, u64)) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                each(&entry.file_name(), entry.ino());
            }
        }
        Ok(())
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        fs::metadata(path).map(|metadata| Stat::of(&metadata))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn InFile>> {
        Ok(Box::new(File::open(path)?))
    }

    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match fs::read(path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        // A link stays one.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let directory = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(directory)?;
        let aside = aside(&path);
        let renamed = write_synced(&aside, content).and_then(|()| fs::rename(&aside, &path));
        if let Err(error) = renamed {
            let _ = fs::remove_file(&aside);
            // A file that is mounted by itself, or in a directory that others own, can only be written in place.
            return match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy => write_synced(&path, content),
                _ => Err(error),
            };
        }
        File::open(directory)?.sync_all()
    }
}

fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Where the new content is written first: in the same directory.
fn aside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or(OsStr::new("positions")));
    name.push(".new");
    path.with_file_name(name)
}

impl InFile for File {
    fn stat(&self) -> io::Result<Stat> {
        self.metadata().map(|metadata| Stat::of(&metadata))
    }

    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
        loop {
            match pread(self, spare_capacity(buffer), offset) {
                Err(rustix::io::Errno::INTR) => {}
                read => return Ok(read?),
            }
        }
    }
}
