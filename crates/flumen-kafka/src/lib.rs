//! Kafka: a source, a sink and a channel over one client library.

pub mod channel;
mod client;
mod datum;
mod inbox;
mod keys;
mod outbox;
pub mod sink;
pub mod source;
#[cfg(test)]
mod testing;
mod zookeeper;

use flumen_core::registry::Registry;

/// Adds what this crate has.
pub fn register(registry: Registry) -> Registry {
    registry.source::<source::KafkaSource>().channel::<channel::KafkaChannel>().sink::<sink::KafkaSink>()
}
