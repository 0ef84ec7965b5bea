//! Reads `log4j.properties`, the form of Flume up to 1.9: levels, console and file appenders, patterns.

use super::config::{
    AppenderConfig, FileConfig, FileConfigText, Kind, LayoutConfig, LoggerConfig, Lookups, Reference, bytes,
};
use flumen_core::registry::Environment;
use flumen_java::properties::{self, Encoding};
use std::collections::BTreeMap;

/// Reads a file's text.
pub(super) fn read(text: &[u8], environment: &Environment) -> FileConfig {
    let mut config = FileConfig::default();
    let loaded = properties::load(text, Encoding::Latin1);
    if let Some(error) = loaded.error {
        config.notes.push(error.to_string());
    }
    let own: BTreeMap<String, String> = loaded
        .pairs
        .into_iter()
        .map(|pair| (pair.key.trim().to_owned(), pair.value.trim().to_owned()))
        .collect();
    let lookups = Lookups { environment, own };
    let all: BTreeMap<String, String> =
        lookups.own.iter().map(|(key, value)| (key.clone(), lookups.resolve(value))).collect();
    for (key, value) in &all {
        let Some(rest) = key.strip_prefix("log4j.") else { continue };
        if matches!(rest, "rootLogger" | "rootCategory") {
            let (level, appenders) = split(value);
            config.root_level = config.level("the root", level);
            config.root_appenders = appenders;
        } else if let Some(name) = rest.strip_prefix("logger.").or_else(|| rest.strip_prefix("category.")) {
            let (level, appenders) = split(value);
            let level = config.level(name, level);
            let additivity = all.get(&format!("log4j.additivity.{name}"));
            let additive = !additivity.is_some_and(|text| text.eq_ignore_ascii_case("false"));
            config.loggers.push(LoggerConfig { name: name.to_owned(), level, appenders, additive });
        } else if let Some(name) = rest.strip_prefix("appender.").filter(|name| !name.contains('.')) {
            let appender = appender(name, value, &all, &mut config.notes);
            config.appenders.extend(appender.map(|appender| (name.to_ascii_lowercase(), appender)));
        }
    }
    config
}

/// `INFO, console, LOGFILE`: a level and appenders.
fn split(value: &str) -> (&str, Vec<Reference>) {
    let mut words = value.split(',').map(str::trim);
    let level = words.next().unwrap_or_default();
    (level, words.filter(|name| !name.is_empty()).map(Reference::to).collect())
}

fn appender(
    name: &str,
    class: &str,
    all: &BTreeMap<String, String>,
    notes: &mut Vec<String>,
) -> Option<AppenderConfig> {
    let prefix = format!("log4j.appender.{name}.");
    let option = |wanted: &str| {
        let mut found = all.iter().filter_map(|(key, value)| Some((key.strip_prefix(&prefix)?, value)));
        found.find(|(key, _)| key.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.clone())
    };
    let pattern = || option("layout.ConversionPattern");
    let short_class = class.rsplit('.').next().unwrap_or(class);
    let mut file = FileConfigText {
        path: option("File").or_else(|| option("rollingPolicy.ActiveFileName")).unwrap_or_default(),
        truncate: option("Append").is_some_and(|text| text.eq_ignore_ascii_case("false")),
        ..FileConfigText::default()
    };
    let kind = match short_class {
        "ConsoleAppender" => match option("target") {
            Some(target) if target.ends_with("err") => Kind::Stderr,
            _ => Kind::Stdout,
        },
        "FileAppender" => Kind::File(file),
        "RollingFileAppender" => {
            let size = option("MaxFileSize").or_else(|| option("triggeringPolicy.MaxFileSize"));
            file.archive = option("rollingPolicy.FileNamePattern");
            file.period = file.archive.as_deref().and_then(super::settings::date_pattern);
            // log4j's own defaults.
            file.max_bytes = match (size.as_deref().map(bytes), &file.period) {
                (Some(None), _) => {
                    notes.push(format!("appender {name}: MaxFileSize is no size; 10 MB are taken"));
                    Some(10 << 20)
                }
                (Some(size), _) => size,
                (None, Some(_)) => None,
                (None, None) => Some(10 << 20),
            };
            file.keep = Some(option("MaxBackupIndex").and_then(|text| text.parse().ok()).unwrap_or(1));
            Kind::File(file)
        }
        "DailyRollingFileAppender" => {
            let pattern = option("DatePattern").unwrap_or_else(|| "'.'yyyy-MM-dd".to_owned());
            file.archive = Some(format!("{}%d{{{pattern}}}", file.path));
            file.period = Some(pattern);
            Kind::File(file)
        }
        _ => {
            notes.push(format!(
                "appender {name}: {class} is not there; ConsoleAppender, FileAppender, RollingFileAppender and \
                 DailyRollingFileAppender are, and --log-json gives lines that a collector can take"
            ));
            return None;
        }
    };
    if matches!(&kind, Kind::File(file) if file.path.is_empty()) {
        notes.push(format!("appender {name}: names no File, and is left out"));
        return None;
    }
    let layout = match option("layout") {
        Some(class) if class.ends_with("JSONEventLayoutV1") || class.ends_with("JsonLayout") => {
            LayoutConfig::Json
        }
        Some(class) if class.ends_with("SimpleLayout") => LayoutConfig::Pattern("%p - %m%n".to_owned()),
        Some(class) if class.ends_with("PatternLayout") => {
            LayoutConfig::Pattern(pattern().unwrap_or("%m%n".into()))
        }
        _ => pattern().map_or(LayoutConfig::Short, LayoutConfig::Pattern),
    };
    Some(AppenderConfig { kind, layout, threshold: option("Threshold") })
}
