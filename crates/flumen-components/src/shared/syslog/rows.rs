//! Makes batches of messages: bodies are places in what was read, and messages with the same fields share their headers.

use super::fields::{Body, Fields};
use bytes::Bytes;
use flumen_core::event::{Batch, Headers, Text};

/// Header sets that are remembered from batch to batch.
const REMEMBERED: usize = 64;

/// The names of headers.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub(crate) facility: Text,
    pub(crate) severity: Text,
    pub(crate) priority: Text,
    pub(crate) version: Text,
    pub(crate) timestamp: Text,
    pub(crate) host: Text,
    pub(crate) status: Text,
}

impl Names {
    /// Those of `syslogtcp` and `syslogudp`.
    pub(crate) fn lower() -> Self {
        Self::with("priority", "version")
    }

    /// Those of `multiport_syslogtcp`.
    pub(crate) fn capital() -> Self {
        Self::with("Priority", "Version")
    }

    fn with(priority: &str, version: &str) -> Self {
        Self {
            facility: Text::kept("Facility"),
            severity: Text::kept("Severity"),
            priority: Text::kept(priority),
            version: Text::kept(version),
            timestamp: Text::kept("timestamp"),
            host: Text::kept("host"),
            status: Text::kept("flume.syslog.status"),
        }
    }
}

/// A batch that is being made.
#[derive(Debug)]
pub(crate) struct Rows {
    names: Names,
    batch: Batch,
    /// Bodies that were made anew.
    made: Vec<u8>,
    stamps: Vec<Option<i64>>,
    sets: Vec<KnownSet>,
    /// Tells the sets of this batch from those of earlier ones.
    number: u64,
    key: Vec<u8>,
    pending: Vec<Row>,
}

#[derive(Debug)]
struct KnownSet {
    key: Vec<u8>,
    headers: Headers,
    batch: u64,
    set: u32,
}

#[derive(Debug)]
struct Row {
    set: u32,
    start: u32,
    end: u32,
    is_made: bool,
}

impl Rows {
    pub(crate) fn new(names: Names) -> Self {
        Self {
            names,
            batch: Batch::new(),
            made: Vec::new(),
            stamps: Vec::new(),
            sets: Vec::new(),
            number: 0,
            key: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Adds a message that begins at `offset` of the bytes that [`Self::finish`] gets. `with_numbers`: facility and severity
    /// are told even of bad messages, as 0. `more` are headers of all messages of a peer.
    pub(crate) fn push(&mut self, offset: usize, fields: &Fields<'_>, with_numbers: bool, more: &Headers) {
        let set = self.set(fields, with_numbers, more);
        let (start, end, is_made) = match &fields.body {
            Body::Part(range) => (offset + range.start, offset + range.end, false),
            Body::Made(body) => {
                let start = self.made.len();
                self.made.extend_from_slice(body);
                (start, self.made.len(), true)
            }
        };
        // What is read at a time, and the limits of messages, are far below 4 GiB.
        self.pending.push(Row { set, start: start as u32, end: end as u32, is_made });
        self.stamps.push(fields.timestamp);
    }

    /// The batch of all that was pushed; their places are in `bytes`.
    pub(crate) fn finish(&mut self, bytes: Bytes) -> Batch {
        let mut batch = std::mem::take(&mut self.batch);
        let read = batch.add_segment(bytes);
        let made = if self.made.is_empty() {
            read
        } else {
            batch.add_segment(std::mem::take(&mut self.made).into())
        };
        for row in self.pending.drain(..) {
            batch.push_slice(row.set, if row.is_made { made } else { read }, row.start..row.end);
        }
        self.number += 1;
        self.set_stamps(&mut batch);
        self.stamps.clear();
        batch
    }

    /// Messages of one second and without a finer clock share their time stamp.
    fn set_stamps(&self, batch: &mut Batch) {
        let Some(first) = self.stamps.first() else { return };
        let name = &self.names.timestamp;
        if self.stamps.iter().all(|stamp| stamp == first) {
            let Some(first) = first else { return };
            let value = Text::from_display(first);
            batch.edit_headers(|headers| headers.set(name.clone(), value.clone()));
            return;
        }
        let mut stamps = self.stamps.iter();
        batch.edit_each(|_, own| {
            if let Some(Some(stamp)) = stamps.next() {
                own.set_fmt(name.clone(), stamp);
            }
        });
    }

    /// The headers of a message but for its time stamp.
    fn set(&mut self, fields: &Fields<'_>, with_numbers: bool, more: &Headers) -> u32 {
        let numbers = fields.priority.map(|priority| (priority / 8, priority % 8));
        let numbers = numbers.or(with_numbers.then_some((0, 0)));
        self.key.clear();
        self.key.push(fields.status as u8);
        self.key.push(u8::from(numbers.is_some()));
        self.key.extend_from_slice(&fields.priority.unwrap_or(u32::MAX).to_le_bytes());
        for text in [fields.priority_text, fields.version, fields.host] {
            match text {
                Some(text) => {
                    self.key.push(1);
                    self.key.extend_from_slice(&(text.len() as u64).to_le_bytes());
                    self.key.extend_from_slice(text.as_bytes());
                }
                None => self.key.push(0),
            }
        }
        let place = self.sets.iter().position(|known| known.key == self.key).unwrap_or_else(|| {
            let headers = headers(&self.names, fields, numbers, more);
            self.sets.truncate(REMEMBERED - 1);
            let known = KnownSet { key: self.key.clone(), headers, batch: u64::MAX, set: 0 };
            self.sets.insert(0, known);
            0
        });
        let known = &mut self.sets[place];
        if known.batch != self.number {
            known.batch = self.number;
            known.set = self.batch.add_headers(known.headers.clone());
        }
        known.set
    }

    /// Forgets the sets, as the headers of all messages are others now.
    pub(crate) fn forget(&mut self) {
        self.sets.clear();
    }
}

fn headers(names: &Names, fields: &Fields<'_>, numbers: Option<(u32, u32)>, more: &Headers) -> Headers {
    let mut pairs: Vec<(Text, Text)> = more.iter().cloned().collect();
    if let Some((facility, severity)) = numbers {
        pairs.push((names.facility.clone(), Text::from_display(facility)));
        pairs.push((names.severity.clone(), Text::from_display(severity)));
    }
    let texts = [
        (&names.priority, fields.priority_text),
        (&names.version, fields.version),
        (&names.host, fields.host),
    ];
    for (name, value) in texts {
        if let Some(value) = value {
            pairs.push((name.clone(), Text::from(value)));
        }
    }
    if let Some(status) = fields.status.text() {
        pairs.push((names.status.clone(), Text::kept(status)));
    }
    Headers::from_pairs(pairs)
}
