//! Events on the wire: rows over a received frame, and a batch as the parameter of a call.

use super::{
    MAX_ITEMS,
    protocol::{Field, Message, Method, Parameter, Shape},
    wire::{Reader, WireError, put_bytes, put_length},
};
use bytes::Bytes;
use flumen_core::event::{Batch, Event, Headers, Text};
use flumen_java::charset::{Charset, OnError};
use std::ops::Range;

/// Reads the parameters of a call. Bodies and headers are ranges of `payload`, which the batch keeps; equal headers in a row are
/// stored once.
pub(super) fn read(
    payload: &Bytes,
    from: usize,
    message: &Message,
    shape: &Shape,
) -> Result<Batch, WireError> {
    let mut reader = Reader::new(payload);
    reader.skip(from);
    let mut events =
        Events { payload, batch: Batch::new(), segment: 0, set: None, set_bytes: 0..0, n_headers: 0, shape };
    for parameter in &message.parameters {
        match parameter {
            Parameter::Other(schema) => shape.types.skip(schema, &mut reader)?,
            Parameter::Wanted(fields) if message.method == Method::Append => {
                events.start(1);
                events.event(fields, &mut reader)?;
            }
            Parameter::Wanted(fields) => events.list(fields, &mut reader)?,
        }
    }
    Ok(events.batch)
}

struct Events<'a> {
    payload: &'a Bytes,
    batch: Batch,
    segment: u32,
    /// The header set of the event before, and where its bytes are.
    set: Option<u32>,
    set_bytes: Range<usize>,
    n_headers: u64,
    shape: &'a Shape,
}

impl Events<'_> {
    fn start(&mut self, n_events: usize) {
        self.batch = Batch::with_capacity(n_events);
        self.segment = self.batch.add_segment(self.payload.clone());
    }

    fn list(&mut self, fields: &[Field], reader: &mut Reader<'_>) -> Result<(), WireError> {
        loop {
            let count = reader.block()?;
            if count == 0 {
                return Ok(());
            }
            if count.saturating_add(self.batch.len() as u64) > MAX_ITEMS {
                return Err(WireError::TooMany("events"));
            }
            if self.batch.is_empty() {
                // An event takes two bytes at least: a false count reserves no more than its frame could hold.
                let most = (reader.rest().len() / 2) as u64;
                self.start(usize::try_from(count.min(most)).unwrap_or(0));
            }
            for _ in 0..count {
                self.event(fields, reader)?;
            }
        }
    }

    fn event(&mut self, fields: &[Field], reader: &mut Reader<'_>) -> Result<(), WireError> {
        let (mut set, mut body) = (0, 0..0);
        for field in fields {
            match field {
                Field::Headers => set = self.headers(reader)?,
                Field::Body => body = reader.range()?,
                Field::Other(schema) => self.shape.types.skip(schema, reader)?,
            }
        }
        // A frame is far below 4 GiB.
        self.batch.push_slice(set, self.segment, body.start as u32..body.end as u32);
        Ok(())
    }

    fn headers(&mut self, reader: &mut Reader<'_>) -> Result<u32, WireError> {
        // A map says itself where it ends: the same bytes are the same map.
        if let Some(set) = self.set
            && reader.rest().starts_with(&self.payload[self.set_bytes.clone()])
        {
            reader.skip(self.set_bytes.len());
            return Ok(set);
        }
        let start = reader.position();
        let mut pairs = Vec::new();
        loop {
            let count = reader.block()?;
            if count == 0 {
                break;
            }
            self.n_headers = self.n_headers.saturating_add(count);
            if self.n_headers > MAX_ITEMS {
                return Err(WireError::TooMany("headers"));
            }
            for _ in 0..count {
                let name = reader.range()?;
                pairs.push((self.text(name), self.text(reader.range()?)));
            }
        }
        let set = self.batch.add_headers(Headers::from_pairs(pairs));
        (self.set, self.set_bytes) = (Some(set), start..reader.position());
        Ok(set)
    }

    /// A text of the frame; what is no UTF-8 in it is replaced, as Java does.
    fn text(&self, range: Range<usize>) -> Text {
        let bytes = self.payload.slice(range);
        Text::from_utf8(bytes.clone()).unwrap_or_else(|_| {
            let mut text = String::new();
            // Replacing never fails.
            let _ = Charset::utf_8().decoder(OnError::Replace).decode(&bytes, true, &mut text);
            Text::from(text)
        })
    }
}

/// Appends the parameter of `appendBatch`.
pub(super) fn put_batch(batch: &Batch, out: &mut Vec<u8>) {
    let size = batch.size();
    out.reserve(usize::try_from(size.bytes).unwrap_or(0) + batch.len() * 8);
    if !batch.is_empty() {
        put_length(out, batch.len());
        batch.iter().for_each(|event| put_event(event, out));
    }
    out.push(0);
}

/// Appends one event, which is also the parameter of `append`.
pub(super) fn put_event(event: Event<'_>, out: &mut Vec<u8>) {
    let n_headers = event.headers.len();
    if n_headers > 0 {
        put_length(out, n_headers);
        for (name, value) in event.headers.iter() {
            put_bytes(out, name.as_bytes());
            put_bytes(out, value.as_bytes());
        }
    }
    out.push(0);
    put_bytes(out, event.body);
}
