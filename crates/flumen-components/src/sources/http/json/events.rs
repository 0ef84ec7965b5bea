//! Finds the events of a document: rows that point into it, and header objects that follow each other unchanged as one.

use super::{
    error::JsonError,
    reader::{LONE, Piece, Reader, Value},
};
use bytes::Bytes;
use flumen_core::event::{Batch, Headers, Text};
use flumen_java::charset::{Charset, OnError};
use std::collections::HashMap;

/// The most events of a request: a row costs more memory than its shortest text.
pub(super) const MAX_EVENTS: usize = 1 << 20;
/// The most headers that all events of a request can have together, repeated header objects counted once.
pub(super) const MAX_HEADERS: usize = 1 << 20;
/// Up to this many headers a linear search for a name is faster than a hash.
const LINEAR_LIMIT: usize = 16;

/// The events of a document, by position.
#[derive(Debug, Default)]
struct Events {
    rows: Vec<Row>,
    sets: Vec<Set>,
    /// Names and values of all sets, end to end.
    headers: Vec<(Piece, Piece)>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    set: usize,
    body: Piece,
}

#[derive(Debug, Clone, Copy)]
struct Set {
    start: usize,
    end: usize,
}

const EMPTY: Piece = Piece { in_side: false, start: 0, end: 0 };

/// Makes a batch of a document: an array of `{"headers": {…}, "body": "…"}`. Bodies are in `charset`.
pub(super) fn batch(document: &Text, charset: Option<Charset>) -> Result<Batch, JsonError> {
    let mut reader = Reader::new(document);
    // The replacement of the charset's own encoder: `?` in UTF-8, U+FFFD in the wider ones.
    let lone = if charset.is_none() { LONE } else { '\u{fffd}' };
    let events = Events::read(&mut reader, lone)?;
    let side = Text::from(std::mem::take(&mut reader.side));
    Ok(events.into_batch(document, &side, charset))
}

impl Events {
    fn read(reader: &mut Reader<'_>, lone: char) -> Result<Self, JsonError> {
        match reader.document()? {
            Some(Value::Array) => {}
            None => return Err(JsonError::Null("the request has no JSON in it")),
            Some(Value::Null) => return Err(JsonError::Null("the document is null, not an array of events")),
            Some(_) => return Err(reader.wrong("expected an array of events")),
        }
        let mut events = Self::default();
        events.sets.push(Set { start: 0, end: 0 });
        let (mut last_set, mut last_text) = (0, "");
        let (mut is_first, mut has_null) = (true, false);
        loop {
            match reader.element(&mut is_first)? {
                Value::EndArray => break,
                Value::Null => has_null = true,
                Value::Object if events.rows.len() == MAX_EVENTS => {
                    return Err(JsonError::TooMany { what: "events", limit: MAX_EVENTS });
                }
                Value::Object => events.event(reader, lone, &mut last_set, &mut last_text)?,
                _ => return Err(reader.wrong("expected an object with `headers` and `body`")),
            }
        }
        reader.end()?;
        if has_null { Err(JsonError::Null("an event is null")) } else { Ok(events) }
    }

    fn event<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        lone: char,
        last_set: &mut usize,
        last_text: &mut &'a str,
    ) -> Result<(), JsonError> {
        let (mut set, mut body) = (0, EMPTY);
        let mut is_first = true;
        // Of two members of one name the last one counts.
        while let Some((name, value)) = reader.member(&mut is_first)? {
            match (reader.text(name), value) {
                ("body", value) => body = reader.string(value, lone)?.unwrap_or(EMPTY),
                ("headers", Value::Null) => set = 0,
                ("headers", Value::Object) => {
                    let start = reader.position() - 1;
                    // The same text has the same meaning.
                    if !reader.pass(start, last_text) {
                        *last_set = self.object(reader)?;
                        *last_text = reader.since(start);
                    }
                    set = *last_set;
                }
                ("headers", Value::Array) => set = self.pairs(reader)?,
                ("headers", _) => return Err(reader.wrong("expected an object of headers")),
                (_, value) => reader.skip(value)?,
            }
        }
        self.rows.push(Row { set, body });
        Ok(())
    }

    /// `{"name": "value", …}`, of which the brace has been read.
    fn object(&mut self, reader: &mut Reader<'_>) -> Result<usize, JsonError> {
        let start = self.headers.len();
        let mut names = HashMap::new();
        let mut is_first = true;
        while let Some((name, value)) = reader.member(&mut is_first)? {
            let value = reader.string(value, LONE)?;
            self.header(reader, start, &mut names, name, value)?;
        }
        Ok(self.finish_set(start))
    }

    /// `[["name", "value"], …]`, of which the first bracket has been read. Gson takes this for a map as well.
    fn pairs(&mut self, reader: &mut Reader<'_>) -> Result<usize, JsonError> {
        let start = self.headers.len();
        let mut names = HashMap::new();
        let mut is_first = true;
        loop {
            match reader.element(&mut is_first)? {
                Value::EndArray => return Ok(self.finish_set(start)),
                Value::Array => {}
                _ => return Err(reader.wrong("expected a pair of name and value")),
            }
            let mut is_first = true;
            let name = reader.element(&mut is_first)?;
            let name = reader.string(name, LONE)?;
            let value = reader.element(&mut is_first)?;
            let value = reader.string(value, LONE)?;
            let name = name.ok_or(JsonError::Null("the name of a header is null"))?;
            self.header(reader, start, &mut names, name, value)?;
            if !matches!(reader.element(&mut is_first)?, Value::EndArray) {
                return Err(reader.wrong("expected a pair of name and value"));
            }
        }
    }

    /// Adds a header to the set that began at `start`. A name may come again only where its value was null.
    fn header(
        &mut self,
        reader: &Reader<'_>,
        start: usize,
        names: &mut HashMap<String, usize>,
        name: Piece,
        value: Option<Piece>,
    ) -> Result<(), JsonError> {
        let text = reader.text(name);
        let known = &self.headers[start..];
        let same = if known.len() <= LINEAR_LIMIT {
            known.iter().position(|(other, _)| reader.text(*other) == text)
        } else {
            if names.is_empty() {
                names.extend(
                    known.iter().enumerate().map(|(i, (name, _))| (reader.text(*name).to_owned(), i)),
                );
            }
            names.get(text).copied()
        };
        // Null is stored as the empty string, but for this question it is still null.
        let is_null = |piece: &Piece| piece.in_side && piece.start == u32::MAX;
        let value = value.unwrap_or(NULL);
        match same {
            Some(i) if is_null(&known[i].1) => self.headers[start + i].1 = value,
            Some(_) => return Err(reader.wrong("a header is there twice")),
            None if self.headers.len() == MAX_HEADERS => {
                return Err(JsonError::TooMany { what: "headers", limit: MAX_HEADERS });
            }
            None => {
                if !names.is_empty() {
                    names.insert(text.to_owned(), known.len());
                }
                self.headers.push((name, value));
            }
        }
        Ok(())
    }

    fn finish_set(&mut self, start: usize) -> usize {
        for (_, value) in &mut self.headers[start..] {
            if value.start == u32::MAX {
                *value = EMPTY;
            }
        }
        self.sets.push(Set { start, end: self.headers.len() });
        self.sets.len() - 1
    }

    fn into_batch(self, document: &Text, side: &Text, charset: Option<Charset>) -> Batch {
        let text = |piece: Piece| {
            let range = piece.start as usize..piece.end as usize;
            if piece.in_side { side.slice_of(&side[range]) } else { document.slice_of(&document[range]) }
        };
        let mut batch = Batch::with_capacity(self.rows.len());
        let own = self.has_same_names_everywhere(document, side);
        let sets: Vec<u32> = if own {
            vec![batch.add_headers(Headers::new())]
        } else {
            let of = |set: &Set| {
                let pairs = self.headers[set.start..set.end].iter();
                Headers::from_pairs(pairs.map(|(name, value)| (text(*name), text(*value))))
            };
            self.sets.iter().map(|set| batch.add_headers(of(set))).collect()
        };
        let set_of = |row: &Row| if own { sets[0] } else { sets[row.set] };
        match charset {
            None => {
                let segments = [
                    batch.add_segment(document.clone().into_bytes()),
                    batch.add_segment(side.clone().into_bytes()),
                ];
                for row in &self.rows {
                    let segment = segments[usize::from(row.body.in_side)];
                    batch.push_slice(set_of(row), segment, row.body.start..row.body.end);
                }
            }
            Some(charset) => {
                let (bytes, ranges) = self.encoded_bodies(document, side, charset);
                let segment = batch.add_segment(bytes);
                for (row, range) in self.rows.iter().zip(ranges) {
                    batch.push_slice(set_of(row), segment, range);
                }
            }
        }
        if own {
            let mut rows = self.rows.iter();
            let names: Vec<Text> = self.headers[self.sets[1].start..self.sets[1].end]
                .iter()
                .map(|(name, _)| text(*name))
                .collect();
            batch.edit_each(|_, own| {
                let set = self.sets[rows.next().expect("a batch has a row for each event").set];
                for (name, (_, value)) in names.iter().zip(&self.headers[set.start..set.end]) {
                    own.set(name.clone(), text(*value));
                }
            });
        }
        batch
    }

    /// Whether there are several sets that differ in values only: then the headers of the whole batch lie in one
    /// allocation. With the same few names everywhere, interceptors stay fast.
    fn has_same_names_everywhere(&self, document: &Text, side: &Text) -> bool {
        let text = |piece: &Piece| {
            let range = piece.start as usize..piece.end as usize;
            if piece.in_side { &side[range] } else { &document[range] }
        };
        let Some(Set { start, end }) = self.sets.get(1).copied() else { return false };
        let first = &self.headers[start..end];
        self.sets.len() > 2
            && (1..=LINEAR_LIMIT).contains(&first.len())
            && self.sets.len() > self.rows.len() / 4
            && self.sets[2..].iter().all(|set| {
                let headers = &self.headers[set.start..set.end];
                headers.len() == first.len()
                    && headers.iter().zip(first).all(|((name, _), (other, _))| text(name) == text(other))
            })
    }

    fn encoded_bodies(
        &self,
        document: &Text,
        side: &Text,
        charset: Charset,
    ) -> (Bytes, Vec<std::ops::Range<u32>>) {
        let mut bytes = Vec::new();
        let ranges = self.rows.iter().map(|row| {
            let range = row.body.start as usize..row.body.end as usize;
            let text = if row.body.in_side { &side[range] } else { &document[range] };
            let start = bytes.len();
            // Nothing in a str is without its like in UTF-16 and UTF-32.
            if let Ok(encoded) = charset.encode(text, OnError::Replace) {
                bytes.extend_from_slice(&encoded);
            }
            let small = |n: usize| u32::try_from(n).expect("four bytes a character, of at most 1 GiB");
            small(start)..small(bytes.len())
        });
        let ranges = ranges.collect();
        (bytes.into(), ranges)
    }
}

/// Marks a header value that is null while its set is read.
const NULL: Piece = Piece { in_side: true, start: u32::MAX, end: u32::MAX };
