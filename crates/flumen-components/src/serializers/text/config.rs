//! The settings of the text serializer.

use flumen_core::config::Configuration;

/// What stands below `serializer.`.
#[derive(Debug, Clone, Copy, Configuration)]
pub struct TextConfig {
    /// Whether a newline follows each body. One that the body ends with is not taken into account.
    #[property(default = "true")]
    pub append_newline: bool,
}
