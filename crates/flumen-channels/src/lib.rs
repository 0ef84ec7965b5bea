//! The channels: where events wait between a source and a sink.

pub mod file;
pub mod memory;

use flumen_core::registry::Registry;

/// Adds every channel of this crate, in alphabetical order.
pub fn register(registry: Registry) -> Registry {
    registry.channel::<file::FileChannel>().channel::<memory::MemoryChannel>()
}
