//! The settings of the `remove_header` interceptor.

use crate::shared::regex::JavaRegex;
use flumen_core::config::Configuration;

/// What stands below the interceptor. A header goes if any of the three says so.
#[derive(Debug, Clone, Configuration)]
pub struct RemoveHeaderConfig {
    /// The name of a header to remove.
    pub with_name: Option<String>,
    /// Names of headers to remove.
    pub from_list: Option<String>,
    /// What stands between the names of `fromList`.
    #[property(default = r"\s*,\s*")]
    pub from_list_separator: JavaRegex,
    /// Removes the headers whose whole names match.
    pub matching: Option<JavaRegex>,
}
