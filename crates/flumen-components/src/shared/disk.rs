//! Files that sources read, and small files that they keep.

use flumen_core::serialize::Input;
use rustix::{buffer::spare_capacity, io::pread};
use std::{
    ffi::OsStr,
    fs::{self, File, Metadata},
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// An open file.
pub(crate) trait InFile: Send {
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
pub(crate) struct Stat {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// Nanoseconds since 1970; `None` where the file system does not know.
    pub(crate) birth_ns: Option<i64>,
    pub(crate) len: u64,
    pub(crate) mtime_ns: i64,
    pub(crate) links: u64,
    pub(crate) regular: bool,
}

impl Input for Box<dyn InFile> {
    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
        InFile::read_at(&**self, buffer, offset)
    }
}

impl Stat {
    pub(crate) fn of(metadata: &Metadata) -> Self {
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

/// Replaces a small file as a whole: whoever reads it finds the old or the new content, after a crash too.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
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
