//! The form of a test file.
//!
//! ```toml
//! config = ["flume.conf"]          # beside this file; a later one wins
//! agent = "a1"
//!
//! [[case]]
//! name = "errors go to the alert channel"
//! source = "r1"
//! clock = 1700000000000            # what the timestamp interceptor sees, milliseconds since 1970
//!
//! [[case.event]]                   # what the source hands on, in order
//! headers = { level = "error" }
//! body = "disk full"
//!
//! [[case.expect.alerts]]           # what channel `alerts` gets, in order; other channels get nothing
//! headers = { level = "error", host = "h1" }
//! body = "disk full"
//! ```

use serde::Deserialize;
use std::collections::BTreeMap;

/// Cases for one agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestFile {
    /// The configuration files, as paths from the test file's folder.
    pub(super) config: Vec<String>,
    /// The agent.
    pub(super) agent: String,
    /// The cases.
    #[serde(rename = "case")]
    pub(super) cases: Vec<Case>,
}

/// Events in, events out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// What it shows.
    pub(super) name: String,
    /// The source whose interceptors and selector work.
    pub(super) source: String,
    /// The time of day, in milliseconds since 1970.
    #[serde(default)]
    pub(super) clock: i64,
    /// What the source hands on, as one batch.
    #[serde(default, rename = "event")]
    pub(super) events: Vec<Sent>,
    /// What each channel gets.
    #[serde(default)]
    pub(super) expect: BTreeMap<String, Vec<Expected>>,
    /// Whether events may have headers that are not listed.
    #[serde(default)]
    pub(super) other_headers: bool,
}

/// An event that goes in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sent {
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) body: String,
}

/// An event that is to come out. A body that is not given may be any.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Option<String>,
}

impl TestFile {
    /// Reads a test file.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }
}
