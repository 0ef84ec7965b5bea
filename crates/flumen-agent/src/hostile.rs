//! Parsers of files that come from outside and that nothing else makes public: for those who feed them what is hostile.

use crate::{logging, startup};
use flumen_core::registry::Environment;
use std::collections::BTreeMap;

/// Reads `log4j.properties`; what is not understood.
pub fn log4j_properties(text: &[u8], environment: &Environment) -> Vec<String> {
    logging::notes_of("log4j.properties", text, environment)
}

/// Reads `log4j2.xml`; what is not understood.
pub fn log4j_xml(text: &[u8], environment: &Environment) -> Vec<String> {
    logging::notes_of("log4j2.xml", text, environment)
}

/// Reads `flume-env.sh` over these variables; the variables after it.
pub fn flume_env(text: &str, variables: BTreeMap<String, String>) -> BTreeMap<String, String> {
    startup::read_env(text, variables)
}
