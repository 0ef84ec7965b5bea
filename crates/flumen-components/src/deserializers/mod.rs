//! What turns bytes of a file into events: the folders of this kind, and their lines of registration.

pub mod avro;
pub mod blob;
pub mod line;

use flumen_core::registry::Registry;

/// Adds them all, in alphabetical order.
pub(crate) fn register(registry: Registry) -> Registry {
    registry
        .deserializer::<avro::AvroDeserializer>()
        .deserializer::<blob::BlobDeserializer>()
        .deserializer::<line::LineDeserializer>()
}
