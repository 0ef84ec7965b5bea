//! The settings of the avro_event serializer.

use crate::shared::avro_file::Codec;
use flumen_core::config::{Bytes, Configuration, PropertyValue};

/// What stands below `serializer.`.
#[derive(Debug, Clone, Copy, Configuration)]
pub struct AvroEventConfig {
    /// Bytes of a block, before it is packed, after which it ends. Each batch ends one as well.
    #[property(default = "2048000", min = "32", max = "1073741824")]
    pub sync_interval_bytes: Bytes,
    /// How blocks are packed: `null` (not at all), `deflate`, `snappy`, `bzip2`, `xz` or `zstandard`.
    #[property(default = "null")]
    pub compression_codec: CompressionCodec,
}

/// How blocks are packed. Nothing: by a codec that is none, so that they are not packed, as in Java.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompressionCodec(pub(super) Option<Codec>);

impl PropertyValue for CompressionCodec {
    const KIND: &'static str = "`null`, `deflate`, `snappy`, `bzip2`, `xz` or `zstandard`";

    fn parse(text: &str) -> Result<Self, String> {
        Codec::of_name(text).map(|codec| Self(Some(codec))).ok_or_else(|| {
            let known: Vec<&str> = Codec::ALL.into_iter().map(Codec::name).collect();
            format!("expected {}", known.join(", "))
        })
    }

    fn forgive(text: &str) -> Option<(Self, String)> {
        let codec = Codec::of_name(&text.trim().to_ascii_lowercase());
        Some((Self(codec), codec.unwrap_or(Codec::Null).name().to_owned()))
    }
}
