//! The log under the file channel: what is stored, when it is durable, and how it is found again.
//!
//! The format is that of Java Flume's file channel, version 3, so that either program opens the other's directories. The log
//! knows bytes and places, and nothing of events, channels or time.

pub mod checkpoint;
#[expect(dead_code, unused_imports, reason = "the log, which comes next, drives it")]
mod committer;
pub mod data_file;
pub mod disk;
pub mod java_checkpoint;
pub mod place;
#[allow(dead_code, reason = "the log, which comes next, uses it")]
pub mod queue;
pub mod record;
