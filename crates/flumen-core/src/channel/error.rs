//! Why a channel refuses.

use super::Channel;
use crate::event::BatchSize;
use std::{io, sync::Arc};

/// Why a channel refuses a put, a take or a commit. Cheap to clone, as several that wait may get the same answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChannelError {
    /// No room came free within the keep-alive. Trying again later can work.
    #[error(
        "channel {channel} is full: no room for {events} events ({bytes} bytes) within {keep_alive_s} s; its sinks are \
         slower than its sources (capacity {capacity} events{slots}): see why they are, or raise capacity"
    )]
    Full {
        /// The channel.
        channel: Arc<str>,
        /// Events that were to be put.
        events: u32,
        /// Bytes of their bodies.
        bytes: u64,
        /// How long was waited, in seconds.
        keep_alive_s: u64,
        /// Events that fit in all.
        capacity: u64,
        /// The byte limit in words, or nothing.
        slots: Arc<str>,
    },
    /// A transaction of this size can never succeed.
    #[error(
        "channel {channel}: {asked} {unit} are more than {limit_name} ({limit}) allows: raise it, or use smaller batches"
    )]
    TooLarge {
        /// The channel.
        channel: Arc<str>,
        /// How much was asked for.
        asked: u64,
        /// What is counted.
        unit: &'static str,
        /// The property that limits it.
        limit_name: &'static str,
        /// Its value.
        limit: u64,
    },
    /// The channel was closed, because the agent stops or the configuration changed.
    #[error("channel {channel} is closed")]
    Closed {
        /// The channel.
        channel: Arc<str>,
    },
    /// What is under the channel failed. It refuses everything until it has been opened again.
    #[error("channel {channel}: storage failed: {source}")]
    Storage {
        /// The channel.
        channel: Arc<str>,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A panic has left the channel half changed: what it counts and holds cannot be trusted, and the agent ends.
    #[error("channel {channel} is broken: a fault of the program left it half changed, and the agent ends")]
    Broken {
        /// The channel.
        channel: Arc<str>,
    },
}

impl ChannelError {
    /// `Closed`, for the channel of this name.
    pub fn closed(channel: &str) -> Self {
        Self::Closed { channel: channel.into() }
    }

    /// `Storage`, for the channel of this name.
    pub fn storage(channel: &str, source: io::Error) -> Self {
        Self::Storage { channel: channel.into(), source: Arc::new(source) }
    }

    pub(super) fn full(channel: &dyn Channel, size: BatchSize) -> Self {
        let limits = channel.limits();
        let slots = limits.byte_slots.map_or(String::new(), |slots| format!(", {slots} slots of 100 bytes"));
        Self::Full {
            channel: channel.name().into(),
            events: size.events,
            bytes: size.bytes,
            keep_alive_s: limits.keep_alive.as_secs(),
            capacity: limits.capacity,
            slots: slots.into(),
        }
    }

    /// Whether a batch of this size can never be stored, so that trying again is useless.
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }
}

/// A channel cannot take new limits while it runs; what it holds must be moved or drained.
#[derive(Debug, Clone, thiserror::Error)]
#[error("channel {channel} must be built anew: {reason}")]
pub struct NeedsRebuild {
    /// The channel.
    pub channel: Arc<str>,
    /// Which limit, and why.
    pub reason: String,
}
