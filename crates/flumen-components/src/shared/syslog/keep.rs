//! `keepFields`: which parts of a message stay in the body.

use flumen_core::config::PropertyValue;

/// What stays in the body, in the order in which it is put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keep {
    /// The whole message.
    pub(crate) all: bool,
    pub(crate) priority: bool,
    pub(crate) version: bool,
    pub(crate) timestamp: bool,
    pub(crate) hostname: bool,
}

impl Keep {
    /// Whether bodies are made anew.
    pub(crate) fn is_some(self) -> bool {
        self.priority || self.version || self.timestamp || self.hostname
    }

    /// The kept parts, each with what separates it, and the text.
    pub(crate) fn body(
        self,
        priority: &str,
        version: Option<&str>,
        stamp: &[u8],
        host: &[u8],
        text: &[u8],
    ) -> Vec<u8> {
        let mut body = Vec::with_capacity(priority.len() + 4 + stamp.len() + host.len() + 2 + text.len());
        if self.priority {
            body.push(b'<');
            body.extend_from_slice(priority.as_bytes());
            body.push(b'>');
        }
        if let Some(version) = version
            && self.version
        {
            body.extend_from_slice(version.as_bytes());
            body.push(b' ');
        }
        for (kept, part) in [(self.timestamp, stamp), (self.hostname, host)] {
            if kept {
                body.extend_from_slice(part);
                body.push(b' ');
            }
        }
        body.extend_from_slice(text);
        body
    }
}

impl PropertyValue for Keep {
    const KIND: &'static str = "`all`, `none` or a list of `priority`, `version`, `timestamp` and `hostname`";

    fn parse(text: &str) -> Result<Self, String> {
        let mut keep = Self::default();
        for word in text.split([' ', ',', '\t']).filter(|word| !word.is_empty()) {
            match word.to_ascii_lowercase().as_str() {
                "all" | "true" => keep.all = true,
                "none" | "false" => {}
                "priority" => keep.priority = true,
                "version" => keep.version = true,
                "timestamp" => keep.timestamp = true,
                "hostname" => keep.hostname = true,
                _ => return Err(format!("`{word}` is no part of a message")),
            }
        }
        Ok(keep)
    }
}
