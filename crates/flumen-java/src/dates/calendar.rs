//! Java's default calendar: Julian before 15 October 1582, Gregorian from then on, with week rules by country.

use super::zone::{Offset, Zone};

/// Milliseconds of a day.
pub(crate) const DAY_MS: i64 = 86_400_000;
/// Number of 1970-01-01 where 1 is 0001-01-01 in the Gregorian calendar (a Monday).
pub(crate) const EPOCH_DAY: i64 = 719_163;
/// 1582-10-15, the first Gregorian day.
pub(crate) const CUTOVER_DAY: i64 = 577_736;
/// The year of the change.
pub(crate) const CUTOVER_YEAR: i64 = 1582;

/// First day of a week and the days that the first week of a year or month must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekRule {
    /// 1 is Sunday, 7 is Saturday.
    pub first_day: u8,
    /// 1 to 7.
    pub minimal_days: u8,
}

/// An instant as wall clock fields in a zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Day number, see [`EPOCH_DAY`].
    pub(crate) day: i64,
    /// 0 is 1 BC.
    pub(crate) year: i64,
    /// 0 to 11.
    pub(crate) month: u8,
    /// 1 to 31.
    pub(crate) day_of_month: u8,
    /// Milliseconds since midnight on the wall clock.
    pub(crate) ms_of_day: u32,
    /// What the zone adds to UTC.
    pub(crate) offset: Offset,
}

impl Moment {
    /// Fields of the instant `millis` in `zone`.
    pub(crate) fn new(millis: i64, zone: &Zone) -> Self {
        Self::with_offset(millis, zone.at(millis))
    }

    /// Fields of the instant `millis` on a clock that is `offset` ahead of UTC.
    pub(crate) fn with_offset(millis: i64, offset: Offset) -> Self {
        let ms = millis.rem_euclid(DAY_MS) + i64::from(offset.total_ms());
        let day = millis.div_euclid(DAY_MS) + ms.div_euclid(DAY_MS) + EPOCH_DAY;
        let (year, month, day_of_month) = date_of_day(day);
        let ms_of_day = ms.rem_euclid(DAY_MS) as u32;
        Self { day, year, month, day_of_month, ms_of_day, offset }
    }

    /// 0 (before Christ) or 1.
    pub(crate) fn era(&self) -> usize {
        usize::from(self.year > 0)
    }

    /// Year within the era, 1 at the least.
    pub(crate) fn year_of_era(&self) -> i64 {
        if self.year > 0 { self.year } else { 1 - self.year }
    }

    /// 1 is Sunday.
    pub(crate) fn day_of_week(&self) -> u8 {
        day_of_week(self.day)
    }

    /// 1 to 366.
    pub(crate) fn day_of_year(&self) -> i64 {
        self.day - first_of_year(self.year) + 1
    }

    /// How often this weekday has come in the month, 1 to 5.
    pub(crate) fn day_of_week_in_month(&self) -> i64 {
        (self.day - self.first_of_month()) / 7 + 1
    }

    /// Week of the month; days before the first full enough week have 0.
    pub(crate) fn week_of_month(&self, rule: WeekRule) -> i64 {
        week_number(self.first_of_month(), self.day, rule)
    }

    /// Week of the year; days before week 1 count to the last week of the year before.
    pub(crate) fn week_of_year(&self, rule: WeekRule) -> i64 {
        let jan1 = first_of_year(self.year);
        let week = week_number(jan1, self.day, rule);
        if week == 0 {
            return week_number(first_of_year(self.year - 1), jan1 - 1, rule);
        }
        if self.day >= first_week(self.year + 1, rule) { 1 } else { week }
    }

    /// The year that the week belongs to.
    pub(crate) fn week_year(&self, rule: WeekRule) -> i64 {
        if self.day < first_week(self.year, rule) {
            self.year - 1
        } else if self.day >= first_week(self.year + 1, rule) {
            self.year + 1
        } else {
            self.year
        }
    }

    /// 0 to 23.
    pub(crate) fn hour(&self) -> u32 {
        self.ms_of_day / 3_600_000
    }

    /// 0 to 59.
    pub(crate) fn minute(&self) -> u32 {
        self.ms_of_day / 60_000 % 60
    }

    /// 0 to 59.
    pub(crate) fn second(&self) -> u32 {
        self.ms_of_day / 1000 % 60
    }

    /// In the month of the change the count goes on from the Julian first of the month.
    fn first_of_month(&self) -> i64 {
        if self.year == CUTOVER_YEAR && self.month == 9 && self.day >= CUTOVER_DAY {
            return julian_day(CUTOVER_YEAR, 9, 1);
        }
        self.day - i64::from(self.day_of_month) + 1
    }
}

/// 1 is Sunday.
pub(crate) fn day_of_week(day: i64) -> u8 {
    (day.rem_euclid(7) + 1) as u8
}

/// The last day with weekday `weekday` (1 is Sunday; other values count on) that is not after `day`.
pub(crate) fn weekday_on_or_before(day: i64, weekday: i64) -> i64 {
    day - (day - (weekday - 1)).rem_euclid(7)
}

/// Number of the first day of `year`, in the calendar of its time.
pub(crate) fn first_of_year(year: i64) -> i64 {
    if year > CUTOVER_YEAR { gregorian_day(year, 0, 1) } else { julian_day(year, 0, 1) }
}

/// First day of week 1 of `year`.
pub(crate) fn first_week(year: i64, rule: WeekRule) -> i64 {
    week_start(first_of_year(year), rule)
}

/// Start of week 1 of the period that begins at `first`.
pub(crate) fn week_start(first: i64, rule: WeekRule) -> i64 {
    let start = weekday_on_or_before(first + 6, i64::from(rule.first_day));
    if start - first >= i64::from(rule.minimal_days) { start - 7 } else { start }
}

fn week_number(first: i64, day: i64, rule: WeekRule) -> i64 {
    (day - week_start(first, rule)).div_euclid(7) + 1
}

/// Day number in the Gregorian calendar; `month` from 0 to 11, `day` may be any number.
pub(crate) fn gregorian_day(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    365 * before + before.div_euclid(4) - before.div_euclid(100)
        + before.div_euclid(400)
        + days_before(month, leap)
        + day
}

/// Day number in the Julian calendar; `month` from 0 to 11, `day` may be any number.
pub(crate) fn julian_day(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    365 * before + before.div_euclid(4) - 2 + days_before(month, year.rem_euclid(4) == 0) + day
}

fn days_before(month: i64, leap: bool) -> i64 {
    let plain = (367 * (month + 1) - 362) / 12;
    match (month > 1, leap) {
        (true, true) => plain - 1,
        (true, false) => plain - 2,
        (false, _) => plain,
    }
}

/// Year (0 is 1 BC), month (0 to 11) and day of a day number, in the calendar of its time.
pub(crate) fn date_of_day(day: i64) -> (i64, u8, u8) {
    if day >= CUTOVER_DAY { gregorian_date(day) } else { julian_date(day) }
}

/// Year, month (0 to 11) and day in the Gregorian calendar, also before the change.
pub(crate) fn gregorian_date(day: i64) -> (i64, u8, u8) {
    // Counted from 0000-03-01, so that the leap day is the last of its year.
    let days = day + 305;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    from_march(year_of_era + era * 400, of_year)
}

fn julian_date(day: i64) -> (i64, u8, u8) {
    let days = day + 307;
    let era = days.div_euclid(1461);
    let of_era = days.rem_euclid(1461);
    let year_of_era = (of_era - of_era / 1460) / 365;
    from_march(year_of_era + era * 4, of_era - 365 * year_of_era)
}

/// Year that began in March and day of it, to a date of a year that begins in January.
fn from_march(year: i64, of_year: i64) -> (i64, u8, u8) {
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 2 } else { march - 10 };
    (year + i64::from(month < 2), month as u8, day as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_numbers_and_dates_are_inverse() {
        assert_eq!(gregorian_day(1970, 0, 1), EPOCH_DAY);
        assert_eq!(gregorian_day(1582, 9, 15), CUTOVER_DAY);
        assert_eq!(julian_day(1582, 9, 4), CUTOVER_DAY - 1);
        for day in (-3_000_000..3_000_000).step_by(17).chain(CUTOVER_DAY - 800..CUTOVER_DAY + 800) {
            let (year, month, dom) = date_of_day(day);
            let (month, dom) = (i64::from(month), i64::from(dom));
            let back = if day >= CUTOVER_DAY {
                gregorian_day(year, month, dom)
            } else {
                julian_day(year, month, dom)
            };
            assert_eq!(back, day, "{year}-{}-{dom}", month + 1);
        }
    }
}
