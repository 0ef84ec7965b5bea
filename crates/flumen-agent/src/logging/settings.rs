//! Which log it is to be: flags and properties first, then the log4j file of the configuration folder, then people at a terminal.

use super::{
    config::{AppenderConfig, FileConfig, FileConfigText, Kind, LayoutConfig, Reference},
    file::{Archive, Delete, FileSettings, NamePart, RollingFile},
    layer::{Appender, Layout},
    levels::{self, Levels},
    log4j1, log4j2,
    names::Names,
    pattern::Pattern,
    routes::{Route, Routes, To},
    writer::Output,
};
use flumen_core::registry::{Environment, Registry};
use flumen_java::dates::{DateFormat, Locale, Zone};
use std::{
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};
use tracing::level_filters::LevelFilter;

/// A log4j file is never longer, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The pattern and the limits of the files that come with Java Flume up to 1.9.
const FLUME_PATTERN: &str = "%d{dd MMM yyyy HH:mm:ss,SSS} %-5p [%t] (%C.%M:%L) %x - %m%n";
const FLUME_MAX_BYTES: u64 = 100 << 20;
const FLUME_KEEP: usize = 10;

/// How the log is written.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(super) levels: Levels,
    pub(super) names: Names,
    pub(super) appenders: Vec<AppenderConfig>,
    pub(super) routes: Routes,
}

impl Settings {
    /// What properties, files and flags say. What is not understood is added to `notes`.
    pub(crate) fn read(
        environment: &Environment,
        conf: Option<&Path>,
        json: bool,
        registry: &Registry,
        notes: &mut Vec<String>,
    ) -> Self {
        let mut file = match find(environment, conf) {
            Some(path) => {
                let read = read_file(&path, environment);
                let mut config = read.unwrap_or_else(|error| FileConfig {
                    notes: vec![format!("{error}; the log goes to standard error")],
                    ..FileConfig::default()
                });
                notes.extend(config.notes.drain(..).map(|note| format!("{}: {note}", path.display())));
                config
            }
            None => {
                notes.extend(conf.and_then(unread_file));
                FileConfig::default()
            }
        };
        if let Some(text) = environment.property("flume.root.logger") {
            let mut words = text.split(',').map(str::trim);
            let level = words.next().unwrap_or_default();
            match levels::parse(level) {
                Some(level) => file.root_level = Some(level),
                None => notes.push(format!("-Dflume.root.logger: `{level}` is no level; INFO is taken")),
            }
            file.root_appenders = words.filter(|name| !name.is_empty()).map(Reference::to).collect();
        }
        let names = Names::of(registry);
        let (appenders, routes) = if json {
            let appender = AppenderConfig { layout: LayoutConfig::Json, ..AppenderConfig::default() };
            (vec![appender], Routes::all(vec![(0, LevelFilter::TRACE)]))
        } else {
            let mut used = Used { file: &file, environment, list: Vec::new(), notes };
            let routes = used.routes(&names);
            (used.list.into_iter().map(|(_, appender)| appender).collect(), routes)
        };
        // A logger counts before those above it, wherever it stands.
        file.loggers.sort_by_key(|logger| logger.name.len());
        let rules = file.loggers.iter().flat_map(|logger| {
            let level = logger.level.into_iter();
            level.flat_map(|level| names.targets(&logger.name).into_iter().map(move |target| (target, level)))
        });
        let levels = Levels::new(file.root_level.unwrap_or(LevelFilter::INFO), rules);
        Self { levels, names, appenders, routes }
    }

    /// Opens the outputs. An appender whose file cannot be opened is told, and the log goes to standard error in its place.
    pub(super) fn open(&self, now_ms: i64, notes: &mut Vec<String>) -> (Vec<Appender>, Vec<Output>) {
        let mut opened = (Vec::new(), Vec::new());
        for config in &self.appenders {
            let output = match &config.kind {
                Kind::Stderr => Output::Stderr,
                Kind::Stdout => Output::Stdout,
                Kind::File(file) => match RollingFile::open(file_settings(file, notes), now_ms) {
                    Ok(file) => Output::File(Box::new(file)),
                    Err(error) => {
                        notes.push(format!(
                            "cannot write log file {}: {error}; lines go to standard error",
                            file.path
                        ));
                        Output::Stderr
                    }
                },
            };
            let threshold = config.threshold.as_deref().and_then(levels::parse).unwrap_or(LevelFilter::TRACE);
            opened.0.push(Appender { layout: layout(&config.layout, &output, notes), threshold });
            opened.1.push(output);
        }
        opened
    }
}

/// The log4j file: the one that a property names, or that of the configuration folder.
fn find(environment: &Environment, conf: Option<&Path>) -> Option<PathBuf> {
    let named = ["log4j2.configurationFile", "log4j.configurationFile", "log4j.configuration"];
    if let Some(named) = named.iter().find_map(|name| environment.property(name)) {
        let path = named.strip_prefix("file:").map_or(named, |path| path.strip_prefix("//").unwrap_or(path));
        let below =
            conf.map(|conf| conf.join(path)).filter(|below| !Path::new(path).exists() && below.exists());
        return Some(below.unwrap_or_else(|| path.into()));
    }
    ["log4j2.xml", "log4j.properties"]
        .iter()
        .filter_map(|name| Some(conf?.join(name)))
        .find(|path| path.is_file())
}

/// A log4j file of the configuration folder in a form that is not read.
fn unread_file(conf: &Path) -> Option<String> {
    let names = [
        "log4j2.properties",
        "log4j2.yaml",
        "log4j2.yml",
        "log4j2.json",
        "log4j2.jsn",
        "log4j2-test.xml",
        "log4j.xml",
        "logback.xml",
    ];
    let path = names.iter().map(|name| conf.join(name)).find(|path| path.is_file())?;
    let what = "is not read, and the log is as without it: write log4j2.xml or log4j.properties";
    Some(format!("{} {what}", path.display()))
}

fn read_file(path: &Path, environment: &Environment) -> Result<FileConfig, String> {
    let len = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if len > MAX_BYTES {
        return Err(format!("{len} bytes are no log4j file"));
    }
    let text = fs::read(path).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    read_text(&name, &text, environment)
}

/// Reads a log4j file's text; its name, in lower case, tells which form it has.
pub(super) fn read_text(name: &str, text: &[u8], environment: &Environment) -> Result<FileConfig, String> {
    if name.ends_with(".xml") {
        let text = String::from_utf8_lossy(text);
        if !text.contains("<Configuration") && text.contains("log4j:configuration") {
            return Err(
                "the XML form of log4j 1 is not read: write log4j.properties or log4j2.xml".to_owned()
            );
        }
        log4j2::read(&text, environment)
    } else if name.contains("log4j2") {
        Err("only the XML form of log4j 2 is read: write log4j2.xml".to_owned())
    } else {
        Ok(log4j1::read(text, environment))
    }
}

/// The appenders that loggers name, each once however many name it.
struct Used<'a> {
    file: &'a FileConfig,
    environment: &'a Environment,
    /// By name in lower case.
    list: Vec<(String, AppenderConfig)>,
    notes: &'a mut Vec<String>,
}

impl Used<'_> {
    /// Where lines go.
    fn routes(&mut self, names: &Names) -> Routes {
        let mut root = self.places(&self.file.root_appenders);
        let mut own = Vec::new();
        for logger in &self.file.loggers {
            let to = self.places(&logger.appenders);
            let mut additive = logger.additive;
            if !additive && to.is_empty() && !logger.appenders.is_empty() {
                self.notes.push(format!(
                    "logger {} is left without an appender: its lines go where those above it go",
                    logger.name
                ));
                additive = true;
            }
            if !to.is_empty() || !additive {
                own.push((logger.name.clone(), Route { targets: names.targets(&logger.name), to, additive }));
            }
        }
        if root.is_empty() {
            if !self.file.root_appenders.is_empty() {
                self.notes.push("no log appender is left: the log goes to standard error".to_owned());
            }
            root.push((self.list.len(), LevelFilter::TRACE));
            self.list.push((String::new(), AppenderConfig::default()));
        }
        Routes::new(root, own)
    }

    fn places(&mut self, references: &[Reference]) -> Vec<To> {
        let found = references.iter().filter_map(|reference| {
            let place = self.place(&reference.name)?;
            Some((place, reference.level.unwrap_or(LevelFilter::TRACE)))
        });
        found.collect()
    }

    /// The place of an appender. Those that Flume's own files have are known without a file.
    fn place(&mut self, name: &str) -> Option<usize> {
        let lower = name.to_ascii_lowercase();
        if let Some(place) = self.list.iter().position(|(known, _)| *known == lower) {
            return Some(place);
        }
        let appender = match (self.file.appenders.get(&lower), lower.as_str()) {
            (Some(appender), _) => appender.clone(),
            (None, "console") => AppenderConfig::default(),
            (None, "logfile") => flume_file(self.environment, None),
            (None, "daily") => flume_file(self.environment, Some("yyyy-MM-dd")),
            _ => {
                let what = "is not there; console, LOGFILE and DAILY always are";
                self.notes.push(format!("log appender {name} {what}"));
                return None;
            }
        };
        self.list.push((lower, appender));
        Some(self.list.len() - 1)
    }
}

/// The file of Flume's own log4j.properties: `flume.log.dir`, `flume.log.file`.
fn flume_file(environment: &Environment, daily: Option<&str>) -> AppenderConfig {
    let folder =
        environment.property("flume.log.dir").or(environment.property("LOG_DIR")).unwrap_or("./logs");
    let path = format!("{folder}/{}", environment.property("flume.log.file").unwrap_or("flume.log"));
    let file = FileConfigText {
        archive: daily.map(|date| format!("{path}.%d{{{date}}}")),
        max_bytes: daily.is_none().then_some(FLUME_MAX_BYTES),
        period: daily.map(str::to_owned),
        keep: Some(FLUME_KEEP),
        path,
        ..FileConfigText::default()
    };
    AppenderConfig {
        kind: Kind::File(file),
        layout: LayoutConfig::Pattern(FLUME_PATTERN.to_owned()),
        threshold: None,
    }
}

fn layout(config: &LayoutConfig, output: &Output, notes: &mut Vec<String>) -> Layout {
    match config {
        LayoutConfig::Json => Layout::Json { time: date("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", notes) },
        LayoutConfig::Pattern(pattern) => {
            let mut wrong = Vec::new();
            let pattern = Pattern::compile(pattern, &mut wrong);
            notes.extend(wrong.into_iter().map(|note| format!("log pattern: {note}")));
            Layout::Pattern(pattern)
        }
        LayoutConfig::Short => {
            let colours = match output {
                Output::Stderr => io::stderr().is_terminal(),
                Output::Stdout => io::stdout().is_terminal(),
                _ => false,
            };
            // At a terminal the day is known.
            let time = if colours { "HH:mm:ss.SSS" } else { "yyyy-MM-dd HH:mm:ss.SSS" };
            Layout::Short { time: date(time, notes), colours }
        }
    }
}

fn file_settings(file: &FileConfigText, notes: &mut Vec<String>) -> FileSettings {
    let archive =
        file.archive.as_deref().map_or(Archive::Numbered, |text| Archive::Named(name_parts(text, notes)));
    let delete = file.delete.clone().map(|(folder, start, max_bytes, max_age_ms)| Delete {
        folder: folder.into(),
        start,
        max_bytes,
        max_age_ms,
    });
    FileSettings {
        path: file.path.clone().into(),
        archive,
        max_bytes: file.max_bytes,
        period: file.period.as_deref().map(|pattern| date(pattern, notes)),
        keep: file.keep.unwrap_or(FLUME_KEEP),
        append: !file.truncate,
        delete,
    }
}

/// The parts of `flume.log.%d{yyyyMMdd}-%i`.
fn name_parts(text: &str, notes: &mut Vec<String>) -> Vec<NamePart> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        parts.push(NamePart::Text(rest[..at].to_owned()));
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('i') {
            parts.push(NamePart::Number);
            rest = after;
        } else if let Some((pattern, after)) = braced_date(rest) {
            parts.push(NamePart::Date(date(pattern, notes)));
            rest = after;
        } else {
            parts.push(NamePart::Text("%".to_owned()));
        }
    }
    parts.push(NamePart::Text(rest.to_owned()));
    // Finished files of one name would be written over each other.
    if !parts.iter().any(|part| matches!(part, NamePart::Number | NamePart::Date(_))) {
        parts.extend([NamePart::Text(".".to_owned()), NamePart::Number]);
    }
    parts
}

fn braced_date(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix("date{").or_else(|| text.strip_prefix("d{"))?;
    inside.split_once('}')
}

/// The date pattern in a name, which says when a new file begins.
pub(super) fn date_pattern(name: &str) -> Option<String> {
    let at = name.find("%d").or_else(|| name.find("%date"))?;
    braced_date(&name[at + 1..]).map(|(pattern, _)| pattern.to_owned())
}

fn date(pattern: &str, notes: &mut Vec<String>) -> DateFormat {
    let compile = |pattern| DateFormat::compile(pattern, &Locale::us(), &Zone::system());
    compile(pattern).unwrap_or_else(|error| {
        notes.push(format!("date pattern `{pattern}` in the log's settings: {error}; yyyy-MM-dd is taken"));
        compile("yyyy-MM-dd").expect("a pattern of plain letters compiles")
    })
}

#[cfg(test)]
mod tests;
