//! A channel, a sink and a source that do what a test tells them, and say what was done to them.

mod channel;
mod sink;
mod source;

pub use channel::{Once, ScriptedChannel};
pub use sink::{Act, ScriptedSink, SinkLog};
pub use source::{ScriptedSource, SourceAct, SourceLog};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A test that has failed elsewhere is told there; here its data is still good enough.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
