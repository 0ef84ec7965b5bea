//! Dates as Java prints and reads them: `SimpleDateFormat`, Joda-Time, time zones by Java id, and Flume's path escapes.
//!
//! Everything is compiled once from the configuration and then used without further allocation. All inputs are safe: no
//! text, header or number makes these functions panic.

mod calendar;
mod fields;
mod format;
mod joda;
mod joda_fields;
mod joda_read;
mod locale;
mod parse;
mod path;
mod pattern;
mod round;
mod text;
mod zone;
mod zone_id;
mod zone_names;
mod zone_table;

#[cfg(test)]
mod tests;

pub use calendar::WeekRule;
pub use joda::{JodaError, JodaFormat};
pub use locale::Locale;
pub use parse::{ParseError, Parsed};
pub use path::{HostNames, PathError, PathOptions, PathTemplate, RenderError, has_parent_step};
pub use pattern::{MAX_PATTERN_BYTES, PatternError};
pub use round::{RoundUnit, Rounding, RoundingError};
pub use zone::{Offset, Zone};

use calendar::Moment;
use pattern::Pattern;

/// 1950-01-01T00:00Z: two-digit years are 1950 to 2049 unless a caller says otherwise.
const TWO_DIGIT_START_MS: i64 = -631_152_000_000;

/// A pattern of `java.text.SimpleDateFormat`, compiled. Prints with [`DateFormat::format_into`], reads with
/// [`DateFormat::parse`]; unlike Java's it can be used by many threads, and reading does not change its zone.
#[derive(Clone, Debug)]
pub struct DateFormat {
    pattern: Pattern,
    locale: Locale,
    zone: Zone,
    /// Column of the zone names for the locale's language.
    zone_column: usize,
    lenient: bool,
    two_digit_start: i64,
    /// Year of `two_digit_start` in the zone.
    two_digit_year: i32,
}

impl DateFormat {
    /// Compiles a pattern. Letters outside quotes that mean nothing are errors, as in Java.
    pub fn compile(pattern: &str, locale: &Locale, zone: &Zone) -> Result<Self, PatternError> {
        let pattern = Pattern::compile(pattern)?;
        let zone_column = zone_names::column(&locale.language);
        let format = Self {
            pattern,
            locale: locale.clone(),
            zone: zone.clone(),
            zone_column,
            lenient: true,
            two_digit_start: 0,
            two_digit_year: 0,
        };
        Ok(format.with_two_digit_start(TWO_DIGIT_START_MS))
    }

    /// Reads strictly: every field in its range and all of them consistent (`setLenient(false)`).
    pub fn strict(mut self) -> Self {
        self.lenient = false;
        self
    }

    /// Two-digit years (patterns `y` and `yy`, exactly two digits) are in the 100 years from this instant on
    /// (milliseconds since 1970).
    pub fn with_two_digit_start(mut self, millis: i64) -> Self {
        self.two_digit_start = millis;
        self.two_digit_year =
            i32::try_from(Moment::new(millis, &self.zone).year_of_era()).unwrap_or(i32::MAX - 200);
        self
    }

    /// Two-digit years are from 80 years before `now` (milliseconds since 1970) to 20 years after it: Java's default.
    pub fn with_two_digit_years_around(self, now: i64) -> Self {
        let moment = Moment::new(now, &self.zone);
        let month = i64::from(moment.month);
        let year = moment.year - 80;
        let mut day = calendar::gregorian_day(year, month, i64::from(moment.day_of_month));
        // 29 February 80 years ago may not have been.
        day = day.min(calendar::gregorian_day(year + (month + 1) / 12, (month + 1) % 12, 1) - 1);
        let wall = (day - calendar::EPOCH_DAY).saturating_mul(calendar::DAY_MS) + i64::from(moment.ms_of_day);
        let start = wall.saturating_sub(i64::from(self.zone.at_wall(wall).total_ms()));
        self.with_two_digit_start(start)
    }
}
