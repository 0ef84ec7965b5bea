//! What is wrong with a configuration, where, and what to do about it.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// One thing to tell about one property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The whole key, as the file spells it (`a.sinks.k.connectTimeout`).
    pub key: String,
    /// Where it stands. For a missing property, where its component begins.
    pub at: Option<Place>,
    /// What is wrong, in lower case. Never holds the value of a secret.
    pub what: String,
    /// A known key, without the component's prefix, that was probably meant.
    pub nearest: Option<String>,
    /// What to do about it, as an order ("write `true` or `false`").
    pub cure: Option<String>,
    /// How much it matters.
    pub severity: Severity,
    /// What sort of mistake it is, where that matters to whoever reads it.
    pub kind: ProblemKind,
}

/// A sort of mistake that some readers treat in their own way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// What its severity says.
    #[default]
    Other,
    /// A key that nobody reads, so that what it was to set keeps its default. The agent runs and warns; a check fails.
    UnknownKey,
}

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; all is as the file says.
    Info,
    /// Something was ignored or guessed; the component runs.
    Warning,
    /// The component cannot be built.
    Error,
}

/// A line of a configuration file. Several files can make one configuration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file's name or URI, as it was given.
    pub file: Arc<str>,
    /// The line, from 1, on which the property begins.
    pub line: u32,
}

impl Problem {
    /// A problem without a nearest key or cure.
    pub fn new(
        severity: Severity,
        key: impl Into<String>,
        at: Option<Place>,
        what: impl Into<String>,
    ) -> Self {
        Problem {
            key: key.into(),
            at,
            what: what.into(),
            nearest: None,
            cure: None,
            severity,
            kind: ProblemKind::Other,
        }
    }

    /// The same problem, with what to do about it.
    #[must_use]
    pub fn with_cure(mut self, cure: impl Into<String>) -> Self {
        self.cure = Some(cure.into());
        self
    }

    /// The same problem, as one of a key that nobody reads.
    #[must_use]
    pub fn of_unknown_key(mut self) -> Self {
        self.kind = ProblemKind::UnknownKey;
        self
    }

    /// The order in which problems are told: by place, then by key. Those without a place come first.
    pub fn order(&self, other: &Self) -> Ordering {
        (&self.at, &self.key).cmp(&(&other.at, &other.key))
    }
}

/// Puts problems in the order of the file (see [`Problem::order`]).
pub fn sort_problems(problems: &mut [Problem]) {
    problems.sort_by(Problem::order);
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        write!(f, "{}: {}", self.key, self.what)?;
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        match (&self.cure, &self.nearest) {
            (Some(cure), None) => write!(f, "; {cure}"),
            (Some(cure), Some(_)) => write!(f, " ({cure})"),
            (None, _) => Ok(()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}
