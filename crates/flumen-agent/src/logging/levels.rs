//! Which lines are written: a root level, and levels by the beginning of a target.

use tracing::{Level, Metadata, level_filters::LevelFilter};

/// What libraries say below this is for those who write them.
const NOISY: [&str; 12] = [
    "hyper",
    "h2",
    "rustls",
    "tokio",
    "mio",
    "want",
    "reqwest",
    "tower",
    "zookeeper_client",
    "rdkafka",
    "sqlx",
    "hdfs_native",
];

/// Levels by target.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    root: LevelFilter,
    /// Longest first, so that the first that fits counts.
    rules: Vec<(String, LevelFilter)>,
}

impl Levels {
    /// This level for all, and rules for some; of two rules for one target the later counts.
    pub(crate) fn new(root: LevelFilter, rules: impl IntoIterator<Item = (String, LevelFilter)>) -> Self {
        let noisy = NOISY.iter().map(|name| ((*name).to_owned(), root.min(LevelFilter::WARN)));
        let mut all: Vec<(String, LevelFilter)> = noisy.chain(rules).collect();
        all.reverse();
        all.sort_by_key(|(target, _)| std::cmp::Reverse(target.len()));
        Self { root, rules: all }
    }

    /// Whether a line of this target and level is written.
    pub(crate) fn allow(&self, target: &str, level: Level) -> bool {
        let rule = self.rules.iter().find(|(start, _)| is_below(target, start));
        level <= rule.map_or(self.root, |(_, level)| *level)
    }

    /// The most that any target may say.
    pub(crate) fn most(&self) -> LevelFilter {
        self.rules.iter().map(|(_, level)| *level).chain([self.root]).max().unwrap_or(self.root)
    }

    pub(crate) fn allow_metadata(&self, metadata: &Metadata<'_>) -> bool {
        self.allow(metadata.target(), *metadata.level())
    }
}

/// Whether `target` is `start` or below it. `flumen_` stands for all crates that begin so.
pub(super) fn is_below(target: &str, start: &str) -> bool {
    let Some(rest) = target.strip_prefix(start) else { return false };
    rest.is_empty() || rest.starts_with(['.', ':', '$']) || start.ends_with('_')
}

/// A level of log4j's.
pub(crate) fn parse(text: &str) -> Option<LevelFilter> {
    Some(match text.trim().to_ascii_uppercase().as_str() {
        "OFF" => LevelFilter::OFF,
        "FATAL" | "ERROR" => LevelFilter::ERROR,
        "WARN" | "WARNING" => LevelFilter::WARN,
        "INFO" => LevelFilter::INFO,
        "DEBUG" => LevelFilter::DEBUG,
        "TRACE" | "ALL" => LevelFilter::TRACE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_counts_and_libraries_are_quiet() {
        let rules = [("flumen_", "debug"), ("flumen_core::group", "error"), ("flumen_core::group", "warn")];
        let rules = rules.map(|(target, level)| (target.to_owned(), parse(level).unwrap()));
        let levels = Levels::new(LevelFilter::INFO, rules);
        for (target, level, allowed) in [
            ("flumen_agent::plan", Level::DEBUG, true),
            ("flumen_core::group::runner", Level::WARN, true),
            ("flumen_core::group::runner", Level::INFO, false),
            ("flumen_core::groups", Level::DEBUG, true),
            ("hyper::proto", Level::INFO, false),
            ("org.apache.flume.sink.LoggerSink", Level::INFO, true),
            ("org.apache.flume.sink.LoggerSink", Level::DEBUG, false),
        ] {
            assert_eq!(levels.allow(target, level), allowed, "{target} {level}");
        }
        assert_eq!(levels.most(), LevelFilter::DEBUG);
    }
}
