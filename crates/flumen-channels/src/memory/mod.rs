//! The memory channel.
