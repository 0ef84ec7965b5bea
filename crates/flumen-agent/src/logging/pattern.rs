//! The pattern of a line, in log4j's letters: `%d{…}`, `%p`, `%c{1}`, `%t`, `%m`, `%n` and some more, with `%-5p` widths.

use flumen_java::dates::{DateFormat, Locale, Zone};
use std::fmt::Write;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 4096;
/// The widest that a part may be made.
const MAX_WIDTH: usize = 1000;
const ISO8601: &str = "yyyy-MM-dd HH:mm:ss,SSS";

/// What a line is made of.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    /// Milliseconds since 1970.
    pub(crate) at_ms: i64,
    pub(crate) level: &'static str,
    pub(crate) logger: &'a str,
    pub(crate) thread: &'a str,
    pub(crate) message: &'a str,
    pub(crate) file: &'a str,
    pub(crate) line: u32,
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    parts: Vec<(Part, Width)>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Width {
    left: bool,
    min: usize,
    max: Option<usize>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Date(DateFormat),
    Millis,
    Seconds,
    Level,
    Logger(usize),
    Thread,
    Message,
    File,
    Line,
    Location,
    Newline,
    Nothing,
}

impl Pattern {
    /// Compiles a pattern. What is not understood is left out, and said in `notes`.
    pub(crate) fn compile(text: &str, notes: &mut Vec<String>) -> Self {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let text: String = text.chars().take(MAX_PATTERN).collect();
        let mut rest = text.as_str();
        while let Some(at) = rest.find('%') {
            plain.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                plain.push('%');
                rest = after;
                continue;
            }
            let (width, after) = width(rest);
            let name_len = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
            let (name, mut after) = conversion(&after[..name_len], after);
            let mut options = Vec::new();
            while let Some((option, next)) = braces(after) {
                options.push(option);
                after = next;
            }
            rest = after;
            if !plain.is_empty() {
                parts.push((Part::Text(std::mem::take(&mut plain)), Width::default()));
            }
            match part(name, &options) {
                Ok(part) => parts.push((part, width)),
                Err(what) => notes.push(format!("%{name} {what}, and left out")),
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push((Part::Text(plain), Width::default()));
        }
        Self { parts }
    }

    /// Writes a line.
    pub(crate) fn write(&self, record: &Record<'_>, out: &mut String) {
        for (part, width) in &self.parts {
            let start = out.len();
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Date(format) => format.format_into(out, record.at_ms),
                Part::Millis => _ = write!(out, "{}", record.at_ms),
                Part::Seconds => _ = write!(out, "{}", record.at_ms.div_euclid(1000)),
                Part::Level => out.push_str(record.level),
                Part::Logger(0) => out.push_str(record.logger),
                Part::Logger(n) => out.push_str(last_parts(record.logger, *n)),
                Part::Thread => out.push_str(record.thread),
                Part::Message => out.push_str(record.message),
                Part::File => out.push_str(record.file),
                Part::Line => _ = write!(out, "{}", record.line),
                Part::Location => _ = write!(out, "{}({}:{})", record.logger, record.file, record.line),
                Part::Newline => out.push('\n'),
                Part::Nothing => {}
            }
            width.apply(out, start);
        }
    }
}

impl Width {
    fn apply(self, out: &mut String, start: usize) {
        if self.min == 0 && self.max.is_none() {
            return;
        }
        let count = out[start..].chars().count();
        if let Some(max) = self.max.filter(|max| count > *max) {
            // log4j cuts the beginning off.
            let cut = out[start..].char_indices().nth(count - max).map_or(0, |(at, _)| at);
            out.replace_range(start..start + cut, "");
        } else if count < self.min {
            let blanks = " ".repeat(self.min - count);
            if self.left { out.push_str(&blanks) } else { out.insert_str(start, &blanks) }
        }
    }
}

/// `-5.30` before a letter.
fn width(text: &str) -> (Width, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '-' || c == '.')).unwrap_or(text.len());
    let (format, rest) = text.split_at(end);
    let (min, max) = format.split_once('.').unwrap_or((format, ""));
    let number = |text: &str| text.trim_start_matches('-').parse::<usize>().ok().map(|n| n.min(MAX_WIDTH));
    (Width { left: format.starts_with('-'), min: number(min).unwrap_or(0), max: number(max) }, rest)
}

/// The longest name of a conversion that the letters begin with: `%message` and `%m`, and `%mfoo` is `%m` and `foo`.
fn conversion<'a>(letters: &'a str, all: &'a str) -> (&'a str, &'a str) {
    const NAMES: [&str; 32] = [
        "d",
        "date",
        "p",
        "level",
        "c",
        "logger",
        "t",
        "tn",
        "thread",
        "threadName",
        "m",
        "msg",
        "message",
        "n",
        "C",
        "class",
        "M",
        "method",
        "L",
        "line",
        "F",
        "file",
        "l",
        "location",
        "r",
        "relative",
        "x",
        "NDC",
        "X",
        "mdc",
        "equals",
        "throwable",
    ];
    let fits = NAMES.iter().filter(|name| letters.starts_with(**name)).map(|name| name.len()).max();
    let len = fits.unwrap_or(letters.len().max(all.chars().next().map_or(0, char::len_utf8)).min(all.len()));
    all.split_at(len)
}

/// `{option}` at the beginning; braces inside are counted.
fn braces(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('{')?;
    let mut depth = 1_u32;
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&inside[..at], &inside[at + 1..]));
        }
    }
    None
}

fn part(name: &str, options: &[&str]) -> Result<Part, String> {
    let first = options.first().copied().unwrap_or_default();
    Ok(match name {
        "d" | "date" => return date(options),
        "p" | "level" => Part::Level,
        "c" | "logger" => Part::Logger(first.parse().unwrap_or(0)),
        // There are no classes and methods: the logger's name and the place in the source are as near.
        "C" | "class" => Part::Logger(first.parse().unwrap_or(0)),
        "M" | "method" => Part::File,
        "t" | "tn" | "thread" | "threadName" => Part::Thread,
        "m" | "msg" | "message" => Part::Message,
        "n" => Part::Newline,
        "L" | "line" => Part::Line,
        "F" | "file" => Part::File,
        "l" | "location" => Part::Location,
        "r" | "relative" => Part::Millis,
        // Nested contexts do not exist: they are empty.
        "x" | "NDC" | "X" | "mdc" | "equals" | "throwable" => Part::Nothing,
        _ => return Err("is not understood".to_owned()),
    })
}

fn date(options: &[&str]) -> Result<Part, String> {
    let pattern = match options.first().copied().unwrap_or_default() {
        "UNIX_MILLIS" => return Ok(Part::Millis),
        "UNIX" => return Ok(Part::Seconds),
        "" | "DEFAULT" => ISO8601,
        "ISO8601" => "yyyy-MM-dd'T'HH:mm:ss,SSS",
        "ABSOLUTE" => "HH:mm:ss,SSS",
        "DATE" => "dd MMM yyyy HH:mm:ss,SSS",
        "COMPACT" => "yyyyMMddHHmmssSSS",
        own => own,
    };
    let zone = options.get(1).map_or_else(Zone::system, |id| Zone::of_id(id));
    DateFormat::compile(pattern, &Locale::us(), &zone).map(Part::Date).map_err(|error| error.to_string())
}

/// The last `n` parts of `a.b.c` or `a::b::c`.
fn last_parts(name: &str, n: usize) -> &str {
    let mark = if name.contains("::") { "::" } else { "." };
    match name.rmatch_indices(mark).nth(n.saturating_sub(1)) {
        Some((at, _)) => &name[at + mark.len()..],
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pattern: &str) -> (String, Vec<String>) {
        let mut notes = Vec::new();
        let pattern = Pattern::compile(pattern, &mut notes);
        let mut out = String::new();
        let record = Record {
            at_ms: 0,
            level: "INFO",
            logger: "org.apache.flume.sink.LoggerSink",
            thread: "main",
            message: "Event: %d ${jndi:x}",
            file: "mod.rs",
            line: 7,
        };
        pattern.write(&record, &mut out);
        (out, notes)
    }

    #[test]
    fn fix_114_the_patterns_that_flume_ships_are_understood_and_messages_stay_as_they_are() {
        let (out, notes) =
            line("%d{dd MMM yyyy HH:mm:ss,SSS}{UTC} %-5p [%t] (%C.%M:%L) %equals{%x}{[]}{} - %m%n");
        assert_eq!(
            out,
            "01 Jan 1970 00:00:00,000 INFO  [main] (org.apache.flume.sink.LoggerSink.mod.rs:7)  - Event: %d ${jndi:x}\n"
        );
        assert_eq!(notes, [] as [String; 0]);
        let (out, _) = line("%d{UNIX_MILLIS} (%t) [%p - %l] %m%n");
        assert_eq!(out, "0 (main) [INFO - org.apache.flume.sink.LoggerSink(mod.rs:7)] Event: %d ${jndi:x}\n");
    }

    #[test]
    fn widths_cut_and_fill_and_what_is_not_understood_is_said() {
        assert_eq!(
            line("%6p|%-6p|%.2p|%c{1}|%c{2}|100%%").0,
            "  INFO|INFO  |FO|LoggerSink|sink.LoggerSink|100%"
        );
        let (out, notes) = line("a%highlight{%p}b%m");
        assert_eq!(out, "abEvent: %d ${jndi:x}");
        assert_eq!(notes, ["%highlight is not understood, and left out"]);
        assert_eq!(line("%").0, "");
    }
}
