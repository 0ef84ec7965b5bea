//! The steps of a zone's offset, with standard and summer time told apart.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::zone::{FIRST_MS, Offset, REPEAT_MS};

/// The offset from an instant on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) at_ms: i64,
    pub(crate) offset: Offset,
}

impl Step {
    /// The first wall clock reading after the step.
    pub(crate) fn wall_ms(&self) -> i64 {
        self.at_ms + i64::from(self.offset.total_ms())
    }
}

/// No zone comes near: two steps a year for some centuries.
const MAX_STEPS: usize = 4000;
const HOUR_MS: i32 = 3_600_000;

/// The offset before the first step in milliseconds, and all steps up to the point from which they repeat.
///
/// The built-in data is in the "rearguard" form, in which summer time always adds to standard time. A JDK's is, too.
pub(crate) fn steps_of(zone: &TimeZone) -> (i32, Vec<Step>) {
    let first = zone.to_offset(Timestamp::MIN).seconds() * 1000;
    // A rule without a table has steps in every year of the past; those that a JDK does not use are left out.
    let without_history = Timestamp::from_millisecond(FIRST_MS).unwrap_or(Timestamp::MIN);
    let start = if zone.iana_name().is_some() { Timestamp::MIN } else { without_history };
    let mut standard_ms = first;
    let mut steps = Vec::new();
    for step in zone.following(start).take(MAX_STEPS) {
        let at_ms = step.timestamp().as_millisecond();
        if at_ms > REPEAT_MS {
            break;
        }
        let total = step.offset().seconds() * 1000;
        if !step.dst().is_dst() {
            standard_ms = total;
        } else if total <= standard_ms {
            // Standard time changed at the same instant; summer time is taken to be an hour.
            standard_ms = total - HOUR_MS;
        }
        steps.push(Step { at_ms, offset: Offset { standard_ms, summer_ms: total - standard_ms } });
    }
    (first, steps)
}
