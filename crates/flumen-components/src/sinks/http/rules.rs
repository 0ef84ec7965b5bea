//! What to do after each status: a rule for the status wins over one for its hundred, and that over the default.

use super::config::HttpSinkConfig;
use flumen_core::config::PropertyValue;
use std::collections::BTreeMap;

/// A status (`503`) or all of a hundred (`5XX`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatusPattern {
    /// One status: 100 to 999.
    One(u16),
    /// All that begin with this digit.
    Hundred(u16),
}

impl PropertyValue for StatusPattern {
    const KIND: &'static str = "a status (`503`) or a hundred of them (`5XX`)";

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.as_bytes() {
            [digit @ b'1'..=b'9', b'X' | b'x', b'X' | b'x'] => Ok(Self::Hundred(u16::from(digit - b'0'))),
            [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9'] => {
                text.parse().map(Self::One).map_err(|error| error.to_string())
            }
            _ => Err("expected three digits, or one and `XX`".to_owned()),
        }
    }
}

/// What to do after a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    /// The event stays in the channel.
    pub(super) rollback: bool,
    /// Pause before the next request.
    pub(super) backoff: bool,
    /// The event counts as a success.
    pub(super) counts: bool,
}

/// The rules for all statuses.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    default: Rule,
    backoff: BTreeMap<StatusPattern, bool>,
    rollback: BTreeMap<StatusPattern, bool>,
    counts: BTreeMap<StatusPattern, bool>,
}

impl Rules {
    pub(super) fn new(config: &HttpSinkConfig) -> Self {
        Self {
            default: Rule {
                rollback: config.default_rollback,
                backoff: config.default_backoff,
                counts: config.default_increment_metrics,
            },
            backoff: config.backoff.clone(),
            rollback: config.rollback.clone(),
            counts: config.increment_metrics.clone(),
        }
    }

    pub(super) fn of(&self, status: u16) -> Rule {
        let choose = |rules: &BTreeMap<StatusPattern, bool>, default| {
            let rule = rules.get(&StatusPattern::One(status));
            *rule.or_else(|| rules.get(&StatusPattern::Hundred(status / 100))).unwrap_or(&default)
        };
        Rule {
            rollback: choose(&self.rollback, self.default.rollback),
            backoff: choose(&self.backoff, self.default.backoff),
            counts: choose(&self.counts, self.default.counts),
        }
    }
}
