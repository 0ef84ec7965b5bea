//! A file, or the first of several that is there.

use super::{Look, MAX_BYTES, OriginError, uri::UriError};
use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::PathBuf,
    time::SystemTime,
};

/// A file and what it looked like when it was read.
#[derive(Debug)]
pub(super) struct FileOrigin {
    /// Where it may be; a file has one place, a class path several.
    candidates: Vec<PathBuf>,
    of_uri: bool,
    seen: Option<Stamp>,
}

/// What tells one version of a file from another. Java only looks for a later time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: SystemTime,
    len: u64,
    inode: (u64, u64),
    regular: bool,
}

impl FileOrigin {
    pub(super) fn new(candidates: Vec<PathBuf>, of_uri: bool) -> Self {
        Self { candidates, of_uri, seen: None }
    }

    /// Whether a URI names it: then it can be missing while another source is there.
    pub(super) fn is_of_uri(&self) -> bool {
        self.of_uri
    }

    /// Reads the file if it looks different. Files are read on a thread where they may take their time.
    pub(super) async fn look(&mut self) -> Result<Look, OriginError> {
        let (candidates, seen) = (self.candidates.clone(), self.seen);
        let path = {
            let candidates = candidates.clone();
            let found =
                tokio::task::spawn_blocking(move || candidates.into_iter().find(|path| path.exists()));
            found.await.ok().flatten()
        };
        let path = match (path, candidates.as_slice()) {
            (Some(path), _) => path,
            (None, [one]) => one.clone(),
            (None, _) => {
                let searched: Vec<String> =
                    candidates.iter().map(|path| path.display().to_string()).collect();
                return Err(UriError::nowhere(&searched).into());
            }
        };
        // A pipe gives its text once.
        let same = move |now: &Stamp| seen.is_some_and(|seen| seen == *now || !now.regular);
        match read_unless(path, same).await? {
            None => Ok(Look::Same),
            Some((bytes, stamp)) => {
                self.seen = Some(stamp);
                Ok(Look::Text(bytes))
            }
        }
    }
}

/// Reads a whole file, within the limit.
pub(super) async fn read(path: PathBuf) -> Result<(Vec<u8>, Stamp), OriginError> {
    let text = read_unless(path, |_| false).await?;
    Ok(text.expect("nothing is the same to this closure"))
}

async fn read_unless(
    path: PathBuf,
    same: impl Fn(&Stamp) -> bool + Send + 'static,
) -> Result<Option<(Vec<u8>, Stamp)>, OriginError> {
    let shown = path.display().to_string();
    let read = move || -> Result<Option<(Vec<u8>, Stamp)>, OriginError> {
        let name = path.display().to_string();
        let unreadable = |source| OriginError::Unreadable { path: name.clone(), source };
        // The look comes before the reading: what changes between them differs at the next look.
        let stamp = stamp(&fs::metadata(&path).map_err(unreadable)?).map_err(unreadable)?;
        if same(&stamp) {
            return Ok(None);
        }
        if stamp.len > MAX_BYTES {
            return Err(OriginError::TooLong { name, bytes: stamp.len });
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(unreadable)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(OriginError::TooLong { name, bytes: bytes.len() as u64 });
        }
        Ok(Some((bytes, stamp)))
    };
    let done = tokio::task::spawn_blocking(read).await;
    done.unwrap_or_else(|error| Err(OriginError::Unreadable { path: shown, source: io::Error::other(error) }))
}

fn stamp(meta: &Metadata) -> io::Result<Stamp> {
    Ok(Stamp {
        modified: meta.modified()?,
        len: meta.len(),
        inode: (meta.dev(), meta.ino()),
        regular: meta.is_file(),
    })
}
