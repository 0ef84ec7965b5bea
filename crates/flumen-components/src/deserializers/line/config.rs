//! The settings of the LINE deserializer.

use crate::shared::charset::CharsetSetting;
use flumen_core::config::Configuration;

/// What stands below `deserializer.`.
#[derive(Debug, Clone, Copy, Configuration)]
pub struct LineConfig {
    /// Characters of an event, at most, counted as Java does: most are 1, those beyond U+FFFF (most emoji) are 2. What is
    /// longer goes on in the next event; a line of just this length is followed by an empty event.
    #[property(default = "2048", min = "1", max = "268435456")]
    pub max_line_length: u32,
    /// The charset of bodies. What it cannot express becomes its replacement, mostly `?`.
    #[property(default = "UTF-8")]
    pub output_charset: CharsetSetting,
}
