//! Reads `log4j2.xml`, the form of Flume since 1.10: levels, console and file appenders, patterns, rolling.

use super::config::{
    AppenderConfig, FileConfig, FileConfigText, Kind, LayoutConfig, LoggerConfig, Lookups, Reference, bytes,
};
use flumen_core::registry::Environment;
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeMap;

/// More nodes are no such file.
const MAX_NODES: u32 = 100_000;
/// Files of one name and time that log4j keeps, unless told otherwise.
const DEFAULT_KEEP: usize = 7;

/// Reads a file's text.
///
/// # Errors
/// It is no XML.
pub(super) fn read(text: &str, environment: &Environment) -> Result<FileConfig, String> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| error.to_string())?;
    let root = document.root_element();
    let mut own = BTreeMap::new();
    for property in children(root, "Properties").flat_map(|list| children(list, "Property")) {
        let value =
            attribute(property, "value").or_else(|| property.text().map(str::trim)).unwrap_or_default();
        own.insert(attribute(property, "name").unwrap_or_default().to_owned(), value.to_owned());
    }
    let reader = Reader { lookups: Lookups { environment, own } };
    let mut config = FileConfig::default();
    for appender in children(root, "Appenders").flat_map(|list| list.children().filter(Node::is_element)) {
        let name = reader.option(appender, "name").unwrap_or_default();
        let read = reader.appender(&name, appender, &mut config.notes);
        config.appenders.extend(read.map(|read| (name.to_ascii_lowercase(), read)));
    }
    for logger in children(root, "Loggers").flat_map(|list| list.children().filter(Node::is_element)) {
        let level = reader.option(logger, "level");
        if logger.tag_name().name().to_ascii_lowercase().ends_with("root") {
            config.root_level = level.and_then(|level| config.level("the root", &level));
            config.root_appenders = reader.references(logger, &mut config);
            continue;
        }
        let name = reader.option(logger, "name").unwrap_or_default();
        let level = level.and_then(|level| config.level(&name, &level));
        let appenders = reader.references(logger, &mut config);
        let additive =
            !reader.option(logger, "additivity").is_some_and(|text| text.eq_ignore_ascii_case("false"));
        config.loggers.push(LoggerConfig { name, level, appenders, additive });
    }
    Ok(config)
}

struct Reader<'a> {
    lookups: Lookups<'a>,
}

impl Reader<'_> {
    /// An attribute, or an element of that name, with its look-ups resolved.
    fn option(&self, node: Node<'_, '_>, name: &str) -> Option<String> {
        let text =
            attribute(node, name).or_else(|| children(node, name).next().and_then(|child| child.text()));
        text.map(|text| self.lookups.resolve(text.trim()))
    }

    /// The appenders that a logger names, with what each reference lets through: `<AppenderRef ref="Console" level="ERROR"/>`.
    fn references(&self, logger: Node<'_, '_>, config: &mut FileConfig) -> Vec<Reference> {
        let mut found = Vec::new();
        for reference in children(logger, "AppenderRef") {
            let Some(name) = self.option(reference, "ref") else { continue };
            let level = self.option(reference, "level");
            let level = level.and_then(|level| config.level(&format!("the reference to {name}"), &level));
            if reference.children().any(|child| child.tag_name().name().ends_with("Filter")) {
                config.notes.push(format!(
                    "the reference to {name}: its filters are not applied; a level in the reference is"
                ));
            }
            found.push(Reference { name, level });
        }
        found
    }

    fn appender(&self, name: &str, node: Node<'_, '_>, notes: &mut Vec<String>) -> Option<AppenderConfig> {
        let own = node.tag_name().name();
        let kind =
            if own.eq_ignore_ascii_case("appender") { attribute(node, "type").unwrap_or(own) } else { own };
        let kind = match kind.to_ascii_lowercase().as_str() {
            "console" => match self.option(node, "target") {
                Some(target) if target.eq_ignore_ascii_case("SYSTEM_ERR") => Kind::Stderr,
                _ => Kind::Stdout,
            },
            "file" | "randomaccessfile" | "memorymappedfile" => Kind::File(self.file(node)),
            "rollingfile" | "rollingrandomaccessfile" => {
                let mut file = self.file(node);
                self.rolling(name, node, &mut file, notes);
                Kind::File(file)
            }
            other => {
                notes.push(format!(
                    "appender {name}: `{other}` is not there; Console, File and RollingFile are, and --log-json gives lines \
                     that a collector can take"
                ));
                return None;
            }
        };
        if matches!(&kind, Kind::File(file) if file.path.is_empty()) {
            notes.push(format!("appender {name}: names no fileName, and is left out"));
            return None;
        }
        let threshold =
            children(node, "ThresholdFilter").next().and_then(|filter| self.option(filter, "level"));
        if children(node, "Filters").next().is_some() {
            notes.push(format!("appender {name}: filters are not applied; levels of loggers are"));
        }
        Some(AppenderConfig { kind, layout: self.layout(name, node, notes), threshold })
    }

    fn file(&self, node: Node<'_, '_>) -> FileConfigText {
        FileConfigText {
            path: self.option(node, "fileName").unwrap_or_default(),
            truncate: self.option(node, "append").is_some_and(|text| text.eq_ignore_ascii_case("false")),
            ..FileConfigText::default()
        }
    }

    fn layout(&self, name: &str, node: Node<'_, '_>, notes: &mut Vec<String>) -> LayoutConfig {
        let is_layout =
            |child: &Node<'_, '_>| child.tag_name().name().to_ascii_lowercase().ends_with("layout");
        let Some(layout) = node.children().filter(Node::is_element).find(is_layout) else {
            return LayoutConfig::Short;
        };
        match layout.tag_name().name().to_ascii_lowercase().as_str() {
            "patternlayout" => {
                let pattern = self.option(layout, "pattern");
                LayoutConfig::Pattern(pattern.unwrap_or_else(|| "%m%n".to_owned()))
            }
            "jsonlayout" | "jsontemplatelayout" => LayoutConfig::Json,
            _ => {
                let layout = layout.tag_name().name();
                notes.push(format!(
                    "appender {name}: {layout} is not there; PatternLayout and JsonLayout are"
                ));
                LayoutConfig::Short
            }
        }
    }

    fn rolling(&self, name: &str, node: Node<'_, '_>, file: &mut FileConfigText, notes: &mut Vec<String>) {
        let mut archive = self.option(node, "filePattern");
        if let Some(pattern) = &mut archive
            && let Some(plain) = [".gz", ".zip", ".bz2"].iter().find_map(|end| pattern.strip_suffix(end))
        {
            notes.push(format!(
                "appender {name}: finished files are not compressed; a job of one's own can do that"
            ));
            *pattern = plain.to_owned();
        }
        if let Some(pattern) = &archive
            && file.path.is_empty()
        {
            // Without a name of its own the file is that of the pattern.
            file.path =
                pattern.split('%').next().unwrap_or_default().trim_end_matches(['.', '-', '_']).to_owned();
        }
        let date = archive.as_deref().and_then(super::settings::date_pattern);
        let policies = children(node, "Policies").flat_map(|list| list.children().filter(Node::is_element));
        let direct = node.children().filter(|child| child.tag_name().name().ends_with("Policy"));
        for policy in policies.chain(direct) {
            match policy.tag_name().name() {
                "SizeBasedTriggeringPolicy" => {
                    let size = self.option(policy, "size").unwrap_or_else(|| "10 MB".to_owned());
                    file.max_bytes = bytes(&size);
                    if file.max_bytes.is_none() {
                        notes.push(format!(
                            "appender {name}: `{size}` is no size; the file is not rolled by size"
                        ));
                    }
                }
                "TimeBasedTriggeringPolicy" => file.period.clone_from(&date),
                "CronTriggeringPolicy" => {
                    let schedule = self.option(policy, "schedule").unwrap_or_default();
                    file.period = match schedule.split_whitespace().collect::<Vec<_>>().as_slice() {
                        ["0", "0", "0", "*", "*", "?"] => Some("yyyyMMdd".to_owned()),
                        ["0", "0", "*", "*", "*", "?"] => Some("yyyyMMddHH".to_owned()),
                        _ => {
                            notes.push(format!(
                                "appender {name}: schedule `{schedule}` is not understood; `0 0 0 * * ?` is every midnight, \
                                 `0 0 * * * ?` every hour: taken is the time in filePattern"
                            ));
                            date.clone()
                        }
                    };
                }
                // At the start there is one more file: nothing depends on it.
                "OnStartupTriggeringPolicy" => {}
                other => notes.push(format!("appender {name}: {other} is not there, and without effect")),
            }
        }
        file.archive = archive;
        let strategy = children(node, "DefaultRolloverStrategy").next();
        let max = strategy.and_then(|node| self.option(node, "max")).and_then(|text| text.parse().ok());
        file.keep = Some(max.unwrap_or(DEFAULT_KEEP));
        if let Some(delete) = strategy.and_then(|node| children(node, "Delete").next()) {
            self.delete(name, delete, file, notes);
        }
    }

    fn delete(&self, name: &str, delete: Node<'_, '_>, file: &mut FileConfigText, notes: &mut Vec<String>) {
        let find = |wanted: &str| {
            let mut found = delete.descendants().filter(|node| node.tag_name().name() == wanted);
            found.next()
        };
        let folder = self.option(delete, "basePath").unwrap_or_default();
        let glob = find("IfFileName").and_then(|node| self.option(node, "glob")).unwrap_or_default();
        let start = glob.trim_start_matches("*/").strip_suffix('*').unwrap_or_default().to_owned();
        let max = find("IfAccumulatedFileSize")
            .and_then(|node| self.option(node, "exceeds"))
            .and_then(|t| bytes(&t));
        let age =
            find("IfLastModified").and_then(|node| self.option(node, "age")).and_then(|text| days(&text));
        if folder.is_empty() || start.is_empty() || start.contains('*') || (max.is_none() && age.is_none()) {
            notes.push(format!(
                "appender {name}: its Delete is not understood, nothing is removed; understood are a glob `NAME*` with \
                 IfAccumulatedFileSize, or IfLastModified in days"
            ));
            return;
        }
        file.delete = Some((folder, start, max, age));
    }
}

/// `P7D`, `7d`: milliseconds.
fn days(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_uppercase();
    let days = text.trim_start_matches('P').strip_suffix('D')?.parse::<i64>().ok()?;
    days.checked_mul(86_400_000)
}

fn children<'a, 'i: 'a>(node: Node<'a, 'i>, name: &'a str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.tag_name().name().eq_ignore_ascii_case(name))
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attributes()
        .find(|attribute| attribute.name().eq_ignore_ascii_case(name))
        .map(|attribute| attribute.value())
}
