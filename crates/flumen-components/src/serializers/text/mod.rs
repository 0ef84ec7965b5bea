//! Writes the bodies, each followed by a newline. Headers are left out.

mod config;
#[cfg(test)]
mod tests;

pub use config::TextConfig;

use flumen_core::{
    event::Event,
    registry::{BuildContext, BuildError, SerializerType},
    serialize::{EventSerializer, SerializeError},
};

/// See the module.
#[derive(Debug)]
pub struct TextSerializer {
    append_newline: bool,
}

impl TextSerializer {
    /// One with these settings.
    pub fn new(config: TextConfig) -> Self {
        Self { append_newline: config.append_newline }
    }
}

impl SerializerType for TextSerializer {
    const NAMES: &'static [&'static str] =
        &["text", "org.apache.flume.serialization.BodyTextEventSerializer$Builder"];
    const SUMMARY: &'static str = "Writes each body and a newline.";
    type Config = TextConfig;

    fn build(config: Self::Config, _context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self::new(config))
    }
}

impl EventSerializer for TextSerializer {
    fn write(&mut self, event: Event<'_>, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        out.extend_from_slice(event.body);
        if self.append_newline {
            out.push(b'\n');
        }
        Ok(())
    }
}
