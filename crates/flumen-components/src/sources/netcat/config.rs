//! The settings of the netcat source.

use crate::shared::charset::CharsetSetting;
use flumen_core::config::{AnyPort, Configuration};

/// What stands below the source.
#[derive(Debug, Clone, Configuration)]
pub struct NetcatConfig {
    /// The address or host name to listen on; `0.0.0.0` is every one of this machine.
    pub bind: String,
    /// The TCP port to listen on; 0 takes any free one.
    pub port: AnyPort,
    /// The longest line, in UTF-16 units as Java counts, with its newline. A longer one is answered with `FAILED` and ends the
    /// connection.
    #[property(key = "max-line-length", default = "512", min = "1", max = "268435456")]
    pub max_line_length: u32,
    /// Whether each stored line is answered with `OK`.
    #[property(key = "ack-every-event", default = "true")]
    pub ack_every_event: bool,
    /// The charset of lines and answers. Bodies are in UTF-8 whatever it is.
    #[property(default = "utf-8")]
    pub encoding: CharsetSetting,
    /// Connections at a time. One more is told so and closed.
    #[property(key = "max-connections", default = "10000", min = "1", max = "1000000")]
    pub max_connections: u32,
}
