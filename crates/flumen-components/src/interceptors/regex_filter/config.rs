//! The settings of the `regex_filter` interceptor.

use crate::shared::regex::JavaRegex;
use flumen_core::config::Configuration;

/// What stands below the interceptor.
#[derive(Debug, Clone, Configuration)]
pub struct RegexFilterConfig {
    /// What to look for, anywhere in the body.
    #[property(default = ".*")]
    pub regex: JavaRegex,
    /// Whether events in which it is found are dropped; otherwise these are kept and all others dropped.
    #[property(default = "false")]
    pub exclude_events: bool,
}
