//! The log under the file channel: what is stored, when it is durable, and how it is found again.

pub mod disk;
