//! Why a channel refuses.

use super::Channel;
use crate::event::{BatchSize, SLOT_BYTES};
use std::{io, sync::Arc};

/// Why a channel refuses a put, a take or a commit. Cheap to clone, as several that wait may get the same answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChannelError {
    /// No room came free within the keep-alive. Trying again later can work.
    #[error(
        "channel {channel} is full: no room for {events} event{} ({bytes} bytes) within {keep_alive_s} s; its sinks are \
         slower than its sources: see why they are, or raise capacity ({capacity} events{byte_limit})",
        if *events == 1 { "" } else { "s" }
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
        /// The byte limit and its key in words, or nothing.
        byte_limit: Arc<str>,
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
        let byte_limit = limits.byte_slots.map_or(String::new(), |slots| {
            let bytes = slots.saturating_mul(SLOT_BYTES);
            format!(") or byteCapacity (which leaves {} for bodies", in_words(bytes))
        });
        Self::Full {
            channel: channel.name().into(),
            events: size.events,
            bytes: size.bytes,
            keep_alive_s: limits.keep_alive.as_secs(),
            capacity: limits.capacity,
            byte_limit: byte_limit.into(),
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

/// A number of bytes as people say it: `1.5 GB`, in powers of 1000, as the keys of channels count.
fn in_words(bytes: u64) -> String {
    let units = [(1_000_000_000_u64, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.iter().find(|(unit, _)| bytes >= *unit) {
        None => format!("{bytes} bytes"),
        Some((unit, name)) => {
            let tenths = bytes / (unit / 10);
            match (tenths / 10, tenths % 10) {
                (whole, 0) => format!("{whole} {name}"),
                (whole, tenth) => format!("{whole}.{tenth} {name}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_said_in_the_largest_unit_that_fits() {
        for (bytes, words) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_600, "1.6 kB"),
            (77_000_000, "77 MB"),
            (8_088_480_600, "8 GB"),
            (8_188_480_600, "8.1 GB"),
            (u64::MAX, "18446744073.7 GB"),
        ] {
            assert_eq!(in_words(bytes), words);
        }
    }
}
