//! Avro's object container files (Avro specification 1.11, "Object Container Files"): what stands in front, and blocks of data.

mod codec;
mod parts;
mod schema;
#[cfg(test)]
mod tests;

pub(crate) use codec::Codec;
pub(crate) use parts::{
    Header, next_block, read_header, sync_after, take_number, write_block, write_header, zigzag,
};
pub(crate) use schema::Schema;

/// What the bytes of a file or block are not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NotAvro(pub(crate) String);

impl NotAvro {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// The key of the schema in front of a file.
pub(crate) const SCHEMA_KEY: &str = "avro.schema";
/// The key of the codec.
pub(crate) const CODEC_KEY: &str = "avro.codec";
/// Bytes of the marker between blocks.
pub(crate) const SYNC_BYTES: usize = 16;
/// Bytes of a block, at most, packed and unpacked. Writers make blocks of some thousand up to some million bytes.
pub(crate) const MOST_BLOCK_BYTES: usize = 1 << 30;
