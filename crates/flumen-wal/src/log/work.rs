//! The threads of a log: for each data directory some that write and sync, and one that reads ahead.

use super::{Shared, files};
use crate::{
    committer::{self, Done, Job},
    disk::DiskFile,
    sync::{Builder, JoinHandle},
};
use bytes::Bytes;
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Arc, PoisonError},
};

/// Starts them all.
pub(super) fn start(shared: &Arc<Shared>) -> io::Result<Vec<JoinHandle<()>>> {
    let mut threads = Vec::new();
    let mut start = |name: String, run: Box<dyn FnOnce(&Shared) + Send>| -> io::Result<()> {
        let shared = shared.clone();
        let body = move || {
            if catch_unwind(AssertUnwindSafe(|| run(&shared))).is_err() {
                shared.fail(io::Error::other("a fault of the program in a thread of the log"));
            }
        };
        threads.push(Builder::new().name(name).spawn(body)?);
        Ok(())
    };
    let name = &shared.settings.name;
    for dir in 0..shared.settings.data_dirs.len() {
        for n in 0..shared.settings.writes_in_flight.max(1) {
            start(format!("{name}-log-{dir}-{n}"), Box::new(move |shared| write(shared, dir)))?;
        }
    }
    start(format!("{name}-read"), Box::new(read))?;
    Ok(threads)
}

fn write(shared: &Shared, dir: usize) {
    loop {
        let job = {
            let mut state = shared.state();
            loop {
                if let Some(job) = state.line.next_job(dir) {
                    break job;
                }
                if state.stopping {
                    return;
                }
                state = shared.work[dir].wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        shared.finish(shared.run(job));
    }
}

fn read(shared: &Shared) {
    loop {
        {
            let mut state = shared.state();
            while state.queue.to_read().is_none() || state.line.failed().is_some() {
                if state.stopping {
                    return;
                }
                state = shared.reading.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.stopping {
                return;
            }
        }
        shared.read_ahead();
    }
}

/// A job of which the first half is done.
#[derive(Debug)]
pub(super) enum Begun {
    /// There is no second half.
    Done(Done),
    /// Bytes that are written, and not synced.
    Written(Written),
}

/// Bytes that are on their way to the disk.
#[derive(Debug)]
pub(super) struct Written {
    /// What they were written through. `None`: only where a test has it so.
    pub(super) file: Option<Arc<dyn DiskFile>>,
    pub(super) path: PathBuf,
    pub(super) buffers: Vec<Bytes>,
    pub(super) parts: Vec<(u64, usize)>,
}

impl Shared {
    /// Does a job. It is done once, whatever comes of it.
    pub(super) fn run(&self, job: Job) -> io::Result<Done> {
        self.begin(job).and_then(|begun| self.complete(begun))
    }

    /// Makes a file, or writes.
    pub(super) fn begin(&self, job: Job) -> io::Result<Begun> {
        match job {
            Job::Create(new) => self.create(new).map(|()| Begun::Done(Done::Created(new))),
            Job::Write { dir, file, at, direct, buffers, parts } => {
                let path = files::path(&self.settings.data_dirs[dir], file);
                let written = match self.bugs.shared_file(&*self.disk, &path) {
                    Some(file) => {
                        file.and_then(|file| committer::write_joined(&file, at, &buffers).map(|()| file))
                    }
                    None => committer::write(&*self.disk, &path, at, direct, &buffers),
                };
                let mut of = Written { file: None, path, buffers, parts };
                match written {
                    Ok(file) => of.file = Some(file),
                    Err(error) => self.bugs.after_failure(&*self.disk, &of, error)?,
                }
                Ok(Begun::Written(of))
            }
        }
    }

    /// Syncs what was written.
    pub(super) fn complete(&self, begun: Begun) -> io::Result<Done> {
        match begun {
            Begun::Done(done) => Ok(done),
            Begun::Written(of) => {
                if let Err(error) = of.file.as_ref().map_or(Ok(()), |file| file.sync()) {
                    self.bugs.after_failure(&*self.disk, &of, error)?;
                }
                Ok(Done::Written { parts: of.parts })
            }
        }
    }
}
