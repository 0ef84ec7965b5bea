//! `format.*`: a head of one's own, tried before those of the RFCs.

use super::{
    message::Head,
    stamp::{Stamps, rfc3164, rfc5424},
};
use crate::shared::regex::JavaRegex;
use flumen_core::{config::Configuration, registry::BuildError};
use flumen_java::{
    dates::{DateFormat, Locale, Zone},
    regex::Replacement,
};
use std::ops::Range;

/// Settings of `format.`; they count where `format.regex` is set.
#[derive(Debug, Clone, Configuration)]
pub struct FormatConfig {
    /// A pattern for whole messages, tried before RFC 5424 and RFC 3164. Its groups are priority, version, time stamp, host and
    /// text; `()` stands for a part that messages do not have.
    pub regex: Option<JavaRegex>,
    /// What is looked for in the time stamp before it is read.
    pub search: Option<JavaRegex>,
    /// What takes the place of what `format.search` finds, with `$1` for groups.
    pub replace: Option<String>,
    /// How the time stamp is written, as `java.text.SimpleDateFormat`; without it, as in one of the RFCs.
    pub date_format: Option<String>,
}

/// A head of one's own.
#[derive(Debug, Clone)]
pub(crate) struct CustomFormat {
    regex: JavaRegex,
    search: Option<(JavaRegex, Replacement)>,
    date: Option<DateFormat>,
}

impl CustomFormat {
    /// What the settings say, if they say anything.
    ///
    /// # Errors
    /// The pattern has fewer than five groups, or the replacement or the date format cannot be read.
    pub(crate) fn new(config: FormatConfig, zone: &Zone) -> Result<Option<Self>, BuildError> {
        let Some(regex) = config.regex else { return Ok(None) };
        if regex.group_count() < 5 {
            let n = regex.group_count();
            return Err(BuildError::new(format!(
                "format.regex has {n} groups; it needs five: priority, version, time stamp, host and text, with () for a part \
                 that is not there"
            )));
        }
        let search = match config.search {
            Some(search) => {
                let replacement = search.replacement(config.replace.as_deref().unwrap_or_default());
                if let Some(error) = replacement.error() {
                    return Err(BuildError::new(format!("format.replace: {error}")));
                }
                Some((search, replacement))
            }
            None => None,
        };
        let date = match config.date_format {
            Some(text) => Some(
                DateFormat::compile(&text, &Locale::us(), zone)
                    .map_err(|error| BuildError::new(format!("format.dateFormat: {error}")))?,
            ),
            None => None,
        };
        Ok(Some(Self { regex, search, date }))
    }

    /// The head of a message that the pattern matches as a whole.
    pub(super) fn head(&self, message: &[u8], stamps: &Stamps, now_ms: i64) -> Option<Head> {
        let mut captures = self.regex.captures();
        // A pattern that gives up on a message has not matched it.
        if !self.regex.matches(message, Some(&mut captures)).unwrap_or(false) {
            return None;
        }
        let group = |n: usize| captures.get(n).map(|(from, to)| from..to).filter(|range| !range.is_empty());
        let there = |range: Option<Range<usize>>| range.filter(|range| message[range.clone()] != *b"-");
        let stamp = there(group(3));
        let timestamp = stamp.clone().and_then(|stamp| self.instant(&message[stamp], stamps, now_ms));
        Some(Head {
            priority: group(1).unwrap_or_default(),
            version: group(2).unwrap_or_default(),
            timestamp,
            stamp,
            host: there(group(4)),
            body: captures.get(5).map_or(0..0, |(from, to)| from..to),
        })
    }

    fn instant(&self, stamp: &[u8], stamps: &Stamps, now_ms: i64) -> Option<i64> {
        let mut changed = Vec::new();
        let stamp = match &self.search {
            Some((search, replacement)) => {
                let replaced =
                    search.replace_all(stamp, replacement, &mut search.captures(), &mut changed).ok()?;
                if replaced { &changed[..] } else { stamp }
            }
            None => stamp,
        };
        if let Some(date) = &self.date {
            return date.parse(&String::from_utf8_lossy(stamp)).ok().map(|date| date.millis);
        }
        if let Some((reading, _)) = rfc5424(stamp, 6) {
            return Some(stamps.instant(&reading));
        }
        let (reading, _) = rfc3164(stamp)?;
        Some(stamps.instant_near(&reading?, now_ms))
    }
}
