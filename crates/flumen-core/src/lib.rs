//! The vocabulary and the contracts of Flumen, in reading order. No I/O, no tasks, no component.

// Reading order, which rustfmt leaves alone across blank lines.
pub mod event;

pub mod channel;

pub mod source;

pub mod intercept;

pub mod route;

pub mod processor;

pub mod sink;

pub mod group;

pub mod serialize;

pub mod config;

pub mod registry;

pub mod metrics;

pub mod seldom;

pub mod supervise;

pub mod world;

pub mod planted;

pub mod testing;
