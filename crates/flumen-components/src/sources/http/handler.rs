//! What makes events of a request: the handlers, by their Java class names.

use super::{blob, json};
use bytes::Bytes;
use flumen_core::{
    config::{Configuration, PropertyValue, nearest_name},
    event::Batch,
};
use hyper::StatusCode;

/// The handlers that are here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerType {
    /// An array of events.
    Json,
    /// The body as one event, parameters as headers.
    Blob,
    /// The same without mandatory parameters, long bodies cut.
    MorphlineBlob,
}

const NAMES: [(&str, HandlerType); 3] = [
    ("org.apache.flume.source.http.JSONHandler", HandlerType::Json),
    ("org.apache.flume.source.http.BLOBHandler", HandlerType::Blob),
    ("org.apache.flume.sink.solr.morphline.BlobHandler", HandlerType::MorphlineBlob),
];

impl PropertyValue for HandlerType {
    const KIND: &'static str = "a handler that is here";

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some((_, handler)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*handler);
        }
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let names = || NAMES.iter().map(|(name, _)| *name);
        // A class of one's own is mostly named after what it takes.
        let nearest = nearest_name(text, names())
            .or_else(|| names().find(|name| last(name) == last(text)))
            .unwrap_or(if last(text).contains("blob") { NAMES[1].0 } else { NAMES[0].0 });
        Err(format!("Java classes of one's own cannot be loaded; the nearest one is {nearest}"))
    }
}

/// Settings of the handlers.
#[derive(Debug, Clone, Configuration)]
pub struct HandlerConfig {
    /// For `org.apache.flume.source.http.BLOBHandler`: parameters that every request must have, separated by commas.
    #[property(default = "")]
    pub mandatory_parameters: String,
    /// For `org.apache.flume.sink.solr.morphline.BlobHandler`: the longest body that is kept whole; a longer one is
    /// cut, with a warning.
    #[property(default = "100000000", min = "1", max = "1073741824")]
    pub max_blob_length: u64,
}

/// A handler with its settings.
#[derive(Debug)]
pub(super) enum Handler {
    Json,
    Blob { mandatory: Vec<String>, max_bytes: usize },
}

/// What a handler may look at, beside the body.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) content_type: Option<String>,
    pub(super) query: Option<String>,
}

/// A request that is answered with something else than 200, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) reason: String,
    /// Whether the same request can be accepted a little later.
    pub(super) is_temporary: bool,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), is_temporary: status == StatusCode::SERVICE_UNAVAILABLE }
    }

    /// 500: what Java answers where a handler fails at something else than the syntax.
    pub(super) fn failed(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, reason)
    }
}

impl Handler {
    pub(super) fn new(handler: HandlerType, config: &HandlerConfig) -> Self {
        let names = config.mandatory_parameters.split(',').map(str::trim).filter(|name| !name.is_empty());
        let max_bytes = usize::try_from(config.max_blob_length).unwrap_or(usize::MAX);
        match handler {
            HandlerType::Json => Self::Json,
            HandlerType::Blob => {
                Self::Blob { mandatory: names.map(str::to_owned).collect(), max_bytes: usize::MAX }
            }
            HandlerType::MorphlineBlob => Self::Blob { mandatory: Vec::new(), max_bytes },
        }
    }

    /// The events of a request.
    pub(super) fn events(&self, head: &Head, body: Bytes) -> Result<Batch, Refusal> {
        match self {
            Self::Json => json::batch(head.content_type.as_deref(), body),
            Self::Blob { mandatory, max_bytes } => {
                blob::batch(head.query.as_deref(), body, mandatory, *max_bytes)
            }
        }
    }
}
