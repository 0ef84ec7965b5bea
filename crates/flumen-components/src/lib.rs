//! The components with light dependencies: one folder each, one line in `register` each.

pub mod deserializers;
pub mod interceptors;
pub mod processors;
pub mod selectors;
pub mod serializers;
mod shared;
pub mod sinks;
pub mod sources;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use flumen_core::registry::Registry;

/// Adds every component of this crate. The lists are in alphabetical order.
pub fn register(registry: Registry) -> Registry {
    let registry = sources::register(registry);
    let registry = sinks::register(registry);
    let registry = interceptors::register(registry);
    let registry = selectors::register(registry);
    let registry = processors::register(registry);
    let registry = serializers::register(registry);
    deserializers::register(registry)
}
