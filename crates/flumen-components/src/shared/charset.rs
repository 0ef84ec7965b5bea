//! A charset as a setting, by any name that Java knows.

use flumen_core::config::PropertyValue;
use flumen_java::charset::Charset;

/// A charset that a property names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharsetSetting(pub Charset);

impl PropertyValue for CharsetSetting {
    const KIND: &'static str = "a charset";

    fn parse(text: &str) -> Result<Self, String> {
        Charset::for_name(text.trim()).map(Self).map_err(|error| error.to_string())
    }
}
