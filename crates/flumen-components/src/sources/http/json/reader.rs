//! Reads JSON token by token, as leniently as Java Flume's parser (Gson) does, without copying what has no escapes.
//!
//! Beyond RFC 8259 it takes: comments (`/* */`, `//`, `#`), single quotes, unquoted words, `;` for `,`, `=` and `=>`
//! for `:`, control characters in strings, keywords in any case, a byte order mark, and the prefix `)]}'` with a line
//! feed.

use super::error::JsonError;

/// How deep a value that is skipped may be nested. Java has no limit; 512 is far beyond any document in use.
const MAX_DEPTH: usize = 512;

/// What stands for half of a surrogate pair in text that becomes UTF-8, as in Java.
pub(super) const LONE: char = '?';

/// A position in a document, and the text that had to be rewritten on the way.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Unescaped strings, end to end.
    pub(super) side: String,
}

/// A string of the document: a part of its text or, where it had escapes, of `Reader::side`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) in_side: bool,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A value of which the beginning has been read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// A string behind this quotation mark.
    Quoted(u8),
    /// A number or a word without quotation marks.
    Word,
    Array,
    Object,
    /// Not a value: the `]` of the array.
    EndArray,
}

/// Where a value stands, which decides what `,` and `]` mean there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    FirstInArray,
    InArray,
    Elsewhere,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, side: String::new() }
    }

    /// The first value of the document. `None`: there is none.
    pub(super) fn document(&mut self) -> Result<Option<Value>, JsonError> {
        if self.text.starts_with('\u{feff}') {
            self.at += '\u{feff}'.len_utf8();
        }
        let Some(_) = self.next_visible()? else { return Ok(None) };
        self.at -= 1;
        if self.rest().starts_with(b")]}'\n") {
            self.at += 5;
            let Some(_) = self.next_visible()? else { return Ok(None) };
            self.at -= 1;
        }
        self.begin_value(Place::Elsewhere).map(Some)
    }

    /// Makes sure that nothing but blanks is left.
    pub(super) fn end(&mut self) -> Result<(), JsonError> {
        match self.rest().iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t')) {
            None => Ok(()),
            Some(blanks) => {
                self.at += blanks;
                Err(self.wrong("there is more behind the array"))
            }
        }
    }

    /// The next element of an array, or its end. An element that is left out is null, as for Gson.
    pub(super) fn element(&mut self, is_first: &mut bool) -> Result<Value, JsonError> {
        if std::mem::take(is_first) {
            return self.begin_value(Place::FirstInArray);
        }
        match self.visible()? {
            b']' => Ok(Value::EndArray),
            b',' | b';' => self.begin_value(Place::InArray),
            _ => Err(self.wrong("expected `,` or `]`")),
        }
    }

    /// The next name of an object with the beginning of its value, or `None` at its end.
    pub(super) fn member(&mut self, is_first: &mut bool) -> Result<Option<(Piece, Value)>, JsonError> {
        let may_end = std::mem::take(is_first);
        if !may_end {
            match self.visible()? {
                b'}' => return Ok(None),
                b',' | b';' => {}
                _ => return Err(self.wrong("expected `,` or `}`")),
            }
        }
        let name = match self.visible()? {
            b'}' if may_end => return Ok(None),
            quote @ (b'"' | b'\'') => self.quoted(quote, LONE)?,
            byte if ends_word(byte) => return Err(self.wrong("expected a name")),
            _ => {
                self.at -= 1;
                self.word()
            }
        };
        match self.visible()? {
            b':' => {}
            b'=' if self.rest().first() == Some(&b'>') => self.at += 1,
            b'=' => {}
            _ => return Err(self.wrong("expected `:`")),
        }
        Ok(Some((name, self.begin_value(Place::Elsewhere)?)))
    }

    /// A value as a string; numbers and truth values are their text. `lone` stands for half a surrogate pair.
    /// `None`: null.
    pub(super) fn string(&mut self, value: Value, lone: char) -> Result<Option<Piece>, JsonError> {
        match value {
            Value::Null => Ok(None),
            Value::Bool(truth) => {
                let start = self.side.len();
                self.side.push_str(if truth { "true" } else { "false" });
                Ok(Some(self.side_piece(start)))
            }
            Value::Quoted(quote) => self.quoted(quote, lone).map(Some),
            Value::Word => Ok(Some(self.word())),
            Value::Array | Value::Object | Value::EndArray => Err(self.wrong("expected a string")),
        }
    }

    /// Passes over a value of any kind, however it is nested.
    pub(super) fn skip(&mut self, value: Value) -> Result<(), JsonError> {
        // For each open part: whether it is an array, and whether nothing of it has been read.
        let mut open: Vec<(bool, bool)> = Vec::new();
        let mut value = value;
        loop {
            match value {
                Value::Array | Value::Object if open.len() == MAX_DEPTH => {
                    return Err(self.wrong("nested too deeply"));
                }
                Value::Array => open.push((true, true)),
                Value::Object => open.push((false, true)),
                Value::Quoted(quote) => {
                    let side = self.side.len();
                    self.quoted(quote, LONE)?;
                    self.side.truncate(side);
                }
                Value::Word => {
                    self.word();
                }
                Value::EndArray => {
                    open.pop();
                }
                Value::Null | Value::Bool(_) => {}
            }
            value = loop {
                match open.last_mut() {
                    None => return Ok(()),
                    Some((true, is_first)) => break self.element(is_first)?,
                    Some((false, is_first)) => match self.member(is_first)? {
                        Some((_, value)) => break value,
                        None => open.pop(),
                    },
                };
            };
        }
    }

    /// The text of a piece.
    pub(super) fn text(&self, piece: Piece) -> &str {
        let range = piece.start as usize..piece.end as usize;
        if piece.in_side { &self.side[range] } else { &self.text[range] }
    }

    /// Where the next byte is read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// What has been read since a position.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// Passes over `known` if it comes next, from `start` on.
    pub(super) fn pass(&mut self, start: usize, known: &str) -> bool {
        let found = !known.is_empty() && self.text.as_bytes()[start..].starts_with(known.as_bytes());
        if found {
            self.at = start + known.len();
        }
        found
    }

    pub(super) fn wrong(&self, what: &'static str) -> JsonError {
        JsonError::Syntax { what, at: self.at }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn begin_value(&mut self, place: Place) -> Result<Value, JsonError> {
        match self.visible()? {
            b'"' => Ok(Value::Quoted(b'"')),
            b'{' => Ok(Value::Object),
            b'[' => Ok(Value::Array),
            b'\'' => Ok(Value::Quoted(b'\'')),
            b']' if place == Place::FirstInArray => Ok(Value::EndArray),
            b']' | b',' | b';' if place != Place::Elsewhere => {
                self.at -= 1;
                Ok(Value::Null)
            }
            byte if ends_word(byte) => Err(self.wrong("expected a value")),
            _ => {
                self.at -= 1;
                Ok(self.keyword().unwrap_or(Value::Word))
            }
        }
    }

    fn keyword(&mut self) -> Option<Value> {
        let rest = self.rest();
        let (word, value) = match rest[0] {
            b't' | b'T' => ("true", Value::Bool(true)),
            b'f' | b'F' => ("false", Value::Bool(false)),
            b'n' | b'N' => ("null", Value::Null),
            _ => return None,
        };
        let found = rest.get(..word.len())?.eq_ignore_ascii_case(word.as_bytes())
            && rest.get(word.len()).is_none_or(|byte| ends_word(*byte));
        found.then(|| {
            self.at += word.len();
            value
        })
    }

    /// The next byte that is neither blank nor part of a comment; there must be one.
    fn visible(&mut self) -> Result<u8, JsonError> {
        match self.rest().first() {
            // Nearly always: no blank before it, no comment.
            Some(&byte) if byte > b' ' && byte != b'/' && byte != b'#' => {
                self.at += 1;
                Ok(byte)
            }
            _ => self.next_visible()?.ok_or_else(|| self.wrong("the document ends too early")),
        }
    }

    fn next_visible(&mut self) -> Result<Option<u8>, JsonError> {
        while let Some(&byte) = self.rest().first() {
            self.at += 1;
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b'#' => self.skip_line(),
                b'/' => match self.rest().first() {
                    Some(b'/') => self.skip_line(),
                    Some(b'*') => match memchr::memmem::find(&self.rest()[1..], b"*/") {
                        Some(length) => self.at += length + 3,
                        None => return Err(self.wrong("a comment does not end")),
                    },
                    _ => return Ok(Some(byte)),
                },
                _ => return Ok(Some(byte)),
            }
        }
        Ok(None)
    }

    fn skip_line(&mut self) {
        self.at += memchr::memchr2(b'\n', b'\r', self.rest()).map_or(self.rest().len(), |length| length + 1);
    }

    /// Text without quotation marks, at least what stands at the present position.
    fn word(&mut self) -> Piece {
        let start = self.at;
        self.at += self.rest().iter().position(|byte| ends_word(*byte)).unwrap_or(self.rest().len());
        Piece { in_side: false, start: small(start), end: small(self.at) }
    }

    /// The rest of a string, up to its quotation mark.
    fn quoted(&mut self, quote: u8, lone: char) -> Result<Piece, JsonError> {
        let start = self.at;
        match memchr::memchr2(quote, b'\\', self.rest()) {
            Some(length) if self.rest()[length] == quote => {
                self.at += length + 1;
                Ok(Piece { in_side: false, start: small(start), end: small(start + length) })
            }
            Some(length) => self.escaped(quote, lone, length),
            None => Err(self.wrong("a string does not end")),
        }
    }

    /// The same for a string whose first escape is `plain` bytes away.
    fn escaped(&mut self, quote: u8, lone: char, plain: usize) -> Result<Piece, JsonError> {
        let start = self.side.len();
        let mut plain = plain;
        // The first half of a surrogate pair whose second half has not come yet.
        let mut half: Option<u16> = None;
        loop {
            if plain > 0 {
                self.flush(&mut half, lone);
                self.side.push_str(&self.text[self.at..self.at + plain]);
            }
            let is_end = self.rest()[plain] == quote;
            self.at += plain + 1;
            if is_end {
                self.flush(&mut half, lone);
                return Ok(self.side_piece(start));
            }
            match self.escape()? {
                Escape::Char(char) => {
                    self.flush(&mut half, lone);
                    self.side.push(char);
                }
                Escape::Unit(unit) => self.push_unit(unit, &mut half, lone),
            }
            plain = memchr::memchr2(quote, b'\\', self.rest())
                .ok_or_else(|| self.wrong("a string does not end"))?;
        }
    }

    fn push_unit(&mut self, unit: u16, half: &mut Option<u16>, lone: char) {
        if let (Some(high), 0xdc00..=0xdfff) = (*half, unit) {
            *half = None;
            self.side.extend(char::decode_utf16([high, unit]).flatten());
            return;
        }
        self.flush(half, lone);
        match char::from_u32(u32::from(unit)) {
            Some(char) => self.side.push(char),
            None if unit < 0xdc00 => *half = Some(unit),
            None => self.side.push(lone),
        }
    }

    fn flush(&mut self, half: &mut Option<u16>, lone: char) {
        if half.take().is_some() {
            self.side.push(lone);
        }
    }

    /// What an escape stands for; the backslash has been read.
    fn escape(&mut self) -> Result<Escape, JsonError> {
        let Some(&byte) = self.rest().first() else { return Err(self.wrong("an escape does not end")) };
        self.at += 1;
        Ok(Escape::Char(match byte {
            b'u' => return self.unit().map(Escape::Unit),
            b't' => '\t',
            b'b' => '\u{8}',
            b'n' => '\n',
            b'r' => '\r',
            b'f' => '\u{c}',
            b'\n' | b'\'' | b'"' | b'\\' | b'/' => char::from(byte),
            _ => return Err(self.wrong("an escape that JSON does not have")),
        }))
    }

    fn unit(&mut self) -> Result<u16, JsonError> {
        let digits = self.rest().get(..4).and_then(|digits| {
            digits.iter().try_fold(0, |unit: u16, digit| {
                Some(unit << 4 | u16::try_from(char::from(*digit).to_digit(16)?).ok()?)
            })
        });
        match digits {
            Some(unit) => {
                self.at += 4;
                Ok(unit)
            }
            None if self.text[self.at..].encode_utf16().take(4).count() < 4 => {
                Err(self.wrong("an escape does not end"))
            }
            None => Err(JsonError::Hex { at: self.at }),
        }
    }

    fn side_piece(&self, start: usize) -> Piece {
        Piece { in_side: true, start: small(start), end: small(self.side.len()) }
    }
}

enum Escape {
    Char(char),
    Unit(u16),
}

/// Whether a byte cannot be part of a word without quotation marks.
fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        b'{' | b'}'
            | b'['
            | b']'
            | b':'
            | b','
            | b' '
            | b'\t'
            | b'\x0c'
            | b'\r'
            | b'\n'
            | b'/'
            | b'\\'
            | b';'
            | b'#'
            | b'='
    )
}

/// Positions fit, as a request is at most 1 GiB and its decoded text at most three times as long.
fn small(position: usize) -> u32 {
    u32::try_from(position).expect("a document is shorter than 4 GiB")
}
