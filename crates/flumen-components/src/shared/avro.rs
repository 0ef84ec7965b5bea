//! What Avro sources and sinks have in common.

use flumen_core::config::PropertyValue;

/// Whether a connection is compressed. As in Java anything but `deflate` means not; other words are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deflated(pub bool);

impl PropertyValue for Deflated {
    const KIND: &'static str = "`none` or `deflate`";

    fn parse(text: &str) -> Result<Self, String> {
        flumen_core::config::choose(text, &[("none", Self(false)), ("deflate", Self(true))])
    }

    fn forgive(_text: &str) -> Option<(Self, String)> {
        Some((Self(false), "none".to_owned()))
    }
}
