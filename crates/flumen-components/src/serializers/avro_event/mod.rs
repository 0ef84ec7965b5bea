//! Writes an Avro data file: a record with headers and body for each event, a block for each batch.

mod config;
#[cfg(test)]
mod tests;

pub use config::{AvroEventConfig, CompressionCodec};

use crate::shared::avro_file::{CODEC_KEY, Codec, SCHEMA_KEY, SYNC_BYTES, write_block, write_header, zigzag};
use flumen_core::{
    event::Event,
    registry::{BuildContext, BuildError, SerializerType},
    serialize::{EventSerializer, SerializeError},
};
use flumen_java::text::hash_order::{Made, order};

/// The schema, in the words of Java Flume.
const SCHEMA: &str = "{\"type\":\"record\",\"name\":\"Event\",\"fields\":[{\"name\":\"headers\",\"type\":{\"type\":\"map\",\
                      \"values\":\"string\"}},{\"name\":\"body\",\"type\":\"bytes\"}]}";

/// See the module.
#[derive(Debug)]
pub struct AvroEventSerializer {
    codec: Option<Codec>,
    block_bytes: usize,
    sync: [u8; SYNC_BYTES],
    /// The block at hand.
    block: Vec<u8>,
    n_events: i64,
    /// A block was lost since the last flush.
    failed: Option<SerializeError>,
}

impl AvroEventSerializer {
    /// One with these settings. `sync` is the marker between blocks: 16 random bytes.
    pub fn new(config: AvroEventConfig, sync: [u8; SYNC_BYTES]) -> Self {
        Self {
            codec: config.compression_codec.0,
            block_bytes: usize::try_from(config.sync_interval_bytes.0).unwrap_or(usize::MAX),
            sync,
            block: Vec::new(),
            n_events: 0,
            failed: None,
        }
    }

    fn end_block(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        if self.n_events == 0 {
            return Ok(());
        }
        let written = match self.codec {
            None | Some(Codec::Null) => {
                write_block(self.n_events, &self.block, &self.sync, out);
                Ok(())
            }
            Some(codec) => {
                codec.pack(&self.block).map(|packed| write_block(self.n_events, &packed, &self.sync, out))
            }
        };
        self.block.clear();
        self.n_events = 0;
        written.map_err(|error| SerializeError {
            serializer: Self::NAMES[0],
            reason: format!("a block cannot be packed: {error}"),
        })
    }
}

impl SerializerType for AvroEventSerializer {
    const NAMES: &'static [&'static str] =
        &["avro_event", "org.apache.flume.serialization.FlumeEventAvroEventSerializer$Builder"];
    const SUMMARY: &'static str = "Writes events with their headers into Avro data files.";
    type Config = AvroEventConfig;

    fn build(config: Self::Config, _context: &BuildContext) -> Result<Self, BuildError> {
        let mut sync = [0; SYNC_BYTES];
        getrandom::fill(&mut sync)
            .map_err(|error| BuildError::with("no random bytes for an Avro file", error.to_string()))?;
        Ok(Self::new(config, sync))
    }
}

impl EventSerializer for AvroEventSerializer {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        let codec = self.codec.map(|codec| (CODEC_KEY, codec.name().as_bytes()));
        let metadata: Vec<_> = [(SCHEMA_KEY, SCHEMA.as_bytes())].into_iter().chain(codec).collect();
        write_header(&metadata, &self.sync, out);
        Ok(())
    }

    fn write(&mut self, event: Event<'_>, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        let entries: Vec<(&str, &str)> =
            event.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        if !entries.is_empty() {
            zigzag(entries.len() as i64, &mut self.block);
            let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
            for place in order(&names, Made::Empty) {
                let (name, value) = entries[place];
                put(name.as_bytes(), &mut self.block);
                put(value.as_bytes(), &mut self.block);
            }
        }
        zigzag(0, &mut self.block);
        put(event.body, &mut self.block);
        self.n_events += 1;
        if self.block.len() >= self.block_bytes {
            // It is no fault of this event: the whole batch is to be written again.
            self.failed = self.end_block(out).err().or(self.failed.take());
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        self.end_block(out)?;
        self.failed.take().map_or(Ok(()), Err)
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        self.end_block(out)
    }
}

fn put(bytes: &[u8], out: &mut Vec<u8>) {
    zigzag(bytes.len() as i64, out);
    out.extend_from_slice(bytes);
}
