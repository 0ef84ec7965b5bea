//! The settings of the blob deserializer.

use flumen_core::config::{Bytes, Configuration};

/// What stands below `deserializer.`.
#[derive(Debug, Clone, Copy, Configuration)]
pub struct BlobConfig {
    /// Bytes of an event, at most. A longer file becomes several events. Each is in memory as a whole.
    #[property(default = "100000000", min = "1", max = "2147483647")]
    pub max_blob_length: Bytes,
}
