//! The settings of the multiplexing selector.

use flumen_core::config::{Configuration, Words};
use std::collections::BTreeMap;

/// What stands below `selector.`.
#[derive(Debug, Clone, Configuration)]
pub struct MultiplexingConfig {
    /// The header whose value chooses the channels.
    #[property(default = "flume.selector.header")]
    pub header: String,
    /// For a value of the header the channels that must have the event, separated by blanks.
    #[property(prefix = "mapping.")]
    pub mapping: BTreeMap<String, Words>,
    /// For a value of the header further channels, which may miss the event. One that is required too is only required.
    #[property(prefix = "optional.")]
    pub optional: BTreeMap<String, Words>,
    /// The channels of events without the header, or with a value that has no mapping.
    #[property(default = "")]
    pub default: Words,
}
