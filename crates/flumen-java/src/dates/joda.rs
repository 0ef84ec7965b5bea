//! Reads dates by patterns of Joda-Time 2.9 (`DateTimeFormat.forPattern`), which Java Flume uses in regex_extractor's
//! millisecond serializer and the multiport syslog source. Differs from `SimpleDateFormat` in nearly every detail: the
//! whole text must match, nothing rolls over, `S` is a fraction, a time that occurs twice is the earlier one.

use super::calendar::Moment;
use super::locale::Locale;
use super::pattern::{MAX_PATTERN_BYTES, PatternError};
use super::zone::Zone;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct JodaFormat {
    pub(crate) elements: Vec<Element>,
    pub(crate) locale: Locale,
    pub(crate) zone: Zone,
}

/// A calendar field that Joda-Time reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JodaField {
    Era,
    CenturyOfEra,
    YearOfEra,
    Year,
    WeekYear,
    MonthOfYear,
    WeekOfWeekYear,
    DayOfYear,
    DayOfMonth,
    DayOfWeek,
    HalfDayOfDay,
    HourOfDay,
    ClockHourOfDay,
    HourOfHalfDay,
    ClockHourOfHalfDay,
    MinuteOfHour,
    SecondOfMinute,
    MillisOfSecond,
}

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    Literal(String),
    Number {
        field: JodaField,
        max_digits: usize,
        signed: bool,
    },
    /// A year of two digits lies from 50 before the pivot to 49 after it.
    TwoDigitYear {
        field: JodaField,
        pivot: i32,
        lenient: bool,
    },
    Text(JodaField),
    Fraction(usize),
    /// `Z` or `ZZ`.
    Offset,
    /// `ZZZ`
    ZoneId,
    /// `z`
    ZoneName,
}

/// The text is no date by the pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JodaError {
    /// The text does not match from this byte on; at its length the text is too short.
    #[error("invalid date: malformed at byte {0}")]
    Malformed(usize),
    /// A field is out of its range.
    #[error("invalid date: value {value} for {field} is out of range")]
    Value {
        /// Joda-Time's name of the field.
        field: &'static str,
        /// What the text has.
        value: i32,
    },
    /// The clock was moved over this reading.
    #[error("invalid date: the time does not exist in time zone {0}")]
    Skipped(String),
}

impl JodaFormat {
    /// Compiles a pattern. `now` (milliseconds since 1970) gives the hundred years for two-digit years: 80 back, 19 ahead.
    /// Names are those of `locale`; a text without a zone is in `zone`.
    pub fn compile(pattern: &str, locale: &Locale, zone: &Zone, now: i64) -> Result<Self, PatternError> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong(pattern.len()));
        }
        let moment = Moment::new(now, zone);
        let pivots = Pivots {
            year: i32::try_from(moment.year).unwrap_or(2000) - 30,
            // Good enough for a window of a hundred years.
            week_year: i32::try_from(moment.year).unwrap_or(2000) - 30,
        };
        let tokens = tokens(pattern);
        let mut elements = Vec::with_capacity(tokens.len());
        for (index, token) in tokens.iter().enumerate() {
            let number_next = tokens.get(index + 1).is_some_and(Token::is_number);
            elements.push(match token {
                Token::Literal(text) if text.is_empty() => continue,
                Token::Literal(text) => Element::Literal(text.clone()),
                Token::Letters(letter, count) => element(*letter, *count, number_next, &pivots)?,
            });
        }
        if elements.is_empty() {
            return Err(PatternError::Empty);
        }
        Ok(Self { elements, locale: locale.clone(), zone: zone.clone() })
    }

    /// Reads a text that must match as a whole and answers milliseconds since 1970. Fields that are missing are those of
    /// 1970-01-01T00:00, but the year of a month or day is 2000.
    pub fn parse(&self, text: &str) -> Result<i64, JodaError> {
        super::joda_read::parse(self, text)
    }
}

struct Pivots {
    year: i32,
    week_year: i32,
}

enum Token {
    Letters(char, usize),
    Literal(String),
}

impl Token {
    fn is_number(&self) -> bool {
        match self {
            Self::Letters('M', count) => *count <= 2,
            Self::Letters(letter, _) => "cCxyYdhHmsSeDFwWkK".contains(*letter),
            Self::Literal(_) => false,
        }
    }
}

/// Runs of a letter, and what lies between them with its quotes resolved. A quote that is not closed ends with the text.
fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut quoted = false;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if !quoted && c.is_ascii_alphabetic() {
            match tokens.last_mut() {
                Some(Token::Letters(letter, count)) if *letter == c => *count += 1,
                _ => tokens.push(Token::Letters(c, 1)),
            }
            continue;
        }
        if !matches!(tokens.last(), Some(Token::Literal(_))) {
            tokens.push(Token::Literal(String::new()));
        }
        let is_text = if c != '\'' || chars.next_if_eq(&'\'').is_some() {
            true
        } else {
            quoted = !quoted;
            false
        };
        if let Some(Token::Literal(text)) = tokens.last_mut().filter(|_| is_text) {
            text.push(c);
        }
    }
    tokens
}

fn element(letter: char, count: usize, number_next: bool, pivots: &Pivots) -> Result<Element, PatternError> {
    use JodaField as F;
    let number = |field, max: usize| Element::Number { field, max_digits: max.max(count), signed: false };
    let signed = |field, max: usize| Element::Number { field, max_digits: max.max(count), signed: true };
    // A number that follows at once leaves a year only its own digits.
    let year_digits = if number_next { count } else { 9 };
    Ok(match letter {
        'G' => Element::Text(F::Era),
        'C' => signed(F::CenturyOfEra, count),
        'x' if count == 2 => {
            Element::TwoDigitYear { field: F::WeekYear, pivot: pivots.week_year, lenient: !number_next }
        }
        'y' | 'Y' if count == 2 => {
            Element::TwoDigitYear { field: F::Year, pivot: pivots.year, lenient: !number_next }
        }
        'x' => signed(F::WeekYear, year_digits),
        'y' => signed(F::Year, year_digits),
        'Y' => number(F::YearOfEra, year_digits),
        'M' if count >= 3 => Element::Text(F::MonthOfYear),
        'M' => number(F::MonthOfYear, 2),
        'd' => number(F::DayOfMonth, 2),
        'a' => Element::Text(F::HalfDayOfDay),
        'h' => number(F::ClockHourOfHalfDay, 2),
        'H' => number(F::HourOfDay, 2),
        'k' => number(F::ClockHourOfDay, 2),
        'K' => number(F::HourOfHalfDay, 2),
        'm' => number(F::MinuteOfHour, 2),
        's' => number(F::SecondOfMinute, 2),
        'S' => Element::Fraction(count),
        'e' => number(F::DayOfWeek, 1),
        'E' => Element::Text(F::DayOfWeek),
        'D' => number(F::DayOfYear, 3),
        'w' => number(F::WeekOfWeekYear, 2),
        // The long name can be printed but not read, which Joda-Time says only when it reads.
        'z' if count < 4 => Element::ZoneName,
        'Z' if count <= 2 => Element::Offset,
        'Z' => Element::ZoneId,
        _ => return Err(PatternError::Letter(letter)),
    })
}
