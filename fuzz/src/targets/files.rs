//! Files that sources keep beside what they read.

use flumen_components::{
    deserializers::{
        avro::{AvroConfig, AvroDeserializer},
        line::{LineConfig, LineDeserializer},
    },
    sources::{spooldir, taildir},
};
use flumen_core::{
    config::{Configuration, Settings, read},
    event::{Batch, Headers},
    serialize::{EventDeserializer, Input, Most, OnBadText, Place, TextInput},
};
use std::io;

/// Events of one input, at most: more are a loop without end.
const MOST_EVENTS: usize = 3_000_000;

/// A position file and the marks beside it, with a line `---` between: what was read is written, and read again the same.
pub(super) fn positions(input: &[u8]) {
    let separator = b"\n---\n";
    let at = input.windows(separator.len()).position(|part| part == separator);
    let (content, marks) = at.map_or((input, &[][..]), |at| (&input[..at], &input[at + separator.len()..]));
    let written = taildir::read_and_write(content, marks);
    assert_eq!(taildir::read_and_write(&written, b""), written, "what was written is read as it is");
}

/// A tracker file of the spooldir source: what was read is written, and read again the same.
pub(super) fn tracker(input: &[u8]) {
    if let Some(written) = spooldir::read_and_write(input) {
        assert_eq!(
            spooldir::read_and_write(&written).as_ref(),
            Some(&written),
            "what was written is read as it is"
        );
    }
}

/// A whole file in memory.
struct Held<'a>(&'a [u8]);

impl Input for Held<'_> {
    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
        Input::read_at(self.0, buffer, offset)
    }
}

fn config<C: Configuration>(pairs: &[(&str, &str)]) -> C {
    read::<C>(&Settings::from_pairs("d", pairs), &[]).0.expect("these settings are good")
}

/// The bodies of a file from a place on, so many at a time; and the place behind each batch.
fn events(
    deserializer: &mut dyn EventDeserializer,
    input: &[u8],
    text: &TextInput,
    place: Place,
    most: usize,
) -> (Vec<Vec<u8>>, Vec<(usize, Place)>, bool) {
    let (mut bodies, mut places) = (Vec::new(), Vec::new());
    if deserializer.start(&Held(input), text, place).is_err() {
        return (bodies, places, false);
    }
    loop {
        let mut batch = Batch::new();
        let most = Most { events: most, bytes: 1 << 20 };
        let good = deserializer.read(&Held(input), &Headers::new(), most, &mut batch).is_ok();
        bodies.extend(batch.iter().map(|event| event.body.to_vec()));
        assert!(bodies.len() < MOST_EVENTS, "events without end");
        if batch.is_empty() || !good {
            return (bodies, places, good);
        }
        places.push((bodies.len(), deserializer.place()));
    }
}

/// Reading on from a place gives what is behind it.
fn go_on(make: &dyn Fn() -> Box<dyn EventDeserializer>, input: &[u8], text: &TextInput) {
    let (all, places, good) = events(&mut *make(), input, text, Place::default(), 3);
    let whole = events(&mut *make(), input, text, Place::default(), 1_000);
    assert_eq!((&whole.0, whole.2), (&all, good), "however many are read at a time");
    for (n_read, place) in places.iter().step_by(places.len() / 4 + 1) {
        let (rest, _, _) = events(&mut *make(), input, text, *place, 1_000);
        assert_eq!(rest, all[*n_read..], "from {place:?} on");
    }
}

/// A first line with charset and policy, then a text.
pub(super) fn lines(input: &[u8]) {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let first = String::from_utf8_lossy(&input[..at]);
    let (charset, policy) = first.split_once(' ').unwrap_or((&first, ""));
    let on_bad = match policy {
        "fail" => OnBadText::Fail,
        "ignore" => OnBadText::Ignore,
        _ => OnBadText::Replace,
    };
    let text = TextInput { charset: charset.to_owned(), on_bad };
    let content = input.get(at + 1..).unwrap_or_default();
    for length in ["1", "7", "2048"] {
        let make = || -> Box<dyn EventDeserializer> {
            Box::new(LineDeserializer::new(config::<LineConfig>(&[("maxLineLength", length)])))
        };
        // Charsets with a state begin lines in their first one only where a line has put them back.
        if charset == "UTF-8" || charset == "ISO-8859-1" {
            go_on(&make, content, &text);
        } else {
            let _ = events(&mut *make(), content, &text, Place::default(), 3);
        }
    }
}

/// An Avro data file.
pub(super) fn avro_file(input: &[u8]) {
    let text = TextInput { charset: "UTF-8".to_owned(), on_bad: OnBadText::Fail };
    let make =
        || -> Box<dyn EventDeserializer> { Box::new(AvroDeserializer::new(config::<AvroConfig>(&[]))) };
    go_on(&make, input, &text);
}
