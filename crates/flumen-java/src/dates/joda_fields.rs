//! Turns fields that were read by a Joda-Time pattern into an instant: largest first, each checked against its range at
//! the date reached so far, in the Gregorian calendar for all times.

use super::calendar::{DAY_MS, EPOCH_DAY, day_of_week, gregorian_date, gregorian_day};
use super::joda::{JodaError, JodaField};
use super::zone::Zone;

/// Year that a month or day without a year is in.
const DEFAULT_YEAR: i32 = 2000;
const MIN_YEAR: i32 = -292_275_054;
const MAX_YEAR: i32 = 292_278_993;

/// Fields read so far.
pub(crate) struct Bucket {
    fields: Vec<(JodaField, i32)>,
    offset_ms: Option<i32>,
    zone: Zone,
}

impl Bucket {
    pub(crate) fn new(zone: &Zone) -> Self {
        Self { fields: Vec::with_capacity(8), offset_ms: None, zone: zone.clone() }
    }

    pub(crate) fn save(&mut self, field: JodaField, value: i32) {
        self.fields.push((field, value));
    }

    pub(crate) fn set_offset(&mut self, offset_ms: i32) {
        self.offset_ms = Some(offset_ms);
    }

    pub(crate) fn set_zone(&mut self, zone: Zone) {
        self.zone = zone;
        self.offset_ms = None;
    }

    /// Milliseconds since 1970.
    pub(crate) fn instant(mut self) -> Result<i64, JodaError> {
        self.fields.sort_by_key(|(field, _)| field.rank());
        if self.fields.first().is_some_and(|(field, _)| field.needs_year()) {
            self.fields.push((JodaField::Year, DEFAULT_YEAR));
            self.fields.sort_by_key(|(field, _)| field.rank());
        }
        let mut local = Local { day: EPOCH_DAY, ms: 0 };
        for (field, value) in &self.fields {
            local.set(*field, *value)?;
            local.floor(*field);
        }
        let last = self.fields.len().saturating_sub(1);
        for (index, (field, value)) in self.fields.iter().enumerate() {
            local.set(*field, *value)?;
            if index == last {
                local.floor(*field);
            }
        }
        let wall = (local.day - EPOCH_DAY).saturating_mul(DAY_MS).saturating_add(local.ms);
        match self.offset_ms {
            Some(offset_ms) => Ok(wall.saturating_sub(i64::from(offset_ms))),
            None => {
                self.zone.historic_instant(wall).ok_or_else(|| JodaError::Skipped(self.zone.id().to_owned()))
            }
        }
    }
}

impl JodaField {
    /// Order by the larger unit (ever, year, month, week, day and so on), then by the field's own, largest first.
    fn rank(self) -> (u8, u8) {
        match self {
            Self::Era => (0, 0),
            Self::CenturyOfEra => (0, 1),
            Self::YearOfEra | Self::Year | Self::WeekYear => (0, 2),
            Self::MonthOfYear => (1, 3),
            Self::WeekOfWeekYear => (1, 4),
            Self::DayOfYear => (1, 5),
            Self::DayOfMonth => (2, 5),
            Self::DayOfWeek => (3, 5),
            Self::HalfDayOfDay => (4, 6),
            Self::HourOfDay | Self::ClockHourOfDay => (4, 7),
            Self::HourOfHalfDay | Self::ClockHourOfHalfDay => (5, 7),
            Self::MinuteOfHour => (6, 8),
            Self::SecondOfMinute => (7, 9),
            Self::MillisOfSecond => (8, 10),
        }
    }

    /// Month, week and day fields: without a year before them they are in 2000.
    fn needs_year(self) -> bool {
        (3..=5).contains(&self.rank().1)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Era => "era",
            Self::CenturyOfEra => "centuryOfEra",
            Self::YearOfEra => "yearOfEra",
            Self::Year => "year",
            Self::WeekYear => "weekyear",
            Self::MonthOfYear => "monthOfYear",
            Self::WeekOfWeekYear => "weekOfWeekyear",
            Self::DayOfYear => "dayOfYear",
            Self::DayOfMonth => "dayOfMonth",
            Self::DayOfWeek => "dayOfWeek",
            Self::HalfDayOfDay => "halfdayOfDay",
            Self::HourOfDay => "hourOfDay",
            Self::ClockHourOfDay => "clockhourOfDay",
            Self::HourOfHalfDay => "hourOfHalfday",
            Self::ClockHourOfHalfDay => "clockhourOfHalfday",
            Self::MinuteOfHour => "minuteOfHour",
            Self::SecondOfMinute => "secondOfMinute",
            Self::MillisOfSecond => "millisOfSecond",
        }
    }
}

/// A wall clock reading.
#[derive(Clone, Copy)]
struct Local {
    day: i64,
    ms: i64,
}

impl Local {
    fn set(&mut self, field: JodaField, value: i32) -> Result<(), JodaError> {
        let (year, month, dom) = gregorian_date(self.day);
        let (low, high) = match field {
            JodaField::Era | JodaField::HalfDayOfDay => (0, 1),
            JodaField::CenturyOfEra => (0, MAX_YEAR / 100),
            JodaField::YearOfEra => (1, MAX_YEAR),
            JodaField::Year | JodaField::WeekYear => (MIN_YEAR, MAX_YEAR),
            JodaField::MonthOfYear => (1, 12),
            JodaField::WeekOfWeekYear => (1, weeks_in(week_year(self.day))),
            JodaField::DayOfYear => (1, (gregorian_day(year + 1, 0, 1) - gregorian_day(year, 0, 1)) as i32),
            JodaField::DayOfMonth => (1, month_length(year, i64::from(month)) as i32),
            JodaField::DayOfWeek => (1, 7),
            JodaField::HourOfDay => (0, 23),
            JodaField::ClockHourOfDay => (1, 24),
            JodaField::HourOfHalfDay => (0, 11),
            JodaField::ClockHourOfHalfDay => (1, 12),
            JodaField::MinuteOfHour | JodaField::SecondOfMinute => (0, 59),
            JodaField::MillisOfSecond => (0, 999),
        };
        if !(low..=high).contains(&value) {
            return Err(JodaError::Value { field: field.name(), value });
        }
        let wide = i64::from(value);
        match field {
            JodaField::Era if (value == 1) != (year > 0) => self.set_year(-year),
            JodaField::Era => {}
            JodaField::CenturyOfEra => self.set_year(wide * 100 + year.abs() % 100),
            JodaField::YearOfEra => self.set_year(if year > 0 { wide } else { 1 - wide }),
            JodaField::Year => self.set_year(wide),
            JodaField::WeekYear => {
                let week = week_of_week_year(self.day).min(i64::from(weeks_in(wide)));
                self.day = first_week(wide) + 7 * (week - 1) + iso_weekday(self.day) - 1;
            }
            JodaField::MonthOfYear => {
                let dom = i64::from(dom).min(month_length(year, wide - 1));
                self.day = gregorian_day(year, wide - 1, dom);
            }
            JodaField::WeekOfWeekYear => self.day += 7 * (wide - week_of_week_year(self.day)),
            JodaField::DayOfYear => self.day = gregorian_day(year, 0, 1) + wide - 1,
            JodaField::DayOfMonth => self.day += wide - i64::from(dom),
            JodaField::DayOfWeek => self.day += wide - iso_weekday(self.day),
            JodaField::HalfDayOfDay => self.set_part(wide, 43_200_000, 2),
            JodaField::HourOfDay | JodaField::ClockHourOfDay => self.set_part(wide % 24, 3_600_000, 24),
            JodaField::HourOfHalfDay | JodaField::ClockHourOfHalfDay => {
                self.set_part(wide % 12, 3_600_000, 12)
            }
            JodaField::MinuteOfHour => self.set_part(wide, 60_000, 60),
            JodaField::SecondOfMinute => self.set_part(wide, 1000, 60),
            JodaField::MillisOfSecond => self.set_part(wide, 1, 1000),
        }
        Ok(())
    }

    /// Sets to 0 what is smaller than the field.
    fn floor(&mut self, field: JodaField) {
        let (year, _, dom) = gregorian_date(self.day);
        let unit = match field {
            JodaField::Era | JodaField::CenturyOfEra | JodaField::YearOfEra | JodaField::Year => {
                let first = match field {
                    JodaField::CenturyOfEra => year - year.rem_euclid(100),
                    JodaField::Era => i64::from(year > 0),
                    _ => year,
                };
                self.day = gregorian_day(first, 0, 1);
                DAY_MS
            }
            JodaField::WeekYear => {
                self.day = first_week(week_year(self.day));
                DAY_MS
            }
            JodaField::MonthOfYear => {
                self.day -= i64::from(dom) - 1;
                DAY_MS
            }
            JodaField::WeekOfWeekYear => {
                self.day -= iso_weekday(self.day) - 1;
                DAY_MS
            }
            JodaField::DayOfYear | JodaField::DayOfMonth | JodaField::DayOfWeek => DAY_MS,
            JodaField::HalfDayOfDay => 43_200_000,
            JodaField::HourOfDay
            | JodaField::ClockHourOfDay
            | JodaField::HourOfHalfDay
            | JodaField::ClockHourOfHalfDay => 3_600_000,
            JodaField::MinuteOfHour => 60_000,
            JodaField::SecondOfMinute => 1000,
            JodaField::MillisOfSecond => 1,
        };
        self.ms -= self.ms % unit;
    }

    /// The day of the year stays, but for the leap day.
    fn set_year(&mut self, year: i64) {
        let (this_year, ..) = gregorian_date(self.day);
        let mut of_year = self.day - gregorian_day(this_year, 0, 1);
        if of_year >= 31 + 28 {
            of_year += i64::from(is_leap(year)) - i64::from(is_leap(this_year));
        }
        self.day = gregorian_day(year, 0, 1) + of_year;
    }

    /// Sets the part of the day that counts `unit` up to `count`.
    fn set_part(&mut self, value: i64, unit: i64, count: i64) {
        self.ms += (value - self.ms / unit % count) * unit;
    }
}

fn is_leap(year: i64) -> bool {
    gregorian_day(year + 1, 0, 1) - gregorian_day(year, 0, 1) == 366
}

/// `month` from 0 to 11.
fn month_length(year: i64, month: i64) -> i64 {
    gregorian_day(year + (month + 1) / 12, (month + 1) % 12, 1) - gregorian_day(year, month, 1)
}

/// Monday is 1.
fn iso_weekday(day: i64) -> i64 {
    (i64::from(day_of_week(day)) + 5) % 7 + 1
}

/// The Monday of the week with 4 January.
fn first_week(year: i64) -> i64 {
    let fourth = gregorian_day(year, 0, 4);
    fourth - (iso_weekday(fourth) - 1)
}

fn week_year(day: i64) -> i64 {
    // The Thursday of a week is in its year.
    gregorian_date(day - iso_weekday(day) + 4).0
}

fn week_of_week_year(day: i64) -> i64 {
    (day - first_week(week_year(day))) / 7 + 1
}

fn weeks_in(year: i64) -> i32 {
    ((first_week(year + 1) - first_week(year)) / 7) as i32
}
