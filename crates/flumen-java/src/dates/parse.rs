//! Reads dates by a pattern, as `java.text.SimpleDateFormat.parse` does: from the start of the text as far as the pattern
//! goes; what follows is ignored.

use super::DateFormat;
use super::fields::{Field, Fields, Frame};
use super::pattern::Item;
use super::text::{digit, matches_at, number};
use super::zone::Zone;

/// A date that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// Milliseconds since 1970-01-01T00:00Z.
    pub millis: i64,
    /// The byte after the last one that was used.
    pub end: usize,
}

/// The text is no date by the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unparseable date: error at byte {at}")]
pub struct ParseError {
    /// Byte of the text at which reading failed.
    pub at: usize,
}

/// State of one call.
struct Reader<'a> {
    format: &'a DateFormat,
    text: &'a str,
    fields: Fields,
    /// Zone that a name in the text stands for.
    named_zone: Option<Zone>,
    /// The two-digit year is that of the window's start, so that the rest of the date decides.
    ambiguous: bool,
}

impl DateFormat {
    /// Reads a date at the start of `text`. Lenient (the default) lets every field roll over: month 13, day 0, hour 24.
    /// Texts of any length and content are safe.
    pub fn parse(&self, text: &str) -> Result<Parsed, ParseError> {
        let mut reader =
            Reader { format: self, text, fields: Fields::new(), named_zone: None, ambiguous: false };
        let mut at = 0;
        for (index, item) in self.pattern.items.iter().enumerate() {
            at = match item {
                Item::Literal(literal) => reader.literal(literal, at)?,
                Item::Field(letter, count) => {
                    let next = self.pattern.items.get(index + 1);
                    let limit = next.is_some_and(is_numeric).then_some(*count);
                    reader.field(*letter, *count, at, limit)?
                }
            };
        }
        let zone = reader.named_zone.as_ref().unwrap_or(&self.zone);
        let frame = Frame { zone, week: self.locale.week_rule(), lenient: self.lenient };
        let failed = |_| ParseError { at };
        let mut millis = reader.fields.instant(frame).map_err(failed)?;
        if reader.ambiguous && millis < self.two_digit_start {
            reader.fields.add_century();
            millis = reader.fields.instant(frame).map_err(failed)?;
        }
        Ok(Parsed { millis, end: at })
    }
}

/// Fields in digits limit the field before them to its own count of letters.
fn is_numeric(item: &Item) -> bool {
    match item {
        Item::Literal(_) => false,
        Item::Field(b'M' | b'L', count) => *count <= 2,
        Item::Field(letter, _) => !b"GEazZX".contains(letter),
    }
}

impl Reader<'_> {
    fn literal(&self, literal: &str, at: usize) -> Result<usize, ParseError> {
        let rest = &self.text[at..];
        if rest.starts_with(literal) {
            return Ok(at + literal.len());
        }
        let same = rest.chars().zip(literal.chars()).take_while(|(a, b)| a == b);
        Err(ParseError { at: at + same.map(|(c, _)| c.len_utf8()).sum::<usize>() })
    }

    /// Reads one field at byte `start` and answers the byte after it. `limit` is the most characters to use.
    fn field(
        &mut self,
        letter: u8,
        count: usize,
        start: usize,
        limit: Option<usize>,
    ) -> Result<usize, ParseError> {
        let rest = &self.text[start..];
        let at = start + (rest.len() - rest.trim_start_matches([' ', '\t']).len());
        if at == self.text.len() {
            return Err(ParseError { at: start });
        }
        let names = self.format.locale.names;
        let found = match letter {
            b'G' => self.name(start, Field::Era, names.eras_read.iter().copied()),
            b'a' => self.name(start, Field::HalfDay, names.halves_read.iter().copied()),
            b'M' | b'L' if count > 2 => {
                let alone = letter == b'L' || self.format.pattern.month_alone;
                let usual = [&names.months_short, &names.months_long];
                let standing = [&names.months_short_alone, &names.months_long_alone];
                let lists = match (letter, alone) {
                    (b'L', _) => usual.into_iter().chain(standing).collect::<Vec<_>>(),
                    (_, true) => standing.to_vec(),
                    (_, false) => usual.to_vec(),
                };
                let months = lists.into_iter().flat_map(|list| (0..).zip(list.iter().copied()));
                self.name(start, Field::Month, months)
            }
            b'E' => self
                .name(start, Field::DayOfWeek, (1..).zip(names.days_long.iter().copied()))
                .or_else(|| self.name(start, Field::DayOfWeek, (1..).zip(names.days_short.iter().copied()))),
            b'z' | b'Z' => return self.zone(start, at),
            b'X' => return self.iso_zone(at, count),
            _ => self.number_field(letter, count, start, at, limit),
        };
        found.ok_or(ParseError { at: self.failed_at(letter, start, at, limit) })
    }

    /// Strict `h` and `k` complain behind the number that is out of range, everything else at the field.
    fn failed_at(&self, letter: u8, start: usize, at: usize, limit: Option<usize>) -> usize {
        match self.number(start, at, limit) {
            Some((_, end)) if matches!(letter, b'h' | b'k') => end,
            _ => at,
        }
    }

    /// The longest of the names that the text has at `start`.
    fn name<'n>(
        &mut self,
        start: usize,
        field: Field,
        names: impl Iterator<Item = (i32, &'n str)>,
    ) -> Option<usize> {
        let matching = names.filter_map(|(value, name)| Some((matches_at(self.text, start, name)?, value)));
        let (len, value) = matching.fold(None, |best: Option<(usize, i32)>, found| match best {
            Some(best) if best.0 >= found.0 => Some(best),
            _ => Some(found),
        })?;
        self.fields.set(field, value);
        Some(start + len)
    }

    fn number(&self, start: usize, at: usize, limit: Option<usize>) -> Option<(i32, usize)> {
        let end = match limit {
            // Java counts from before the blanks, and fails if the text is shorter.
            Some(limit) => end_of_chars(self.text, start, limit)?,
            None => self.text.len(),
        };
        number(self.text, at, end, self.format.locale.names.minus)
    }

    fn number_field(
        &mut self,
        letter: u8,
        count: usize,
        start: usize,
        at: usize,
        limit: Option<usize>,
    ) -> Option<usize> {
        let (value, end) = self.number(start, at, limit)?;
        let lenient = self.format.lenient;
        let (field, value) = match letter {
            b'y' | b'Y' => {
                let field = if letter == b'y' { Field::Year } else { Field::WeekYear };
                (field, if count <= 2 { self.century(value, at, end) } else { value })
            }
            b'M' | b'L' => (Field::Month, value.wrapping_sub(1)),
            b'k' if !lenient && !(1..=24).contains(&value) => return None,
            b'k' => (Field::HourOfDay, if value == 24 { 0 } else { value }),
            b'h' if !lenient && !(1..=12).contains(&value) => return None,
            b'h' => (Field::Hour, if value == 12 { 0 } else { value }),
            b'u' => {
                self.fields.set_iso_weekday(value);
                return Some(end);
            }
            b'd' => (Field::DayOfMonth, value),
            b'H' => (Field::HourOfDay, value),
            b'K' => (Field::Hour, value),
            b'm' => (Field::Minute, value),
            b's' => (Field::Second, value),
            b'S' => (Field::Millisecond, value),
            b'D' => (Field::DayOfYear, value),
            b'F' => (Field::DayOfWeekInMonth, value),
            b'w' => (Field::WeekOfYear, value),
            _ => (Field::WeekOfMonth, value),
        };
        self.fields.set(field, value);
        Some(end)
    }

    /// Puts a year of exactly two digits into the window.
    fn century(&mut self, value: i32, at: usize, end: usize) -> i32 {
        let digits = self.text[at..end].chars();
        if digits.clone().count() != 2 || !digits.clone().all(|c| digit(c).is_some()) {
            return value;
        }
        let first = self.format.two_digit_year;
        self.ambiguous = value == first % 100;
        value + first / 100 * 100 + if value < first % 100 { 100 } else { 0 }
    }

    fn zone(&mut self, start: usize, at: usize) -> Result<usize, ParseError> {
        if let Some(sign) = sign_at(self.text, at) {
            return self.offset(at + 1, sign, 0, false);
        }
        if matches_at(self.text, at, "G").is_some() && matches_at(self.text, start, "GMT").is_some() {
            let after = start + 3;
            return match sign_at(self.text, after) {
                Some(sign) => self.offset(after + 1, sign, 0, true),
                None => Ok(self.set_offset(0, after)),
            };
        }
        let own = self.named_zone.as_ref().unwrap_or(&self.format.zone);
        let found = super::zone_names::find(self.text, at, own.id(), self.format.zone_column);
        let Some(found) = found else { return Err(ParseError { at }) };
        let zone = Zone::of_id(found.zone_id);
        let savings = if found.summer { zone.summer_savings_ms() } else { 0 };
        self.named_zone = Some(zone);
        // If the name is that of both, or the zone has no summer time now, the calendar decides.
        if !found.same_name && (!found.summer || savings != 0) {
            self.fields.clear(Field::ZoneOffset);
            self.fields.set(Field::SummerOffset, savings);
        }
        Ok(at + found.len)
    }

    fn iso_zone(&mut self, at: usize, count: usize) -> Result<usize, ParseError> {
        if self.text[at..].starts_with('Z') {
            return Ok(self.set_offset(0, at + 1));
        }
        match sign_at(self.text, at) {
            Some(sign) => self.offset(at + 1, sign, count, count == 3),
            None => {
                let width = self.text[at..].chars().next().map_or(0, char::len_utf8);
                Err(ParseError { at: at + width })
            }
        }
    }

    fn set_offset(&mut self, offset_ms: i32, end: usize) -> usize {
        self.fields.set(Field::ZoneOffset, offset_ms);
        self.fields.set(Field::SummerOffset, 0);
        end
    }

    /// `hhmm` or with a colon `h:mm`; one letter of `X` takes only `hh`.
    fn offset(&mut self, at: usize, sign: i32, count: usize, colon: bool) -> Result<usize, ParseError> {
        let bytes = self.text.as_bytes();
        let mut at = at;
        let take_digit = |at: usize| match bytes.get(at) {
            Some(byte) if byte.is_ascii_digit() => Ok(i32::from(byte - b'0')),
            _ => Err(ParseError { at }),
        };
        let mut hours = take_digit(at)?;
        at += 1;
        match take_digit(at) {
            Ok(units) => {
                hours = hours * 10 + units;
                at += 1;
            }
            Err(error) if count > 0 || !colon || at == bytes.len() => return Err(error),
            Err(_) => {}
        }
        if hours > 23 {
            return Err(ParseError { at: at - 1 });
        }
        let mut minutes = 0;
        if count != 1 {
            if colon {
                if bytes.get(at) != Some(&b':') {
                    return Err(ParseError { at });
                }
                at += 1;
            }
            minutes = take_digit(at)? * 10;
            at += 1;
            minutes += take_digit(at)?;
            if minutes > 59 {
                return Err(ParseError { at });
            }
            at += 1;
        }
        Ok(self.set_offset((hours * 60 + minutes) * 60_000 * sign, at))
    }
}

fn sign_at(text: &str, at: usize) -> Option<i32> {
    match text.as_bytes().get(at) {
        Some(b'+') => Some(1),
        Some(b'-') => Some(-1),
        _ => None,
    }
}

/// The byte after `count` characters from `start`, if there are so many.
fn end_of_chars(text: &str, start: usize, count: usize) -> Option<usize> {
    let rest = &text[start..];
    let mut ends = rest.char_indices().map(|(index, _)| index).chain([rest.len()]);
    ends.nth(count).map(|end| start + end)
}
