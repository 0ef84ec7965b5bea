//! The order of commits, and the writes and syncs that make them durable.
//!
//! A run gets its ids and its place under one lock; its bytes are encoded outside of it. Workers gather what waits for their
//! directory into one write and one sync, and several are in flight. A run counts once it and all before it are durable.

mod job;
mod line;

pub(crate) use job::{Done, Job, NewFile, write, write_joined};
pub use line::Blocks;
pub(crate) use line::{Counters, Line, Place, Ticket};

#[cfg(test)]
mod tests;
