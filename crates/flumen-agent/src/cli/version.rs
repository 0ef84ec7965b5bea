//! What `version` prints.

use std::fmt;

/// The version of Java Flume that configurations are written for.
const COMPATIBLE_WITH: &str = "1.11.0";
const UNKNOWN: &str = "unknown";

/// Where the program comes from. A release sets these variables for its build.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) number: &'static str,
    revision: &'static str,
    built_by: &'static str,
    built_on: &'static str,
    repository: &'static str,
    checksum: &'static str,
}

/// This program.
pub(super) const THIS: Version = Version {
    number: env!("CARGO_PKG_VERSION"),
    revision: or_unknown(option_env!("FLUMEN_REVISION")),
    built_by: or_unknown(option_env!("FLUMEN_BUILT_BY")),
    built_on: or_unknown(option_env!("FLUMEN_BUILT_ON")),
    repository: or_unknown(option_env!("FLUMEN_REPOSITORY")),
    checksum: or_unknown(option_env!("FLUMEN_CHECKSUM")),
};

const fn or_unknown(text: Option<&'static str>) -> &'static str {
    match text {
        Some(text) => text,
        None => UNKNOWN,
    }
}

impl Version {
    /// The five lines of Java Flume's `version` command.
    pub(super) fn java_lines(&self) -> [String; 5] {
        [
            format!("Flumen {} (for configurations of Flume {COMPATIBLE_WITH})", self.number),
            format!("Source code repository: {}", self.repository),
            format!("Revision: {}", self.revision),
            format!("Compiled by {} on {}", self.built_by, self.built_on),
            format!("From source with checksum {}", self.checksum),
        ]
    }
}

/// Java's build text: `VERSION from REVISION by USER on DATE source checksum SUM`.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, revision, built_by, built_on, checksum, .. } = self;
        write!(f, "{number} from {revision} by {built_by} on {built_on} source checksum {checksum}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mon_11_the_build_text_has_javas_shape() {
        let version = Version { revision: "r", built_by: "me", built_on: "now", checksum: "c", ..THIS };
        let number = env!("CARGO_PKG_VERSION");
        assert_eq!(version.to_string(), format!("{number} from r by me on now source checksum c"));
        let lines = version.java_lines();
        assert!(lines[0].starts_with(&format!("Flumen {number}")), "{lines:?}");
        assert_eq!(lines[3..], ["Compiled by me on now", "From source with checksum c"]);
    }
}
