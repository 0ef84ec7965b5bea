//! Where events go: the folders of this kind, and their lines of registration.

pub mod avro;
pub mod file_roll;
pub mod http;
pub mod logger;
pub mod null;
pub mod thrift;

use flumen_core::registry::Registry;

/// Adds them all, in alphabetical order.
pub(crate) fn register(registry: Registry) -> Registry {
    registry
        .sink::<avro::AvroSink>()
        .sink::<file_roll::FileRollSink>()
        .sink::<http::HttpSink>()
        .sink::<logger::LoggerSink>()
        .sink::<null::NullSink>()
        .sink::<thrift::ThriftSink>()
}
