//! Each line is an event: the text up to a newline, without it. What is longer than `maxLineLength` is cut.

mod config;
mod cut;
mod pieces;
#[cfg(test)]
mod tests;

pub use config::LineConfig;

use bytes::Bytes;
use cut::{Cut, Line, Sound};
use flumen_core::{
    event::{Batch, Headers},
    registry::{BuildContext, BuildError, DeserializerType},
    serialize::{DeserializeError, EventDeserializer, Input, Most, OnBadText, Place, TextInput},
};
use flumen_java::charset::{Charset, CodingError, Decoder, OnError};
use pieces::Pieces;

/// Bytes of the longest byte order mark and the longest character behind it.
const MARK_BYTES: usize = 8;

/// See the module.
#[derive(Debug)]
pub struct LineDeserializer {
    max_units: usize,
    output: Charset,
    pieces: Pieces,
    /// How much of the rest is UTF-8; `None` where input or output is another charset.
    sound: Option<Sound>,
    decoder: Option<Decoder>,
    /// The line that was decoded last.
    text: String,
    found: Found,
}

/// Lines on their way into a batch.
#[derive(Debug, Default)]
struct Found {
    /// What they lie in.
    segments: Vec<Bytes>,
    /// Segment, start and length; no segment: in `own`.
    rows: Vec<(Option<usize>, usize, usize)>,
    own: Vec<u8>,
    bytes: usize,
}

impl LineDeserializer {
    /// One with these settings.
    pub fn new(config: LineConfig) -> Self {
        Self {
            max_units: config.max_line_length as usize,
            output: config.output_charset.0,
            pieces: Pieces::default(),
            sound: None,
            decoder: None,
            text: String::new(),
            found: Found::default(),
        }
    }

    /// Finds the next line. False at the end.
    fn next(&mut self, input: &dyn Input) -> Result<bool, DeserializeError> {
        loop {
            let rest = self.pieces.rest();
            let mut is_text = false;
            let mut cut = match self.sound {
                Some(sound) => cut::utf_8(rest, sound, self.max_units),
                None => Cut::Bad,
            };
            if let (Cut::Bad, Some(decoder)) = (cut, &mut self.decoder) {
                is_text = true;
                cut = cut::decoded(decoder, rest, self.max_units, &mut self.text)
                    .map_err(|error| bad_text(&error, self.pieces.offset()))?;
            }
            if let Cut::Line(line) = cut {
                self.take(line, is_text);
                return Ok(true);
            }
            if !self.pieces.read_more(input)? {
                return Ok(self.take_last(is_text));
            }
            self.look();
        }
    }

    /// What is left at the end. An incomplete character is left out, as in Java.
    fn take_last(&mut self, is_text: bool) -> bool {
        let used = self.pieces.rest().len();
        let len = self.sound.map_or(used, |sound| sound.len);
        let (is_line, is_torn) = match is_text {
            true => (!self.text.is_empty(), used > 0 && self.text.is_empty()),
            false => (len > 0, len < used),
        };
        if is_torn {
            tracing::warn!("the file ends within a character: it is left out");
        }
        if is_line {
            self.take(Line { len, used }, is_text);
        } else {
            self.pieces.pass(used);
        }
        is_line
    }

    fn take(&mut self, line: Line, is_text: bool) {
        let found = &mut self.found;
        if is_text {
            let start = found.own.len();
            // What a charset cannot express is replaced, so that there is no error.
            found
                .own
                .extend_from_slice(&self.output.encode(&self.text, OnError::Replace).unwrap_or_default());
            found.rows.push((None, start, found.own.len() - start));
        } else {
            let (piece, start) = self.pieces.piece();
            if found.segments.last().is_none_or(|last| last.as_ptr() != piece.as_ptr()) {
                found.segments.push(piece.clone());
            }
            found.rows.push((Some(found.segments.len() - 1), start, line.len));
        }
        found.bytes += line.len;
        self.pieces.pass(line.used);
        match &mut self.sound {
            Some(sound) if sound.len > line.used => sound.len -= line.used,
            _ => self.look(),
        }
    }

    /// Finds how much of the rest is UTF-8.
    fn look(&mut self) {
        if let Some(sound) = &mut self.sound {
            *sound = Sound::of(self.pieces.rest());
        }
    }
}

impl Found {
    fn move_into(&mut self, headers: &Headers, batch: &mut Batch) {
        self.bytes = 0;
        if self.rows.is_empty() {
            return;
        }
        let set = batch.add_headers(headers.clone());
        let segments: Vec<u32> = self.segments.drain(..).map(|bytes| batch.add_segment(bytes)).collect();
        let own = (!self.own.is_empty()).then(|| std::mem::take(&mut self.own));
        let own = own.map_or_else(|| segments.first().copied(), |own| Some(batch.add_segment(own.into())));
        let own = own.unwrap_or_else(|| batch.add_segment(Bytes::new()));
        for (segment, start, len) in self.rows.drain(..) {
            // Pieces are far below 4 GiB. An empty line of no segment lies at the start of any.
            let (start, len) = (start as u32, len as u32);
            let segment = segment.map_or(own, |n| segments[n]);
            batch.push_slice(set, segment, start..start + len);
        }
    }
}

fn bad_text(error: &CodingError, offset: u64) -> DeserializeError {
    let reason = format!(
        "{} bytes are not in the charset ({}): set inputCharset, or decodeErrorPolicy to REPLACE or IGNORE",
        error.length, error.kind
    );
    DeserializeError::Bad { offset: offset + error.position, reason }
}

impl DeserializerType for LineDeserializer {
    const NAMES: &'static [&'static str] =
        &["LINE", "org.apache.flume.serialization.LineDeserializer$Builder"];
    const SUMMARY: &'static str = "Makes each line of a text an event.";
    type Config = LineConfig;

    fn build(config: Self::Config, _context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self::new(config))
    }
}

impl EventDeserializer for LineDeserializer {
    fn start(&mut self, input: &dyn Input, text: &TextInput, place: Place) -> Result<(), DeserializeError> {
        let charset = Charset::for_name(&text.charset)
            .map_err(|error| DeserializeError::Bad { offset: 0, reason: error.to_string() })?;
        let mut decoder = charset.decoder(match text.on_bad {
            OnBadText::Fail => OnError::Report,
            OnBadText::Replace => OnError::Replace,
            OnBadText::Ignore => OnError::Ignore,
        });
        if place.offset > 0 {
            // The order of bytes is told at the start of the file only.
            let mut mark = Vec::with_capacity(MARK_BYTES);
            while mark.len() < mark.capacity() {
                let at = mark.len() as u64;
                if input.read_at(&mut mark, at)? == 0 {
                    break;
                }
            }
            let _ = decoder.next_char(&mark, false);
        }
        self.decoder = Some(decoder);
        self.sound = (charset == Charset::utf_8() && self.output == Charset::utf_8())
            .then_some(Sound { len: 0, bad: false });
        self.pieces = Pieces::starting(place.offset);
        Ok(())
    }

    fn read(
        &mut self,
        input: &dyn Input,
        headers: &Headers,
        most: Most,
        batch: &mut Batch,
    ) -> Result<(), DeserializeError> {
        let mut result = Ok(());
        while self.found.rows.len() < most.events && self.found.bytes < most.bytes {
            match self.next(input) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        self.found.move_into(headers, batch);
        result
    }

    fn place(&self) -> Place {
        Place { offset: self.pieces.offset(), skip: 0 }
    }
}
