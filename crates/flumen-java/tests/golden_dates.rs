//! Dates against the answers of a JDK: printing, reading, rounding, zone ids.

#![allow(clippy::unwrap_used, reason = "what does not unwrap fails the test")]

mod support;

use flumen_java::dates::{DateFormat, Locale, RoundUnit, Rounding, Zone};
use support::{Row, compare, rows};

const FORMAT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/dates/format.tsv");
const PARSE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/dates/parse.tsv");
const ESCAPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/dates/escapes.tsv");
const ROUNDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/dates/rounding.tsv");
const ZONES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/dates/zones.tsv");

/// When the golden data was made, for the window of two-digit years.
const NOW: i64 = 1_750_000_000_000;

fn printed(row: &Row) -> (String, String) {
    let actual = DateFormat::compile(&row[2], &Locale::of_tag(&row[3]), &Zone::of_id(&row[4]))
        .map_or_else(|_| "!".to_owned(), |format| format.format(row[5].parse().unwrap()));
    // Texts of pattern errors are our own.
    let expected =
        if row[6].starts_with("!IllegalArgumentException") { "!".to_owned() } else { row[6].clone() };
    (expected, actual)
}

#[test]
fn patterns_print_as_in_java() {
    compare(&rows(FORMAT), &[], 2200, printed);
}

#[test]
fn escape_patterns_print_as_in_java() {
    compare(&rows(ESCAPES), &[], 270, printed);
}

#[test]
fn texts_are_read_as_in_java() {
    compare(&rows(PARSE), &[], 1100, |row| {
        let expected = if row[8].starts_with('!') { "!".to_owned() } else { row[8..].join(" ") };
        let compiled = DateFormat::compile(&row[2], &Locale::of_tag(&row[3]), &Zone::of_id(&row[4]));
        let Ok(format) = compiled else { return (expected, "!".to_owned()) };
        let format = match row[6].parse() {
            Ok(start) => format.with_two_digit_start(start),
            Err(_) => format.with_two_digit_years_around(NOW),
        };
        let format = if row[5] == "false" { format.strict() } else { format };
        let text = &row[7];
        let units = |at: usize| text[..at].encode_utf16().count();
        let actual = match format.parse(text) {
            Ok(parsed) => format!("{} - {}", parsed.millis, units(parsed.end)),
            Err(error) => format!("- {} -", units(error.at)),
        };
        (expected, actual)
    });
}

#[test]
fn rounding_is_that_of_java_also_where_a_time_occurs_twice() {
    compare(&rows(ROUNDING), &[], 90, |row| {
        let unit = match row[2].as_str() {
            "second" => RoundUnit::Second,
            "minute" => RoundUnit::Minute,
            _ => RoundUnit::Hour,
        };
        let rounding = Rounding::new(unit, row[3].parse().unwrap()).unwrap();
        let actual = rounding.down(row[4].parse().unwrap(), &Zone::of_id(&row[1]));
        (row[5].clone(), actual.to_string())
    });
}

#[test]
fn zone_ids_are_those_of_java() {
    compare(&rows(ZONES), &[], 80, |row| {
        let zone = Zone::of_id(&row[1]);
        let at = |millis| zone.at(millis).total_ms();
        let (january, july, year_1900) =
            (at(1_704_067_200_000), at(1_720_000_000_000), at(-2_208_988_800_000));
        let raw = zone.raw_offset_ms();
        let summer = zone.summer_savings_ms() != 0;
        let actual = format!("{} {raw} {january} {july} {year_1900} {summer}", zone.id());
        (row[2..].join(" "), actual)
    });
}
