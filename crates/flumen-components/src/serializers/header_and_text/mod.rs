//! Writes the headers as Java prints a map, a blank, the body and a newline: `{k1=v1, k2=v2} body`.

#[cfg(test)]
mod tests;

use super::text::TextConfig;
use crate::shared::java_map;
use flumen_core::{
    event::Event,
    registry::{BuildContext, BuildError, SerializerType},
    serialize::{EventSerializer, SerializeError},
};

/// See the module.
#[derive(Debug)]
pub struct HeaderAndTextSerializer {
    append_newline: bool,
    headers: String,
}

impl HeaderAndTextSerializer {
    /// One with these settings, which are those of the text serializer.
    pub fn new(config: TextConfig) -> Self {
        Self { append_newline: config.append_newline, headers: String::new() }
    }
}

impl SerializerType for HeaderAndTextSerializer {
    const NAMES: &'static [&'static str] =
        &["header_and_text", "org.apache.flume.serialization.HeaderAndBodyTextEventSerializer$Builder"];
    const SUMMARY: &'static str = "Writes each event's headers, a blank, its body and a newline.";
    type Config = TextConfig;

    fn build(config: Self::Config, _context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self::new(config))
    }
}

impl EventSerializer for HeaderAndTextSerializer {
    fn write(&mut self, event: Event<'_>, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        self.headers.clear();
        java_map::write(event.headers, &mut self.headers);
        out.extend_from_slice(self.headers.as_bytes());
        out.push(b' ');
        out.extend_from_slice(event.body);
        if self.append_newline {
            out.push(b'\n');
        }
        Ok(())
    }
}
