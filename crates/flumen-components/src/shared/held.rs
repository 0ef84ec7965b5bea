//! Files that one source has for itself: another one of this process waits until it lets go of them, and then gives up.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// How long a source waits for the one before it.
const LET_GO: Duration = Duration::from_secs(10);

/// A path that is taken, until this is dropped.
#[derive(Debug)]
pub(crate) struct Held(PathBuf);

static HELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static LET_GO_SIGNAL: Condvar = Condvar::new();

impl Held {
    /// Takes a path, which this property names. Waits while another has it.
    pub(crate) fn new(path: &Path, property: &str) -> io::Result<Self> {
        let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut held, waited) = LET_GO_SIGNAL
            .wait_timeout_while(held, LET_GO, |held| held.contains(path))
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!("another source has it: give each its own {property}"),
            ));
        }
        held.insert(path.to_owned());
        Ok(Self(path.to_owned()))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        LET_GO_SIGNAL.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_source_does_not_get_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p");
        let first = Held::new(&path, "positionFile").unwrap();
        assert!(HELD.lock().unwrap().contains(&path));
        drop(first);
        Held::new(&path, "positionFile").unwrap();
    }
}
