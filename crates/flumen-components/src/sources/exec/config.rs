//! The settings of the exec source.

use crate::shared::charset::CharsetSetting;
use flumen_core::config::{Bytes, Configuration, Millis};

/// What stands below the source.
#[derive(Debug, Clone, Configuration)]
pub struct ExecConfig {
    /// The command. Without `shell` it is split at blanks and run as it is: no quotes, pipes or wildcards.
    pub command: String,
    /// The shell that runs the command (`/bin/sh -c`), split at blanks; the command is its last argument, in one piece.
    pub shell: Option<String>,
    /// The pause before a command that has ended is run again.
    #[property(default = "10000")]
    pub restart_throttle: Millis,
    /// Whether a command that has ended is run again.
    #[property(default = "false")]
    pub restart: bool,
    /// Whether what the command writes to standard error is logged, up to 100 lines a second. Else it is thrown away.
    #[property(default = "false")]
    pub log_std_err: bool,
    /// Lines to put at a time.
    #[property(default = "20", min = "1", max = "1000000")]
    pub batch_size: u32,
    /// How long lines may wait for a full batch.
    #[property(default = "3000")]
    pub batch_timeout: Millis,
    /// The charset of what the command writes, which events keep.
    #[property(default = "UTF-8")]
    pub charset: CharsetSetting,
    /// The longest line, in bytes without its end. A longer one becomes several events.
    #[property(default = "16777216", min = "16", max = "268435456")]
    pub max_line_length: Bytes,
}
