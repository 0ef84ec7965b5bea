//! How records become events: their headers by the settings, and many bodies in one buffer.

use super::queue::{Mark, Piece};
use crate::datum;
use flumen_core::event::{Batch, Headers, Text};
use rdkafka::{
    Message,
    message::{BorrowedHeaders, Headers as _},
};
use std::{collections::HashMap, ops::Range};

/// What an event gets of its record.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// Whether the value is a whole event as an Avro datum; else it is the body.
    pub(crate) whole: bool,
    /// Header for the topic.
    pub(crate) topic: Option<Text>,
    /// Whether time, partition and offset become headers.
    pub(crate) places: bool,
    /// Event header and record header.
    pub(crate) record_headers: Vec<(Text, String)>,
}

/// The names of headers, as texts that are counted by nobody.
struct Names {
    key: Text,
    offset: Text,
    partition: Text,
    timestamp: Text,
}

/// Collects events of records.
pub(crate) struct Builder {
    form: Form,
    names: Names,
    bytes: Vec<u8>,
    rows: Vec<Row>,
    marks: Vec<Mark>,
    skipped: Vec<Mark>,
    /// What events of a slot share.
    shared: HashMap<u32, Headers>,
}

struct Row {
    body: Range<usize>,
    own: Own,
}

enum Own {
    /// The shared ones, and these.
    Beside {
        slot: u32,
        timestamp: Option<i64>,
        offset: i64,
        more: Vec<(Text, Text)>,
    },
    Whole(Headers),
}

impl Builder {
    pub(crate) fn new(form: Form) -> Self {
        let names = Names {
            key: Text::kept("key"),
            offset: Text::kept("offset"),
            partition: Text::kept("partition"),
            timestamp: Text::kept("timestamp"),
        };
        Self {
            form,
            names,
            bytes: Vec::new(),
            rows: Vec::new(),
            marks: Vec::new(),
            skipped: Vec::new(),
            shared: HashMap::new(),
        }
    }

    /// Events so far, and bytes of their values.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.rows.len() + self.skipped.len(), self.bytes.len())
    }

    /// Adds a record. What is no event is skipped; why is said.
    pub(crate) fn add<M: Message<Headers = BorrowedHeaders>>(
        &mut self,
        message: &M,
        slot: u32,
    ) -> Result<(), &'static str> {
        let mark = Mark { slot, offset: message.offset() };
        let value = message.payload().unwrap_or_default();
        let start = self.bytes.len();
        if start + value.len() > u32::MAX as usize {
            self.skipped.push(mark);
            return Err("its value is larger than a batch");
        }
        let mut more = self.record_headers(message);
        if let Some(key) = message.key() {
            more.push((self.names.key.clone(), Text::from(&*String::from_utf8_lossy(key))));
        }
        let (body, own) = if self.form.whole {
            match datum::decode(value) {
                Ok((headers, body)) => {
                    let headers = self.complete(headers, message, more);
                    (start + body.start..start + body.end, Own::Whole(headers))
                }
                Err(why) => {
                    self.skipped.push(mark);
                    return Err(why);
                }
            }
        } else {
            let timestamp = message.timestamp().to_millis();
            self.share(slot, message.topic(), message.partition());
            (start..start + value.len(), Own::Beside { slot, timestamp, offset: mark.offset, more })
        };
        self.bytes.extend_from_slice(value);
        self.rows.push(Row { body, own });
        self.marks.push(mark);
        Ok(())
    }

    fn record_headers<M: Message<Headers = BorrowedHeaders>>(&self, message: &M) -> Vec<(Text, Text)> {
        let Some(headers) = (!self.form.record_headers.is_empty()).then(|| message.headers()).flatten()
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, key) in &self.form.record_headers {
            // Of several with one name the last counts, as in Java.
            if let Some(header) = headers.iter().filter(|header| header.key == key).last() {
                let value = String::from_utf8_lossy(header.value.unwrap_or_default());
                found.push((name.clone(), Text::from(&*value)));
            }
        }
        found
    }

    fn share(&mut self, slot: u32, topic: &str, partition: i32) {
        let (form, names) = (&self.form, &self.names);
        self.shared.entry(slot).or_insert_with(|| {
            let topic = form.topic.iter().map(|name| (name.clone(), Text::from(topic)));
            let partition = form.places.then(|| (names.partition.clone(), Text::from_display(partition)));
            Headers::from_pairs(topic.chain(partition))
        });
    }

    /// Adds to the headers of a datum what it does not have; the key and record headers count in any case.
    fn complete<M: Message>(&self, mut headers: Headers, message: &M, more: Vec<(Text, Text)>) -> Headers {
        let mut add = |name: &Text, value: &dyn std::fmt::Display| {
            if headers.get(name).is_none() {
                headers.set(name.clone(), Text::from_display(value));
            }
        };
        if let Some(name) = &self.form.topic {
            add(name, &message.topic());
        }
        if self.form.places {
            add(&self.names.timestamp, &message.timestamp().to_millis().unwrap_or(-1));
            add(&self.names.partition, &message.partition());
            add(&self.names.offset, &message.offset());
        }
        more.into_iter().for_each(|(name, value)| headers.set(name, value));
        headers
    }

    /// What was collected, and the records that made no event.
    pub(crate) fn finish(&mut self) -> (Piece, Vec<Mark>) {
        let mut batch = Batch::with_capacity(self.rows.len());
        let segment = batch.add_segment(std::mem::take(&mut self.bytes).into());
        let mut sets: HashMap<u32, u32> = HashMap::new();
        let mut own = Vec::with_capacity(self.rows.len());
        for row in self.rows.drain(..) {
            let set = match row.own {
                Own::Beside { slot, timestamp, offset, more } => {
                    own.push((timestamp, offset, more));
                    let shared = self.shared.get(&slot);
                    *sets
                        .entry(slot)
                        .or_insert_with(|| batch.add_headers(shared.cloned().unwrap_or_default()))
                }
                Own::Whole(headers) => batch.add_headers(headers),
            };
            // Checked when the row was added: all of it is below 4 GiB.
            batch.push_slice(set, segment, row.body.start as u32..row.body.end as u32);
        }
        if self.form.places || own.iter().any(|(_, _, more)| !more.is_empty()) {
            let (names, places) = (&self.names, self.form.places);
            let mut own = own.into_iter();
            batch.edit_each(|_, headers| {
                let Some((timestamp, offset, more)) = own.next() else { return };
                if places {
                    headers.set_fmt(&names.timestamp, timestamp.unwrap_or(-1));
                    headers.set_fmt(&names.offset, offset);
                }
                more.into_iter().for_each(|(name, value)| headers.set(&name, value));
            });
        }
        let piece = Piece { batch, marks: std::mem::take(&mut self.marks) };
        (piece, std::mem::take(&mut self.skipped))
    }
}
