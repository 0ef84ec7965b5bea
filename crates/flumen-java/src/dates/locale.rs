//! Names of months, days and eras, digits and week rules by locale, as a JDK 17 has them (CLDR data).

use std::sync::LazyLock;

use super::calendar::WeekRule;

/// A line a locale: tag; months long, short, long alone, short alone; days (Sunday first) long, short; eras short, long;
/// what is read as an era; halves of the day; what is read as one; the digit zero; the minus sign.
const DATA: &str = include_str!("data/locale_names.tsv");

/// Names in one language, from January or Sunday on.
#[derive(Debug)]
pub(crate) struct Names {
    tag: &'static str,
    pub(crate) months_long: Vec<&'static str>,
    pub(crate) months_short: Vec<&'static str>,
    /// Forms for a month that stands alone.
    pub(crate) months_long_alone: Vec<&'static str>,
    pub(crate) months_short_alone: Vec<&'static str>,
    pub(crate) days_long: Vec<&'static str>,
    pub(crate) days_short: Vec<&'static str>,
    /// Before Christ first.
    pub(crate) eras_short: Vec<&'static str>,
    pub(crate) eras_long: Vec<&'static str>,
    /// Names that are read, with the number of the era.
    pub(crate) eras_read: Vec<(i32, &'static str)>,
    pub(crate) halves: Vec<&'static str>,
    pub(crate) halves_read: Vec<(i32, &'static str)>,
    pub(crate) zero: char,
    pub(crate) minus: &'static str,
}

static BOOK: LazyLock<Vec<Names>> = LazyLock::new(|| DATA.lines().map(read_line).collect());

fn read_line(line: &'static str) -> Names {
    let mut cells = line.split('\t').chain(std::iter::repeat(""));
    let mut cell = || cells.next().unwrap_or_default();
    let list = |cell: &'static str| cell.split('|').collect();
    let numbered = |cell: &'static str| {
        cell.split('|')
            .map(|name| (i32::from(name.starts_with('1')), name.get(1..).unwrap_or_default()))
            .collect()
    };
    Names {
        tag: cell(),
        months_long: list(cell()),
        months_short: list(cell()),
        months_long_alone: list(cell()),
        months_short_alone: list(cell()),
        days_long: list(cell()),
        days_short: list(cell()),
        eras_short: list(cell()),
        eras_long: list(cell()),
        eras_read: numbered(cell()),
        halves: list(cell()),
        halves_read: numbered(cell()),
        zero: cell().chars().next().unwrap_or('0'),
        minus: cell().trim_end_matches('|'),
    }
}

/// A locale of Java for dates.
#[derive(Clone, Debug)]
pub struct Locale {
    pub(crate) names: &'static Names,
    pub(crate) language: String,
    week: WeekRule,
    known: bool,
}

impl Locale {
    /// The locale of a tag: `en_US`, `de-DE`, `root`, also with an encoding as in `LANG` (`de_DE.UTF-8`). The country
    /// sets the week rule. `C` and `POSIX` are English without a country, as in a JVM. A language that is not in the data
    /// gets English names ([`Locale::has_own_names`]).
    pub fn of_tag(tag: &str) -> Self {
        let tag = tag.split(['.', '@']).next().unwrap_or_default();
        let mut parts = tag.split(['_', '-']);
        let language = match parts.next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "root" | "und" => "root".to_owned(),
            "" | "c" | "posix" => "en".to_owned(),
            "iw" => "he".to_owned(),
            "nn" => "no".to_owned(),
            other => other.to_owned(),
        };
        let country = parts.find(|part| part.len() == 2).unwrap_or_default().to_ascii_uppercase();
        let full = format!("{language}-{country}");
        let by_tag = |tag: &str| BOOK.iter().find(|names| names.tag == tag);
        let own = by_tag(&full).or_else(|| by_tag(&language));
        let english = by_tag("en").unwrap_or(&BOOK[0]);
        Self { names: own.unwrap_or(english), week: week_rule(&country), known: own.is_some(), language }
    }

    /// `Locale.ROOT`.
    pub fn root() -> Self {
        Self::of_tag("root")
    }

    /// `Locale.US`, what most installations have.
    pub fn us() -> Self {
        Self::of_tag("en-US")
    }

    /// Whether names in this language are known; otherwise they are English.
    pub fn has_own_names(&self) -> bool {
        self.known
    }

    /// Rule for week numbers.
    pub fn week_rule(&self) -> WeekRule {
        self.week
    }
}

/// Countries whose weeks begin on Sunday; week 1 is that of 1 January.
const SUNDAY: &str = "AG AS AU BD BR BS BT BW BZ CA CN CO DM DO ET GT GU HK HN ID IL IN JM JP KE KH KR LA MH MM MO MT MX \
    MZ NI NP PA PE PH PK PR PY SA SG SV TH TT TW UM US VE VI WS YE ZA ZW";
/// Countries with ISO weeks: Monday, week 1 has at least four days of the year.
const ISO: &str = "AD AT AX BE BG CH CZ DE DK EE ES FI FJ FO FR GB GF GG GI GP GR HU IE IM IS IT JE LI LT LU MC MQ NL NO \
    PL RE RU SE SJ SK SM VA";
/// Countries whose weeks begin on Saturday.
const SATURDAY: &str = "AE AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY";

fn week_rule(country: &str) -> WeekRule {
    let listed = |list: &str| list.split(' ').any(|code| code == country);
    let (first_day, minimal_days) = match country {
        "" => (1, 1),
        "PT" => (1, 4),
        "MV" => (6, 1),
        _ if listed(SUNDAY) => (1, 1),
        _ if listed(ISO) => (2, 4),
        _ if listed(SATURDAY) => (7, 1),
        _ => (2, 1),
    };
    WeekRule { first_day, minimal_days }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_locale_has_all_names() {
        assert!(BOOK.len() > 50);
        for names in BOOK.iter() {
            let months = [
                &names.months_long,
                &names.months_short,
                &names.months_long_alone,
                &names.months_short_alone,
            ];
            assert!(months.iter().all(|list| list.len() == 12), "{}", names.tag);
            assert!(names.days_long.len() == 7 && names.days_short.len() == 7, "{}", names.tag);
            assert!(names.eras_short.len() == 2 && names.eras_long.len() == 2 && names.halves.len() == 2);
            assert!(!names.minus.is_empty() && !names.eras_read.is_empty() && !names.halves_read.is_empty());
        }
    }

    #[test]
    fn tags_are_read_in_all_their_spellings() {
        assert_eq!(Locale::of_tag("de_DE.UTF-8").names.tag, "de");
        assert_eq!(Locale::of_tag("de-AT").names.tag, "de-AT");
        assert_eq!(Locale::of_tag("en_US").names.tag, "en");
        assert_eq!(Locale::of_tag("zh-Hans-CN").names.tag, "zh");
        assert_eq!(Locale::of_tag("C").names.tag, "en");
        assert!(!Locale::of_tag("xx_YY").has_own_names());
        assert_eq!(Locale::of_tag("de_DE").week_rule(), WeekRule { first_day: 2, minimal_days: 4 });
    }
}
