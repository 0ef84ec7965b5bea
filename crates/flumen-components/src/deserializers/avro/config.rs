//! The settings of the AVRO deserializer.

use flumen_core::config::{Configuration, PropertyValue, choose};

/// What stands below `deserializer.`.
#[derive(Debug, Clone, Copy, Configuration)]
pub struct AvroConfig {
    /// How an event tells the schema of its body: `HASH` (header `flume.avro.schema.hash`: the schema's fingerprint,
    /// CRC-64-AVRO, in hexadecimal) or `LITERAL` (header `flume.avro.schema.literal`: the schema itself).
    #[property(default = "HASH")]
    pub schema_type: SchemaType,
}

/// How an event tells the schema of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaType {
    /// By its fingerprint.
    Hash,
    /// By its text.
    Literal,
}

impl PropertyValue for SchemaType {
    const KIND: &'static str = "`HASH` or `LITERAL`";

    fn parse(text: &str) -> Result<Self, String> {
        choose(text, &[("HASH", Self::Hash), ("LITERAL", Self::Literal)])
    }
}
