//! What turns events into bytes of a file: the folders of this kind, and their lines of registration.

use flumen_core::registry::Registry;

/// Adds them all, in alphabetical order.
pub(crate) fn register(registry: Registry) -> Registry {
    registry
}
