//! Where events come from: the folders of this kind, and their lines of registration.

pub mod seq;

use flumen_core::registry::Registry;

/// Adds them all, in alphabetical order.
pub(crate) fn register(registry: Registry) -> Registry {
    registry.poll_source::<seq::SeqSource>()
}
