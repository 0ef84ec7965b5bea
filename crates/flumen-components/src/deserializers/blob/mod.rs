//! Each file is one event, or several of `maxBlobLength` bytes where it is longer.

mod config;
#[cfg(test)]
mod tests;

pub use config::BlobConfig;

use flumen_core::{
    event::{Batch, Headers},
    registry::{BuildContext, BuildError, DeserializerType},
    serialize::{DeserializeError, EventDeserializer, Input, Most, Place, TextInput},
};

/// What is made room for before it is known to be there.
const FIRST_ROOM: usize = 64 << 10;

/// See the module.
#[derive(Debug)]
pub struct BlobDeserializer {
    max_bytes: usize,
    offset: u64,
}

impl BlobDeserializer {
    /// One with these settings.
    pub fn new(config: BlobConfig) -> Self {
        Self { max_bytes: usize::try_from(config.max_blob_length.0).unwrap_or(usize::MAX), offset: 0 }
    }
}

impl DeserializerType for BlobDeserializer {
    const NAMES: &'static [&'static str] =
        &["BLOB", "org.apache.flume.sink.solr.morphline.BlobDeserializer$Builder"];
    const SUMMARY: &'static str = "Makes each file an event.";
    type Config = BlobConfig;

    fn build(config: Self::Config, _context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self::new(config))
    }
}

impl EventDeserializer for BlobDeserializer {
    fn start(&mut self, _input: &dyn Input, _text: &TextInput, place: Place) -> Result<(), DeserializeError> {
        self.offset = place.offset;
        Ok(())
    }

    fn read(
        &mut self,
        input: &dyn Input,
        headers: &Headers,
        most: Most,
        batch: &mut Batch,
    ) -> Result<(), DeserializeError> {
        let mut bytes = 0;
        for _ in 0..most.events {
            let mut body = Vec::new();
            while body.len() < self.max_bytes {
                let room = body.len().clamp(FIRST_ROOM, self.max_bytes.max(FIRST_ROOM));
                body.reserve_exact(room.min(self.max_bytes - body.len()));
                let at = self.offset + body.len() as u64;
                if input.read_at(&mut body, at)? == 0 {
                    break;
                }
            }
            body.truncate(self.max_bytes);
            if body.is_empty() {
                break;
            }
            bytes += body.len();
            self.offset += body.len() as u64;
            batch.push(headers.clone(), body);
            if bytes >= most.bytes {
                break;
            }
        }
        Ok(())
    }

    fn place(&self) -> Place {
        Place { offset: self.offset, skip: 0 }
    }
}
