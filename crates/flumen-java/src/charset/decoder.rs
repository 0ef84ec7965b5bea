//! Decoding, whole or piece by piece.

use super::names::Kind;
use super::step::{State, Step, Tables, step};
use super::{Charset, CodingError, ErrorKind, OnError};

/// No charset has a longer sequence.
const LONGEST: usize = 4;

/// Turns the bytes of a stream into text, in pieces of any size: a sequence may be cut by the end of a piece.
#[derive(Debug, Clone)]
pub struct Decoder {
    kind: Kind,
    tables: Tables,
    on_error: OnError,
    ascii: bool,
    state: State,
    /// The start of a sequence whose end has not come yet.
    pending: [u8; LONGEST],
    n_pending: usize,
    /// The first half of a surrogate pair.
    half: Option<u16>,
    /// Bytes decoded before the piece at hand.
    position: u64,
}

impl Decoder {
    pub(super) fn new(charset: Charset, on_error: OnError) -> Self {
        let kind = charset.info().kind;
        let tables = Tables::of(charset.info());
        Self {
            kind,
            tables,
            on_error,
            ascii: tables.keep_ascii(kind),
            state: State::default(),
            pending: [0; LONGEST],
            n_pending: 0,
            half: None,
            position: 0,
        }
    }

    /// Appends the text of `input` to `out`; with `last` the stream ends here and an unfinished sequence is an error.
    ///
    /// Half a surrogate pair (Java keeps it) becomes U+FFFD. On an error `out` has what came before, and the decoder must not be
    /// used any more. The last bytes may be kept until the next call, three at most.
    pub fn decode(&mut self, input: &[u8], last: bool, out: &mut String) -> Result<(), CodingError> {
        let mut input = input;
        while self.n_pending > 0 {
            let old = self.n_pending;
            let mut joined = [0; 2 * LONGEST];
            let n_new = input.len().min(LONGEST);
            joined[..old].copy_from_slice(&self.pending[..old]);
            joined[old..old + n_new].copy_from_slice(&input[..n_new]);
            let joined = &joined[..old + n_new];
            let next = step(self.kind, self.tables, &mut self.state, joined);
            let Some(used) = self.apply(next, joined.len(), 0, last, out)? else {
                self.keep(joined);
                return Ok(());
            };
            self.position += used as u64;
            if used >= old {
                input = &input[used - old..];
                self.n_pending = 0;
            } else {
                self.pending.copy_within(used..old, 0);
                self.n_pending = old - used;
            }
        }
        let used = self.run(input, last, out)?;
        self.keep(&input[used..]);
        if last {
            self.flush_half(out);
        }
        Ok(())
    }

    fn keep(&mut self, rest: &[u8]) {
        self.pending[..rest.len()].copy_from_slice(rest);
        self.n_pending = rest.len();
    }

    /// Decodes whole sequences and says how many bytes they were.
    fn run(&mut self, input: &[u8], last: bool, out: &mut String) -> Result<usize, CodingError> {
        let mut at = 0;
        while at < input.len() {
            at += self.plain(&input[at..], out);
            if at == input.len() {
                break;
            }
            let next = step(self.kind, self.tables, &mut self.state, &input[at..]);
            match self.apply(next, input.len() - at, at, last, out)? {
                Some(n) => at += n,
                None => break,
            }
        }
        self.position += at as u64;
        Ok(at)
    }

    /// Does what a step says and gives the bytes that it took; `None` where more must come first.
    fn apply(
        &mut self,
        step: Step,
        available: usize,
        at: usize,
        last: bool,
        out: &mut String,
    ) -> Result<Option<usize>, CodingError> {
        let n = match step {
            Step::Char(c, n) => {
                self.flush_half(out);
                out.push(c);
                n
            }
            Step::Half(unit, n) => {
                self.half(unit, out);
                n
            }
            Step::Skip(n) => n,
            Step::Bad(kind, n) => {
                self.bad(kind, n, at, out)?;
                n
            }
            Step::More if last => {
                self.bad(ErrorKind::Malformed, available, at, out)?;
                available
            }
            Step::More => return Ok(None),
        };
        Ok(Some(n))
    }

    /// Takes what needs no look at each character; gives the number of bytes.
    fn plain(&mut self, input: &[u8], out: &mut String) -> usize {
        if !self.ascii || input[0] >= 0x80 && !matches!(self.kind, Kind::Utf8 | Kind::Latin1) {
            return 0;
        }
        let text = match self.kind {
            Kind::Utf8 => match std::str::from_utf8(input) {
                Ok(text) => text,
                Err(e) => std::str::from_utf8(&input[..e.valid_up_to()]).unwrap_or_default(),
            },
            Kind::Latin1 => {
                out.extend(input.iter().copied().map(char::from));
                return input.len();
            }
            _ => {
                let n = input.iter().position(|b| *b >= 0x80).unwrap_or(input.len());
                std::str::from_utf8(&input[..n]).unwrap_or_default()
            }
        };
        if !text.is_empty() {
            self.flush_half(out);
            out.push_str(text);
        }
        text.len()
    }

    fn bad(&mut self, kind: ErrorKind, len: usize, at: usize, out: &mut String) -> Result<(), CodingError> {
        match self.on_error {
            OnError::Report => {
                self.flush_half(out);
                return Err(CodingError { kind, length: len, position: self.position + at as u64 });
            }
            OnError::Replace => {
                self.flush_half(out);
                out.push(char::REPLACEMENT_CHARACTER);
            }
            OnError::Ignore => {}
        }
        Ok(())
    }

    fn half(&mut self, unit: u16, out: &mut String) {
        match (self.half, unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                out.extend(
                    char::decode_utf16([high, unit]).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)),
                );
                self.half = None;
            }
            (_, 0xDC00..=0xDFFF) => out.push(char::REPLACEMENT_CHARACTER),
            _ => {
                self.flush_half(out);
                self.half = Some(unit);
            }
        }
    }

    fn flush_half(&mut self, out: &mut String) {
        if self.half.take().is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// Reads one character from the start of `input` and tells how many bytes it took, skipped ones included; `None` where the
    /// bytes end before the character does (give more of them, from the same place). For readers that count bytes for each
    /// character; not to be mixed with [`Self::decode`] on one decoder. With `last` an unfinished sequence is an error, and
    /// `None` means the end. Positions in errors count from the start of `input`.
    pub fn next_char(&mut self, input: &[u8], last: bool) -> Result<Option<(char, usize)>, CodingError> {
        let before = self.state;
        let mut at = 0;
        while at < input.len() {
            let (kind, n) = match step(self.kind, self.tables, &mut self.state, &input[at..]) {
                Step::Char(c, n) => return Ok(Some((c, at + n))),
                Step::Half(unit, n) => match self.pair(unit, &input[at + n..], last) {
                    Some((c, m)) => return Ok(Some((c, at + n + m))),
                    None => {
                        self.state = before;
                        return Ok(None);
                    }
                },
                Step::Skip(n) => {
                    at += n;
                    continue;
                }
                Step::Bad(kind, n) => (kind, n),
                Step::More if last => (ErrorKind::Malformed, input.len() - at),
                Step::More => {
                    self.state = before;
                    return Ok(None);
                }
            };
            match self.on_error {
                OnError::Report => return Err(CodingError { kind, length: n, position: at as u64 }),
                OnError::Replace => return Ok(Some((char::REPLACEMENT_CHARACTER, at + n))),
                OnError::Ignore => at += n,
            }
        }
        if !last {
            // The caller comes again from the same place, with what was skipped.
            self.state = before;
        }
        Ok(None)
    }

    /// The character of a half and the half that follows it.
    fn pair(&mut self, unit: u16, rest: &[u8], last: bool) -> Option<(char, usize)> {
        if (0xD800..=0xDBFF).contains(&unit) {
            let next = if rest.is_empty() {
                Step::More
            } else {
                step(self.kind, self.tables, &mut self.state, rest)
            };
            match next {
                Step::Half(low @ 0xDC00..=0xDFFF, n) => {
                    let c = char::decode_utf16([unit, low]).next().and_then(Result::ok);
                    return Some((c.unwrap_or(char::REPLACEMENT_CHARACTER), n));
                }
                Step::More if !last => return None,
                _ => {}
            }
        }
        Some((char::REPLACEMENT_CHARACTER, 0))
    }
}
