//! What becomes of a file when the channels have all of it: it is named or marked as done, deleted, or put aside.

use super::{
    config::{DeletePolicy, TrackingPolicy},
    disk::Disk,
    file::{End, SpoolFile},
    listing::{Places, with_suffix},
};
use std::{
    ffi::OsString,
    io::{self, ErrorKind},
    path::Path,
};

/// Names that are tried for a file that is put aside.
const NAMES_TRIED: u32 = 10_000;

/// How files are finished.
#[derive(Debug)]
pub(super) struct Finish {
    pub(super) delete: DeletePolicy,
}

/// What became of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Finished {
    /// It is done.
    Done,
    /// Something was wrong with it: what, and where it is.
    Aside(String),
}

impl Finish {
    /// Whether the tracker stays where it is after a file that was marked.
    pub(super) fn keeps_tracker(&self, places: &Places) -> bool {
        self.marks(places)
    }

    /// Whether done files are marked in the tracker directory, and nothing is written elsewhere.
    fn marks(&self, places: &Places) -> bool {
        self.delete == DeletePolicy::Never && places.tracking == TrackingPolicy::TrackerDir
    }

    /// Finishes a file that is settled.
    pub(super) fn finish(&self, disk: &dyn Disk, places: &Places, file: &SpoolFile) -> io::Result<Finished> {
        let stat = match disk.stat(&file.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let what = "it is gone: somebody has removed or renamed it while it was read";
                return Ok(Finished::Aside(what.to_owned()));
            }
            stat => stat?,
        };
        if !file.is_same(&stat) {
            let what = "another file has got its name while it was read: that one is read as a new file";
            return Ok(Finished::Aside(what.to_owned()));
        }
        if let Some(End::Bad(reason)) = &file.end {
            let why = format!("it cannot be read on, {reason}; what is before that was delivered");
            return self.put_aside(disk, places, file, "failed", &why);
        }
        if file.is_changed(&stat) {
            let (before, now) = (file.stat.len, stat.len);
            let why = format!(
                "it was written to while it was read, from {before} to {now} bytes; what was there was delivered: put files \
                 into the directory when they are whole"
            );
            return self.put_aside(disk, places, file, "changed", &why);
        }
        if self.delete == DeletePolicy::Immediate {
            return disk.remove(&file.path).map(|()| Finished::Done);
        }
        let done = match places.tracking {
            TrackingPolicy::TrackerDir => disk.create_new(&places.marker(&file.relative), b""),
            TrackingPolicy::Rename => disk.rename_new(&file.path, &with_suffix(&file.path, &places.suffix)),
        };
        match done {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && self.marks(places) => {
                Ok(Finished::Done)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let why = "the name of files that are done is taken: a name was used twice; all of it was delivered";
                self.put_aside(disk, places, file, "reused", why)
            }
            done => done.map(|()| Finished::Done),
        }
    }

    /// Gives a file a name that ends as those that are done, so that neither Flumen nor Java reads it again, and says why.
    fn put_aside(
        &self,
        disk: &dyn Disk,
        places: &Places,
        file: &SpoolFile,
        kind: &str,
        why: &str,
    ) -> io::Result<Finished> {
        if self.marks(places) {
            let marker = places.marker(&file.relative);
            return match disk.create_new(&marker, format!("{kind}: {why}\n").as_bytes()) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
                _ => Ok(Finished::Aside(format!("{why}; marked in {}", marker.display()))),
            };
        }
        for n in 1..=NAMES_TRIED {
            let mut end = OsString::from(format!(".{kind}-{n}"));
            end.push(&places.suffix);
            let aside = with_suffix(&file.path, &end);
            match disk.rename_new(&file.path, &aside) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(Finished::Aside(format!("{why}; put aside as {}", name(&aside)))),
            }
        }
        Err(io::Error::other(format!("{NAMES_TRIED} names are taken that it could be put aside under")))
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
