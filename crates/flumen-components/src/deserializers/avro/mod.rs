//! Each datum of an Avro data file is an event: its bytes as they are, and the schema, or its fingerprint, in a header.

mod config;
#[cfg(test)]
mod tests;

pub use config::{AvroConfig, SchemaType};

use crate::shared::avro_file::{self, Codec, Header, NotAvro, SYNC_BYTES, Schema};
use bytes::Bytes;
use flumen_core::{
    event::{Batch, Headers, Text},
    registry::{BuildContext, BuildError, DeserializerType},
    serialize::{DeserializeError, EventDeserializer, Input, Most, Place, TextInput},
};
use std::fmt::Write;

const HASH_HEADER: &str = "flume.avro.schema.hash";
const LITERAL_HEADER: &str = "flume.avro.schema.literal";
/// Data of a block, at most, where data have no bytes: a length alone would make events without end.
const MOST_EMPTY: i64 = 10_000;

/// See the module.
#[derive(Debug)]
pub struct AvroDeserializer {
    schema_type: SchemaType,
    file: Option<File>,
}

#[derive(Debug)]
struct File {
    sync: [u8; SYNC_BYTES],
    codec: Codec,
    schema: Schema,
    /// The header that tells the schema.
    told: (&'static str, Text),
    block: Block,
}

/// The block at hand, unpacked.
#[derive(Debug, Default)]
struct Block {
    /// Where it, and where the next one begins.
    start: u64,
    end: u64,
    data: Bytes,
    passed: usize,
    /// Data that passed, and that are left.
    n_passed: u64,
    n_left: i64,
}

impl AvroDeserializer {
    /// One with these settings.
    pub fn new(config: AvroConfig) -> Self {
        Self { schema_type: config.schema_type, file: None }
    }

    /// Reads what stands in front of the file.
    fn open(&self, header: &Header) -> Result<File, NotAvro> {
        let text = header.schema()?;
        let schema = Schema::parse(text)?;
        let told = match self.schema_type {
            SchemaType::Literal => (LITERAL_HEADER, Text::from(text)),
            SchemaType::Hash => {
                // The order of bytes is Java's.
                let mut hash = String::new();
                for byte in schema.fingerprint().to_le_bytes() {
                    let _ = write!(hash, "{byte:02x}");
                }
                (HASH_HEADER, Text::from(hash))
            }
        };
        let start = header.len as u64;
        let block = Block { start, end: start, ..Block::default() };
        Ok(File { sync: header.sync, codec: header.codec()?, schema, told, block })
    }
}

impl File {
    /// Unpacks the next block. False at the end of the file.
    fn next_block(&mut self, input: &dyn Input) -> Result<bool, DeserializeError> {
        let start = self.block.end;
        let Some(block) = avro_file::next_block(input, start, &self.sync)? else { return Ok(false) };
        let bad = |reason: NotAvro| DeserializeError::Bad { offset: start, reason: reason.0 };
        if self.schema.is_empty() && block.count > MOST_EMPTY {
            return Err(bad(NotAvro::new(format!("a block of more than {MOST_EMPTY} data without bytes"))));
        }
        let data = self.codec.unpack(block.packed).map_err(bad)?;
        self.block =
            Block { start, end: block.end, data: data.into(), passed: 0, n_passed: 0, n_left: block.count };
        Ok(true)
    }

    /// Passes a datum of the block; where it lies.
    fn pass(&mut self) -> Result<(usize, usize), DeserializeError> {
        let block = &mut self.block;
        let len = self.schema.datum_len(&block.data[block.passed..]).map_err(|error| {
            let reason = format!("datum {} of the block that begins here: {error}", block.n_passed + 1);
            DeserializeError::Bad { offset: block.start, reason }
        })?;
        let start = block.passed;
        block.passed += len;
        block.n_passed += 1;
        block.n_left -= 1;
        Ok((start, len))
    }
}

impl DeserializerType for AvroDeserializer {
    const NAMES: &'static [&'static str] =
        &["AVRO", "org.apache.flume.serialization.AvroEventDeserializer$Builder"];
    const SUMMARY: &'static str = "Makes each datum of an Avro data file an event.";
    type Config = AvroConfig;

    fn build(config: Self::Config, _context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self::new(config))
    }
}

impl EventDeserializer for AvroDeserializer {
    fn start(&mut self, input: &dyn Input, _text: &TextInput, place: Place) -> Result<(), DeserializeError> {
        let header = avro_file::read_header(input)?;
        let mut file =
            self.open(&header).map_err(|error| DeserializeError::Bad { offset: 0, reason: error.0 })?;
        if place.offset > file.block.start {
            let Some(start) = avro_file::sync_after(input, place.offset, &file.sync)? else {
                // No block is behind the place.
                return Ok(());
            };
            file.block.end = start;
        }
        if place.skip > 0 && file.next_block(input)? {
            for _ in 0..place.skip.min(file.block.n_left as u64) {
                file.pass()?;
            }
        }
        self.file = Some(file);
        Ok(())
    }

    fn read(
        &mut self,
        input: &dyn Input,
        headers: &Headers,
        most: Most,
        batch: &mut Batch,
    ) -> Result<(), DeserializeError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let (mut n_events, mut n_bytes) = (0, 0);
        let mut set = None;
        while n_events < most.events && n_bytes < most.bytes {
            if file.block.n_left <= 0 {
                if !file.next_block(input)? {
                    break;
                }
                continue;
            }
            let set = *set.get_or_insert_with(|| {
                let mut headers = headers.clone();
                headers.set(Text::kept(file.told.0), file.told.1.clone());
                batch.add_headers(headers)
            });
            let segment = batch.add_segment(file.block.data.clone());
            while file.block.n_left > 0 && n_events < most.events && n_bytes < most.bytes {
                let (start, len) = file.pass()?;
                // A block is below 4 GiB.
                batch.push_slice(set, segment, start as u32..(start + len) as u32);
                n_events += 1;
                n_bytes += len;
            }
        }
        Ok(())
    }

    fn place(&self) -> Place {
        let Some(file) = &self.file else { return Place { offset: u64::MAX, skip: 0 } };
        let block = &file.block;
        // A place is that of the marker before a block, as in Java.
        match block.n_left {
            0 => Place { offset: block.end - SYNC_BYTES as u64, skip: 0 },
            _ => Place { offset: block.start - SYNC_BYTES as u64, skip: block.n_passed },
        }
    }
}
