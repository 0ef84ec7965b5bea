//! Flume's path escapes (`%Y`, `%{header}`, `%[localhost]`), as in `hdfs.path` and `hdfs.filePrefix`.
//!
//! # Untrusted values
//!
//! A header's value goes into the path as it is, as in Java: it may hold `/` (people build directories that way), `..`,
//! control characters and escapes, which are not expanded again. Nothing is sanitised on this level. What writes files
//! must do it for its own kind of path: a sink on a file system refuses results with [`has_parent_step`]; one that
//! makes a name of the result (a topic, an index) applies that system's rules. Only the length can be trusted to be
//! that of the text and the headers together.

use super::calendar::Moment;
use super::text::digit;
use super::{DateFormat, Locale, PatternError, Rounding, Zone};

/// The header that has the event's time.
const TIMESTAMP: &str = "timestamp";

/// What `%[localhost]`, `%[ip]` and `%[fqdn]` stand for.
#[derive(Clone, Debug, Default)]
pub struct HostNames {
    /// Local host name.
    pub localhost: String,
    /// Local address.
    pub ip: String,
    /// Canonical name.
    pub fqdn: String,
}

/// How a template is expanded.
#[derive(Clone, Debug)]
pub struct PathOptions {
    /// Zone of the wall clock: `hdfs.timeZone` or that of the machine.
    pub zone: Zone,
    /// Locale of names, that of the process.
    pub locale: Locale,
    /// `hdfs.round` with its unit and value.
    pub rounding: Option<Rounding>,
    /// Names of this machine.
    pub hosts: HostNames,
}

/// Why a template is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A word in `%[…]` that means nothing. Java says so at each event.
    #[error("unknown escape %[{0}]: use %[localhost], %[ip] or %[fqdn]")]
    Word(String),
    /// A date pattern of an escape was refused, which cannot happen.
    #[error("escape: {0}")]
    Pattern(#[from] PatternError),
}

/// Why an event's path cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The path has an escape of a time and the event has none.
    #[error(
        "the path needs the header timestamp, which the event does not have: use a timestamp interceptor or useLocalTimeStamp"
    )]
    NoTimestamp,
    /// The header is not a number of milliseconds.
    #[error("header timestamp {0:?} is not a number of milliseconds")]
    BadTimestamp(String),
    /// Rounding is on and the time is at or before 1970.
    #[error("timestamp {0} cannot be rounded: it must be above 0")]
    NotPositive(i64),
}

#[derive(Clone, Debug)]
enum Part {
    Literal(String),
    Header(String),
    Date(DateFormat),
    /// `%s`
    Seconds,
    /// `%t`
    Timestamp,
    /// A letter that means nothing: an empty string that still needs a time, as in Java.
    Nothing,
}

/// A text with escapes, compiled.
#[derive(Clone, Debug)]
pub struct PathTemplate {
    parts: Vec<Part>,
    zone: Zone,
    rounding: Option<Rounding>,
    timed: bool,
}

impl PathTemplate {
    /// Compiles a text. What is no escape (`% `, `%{a b}`, a `%` at the end) is taken literally.
    pub fn compile(text: &str, options: &PathOptions) -> Result<Self, PathError> {
        let mut template =
            Self { parts: Vec::new(), zone: options.zone.clone(), rounding: options.rounding, timed: false };
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            template.literal(&rest[..at]);
            let after = &rest[at + 1..];
            let used = match after.chars().next() {
                Some(c) if c == '%' || is_word(c) => {
                    template.letter(c, options)?;
                    1
                }
                Some('{') => {
                    template.bracketed(after, '}', |c| is_word(c) || c == '.' || c == '-', options)?
                }
                Some('[') => template.bracketed(after, ']', is_word, options)?,
                _ => 0,
            };
            if used == 0 {
                template.literal("%");
            }
            rest = &after[used..];
        }
        template.literal(rest);
        Ok(template)
    }

    /// Whether an event needs a time: any `%` with a letter or `%%`.
    pub fn needs_timestamp(&self) -> bool {
        self.timed
    }

    /// Names of the headers in `%{…}`, in order and with repetitions.
    pub fn headers(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Header(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The text if it has no escapes at all, so that it is the same for every event.
    pub fn as_constant(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Appends the path of an event. `header` gives the value of a header; those that are missing are empty. The time is
    /// the header `timestamp`, or `local_time` (milliseconds since 1970, read once by the caller) if there is one, as with
    /// `useLocalTimeStamp`. After an error `out` is as it was.
    pub fn render<'h>(
        &self,
        out: &mut String,
        header: impl Fn(&str) -> Option<&'h str>,
        local_time: Option<i64>,
    ) -> Result<(), RenderError> {
        // The moment is worked out once for all escapes.
        let time = if self.timed { Some(self.time(header(TIMESTAMP), local_time)?) } else { None };
        for part in &self.parts {
            match (part, &time) {
                (Part::Literal(text), _) => out.push_str(text),
                (Part::Header(name), _) => out.push_str(header(name).unwrap_or_default()),
                (Part::Date(format), Some((_, moment))) => format.format_moment(out, moment),
                (Part::Seconds, Some((millis, _))) => push_number(out, millis / 1000),
                (Part::Timestamp, _) => match local_time {
                    Some(millis) => push_number(out, millis),
                    None => out.push_str(header(TIMESTAMP).unwrap_or_default()),
                },
                (Part::Nothing | Part::Date(_) | Part::Seconds, _) => {}
            }
        }
        Ok(())
    }

    fn time(&self, header: Option<&str>, local_time: Option<i64>) -> Result<(i64, Moment), RenderError> {
        let millis = match (local_time, header) {
            (Some(millis), _) => millis,
            (None, Some(text)) => {
                java_long(text).ok_or_else(|| RenderError::BadTimestamp(shortened(text)))?
            }
            (None, None) => return Err(RenderError::NoTimestamp),
        };
        let millis = match self.rounding {
            Some(_) if millis <= 0 => return Err(RenderError::NotPositive(millis)),
            Some(rounding) => rounding.down(millis, &self.zone),
            None => millis,
        };
        Ok((millis, Moment::new(millis, &self.zone)))
    }

    fn literal(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Literal(literal)) => literal.push_str(text),
            _ => self.parts.push(Part::Literal(text.to_owned())),
        }
    }

    fn letter(&mut self, letter: char, options: &PathOptions) -> Result<(), PathError> {
        self.timed = true;
        let part = match letter {
            '%' => {
                self.literal("%");
                return Ok(());
            }
            's' => Part::Seconds,
            't' => Part::Timestamp,
            other => match pattern_of(other) {
                Some(pattern) => Part::Date(DateFormat::compile(pattern, &options.locale, &options.zone)?),
                None => Part::Nothing,
            },
        };
        self.parts.push(part);
        Ok(())
    }

    /// Takes `{name}` or `[word]` at the start of `text` and answers its length, 0 if it is none.
    fn bracketed(
        &mut self,
        text: &str,
        close: char,
        allowed: impl Fn(char) -> bool,
        options: &PathOptions,
    ) -> Result<usize, PathError> {
        let Some(name) = text[1..].split_once(close).map(|(name, _)| name) else { return Ok(0) };
        if name.is_empty() || !name.chars().all(allowed) {
            return Ok(0);
        }
        if close == '}' {
            self.parts.push(Part::Header(name.to_owned()));
        } else {
            let hosts = &options.hosts;
            let value = match name.to_ascii_lowercase().as_str() {
                "localhost" => &hosts.localhost,
                "ip" => &hosts.ip,
                "fqdn" => &hosts.fqdn,
                _ => return Err(PathError::Word(name.to_owned())),
            };
            self.literal(value);
        }
        Ok(name.len() + 2)
    }
}

/// Whether a path has a step `..`, or a NUL, which no file system takes: a header's value could leave the directory that
/// the configuration names.
pub fn has_parent_step(path: &str) -> bool {
    path.contains('\0') || path.split('/').any(|step| step == "..")
}

/// The date pattern of an escape.
fn pattern_of(letter: char) -> Option<&'static str> {
    Some(match letter {
        'a' => "EEE",
        'A' => "EEEE",
        'b' => "MMM",
        'B' => "MMMM",
        'c' => "EEE MMM d HH:mm:ss yyyy",
        'd' => "dd",
        'e' => "d",
        'D' => "MM/dd/yy",
        'H' => "HH",
        'I' => "hh",
        'j' => "DDD",
        'k' => "H",
        'l' => "h",
        'm' => "MM",
        'M' => "mm",
        'n' => "M",
        'p' => "a",
        'S' => "ss",
        'y' => "yy",
        'Y' => "yyyy",
        'z' => "ZZZ",
        _ => return None,
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// `Long.valueOf`: a sign and digits of any script, nothing around them.
fn java_long(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() {
        return None;
    }
    digits.chars().try_fold(0i64, |value, c| {
        let digit = i64::from(digit(c)?);
        value.checked_mul(10)?.checked_add(if negative { -digit } else { digit })
    })
}

fn push_number(out: &mut String, value: i64) {
    use std::fmt::Write as _;
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
