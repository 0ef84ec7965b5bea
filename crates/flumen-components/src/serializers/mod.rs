//! What turns events into bytes of a file: the folders of this kind, and their lines of registration.

pub mod avro_event;
pub mod header_and_text;
pub mod text;

use flumen_core::registry::Registry;

/// Adds them all, in alphabetical order.
pub(crate) fn register(registry: Registry) -> Registry {
    registry
        .serializer::<avro_event::AvroEventSerializer>()
        .serializer::<header_and_text::HeaderAndTextSerializer>()
        .serializer::<text::TextSerializer>()
}
