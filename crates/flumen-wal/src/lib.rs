//! The log under the file channel: what is stored, when it is durable, and how it is found again.
//!
//! The format is that of Java Flume's file channel, version 3, so that either program opens the other's directories. The log
//! knows bytes and places, and nothing of events, channels or time.

pub mod checkpoint;
mod checksum;
mod committer;
pub mod data_file;
pub mod disk;
pub mod java_checkpoint;
pub mod log;
pub mod place;
pub mod queue;
pub mod record;
pub mod replay;
mod sync;
pub mod tools;
