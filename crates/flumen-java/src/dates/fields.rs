//! Turns calendar fields that were read from a text into an instant, with the precedence of `java.util.GregorianCalendar`:
//! of contradicting fields the one that was set last wins.

use super::calendar::{
    CUTOVER_DAY, CUTOVER_YEAR, DAY_MS, EPOCH_DAY, Moment, WeekRule, date_of_day, first_week, gregorian_day,
    julian_day, week_start, weekday_on_or_before,
};
use super::zone::{Offset, Zone};

/// A calendar field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Era,
    Year,
    Month,
    WeekOfYear,
    WeekOfMonth,
    DayOfMonth,
    DayOfYear,
    DayOfWeek,
    DayOfWeekInMonth,
    HalfDay,
    Hour,
    HourOfDay,
    Minute,
    Second,
    Millisecond,
    ZoneOffset,
    SummerOffset,
    WeekYear,
}

const COUNT: usize = Field::WeekYear as usize + 1;

/// Smallest and largest value of each field in strict reading, in the order of [`Field`].
const RANGES: [(i32, i32); COUNT] = [
    (0, 1),
    (1, 292_278_994),
    (0, 11),
    (1, 53),
    (0, 6),
    (1, 31),
    (1, 366),
    (1, 7),
    (1, 6),
    (0, 1),
    (0, 11),
    (0, 23),
    (0, 59),
    (0, 59),
    (0, 999),
    (-13 * 3_600_000, 14 * 3_600_000),
    (0, 2 * 3_600_000),
    (i32::MIN, i32::MAX),
];

/// The fields cannot be an instant: out of range in strict reading, or an era that does not exist.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Impossible;

/// What the fields are interpreted in.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) zone: &'a Zone,
    pub(crate) week: WeekRule,
    pub(crate) lenient: bool,
}

/// Fields with their values and the order in which they were set.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    values: [i32; COUNT],
    /// 0 is unset; a larger number was set later.
    stamps: [u32; COUNT],
    next: u32,
}

/// How the day is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DayBy {
    Month,
    WeekOfMonth,
    WeekdayInMonth,
    DayOfYear,
    WeekOfYear,
}

impl Fields {
    pub(crate) fn new() -> Self {
        Self { values: [0; COUNT], stamps: [0; COUNT], next: 1 }
    }

    pub(crate) fn set(&mut self, field: Field, value: i32) {
        self.values[field as usize] = value;
        self.stamps[field as usize] = self.next;
        self.next += 1;
    }

    /// Weekday with 1 for Monday. Other numbers are put right once the week is known.
    pub(crate) fn set_iso_weekday(&mut self, value: i32) {
        let weekday = match value {
            7 => 1,
            1..=6 => value + 1,
            other => other,
        };
        self.set(Field::DayOfWeek, weekday);
    }

    pub(crate) fn clear(&mut self, field: Field) {
        self.values[field as usize] = 0;
        self.stamps[field as usize] = 0;
    }

    /// Moves a two-digit year into the next century.
    pub(crate) fn add_century(&mut self) {
        for field in [Field::Year, Field::WeekYear] {
            self.values[field as usize] = self.values[field as usize].wrapping_add(100);
        }
    }

    fn get(&self, field: Field) -> i32 {
        self.values[field as usize]
    }

    fn stamp(&self, field: Field) -> u32 {
        self.stamps[field as usize]
    }

    fn is_set(&self, field: Field) -> bool {
        self.stamp(field) > 0
    }

    /// The instant in milliseconds since 1970.
    pub(crate) fn instant(&self, frame: Frame<'_>) -> Result<i64, Impossible> {
        if self.stamp(Field::WeekYear) > self.stamp(Field::Year) {
            let mut dated = self.clone();
            dated.apply_week_date(frame)?;
            return dated.compute(frame);
        }
        self.compute(frame)
    }

    /// Replaces week year, week and weekday by the date that they mean.
    fn apply_week_date(&mut self, frame: Frame<'_>) -> Result<(), Impossible> {
        let mut week =
            if self.is_set(Field::WeekOfYear) { i64::from(self.get(Field::WeekOfYear)) } else { 1 };
        let first_day = i64::from(frame.week.first_day);
        let mut weekday =
            if self.is_set(Field::DayOfWeek) { i64::from(self.get(Field::DayOfWeek)) } else { first_day };
        if !(1..=7).contains(&weekday) {
            if !frame.lenient {
                return Err(Impossible);
            }
            if weekday >= 8 {
                weekday -= 1;
                week += weekday / 7;
                weekday = weekday % 7 + 1;
            } else {
                let weeks = (7 - weekday) / 7;
                weekday += 7 * weeks;
                week -= weeks;
            }
            weekday = if weekday == 7 { 1 } else { weekday + 1 };
        }
        let week_year = i64::from(self.get(Field::WeekYear));
        // An era that was read before counts.
        let year = if self.is_before_christ() { 1 - week_year } else { week_year };
        let day = first_week(year, frame.week) + (weekday - first_day).rem_euclid(7) + 7 * (week - 1);
        let moment = moment_of_day(day);
        let same = moment.week_year(frame.week) == week_year
            && moment.week_of_year(frame.week) == week
            && i64::from(moment.day_of_week()) == weekday;
        if !frame.lenient && !same {
            return Err(Impossible);
        }
        self.set(Field::Era, moment.era() as i32);
        self.set(Field::Year, moment.year_of_era() as i32);
        self.set(Field::Month, i32::from(moment.month));
        self.set(Field::DayOfMonth, i32::from(moment.day_of_month));
        Ok(())
    }

    fn is_before_christ(&self) -> bool {
        if self.is_set(Field::Era) {
            self.get(Field::Era) == 0
        } else {
            self.is_set(Field::Year) && self.get(Field::Year) <= 0
        }
    }

    fn compute(&self, frame: Frame<'_>) -> Result<i64, Impossible> {
        if !frame.lenient {
            for (index, (low, high)) in RANGES.iter().enumerate() {
                if self.stamps[index] > 0 && !(low..=high).contains(&&self.values[index]) {
                    return Err(Impossible);
                }
            }
        }
        let by = self.day_by();
        let time = self.time_of_day();
        let day = self.day(by, time.div_euclid(DAY_MS), frame)?;
        let wall = (day - EPOCH_DAY).wrapping_mul(DAY_MS).wrapping_add(time.rem_euclid(DAY_MS));
        let (zone_set, summer_set) = (self.is_set(Field::ZoneOffset), self.is_set(Field::SummerOffset));
        let mut offset = if zone_set && summer_set { Offset::default() } else { frame.zone.at_wall(wall) };
        if zone_set {
            offset.standard_ms = self.get(Field::ZoneOffset);
        }
        if summer_set {
            offset.summer_ms = self.get(Field::SummerOffset);
        }
        let millis =
            wall.wrapping_sub(i64::from(offset.standard_ms)).wrapping_sub(i64::from(offset.summer_ms));
        if !frame.lenient {
            self.check(millis, offset, frame)?;
        }
        Ok(millis)
    }

    /// Strict reading: what was set must come out again.
    fn check(&self, millis: i64, used: Offset, frame: Frame<'_>) -> Result<(), Impossible> {
        let mut offset = frame.zone.at(millis);
        if self.is_set(Field::ZoneOffset) {
            offset.standard_ms = used.standard_ms;
        }
        if self.is_set(Field::SummerOffset) {
            offset.summer_ms = used.summer_ms;
        }
        let moment = Moment::with_offset(millis, offset);
        let hour = moment.hour() as i32;
        let actual: [i64; COUNT] = [
            moment.era() as i64,
            moment.year_of_era(),
            i64::from(moment.month),
            moment.week_of_year(frame.week),
            moment.week_of_month(frame.week),
            i64::from(moment.day_of_month),
            moment.day_of_year(),
            i64::from(moment.day_of_week()),
            moment.day_of_week_in_month(),
            i64::from(hour / 12),
            i64::from(hour % 12),
            i64::from(hour),
            i64::from(moment.minute()),
            i64::from(moment.second()),
            i64::from(moment.ms_of_day % 1000),
            i64::from(offset.standard_ms),
            i64::from(offset.summer_ms),
            i64::from(self.get(Field::WeekYear)),
        ];
        let mut set = (0..COUNT).filter(|index| self.stamps[*index] > 0);
        if set.all(|index| actual[index] == i64::from(self.values[index])) { Ok(()) } else { Err(Impossible) }
    }

    /// Milliseconds since midnight; may lie outside of a day.
    fn time_of_day(&self) -> i64 {
        let of_day = self.stamp(Field::HourOfDay);
        let half = both(self.stamp(Field::Hour), self.stamp(Field::HalfDay));
        let hours = if of_day > 0 && of_day >= half {
            i64::from(self.get(Field::HourOfDay))
        } else {
            // An unset field is 0.
            i64::from(self.get(Field::Hour)) + 12 * i64::from(self.get(Field::HalfDay))
        };
        ((hours * 60 + i64::from(self.get(Field::Minute))) * 60 + i64::from(self.get(Field::Second))) * 1000
            + i64::from(self.get(Field::Millisecond))
    }

    /// Which fields give the day: the group that was set last.
    fn day_by(&self) -> DayBy {
        let weekday = self.stamp(Field::DayOfWeek);
        let of_month = self.stamp(Field::DayOfMonth);
        let mut week_of_month = both(self.stamp(Field::WeekOfMonth), weekday);
        let mut in_month = both(self.stamp(Field::DayOfWeekInMonth), weekday);
        let of_year = self.stamp(Field::DayOfYear);
        let mut week_of_year = both(self.stamp(Field::WeekOfYear), weekday);
        let mut best = of_month.max(week_of_month).max(in_month).max(of_year).max(week_of_year);
        if best == 0 {
            week_of_month = self.stamp(Field::WeekOfMonth);
            in_month = self.stamp(Field::DayOfWeekInMonth).max(weekday);
            week_of_year = self.stamp(Field::WeekOfYear);
            best = week_of_month.max(in_month).max(week_of_year);
            if best == 0 {
                return DayBy::Month;
            }
        }
        let year_week = self.stamp(Field::WeekOfYear);
        if best == of_month {
            DayBy::Month
        } else if (best == week_of_month && self.stamp(Field::WeekOfMonth) >= year_week)
            || (best == in_month && self.stamp(Field::DayOfWeekInMonth) >= year_week)
        {
            let prefer_week = self.stamp(Field::WeekOfMonth) >= self.stamp(Field::DayOfWeekInMonth);
            let by_week = if week_of_month == in_month { prefer_week } else { best == week_of_month };
            if by_week { DayBy::WeekOfMonth } else { DayBy::WeekdayInMonth }
        } else if best == of_year {
            DayBy::DayOfYear
        } else {
            DayBy::WeekOfYear
        }
    }

    fn day(&self, by: DayBy, carry: i64, frame: Frame<'_>) -> Result<i64, Impossible> {
        let mut year = if self.is_set(Field::Year) { self.get(Field::Year) } else { 1970 };
        if self.is_set(Field::Era) {
            match self.get(Field::Era) {
                0 => year = 1i32.wrapping_sub(year),
                1 => {}
                _ => return Err(Impossible),
            }
        }
        let year = i64::from(year);
        let gregorian = carry + self.day_in(gregorian_day, year, by, frame.week);
        let julian = carry + self.day_in(julian_day, year, by, frame.week);
        // In the year of the change, and for days that roll over it, the two have to be compared.
        if year > CUTOVER_YEAR && gregorian >= CUTOVER_DAY {
            return Ok(gregorian);
        }
        if year < CUTOVER_YEAR {
            // A day that rolls over the change counts on in the Julian calendar.
            return Ok(julian);
        }
        if matches!(by, DayBy::DayOfYear | DayBy::WeekOfYear) {
            return Ok(julian);
        }
        match (gregorian >= CUTOVER_DAY, julian < CUTOVER_DAY) {
            (true, _) => Ok(gregorian),
            (false, true) => Ok(julian),
            // One of the ten days that do not exist.
            (false, false) if frame.lenient => Ok(julian),
            (false, false) => Err(Impossible),
        }
    }

    fn day_in(&self, calendar: fn(i64, i64, i64) -> i64, year: i64, by: DayBy, week: WeekRule) -> i64 {
        if matches!(by, DayBy::DayOfYear | DayBy::WeekOfYear) {
            let first = calendar(year, 0, 1);
            if by == DayBy::DayOfYear {
                return first + i64::from(self.get(Field::DayOfYear)) - 1;
            }
            let start = self.on_weekday(week_start(first, week));
            return start + 7 * (i64::from(self.get(Field::WeekOfYear)) - 1);
        }
        let month = i64::from(self.get(Field::Month));
        let (year, month) = (year + month.div_euclid(12), month.rem_euclid(12));
        let first = calendar(year, month, 1);
        match by {
            DayBy::WeekOfMonth => {
                let start = self.on_weekday(week_start(first, week));
                start + 7 * (i64::from(self.get(Field::WeekOfMonth)) - 1)
            }
            DayBy::WeekdayInMonth => {
                let weekday = self.get_or(Field::DayOfWeek, i32::from(week.first_day));
                let count = i64::from(self.get_or(Field::DayOfWeekInMonth, 1));
                let until = if count >= 0 {
                    first + 7 * count - 1
                } else {
                    let next = calendar(year + (month + 1) / 12, (month + 1) % 12, 1);
                    next - 1 + 7 * (count + 1)
                };
                weekday_on_or_before(until, i64::from(weekday))
            }
            _ => first + i64::from(self.get_or(Field::DayOfMonth, 1)) - 1,
        }
    }

    /// The set weekday of the week that begins at `start`.
    fn on_weekday(&self, start: i64) -> i64 {
        if !self.is_set(Field::DayOfWeek) {
            return start;
        }
        weekday_on_or_before(start + 6, i64::from(self.get(Field::DayOfWeek)))
    }

    fn get_or(&self, field: Field, default: i32) -> i32 {
        if self.is_set(field) { self.get(field) } else { default }
    }
}

/// The later of two stamps if both are set.
fn both(a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 { 0 } else { a.max(b) }
}

fn moment_of_day(day: i64) -> Moment {
    let (year, month, day_of_month) = date_of_day(day);
    Moment { day, year, month, day_of_month, ms_of_day: 0, offset: Offset::default() }
}
