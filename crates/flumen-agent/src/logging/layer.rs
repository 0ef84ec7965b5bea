//! From what the code says to lines: each record once for each appender, in its layout.

use super::{
    levels::Levels,
    names::Names,
    pattern::{Pattern, Record},
    routes::Routes,
    writer::Writer,
};
use flumen_core::world::WallClock;
use flumen_java::dates::DateFormat;
use std::{
    fmt::{self, Write},
    sync::Arc,
    thread,
};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
};
use tracing_subscriber::layer::{Context, Layer};

/// The longest message, in bytes; more is cut off.
const MAX_MESSAGE: usize = 256 * 1024;

/// How lines of an appender look.
#[derive(Debug)]
pub(super) enum Layout {
    /// For people at a terminal: short, perhaps with colours.
    Short { time: DateFormat, colours: bool },
    /// For programs: an object a line.
    Json { time: DateFormat },
    /// As log4j's pattern says.
    Pattern(Pattern),
}

/// An appender: which lines, and how they look. Its place in the list is that of its output.
#[derive(Debug)]
pub(super) struct Appender {
    pub(super) layout: Layout,
    pub(super) threshold: LevelFilter,
}

/// What all records go through.
#[derive(Debug)]
pub(super) struct LogLayer {
    pub(super) levels: Levels,
    pub(super) names: Names,
    pub(super) appenders: Vec<Appender>,
    pub(super) routes: Routes,
    pub(super) writer: Arc<Writer>,
    pub(super) clock: Arc<dyn WallClock>,
}

impl<S: Subscriber> Layer<S> for LogLayer {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.levels.allow_metadata(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.levels.most())
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let mut said = Said::default();
        event.record(&mut said);
        let thread = thread::current();
        let logger = self.names.logger(metadata.target());
        let file = metadata.file().unwrap_or_default();
        let record = Record {
            at_ms: self.clock.now_ms(),
            level: word(*metadata.level()),
            logger,
            thread: thread.name().unwrap_or("-"),
            message: &said.message,
            file: file.rsplit('/').next().unwrap_or(file),
            line: metadata.line().unwrap_or(0),
        };
        for (to, level) in self.routes.of(metadata.target()) {
            let appender = &self.appenders[to];
            if *metadata.level() <= appender.threshold.min(level) {
                self.writer.push(to, appender.layout.line(&record, metadata, &said.fields));
            }
        }
    }
}

pub(super) fn word(level: Level) -> &'static str {
    match level {
        Level::ERROR => "ERROR",
        Level::WARN => "WARN",
        Level::INFO => "INFO",
        Level::DEBUG => "DEBUG",
        Level::TRACE => "TRACE",
    }
}

impl Layout {
    /// The line, with its end.
    pub(super) fn line(
        &self,
        record: &Record<'_>,
        metadata: &Metadata<'_>,
        fields: &[(&'static str, String)],
    ) -> String {
        let mut line = String::with_capacity(record.message.len() + 128);
        match self {
            Self::Short { time, colours } => {
                let colour = match (colours, *metadata.level()) {
                    (false, _) => ("", ""),
                    (true, Level::ERROR) => ("\x1b[31m", "\x1b[0m"),
                    (true, Level::WARN) => ("\x1b[33m", "\x1b[0m"),
                    (true, Level::INFO) => ("\x1b[32m", "\x1b[0m"),
                    (true, _) => ("\x1b[2m", "\x1b[0m"),
                };
                time.format_into(&mut line, record.at_ms);
                let _ = write!(line, " {}{:5}{} ", colour.0, record.level, colour.1);
                let _ = write!(line, "{}: {}", short(metadata.target()), record.message);
                push_fields(&mut line, fields);
                line.push('\n');
            }
            Self::Json { time } => {
                let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into()));
                let object = serde_json::json!({
                    "time": time.format(record.at_ms),
                    "level": record.level,
                    "logger": record.logger,
                    "thread": record.thread,
                    "message": record.message,
                    "fields": serde_json::Value::Object(fields.collect()),
                });
                let _ = writeln!(line, "{object}");
            }
            Self::Pattern(pattern) => {
                if fields.is_empty() {
                    pattern.write(record, &mut line);
                } else {
                    let mut message = record.message.to_owned();
                    push_fields(&mut message, fields);
                    pattern.write(&Record { message: &message, ..*record }, &mut line);
                }
            }
        }
        line
    }
}

fn push_fields(line: &mut String, fields: &[(&'static str, String)]) {
    for (name, value) in fields {
        let _ = write!(line, " {name}={value}");
    }
}

/// A target in a word or two: `sinks::file_roll`, `agent`, `LoggerSink`.
fn short(target: &str) -> &str {
    if let Some(rest) = target.strip_prefix("flumen_components::") {
        let end = rest.match_indices("::").nth(1).map_or(rest.len(), |(at, _)| at);
        return &rest[..end];
    }
    let first = target.split("::").next().unwrap_or(target);
    let first = first.strip_prefix("flumen_").unwrap_or(first);
    first.rsplit('.').next().unwrap_or(first)
}

/// What a record says: its message, and its other fields.
#[derive(Debug, Default)]
struct Said {
    message: String,
    fields: Vec<(&'static str, String)>,
}

impl Said {
    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let mut text = Plain(String::new());
        let _ = text.write_fmt(value);
        if field.name() == "message" {
            self.message = text.0;
        } else {
            self.fields.push((field.name(), text.0));
        }
    }
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.put(field, format_args!("{value}"));
    }
}

/// Text without control characters: what comes from clients begins no line of its own and moves no cursor.
struct Plain(String);

impl Write for Plain {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() > MAX_MESSAGE {
            return Err(fmt::Error);
        }
        for c in text.chars() {
            match c {
                '\t' => self.0.push(c),
                c if c.is_control() => self.0.extend(c.escape_default()),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fix_114_control_characters_are_shown_and_not_sent_to_the_terminal() {
        let mut text = Plain(String::new());
        let _ = write!(text, "a\nb\x1b[2Jc\td");
        assert_eq!(text.0, "a\\nb\\u{1b}[2Jc\td");
    }

    #[test]
    fn targets_are_short() {
        assert_eq!(short("flumen_components::sinks::file_roll::rolling"), "sinks::file_roll");
        assert_eq!(short("flumen_agent::commands::agent"), "agent");
        assert_eq!(short("org.apache.flume.sink.LoggerSink"), "LoggerSink");
    }
}
