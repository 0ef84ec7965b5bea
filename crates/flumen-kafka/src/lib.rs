//! Kafka: a source, a sink and a channel over one client library.

mod client;
mod datum;
mod keys;
mod outbox;
pub mod sink;
#[cfg(test)]
mod testing;

use flumen_core::registry::Registry;

/// Adds what this crate has.
pub fn register(registry: Registry) -> Registry {
    registry.sink::<sink::KafkaSink>()
}
