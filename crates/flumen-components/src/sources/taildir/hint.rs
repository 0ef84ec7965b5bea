//! A hint that files may have changed: what the kernel tells of directories. Nothing relies on it; it ends a pause early.

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::{io, os::fd::OwnedFd, path::Path};
use tokio::io::{Interest, unix::AsyncFd};

/// Notes that are read at a time, in bytes. What they say is not looked at.
const READ: usize = 64 << 10;

/// See the module. Without the kernel's help it never hints.
pub(super) struct Hint(Option<AsyncFd<OwnedFd>>);

impl Hint {
    /// Watches directories. One that cannot be watched is only looked at.
    #[expect(
        deprecated,
        reason = "its successor is unsafe; nobody else has this descriptor, and so none closes it"
    )]
    pub(super) fn new<'a>(directories: impl IntoIterator<Item = &'a Path>) -> Self {
        let watch = || {
            let notes = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            let what = WatchFlags::MODIFY
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO
                | WatchFlags::ONLYDIR;
            for directory in directories {
                if let Err(error) = inotify::add_watch(&notes, directory, what) {
                    tracing::debug!(directory = %directory.display(), %error, "not watched, only looked at");
                }
            }
            AsyncFd::with_interest(notes, Interest::READABLE)
        };
        let watched: io::Result<_> = watch();
        Self(watched.inspect_err(|error| tracing::debug!(%error, "directories are only looked at")).ok())
    }

    /// No hints.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Ends when something may have changed.
    pub(super) async fn changed(&self) {
        let Some(notes) = &self.0 else { return std::future::pending().await };
        loop {
            let Ok(mut ready) = notes.readable().await else { return std::future::pending().await };
            if ready.try_io(|notes| forget(notes.get_ref())).is_ok() {
                return;
            }
        }
    }
}

/// Reads what is there, so that the next hint is about something new.
fn forget(notes: &OwnedFd) -> io::Result<()> {
    let mut buffer = vec![0; READ];
    rustix::io::read(notes, &mut buffer)?;
    while rustix::io::read(notes, &mut buffer).is_ok_and(|n| n > 0) {}
    Ok(())
}
