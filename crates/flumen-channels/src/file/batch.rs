//! Batches as the log stores them, and back. Headers that events share are encoded once and decoded once; no body is copied
//! on the way out.

use bytes::Bytes;
use flumen_core::event::{Batch, EventHeaders, Headers, Text};
use flumen_wal::{
    log::EventBytes,
    queue::{EventCopy, Piece},
    record::{self, HeaderBytes},
};
use std::ops::Range;

/// The encoded headers of a batch.
#[derive(Debug, Default)]
pub(super) struct Encoded {
    bytes: Vec<u8>,
    /// For each event where its headers are.
    spans: Vec<Range<usize>>,
}

impl Encoded {
    pub(super) fn of(batch: &Batch) -> Self {
        let mut encoded = Self { bytes: Vec::new(), spans: Vec::with_capacity(batch.len()) };
        let mut last: Option<(EventHeaders<'_>, Range<usize>)> = None;
        for event in batch.iter() {
            let span = match &last {
                Some((headers, span)) if headers.is_same_set(&event.headers) => span.clone(),
                _ => {
                    let start = encoded.bytes.len();
                    let pairs = event.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
                    record::headers(&mut encoded.bytes, pairs);
                    start..encoded.bytes.len()
                }
            };
            last = Some((event.headers, span.clone()));
            encoded.spans.push(span);
        }
        encoded
    }

    /// The events of the batch that this was made of.
    pub(super) fn events<'a>(&'a self, batch: &'a Batch) -> Vec<EventBytes<'a>> {
        let event = |(event, span): (flumen_core::event::Event<'a>, &Range<usize>)| EventBytes {
            headers: &self.bytes[span.clone()],
            body: event.body,
        };
        batch.iter().zip(&self.spans).map(event).collect()
    }
}

/// A batch over the bytes of these events.
pub(super) fn of_pieces(pieces: &[Piece]) -> Batch {
    let mut batch = Batch::with_capacity(pieces.iter().map(|piece| piece.count as usize).sum());
    let mut last: Option<(&[u8], u32)> = None;
    for copy in pieces.iter().filter_map(|piece| piece.copy.as_ref()) {
        let segment = batch.add_segment(copy.bytes().clone());
        for event in copy.events() {
            let encoded = copy.headers_of(event);
            let set = match last {
                Some((same, set)) if same == encoded => set,
                _ => batch.add_headers(headers(copy, encoded)),
            };
            last = Some((encoded, set));
            batch.push_slice(set, segment, event.body..event.body + event.body_len);
        }
    }
    batch
}

/// Decodes headers. What is not UTF-8 becomes so, as in Java.
fn headers(copy: &EventCopy, encoded: &[u8]) -> Headers {
    let text = |part: &[u8]| {
        let shared: Bytes = copy.bytes().slice_ref(part);
        Text::from_utf8(shared).unwrap_or_else(|_| Text::from(String::from_utf8_lossy(part).into_owned()))
    };
    Headers::from_pairs(
        HeaderBytes::of_version_3(encoded).iter().map(|(name, value)| (text(name), text(value))),
    )
}
