//! The settings of the replicating selector.

use flumen_core::config::{Configuration, Words};

/// What stands below `selector.`.
#[derive(Debug, Clone, Configuration)]
pub struct ReplicatingConfig {
    /// Channels, separated by blanks, whose failures are ignored: each event is offered to them once, and a source never
    /// waits for them.
    #[property(default = "")]
    pub optional: Words,
}
