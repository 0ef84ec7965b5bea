//! Time stamps of messages: RFC 5424 section 6.2.3 (a profile of RFC 3339), and RFC 3164 section 4.1.2, which has no year.

use flumen_java::dates::Zone;

const DAY_MS: i64 = 86_400_000;
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Makes instants of what clocks showed.
#[derive(Debug, Clone)]
pub(crate) struct Stamps {
    /// The zone of stamps without one.
    zone: Zone,
}

/// A reading of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    year: i64,
    /// 1 is January.
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    millis: i64,
    /// What the clock is ahead of UTC, where the stamp says it.
    offset_ms: Option<i64>,
}

impl Reading {
    /// Whether each field is one that a clock shows. A leap second is.
    pub(crate) fn is_real(&self) -> bool {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        let days = match self.month {
            2 => 28 + i64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        (1..=12).contains(&self.month)
            && (1..=days).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second <= 60
    }

    /// Whether it is real in a leap year.
    pub(crate) fn is_real_in_some_year(&self) -> bool {
        Self { year: 2000, ..*self }.is_real()
    }

    /// The same, as UTC where it says no zone.
    pub(crate) fn or_utc(self) -> Self {
        Self { offset_ms: self.offset_ms.or(Some(0)), ..self }
    }

    /// Milliseconds since 1970-01-01T00:00 on that clock. Fields out of range roll over, as Java's calendar lets them.
    fn wall_ms(&self) -> i64 {
        let months = self.year * 12 + self.month - 1;
        let day = day_of(months.div_euclid(12), months.rem_euclid(12) + 1) + self.day - 1;
        day * DAY_MS + ((self.hour * 60 + self.minute) * 60 + self.second) * 1_000 + self.millis
    }
}

impl Stamps {
    /// Stamps without a zone are read as this one's.
    pub(crate) fn new(zone: Zone) -> Self {
        Self { zone }
    }

    /// The instant of a whole reading, in milliseconds since 1970.
    pub(crate) fn instant(&self, reading: &Reading) -> i64 {
        let wall = reading.wall_ms();
        wall - reading.offset_ms.unwrap_or_else(|| i64::from(self.zone.at_wall(wall).total_ms()))
    }

    /// The instant of a reading without a year: of the years around `now_ms` the one that puts it between eleven months ago
    /// and a month ahead, as Java Flume chooses.
    pub(crate) fn instant_near(&self, reading: &Reading, now_ms: i64) -> i64 {
        let this_year = year_of(now_ms);
        let at = |year: i64, months: i64| {
            self.instant(&Reading { year, month: reading.month + months, ..*reading })
        };
        if at(this_year, -1) > now_ms {
            at(this_year - 1, 0)
        } else if at(this_year, 11) < now_ms {
            at(this_year + 1, 0)
        } else {
            at(this_year, 0)
        }
    }
}

/// `yyyy-MM-ddTHH:mm:ss` at the start, and what stands behind it: up to `digits` digits of a fraction, and a zone. Gives the
/// reading and its length.
pub(crate) fn rfc5424(text: &[u8], digits: usize) -> Option<(Reading, usize)> {
    let head = text.get(..19)?;
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators.iter().any(|(at, byte)| head[*at] != *byte) {
        return None;
    }
    let number = |from, to| number(&head[from..to]);
    let mut reading = Reading {
        year: number(0, 4)?,
        month: number(5, 7)?,
        day: number(8, 10)?,
        hour: number(11, 13)?,
        minute: number(14, 16)?,
        second: number(17, 19)?,
        millis: 0,
        offset_ms: None,
    };
    let mut at = 19;
    if text.get(at) == Some(&b'.') {
        let fraction = text[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if fraction == 0 || fraction > digits {
            return None;
        }
        let first = text[at + 1..].iter().take(fraction.min(3));
        let scale = [100, 10, 1];
        reading.millis = first.zip(scale).map(|(digit, scale)| i64::from(digit - b'0') * scale).sum();
        at += 1 + fraction;
    }
    let (offset_ms, len) = zone(&text[at..]);
    reading.offset_ms = offset_ms;
    Some((reading, at + len))
}

/// A zone at the start, and its length. None is none.
fn zone(text: &[u8]) -> (Option<i64>, usize) {
    let sign = match text.first() {
        Some(b'Z') => return (Some(0), 1),
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return (None, 0),
    };
    let (Some(hours), Some(b':'), Some(minutes)) =
        (text.get(1..3).and_then(number), text.get(3), text.get(4..6).and_then(number))
    else {
        return (None, 0);
    };
    (Some(sign * (hours * 60 + minutes) * 60_000), 6)
}

/// `MMM d HH:mm:ss` at the start, with one or two blanks before the day and one or two digits in it. Gives the reading, without a
/// year, and its length. `None` as reading: the month is none.
pub(crate) fn rfc3164(text: &[u8]) -> Option<(Option<Reading>, usize)> {
    let name = text.get(..3)?;
    if !name[0].is_ascii_uppercase() || !name[1..].iter().all(u8::is_ascii_lowercase) {
        return None;
    }
    let mut at = 3;
    let blanks = text[at..].iter().take(2).take_while(|byte| is_blank(**byte)).count();
    at += blanks;
    let digits = text[at..].iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
    let day = number(text.get(at..at + digits)?)?;
    at += digits;
    let rest = text.get(at..at + 9)?;
    if blanks == 0 || !is_blank(rest[0]) || rest[3] != b':' || rest[6] != b':' {
        return None;
    }
    let (hour, minute, second) = (number(&rest[1..3])?, number(&rest[4..6])?, number(&rest[7..9])?);
    let month = MONTHS.iter().position(|month| *month == name);
    let reading = month.map(|month| Reading {
        year: 0,
        month: month as i64 + 1,
        day,
        hour,
        minute,
        second,
        millis: 0,
        offset_ms: None,
    });
    Some((reading, at + 9))
}

/// What `\s` is in a Java pattern.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn number(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    digits
        .iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

/// The number of the first day of a month, 0 for 1970-01-01 (the proleptic Gregorian calendar).
fn day_of(year: i64, month: i64) -> i64 {
    // Years that begin in March, so that the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    days + (153 * month + 2) / 5 - 719_468
}

/// The year in UTC.
fn year_of(millis: i64) -> i64 {
    let day = millis.div_euclid(DAY_MS);
    let guess = 1970 + day.div_euclid(366);
    (guess..).take_while(|year| day_of(*year, 1) <= day).last().unwrap_or(guess)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc() -> Stamps {
        Stamps::new(Zone::utc())
    }

    #[test]
    fn sys_01_sys_13_sys_15_stamps_of_rfc_5424() {
        let new_york = Stamps::new(Zone::of_id("America/New_York"));
        for (text, utc_ms, new_york_ms) in [
            ("1985-04-12T23:20:50.52Z", 482_196_050_520, 482_196_050_520),
            ("2003-10-11T22:14:15.003Z", 1_065_910_455_003, 1_065_910_455_003),
            ("2003-08-24T05:14:15.000003-07:00", 1_061_727_255_000, 1_061_727_255_000),
            ("2012-04-13T08:08:08.0001+00:00", 1_334_304_488_000, 1_334_304_488_000),
            ("2012-04-13T08:08:08.999999+05:30", 1_334_284_688_999, 1_334_284_688_999),
            ("2012-04-13T08:08:08", 1_334_304_488_000, 1_334_318_888_000),
            ("2003-13-11T22:14:15Z", 1_073_859_255_000, 1_073_859_255_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000, 1_483_228_800_000),
            ("0000-03-01T00:00:00Z", -62_162_035_200_000, -62_162_035_200_000),
        ] {
            let (reading, len) = rfc5424(text.as_bytes(), 6).unwrap();
            assert_eq!((utc().instant(&reading), len), (utc_ms, text.len()), "{text}");
            assert_eq!(new_york.instant(&reading), new_york_ms, "{text}");
        }
        for text in [
            "2003-10-11 22:14:15Z",
            "2003-10-11T22:14:1",
            "2003-10-11T22:14:15.",
            "2003-10-11T22:14:15.1234567Z",
        ] {
            assert_eq!(rfc5424(text.as_bytes(), 6), None, "{text}");
        }
    }

    #[test]
    fn stamps_that_no_clock_shows_are_known() {
        for (text, is_real) in [
            ("2012-02-29T23:59:60Z", true),
            ("2011-02-29T00:00:00Z", false),
            ("1900-02-29T00:00:00Z", false),
            ("2000-02-29T00:00:00Z", true),
            ("2011-04-31T00:00:00Z", false),
            ("2011-00-01T00:00:00Z", false),
            ("2011-13-01T00:00:00Z", false),
            ("2011-01-00T00:00:00Z", false),
            ("2011-01-01T24:00:00Z", false),
            ("2011-01-01T00:60:00Z", false),
            ("2011-01-01T00:00:61Z", false),
        ] {
            assert_eq!(rfc5424(text.as_bytes(), 6).unwrap().0.is_real(), is_real, "{text}");
        }
    }

    #[test]
    fn stamps_without_a_year_get_the_nearest() {
        // 2026-11-30T17:34:23Z
        let now = 1_796_060_063_000;
        for (text, expected) in [
            ("Oct 11 22:14:15", 1_791_756_855_000),
            ("Feb  5 17:32:18", 1_770_312_738_000),
            ("Feb 5 17:32:18", 1_770_312_738_000),
            ("Dec  1 12:00:00", 1_796_126_400_000),
            ("Dec 31 23:59:59", 1_767_225_599_000),
            ("Jan  1 00:00:00", 1_767_225_600_000),
            ("Feb 31 12:00:00", 1_772_539_200_000),
            ("Oct 11 25:14:15", 1_791_767_655_000),
        ] {
            let (reading, len) = rfc3164(text.as_bytes()).unwrap();
            assert_eq!((utc().instant_near(&reading.unwrap(), now), len), (expected, text.len()), "{text}");
        }
        // A January that looks back on December, and the other way round.
        let (december, _) = rfc3164(b"Dec 31 23:59:59").unwrap();
        assert_eq!(utc().instant_near(&december.unwrap(), 1_767_225_601_000), 1_767_225_599_000);
        let (january, _) = rfc3164(b"Jan  1 00:00:00").unwrap();
        assert_eq!(utc().instant_near(&january.unwrap(), 1_767_225_599_000), 1_767_225_600_000);
    }

    #[test]
    fn what_is_no_stamp_of_rfc_3164() {
        for text in [
            "oct 11 22:14:15",
            "Oct11 22:14:15",
            "Oct   1 22:14:15",
            "Oct 11 2:14:15",
            "Oct 111 22:14:15",
            "Oct 11",
            "",
        ] {
            assert_eq!(rfc3164(text.as_bytes()), None, "{text}");
        }
        assert_eq!(rfc3164(b"Foo 11 22:14:15"), Some((None, 15)));
    }

    #[test]
    fn every_day_of_many_years_follows_the_one_before() {
        for year in [-400, -1, 0, 1, 1582, 1900, 1970, 2000, 2023, 2024, 9999] {
            for month in 1..=12 {
                let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                let days = day_of(next_year, next) - day_of(year, month);
                assert!((28..=31).contains(&days), "{year} {month} {days}");
            }
            assert_eq!(year_of(day_of(year.max(1970), 1) * DAY_MS), year.max(1970));
            assert_eq!(year_of(day_of(year.max(1970) + 1, 1) * DAY_MS - 1), year.max(1970));
        }
    }
}
