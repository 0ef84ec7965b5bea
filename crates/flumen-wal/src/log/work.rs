//! The threads of a log: for each data directory some that write and sync, and one that reads ahead.

use super::{Shared, bugs::Bug, files};
use crate::{
    committer::{self, Done, Job},
    disk::Mode,
};
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError},
    thread::{self, JoinHandle},
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
        threads.push(thread::Builder::new().name(name).spawn(body)?);
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

impl Shared {
    /// Does a job. It is done once, whatever comes of it.
    pub(super) fn run(&self, job: Job) -> io::Result<Done> {
        match job {
            Job::Create(new) => self.create(new).map(|()| Done::Created(new)),
            Job::Write { dir, file, at, buffers, parts } => {
                let path = files::path(&self.settings.data_dirs[dir], file);
                let disk = &*self.disk;
                match committer::write(disk, &path, at, &buffers) {
                    Err(_) if self.has(Bug::FailedWriteIsFine) => {}
                    Err(_) if self.has(Bug::SyncAgain) => disk.open(&path, Mode::Write)?.sync()?,
                    result => result?,
                }
                Ok(Done::Written { parts })
            }
        }
    }
}
