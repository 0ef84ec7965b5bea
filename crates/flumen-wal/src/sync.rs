//! Locks and threads of an open log: the system's, or those of a checker that tries the orders of threads.

#[cfg(all(test, shuttle))]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Builder, JoinHandle},
};
#[cfg(not(all(test, shuttle)))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Builder, JoinHandle},
};
