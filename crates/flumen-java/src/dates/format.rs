//! Prints instants by a pattern, as `java.text.SimpleDateFormat.format` does.

use super::DateFormat;
use super::calendar::Moment;
use super::pattern::Item;

impl DateFormat {
    /// Appends the instant `millis` (milliseconds since 1970-01-01T00:00Z) to `out`. Nothing else is allocated.
    pub fn format_into(&self, out: &mut String, millis: i64) {
        self.format_moment(out, &Moment::new(millis, &self.zone));
    }

    /// Like [`DateFormat::format_into`], into a new string.
    pub fn format(&self, millis: i64) -> String {
        let mut out = String::new();
        self.format_into(&mut out, millis);
        out
    }

    pub(crate) fn format_moment(&self, out: &mut String, moment: &Moment) {
        for item in &self.pattern.items {
            match item {
                Item::Literal(text) => out.push_str(text),
                Item::Field(letter, count) => self.field(out, moment, *letter, *count),
            }
        }
    }

    fn field(&self, out: &mut String, moment: &Moment, letter: u8, count: usize) {
        let names = self.locale.names;
        let long = count >= 4;
        let value = match letter {
            b'G' => {
                let eras = if long { &names.eras_long } else { &names.eras_short };
                return out.push_str(eras[moment.era()]);
            }
            b'y' => return self.year(out, moment.year_of_era(), count),
            b'Y' => return self.year(out, moment.week_year(self.locale.week_rule()), count),
            b'M' | b'L' if count >= 3 => {
                let months = match (long, letter == b'L' || self.pattern.month_alone) {
                    (true, true) => &names.months_long_alone,
                    (false, true) => &names.months_short_alone,
                    (true, false) => &names.months_long,
                    (false, false) => &names.months_short,
                };
                return out.push_str(months[usize::from(moment.month)]);
            }
            b'M' | b'L' => i64::from(moment.month) + 1,
            b'E' => {
                let days = if long { &names.days_long } else { &names.days_short };
                return out.push_str(days[usize::from(moment.day_of_week()) - 1]);
            }
            b'a' => return out.push_str(names.halves[usize::from(moment.hour() >= 12)]),
            b'z' => return self.zone_name(out, moment, long),
            b'Z' => return rfc822_zone(out, moment.offset.total_ms()),
            b'X' => return iso_zone(out, moment.offset.total_ms(), count),
            b'd' => i64::from(moment.day_of_month),
            b'k' => i64::from((moment.hour() + 23) % 24 + 1),
            b'H' => i64::from(moment.hour()),
            b'h' => i64::from((moment.hour() + 11) % 12 + 1),
            b'K' => i64::from(moment.hour() % 12),
            b'm' => i64::from(moment.minute()),
            b's' => i64::from(moment.second()),
            b'S' => i64::from(moment.ms_of_day % 1000),
            b'D' => moment.day_of_year(),
            b'F' => moment.day_of_week_in_month(),
            b'w' => moment.week_of_year(self.locale.week_rule()),
            b'W' => moment.week_of_month(self.locale.week_rule()),
            // Only `u` is left: Monday is 1.
            _ => i64::from((moment.day_of_week() + 5) % 7 + 1),
        };
        self.number(out, value, count);
    }

    /// Two letters cut the year to its last two digits.
    fn year(&self, out: &mut String, year: i64, count: usize) {
        let shown = if count == 2 { year % 100 } else { year };
        if count == 2 && year < 0 && shown == 0 {
            out.push_str(self.locale.names.minus);
        }
        self.number(out, shown, count);
    }

    fn number(&self, out: &mut String, value: i64, min_digits: usize) {
        if value < 0 {
            out.push_str(self.locale.names.minus);
        }
        push_digits(out, value.unsigned_abs(), min_digits, self.locale.names.zero);
    }

    fn zone_name(&self, out: &mut String, moment: &Moment, long: bool) {
        let summer = moment.offset.summer_ms != 0;
        match super::zone_names::display(self.zone.id(), self.zone_column, long, summer) {
            Some(name) => out.push_str(name),
            None if self.zone.id().starts_with("GMT") => out.push_str(self.zone.id()),
            None => {
                let total =
                    self.zone.raw_offset_ms() + if summer { self.zone.summer_savings_ms() } else { 0 };
                out.push_str("GMT");
                out.push(if total < 0 { '-' } else { '+' });
                let minutes = total.unsigned_abs() / 60_000;
                push_digits(out, u64::from(minutes / 60), 2, '0');
                out.push(':');
                push_digits(out, u64::from(minutes % 60), 2, '0');
            }
        }
    }
}

fn rfc822_zone(out: &mut String, total_ms: i32) {
    let minutes = total_ms / 60_000;
    out.push(if minutes < 0 { '-' } else { '+' });
    let minutes = minutes.unsigned_abs();
    push_digits(out, u64::from(minutes / 60 * 100 + minutes % 60), 4, '0');
}

fn iso_zone(out: &mut String, total_ms: i32, count: usize) {
    if total_ms == 0 {
        return out.push('Z');
    }
    let minutes = total_ms / 60_000;
    out.push(if minutes < 0 { '-' } else { '+' });
    let minutes = u64::from(minutes.unsigned_abs());
    push_digits(out, minutes / 60, 2, '0');
    if count == 3 {
        out.push(':');
    }
    if count > 1 {
        push_digits(out, minutes % 60, 2, '0');
    }
}

fn push_digits(out: &mut String, mut value: u64, min_digits: usize, zero: char) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    while value > 0 || start == digits.len() {
        start -= 1;
        digits[start] = (value % 10) as u8;
        value /= 10;
    }
    for _ in digits.len() - start..min_digits {
        out.push(zero);
    }
    for digit in &digits[start..] {
        out.push(char::from_u32(u32::from(zero) + u32::from(*digit)).unwrap_or('?'));
    }
}
